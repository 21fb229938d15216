"""Where the values of a JSON text stand: the fast way and the slow ways find the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress import json_spans
from proxy.compress.json_spans import Child, NotJson, children, root, skip
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, write


def slowly(text: str, start: int, end: int) -> list[Child]:
    """The same without msgspec."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_spans, "_WORTH_MSGSPEC", 10**9)
        return list(children(text, start, end))


def quickly(text: str, start: int, end: int) -> list[Child]:
    """The same with msgspec for the smallest text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_spans, "_WORTH_MSGSPEC", 0)
        return list(children(text, start, end))


@settings(deadline=None, max_examples=80)
@given(CONTAINERS, LAYOUTS)
def test_both_ways_find_the_same_values(value: Any, layout: dict[str, Any]) -> None:
    text = f" {write(value, layout)}\n"
    start, end = root(text)
    found = quickly(text, start, end)
    assert found == slowly(text, start, end)
    inside = [json.loads(text[child.start : child.end]) for child in found]
    if isinstance(value, dict):
        assert [child.key for child in found] == list(value)
        assert json.dumps(inside) == json.dumps(list(value.values()))
    else:
        assert json.dumps(inside) == json.dumps(value)


@given(st.text(alphabet=st.sampled_from(list('[]{},:"\\ 1an\n')), max_size=30))
def test_malformed_texts_are_refused_or_end_where_they_end(text: str) -> None:
    try:
        start, end = root(text)
        for child in children(text, start, end):
            assert start < child.outer <= child.start < child.end <= len(text)
        assert start <= skip(text, start) <= len(text)
    except NotJson:
        return


def test_a_name_that_occurs_twice_is_found_twice() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    found = [(child.key, text[child.start : child.end]) for child in quickly(text, 0, len(text))]
    assert found == [("a", "1"), ("b", "2"), ("a", "3")]


def test_what_strict_readers_refuse_is_taken() -> None:
    text = '[NaN, "\t", "\\ud800", ' + "7" * 6000 + ", 1e999]"
    found = [text[child.start : child.end] for child in children(text, 0, len(text))]
    assert found == ["NaN", '"\t"', '"\\ud800"', "7" * 6000, "1e999"]


@pytest.mark.parametrize("text", ["", " ", "\ufeff"])
def test_an_empty_text_has_no_root(text: str) -> None:
    with pytest.raises(NotJson):
        root(text)
