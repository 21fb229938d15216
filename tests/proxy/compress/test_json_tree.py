"""JSON as spans: exact slices of what was written, whatever was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import json_tree
from proxy.compress.json_tree import MAX_POINTER, Document
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, write


def _parts(document: Document) -> list[tuple[str, str]]:
    children = document.children(0, len(document.raw))
    keys = children.keys or [""] * len(children)
    return [
        (key, document.text(start, end))
        for key, start, end in zip(keys, children.values, children.ends, strict=True)
    ]


def _parsed(text: str) -> Document:
    document = json_tree.parse(text)
    assert document is not None
    return document


def test_numbers_and_escapes_are_slices_of_the_text() -> None:
    text = '{"a": 1.50, "b" : 1e400, "c":-0, "d": "\\u00e9\\/", "e": [1, {"x": 12345678901234567890123}]}'
    assert _parts(_parsed(text)) == [
        ("a", "1.50"),
        ("b", "1e400"),
        ("c", "-0"),
        ("d", '"\\u00e9\\/"'),
        ("e", '[1,{"x":12345678901234567890123}]'),
    ]


def test_a_key_that_stands_twice_is_two_members() -> None:
    assert _parts(_parsed('{"a": 1, "a": 2, "\\u0061": 3}')) == [("a", "1"), ("a", "2"), ("a", "3")]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_strict_json_lacks_are_kept(number: str) -> None:
    text = f'{{"a": {number}, "{number}": [ {number} ]}}'
    assert _parts(_parsed(text)) == [("a", number), (number, f"[{number}]")]


def test_lone_surrogates_are_kept_escaped_or_not() -> None:
    assert _parts(_parsed('["\\ud800", "\ud800", "\\\\ud800"]')) == [
        ("", '"\\ud800"'),
        ("", '"\ud800"'),
        ("", '"\\\\ud800"'),
    ]
    assert _parts(_parsed('{"\udfff": 1, "\\udfff": 2}')) == [("\udfff", "1"), ("\udfff", "2")]


def test_deep_nesting_is_one_value_that_is_not_opened() -> None:
    text = '{"a":' + "[" * 10_000 + "]" * 10_000 + ',"b":1}'
    document = _parsed(text)
    parts = _parts(document)
    assert parts[1] == ("b", "1")
    start, end = 5, len(text) - 7
    for _ in range(json_tree.MAX_DEPTH - 1):
        assert document.is_array(start)
        children = document.children(start, end)
        assert len(children) == 1
        start, end = children.starts[0], children.ends[0]
    assert document.is_deep(start)
    assert len(document.children(start, end)) == 0


@pytest.mark.parametrize(
    "text", ["", "1", "{", "[1,]", "{]", "nul", '["a" "b"]', "[1] 2", "# x", '{"a"}']
)
def test_what_is_no_json_is_no_document(text: str) -> None:
    assert json_tree.parse(text) is None


@given(CONTAINERS, LAYOUTS)
def test_children_are_the_values_of_the_text(
    value: list[object] | dict[str, object], layout: dict[str, object]
) -> None:
    document = _parsed(write(value, layout))
    parts = _parts(document)
    expected = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    assert [key for key, _ in parts] == [key for key, _ in expected]
    assert [json.dumps(json.loads(text)) for _, text in parts] == [
        json.dumps(item) for _, item in expected
    ]


@given(st.text(max_size=60))
def test_any_text_is_json_or_not_without_an_error(text: str) -> None:
    for candidate in (text, f"[{text}]", f'{{"a":{text}}}'):
        document = json_tree.parse(candidate)
        if document is not None:
            document.children(0, len(document.raw))


def test_section_ids_are_json_pointers() -> None:
    assert json_tree.section(("a/b", "m~n", "0")) == "json:/a~1b/m~0n/0"
    assert json_tree.section(("items",), "3-94") == "json:/items/3-94"
    assert json_tree.section(()) == ""


def test_a_pointer_that_costs_too_much_is_not_given() -> None:
    assert json_tree.section(("x" * MAX_POINTER,)) == ""
    assert json_tree.section(("a\nb",)) == ""
