"""An answer, taken apart for reading."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from console.screens.call_text import Part, pretty, result_parts


def test_json_on_one_line_is_spread_and_anything_else_is_left_alone() -> None:
    assert pretty('{"a":{"b":1}}') == '{\n  "a": {\n    "b": 1\n  }\n}'
    for text in ("plain", "{broken", "[1,\n2]", "", "[" * 5000):
        assert pretty(text) == text


def test_text_blocks_are_shown_as_text_and_json_in_them_is_spread() -> None:
    result = {"content": [{"type": "text", "text": "one\ntwo"}, {"type": "text", "text": "[1]"}]}
    assert result_parts(json.dumps(result)) == [
        Part("result", "one\ntwo"),
        Part("result", "[\n  1\n]"),
    ]


def test_an_error_result_is_named_so() -> None:
    result = {"content": [{"type": "text", "text": "no such file"}], "isError": True}
    assert result_parts(json.dumps(result)) == [Part("result, an error", "no such file")]


def test_structured_content_that_repeats_the_text_is_not_repeated_again() -> None:
    value = {"rows": [1, 2]}
    result = {
        "content": [{"type": "text", "text": json.dumps(value)}],
        "structuredContent": value,
        "_meta": {"x": 1},
    }
    parts = result_parts(json.dumps(result))
    assert [part.title for part in parts] == ["result", "structured content", "_meta"]
    assert parts[1].text == "the same value as the text"
    result["structuredContent"] = {"rows": []}
    other = result_parts(json.dumps(result))[1].text
    assert other is not None
    assert "rows" in other


def test_binary_blocks_are_named_by_type_and_size() -> None:
    result = {"content": [{"type": "image", "mimeType": "image/png", "data": "A" * 4000}]}
    assert result_parts(json.dumps(result)) == [
        Part("result: image", "image/png  4.0 kB as base64")
    ]


def test_what_was_cut_keeps_its_line_breaks() -> None:
    assert result_parts('{"content":[{"text":"a\\nb') == [
        Part("result", '{"content":[{"text":"a\nb')
    ]
    assert result_parts(None) == [Part("result", None)]
    assert result_parts('{"content":[]}') == [Part("result", "")]
    assert result_parts('{"tools":1}') == [Part("result", '{\n  "tools": 1\n}')]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "type", "text", "data", "structuredContent", "isError"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON | st.text(max_size=20))
def test_any_answer_can_be_taken_apart(value: object) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    assert result_parts(text)
