"""One member of a JSON object comes or goes, and every other byte stays."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.splice import member_spans, with_member, with_value, with_values, without_member

NAMES = st.sampled_from(["gone", "a", 'q"u\\o', "名", "\ud800", "", "d e", "z" * 9])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(["", " ", "\n\t", "  \r\n"])


@st.composite
def objects(draw: Any) -> tuple[bytes, list[tuple[str, Any]]]:
    """An object's text, with NaN, equal names and any white space, and its members."""
    pairs = draw(st.lists(st.tuples(NAMES, VALUES), max_size=6))
    texts = [
        f"{draw(SPACE)}{json.dumps(name)}{draw(SPACE)}:{draw(SPACE)}{json.dumps(value)}{draw(SPACE)}"
        for name, value in pairs
    ]
    text = f"{draw(SPACE)}{{{','.join(texts) or draw(SPACE)}}}{draw(SPACE)}"
    return text.encode(), pairs


@given(objects())
def test_spans_cut_out_names_and_values(made: tuple[bytes, list[tuple[str, Any]]]) -> None:
    raw, pairs = made
    spans = member_spans(raw)
    assert spans is not None
    assert [span.name for span in spans] == [name for name, _ in pairs]
    for span, (_, value) in zip(spans, pairs, strict=True):
        assert raw[span.value : span.end] == json.dumps(value).encode()
        assert raw[span.start : span.start + 1] == b'"'


@given(objects())
def test_a_removed_member_takes_only_itself_along(
    made: tuple[bytes, list[tuple[str, Any]]],
) -> None:
    raw, pairs = made
    left = without_member(raw, "gone")
    assert (left == raw) == all(name != "gone" for name, _ in pairs)
    kept = [(name, value) for name, value in pairs if name != "gone"]
    spans = member_spans(left)
    assert spans is not None
    assert [(span.name, left[span.value : span.end]) for span in spans] == [
        (name, json.dumps(value).encode()) for name, value in kept
    ]
    json.loads(left)


@given(objects())
def test_an_added_member_is_the_last_and_changes_no_other_byte(
    made: tuple[bytes, list[tuple[str, Any]]],
) -> None:
    raw, pairs = made
    more = with_member(raw, "new", b'{"x":1}')
    assert more is not None
    added = (b"," if pairs else b"") + b'"new":{"x":1}'
    at = more.index(added)
    assert more[:at] + more[at + len(added) :] == raw
    spans = member_spans(more)
    assert spans is not None
    assert [span.name for span in spans] == [*(name for name, _ in pairs), "new"]


def test_a_value_is_replaced_in_its_place() -> None:
    raw = b'{ "a" : 1.0 , "b":[ 2 ] }'
    spans = member_spans(raw)
    assert spans is not None
    assert with_value(raw, spans[0], b"null") == b'{ "a" : null , "b":[ 2 ] }'


@given(
    st.dictionaries(st.text("abc", max_size=2), st.integers(0, 9), max_size=6),
    st.sets(st.text("abc", max_size=2)),
    st.sampled_from([None, 1]),
)
def test_values_are_replaced_and_removed_in_one_go(
    members: dict[str, int], gone: set[str], indent: int | None
) -> None:
    raw = json.dumps(members, indent=indent).encode()
    spans = member_spans(raw) or []
    left = with_values(raw, spans, [None if one.name in gone else b"true" for one in spans])
    assert json.loads(left) == {name: True for name in members if name not in gone}
    own = [None if one.name in gone else raw[one.value : one.end] for one in spans]
    assert json.loads(with_values(raw, spans, own)) == {
        name: value for name, value in members.items() if name not in gone
    }


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b'"{}"', b"{", b'{"a"}', b'{"a":1}}', b"{1:2}"])
def test_what_is_no_object_is_left_alone(raw: bytes) -> None:
    assert member_spans(raw) is None
    assert without_member(raw, "a") == raw
    assert with_member(raw, "a", b"1") is None


def test_large_and_hostile_objects_take_linear_time() -> None:
    hostile = [
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a":NaN,' + b",".join(b'"%d":NaN' % n for n in range(50_000)) + b"}",
        b'{"a":"' + b"\\\\" * 500_000 + b'"}',
        b'{"' * 200_000,
        b'{"a":1,' * 50_000,
    ]
    start = time.process_time()
    for raw in hostile:
        without_member(raw, "a")
    assert time.process_time() - start < 10
