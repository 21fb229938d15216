"""JSON with comments and trailing commas; errors keep their lines."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.importing.jsonc import parse_jsonc
from console.importing.servers import UnreadableError

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_JSON, st.sampled_from([None, 1]))
def test_plain_json_means_what_it_means(value: Any, indent: int | None) -> None:
    assert parse_jsonc(json.dumps(value, indent=indent)) == value
    assert parse_jsonc(json.dumps(value, indent=indent, ensure_ascii=False)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('\ufeff{"a": 1}', {"a": 1}),
        ('{"a": 1, // one\n "b": 2 /* two */}', {"a": 1, "b": 2}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "// no comment", "b": "/* nor this */",}', {"a": "// no comment", "b": "/* nor this */"}),
        ('{"a": "quote \\" // ,}"}', {"a": 'quote " // ,}'}),
        ('{"a": ",}"}', {"a": ",}"}),
        ('{"a": 1, /* last */ }', {"a": 1}),
        ('{"url": "https://x"}', {"url": "https://x"}),
    ],
)  # fmt: skip
def test_what_editors_allow_is_read(text: str, value: Any) -> None:
    assert parse_jsonc(text) == value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{\n oops\n}", 2),
        ('{ // a\n /* b\n c */ "x": \n}', 4),
        ('{"a": [1,,2]}', 1),
        ("", 1),
        ('{"a": 1', 1),
        ('{"a": "open\n}', 1),
        ("/* never closed", 1),
    ],
)
def test_an_error_has_the_line_of_the_file(text: str, line: int) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse_jsonc(text)
    assert caught.value.line == line
    assert caught.value.reason


@pytest.mark.parametrize("text", ["[" * 200_000, "1" * 100_000])
def test_absurd_documents_are_unreadable_not_a_crash(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse_jsonc(text)


@given(st.text(alphabet='{}[]",:/*\\n1 \n', max_size=60))
def test_any_text_is_a_value_or_unreadable(text: str) -> None:
    with suppress(UnreadableError):
        parse_jsonc(text)
