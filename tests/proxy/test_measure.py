"""Sizes of calls: each part once, binary content never as text, odd JSON never an exception."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.loose_json import compact, elements, members, readable, string
from proxy.measure import measure, read_texts
from proxy.model import Sizes


def words(texts: Sequence[str]) -> list[int]:
    """A count that is easy to check: words instead of tokens."""
    return [len(text.split()) for text in texts]


def result(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def text_block(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def sizes(*texts: str) -> Sizes:
    total = Sizes()
    for text in texts:
        total += Sizes(len(text.encode()), len(text), len(text.split()))
    return total


def test_arguments_are_measured_as_compact_json() -> None:
    measured = measure(b'{ "q" : "a b" }', b"", words)
    assert measured.arguments == Sizes(11, 11, 2)
    assert measured.text == measured.structured == Sizes()


def test_texts_of_a_tool_are_added_up() -> None:
    answer = result({"content": [text_block("one two"), text_block("größe 日本")]})
    assert measure(b"{}", answer, words).text == sizes("one two", "größe 日本")


def test_embedded_text_counts_as_text_and_embedded_blobs_do_not() -> None:
    answer = result(
        {
            "content": [
                {"type": "resource", "resource": {"uri": "a:b", "text": "in a file"}},
                {"type": "resource", "resource": {"uri": "a:c", "blob": "AAAA"}},
                {"type": "image", "data": "BBBBBB", "mimeType": "image/png"},
                {"type": "audio", "data": "CC", "mimeType": "audio/wav"},
                {"type": "resource_link", "uri": "a:d", "name": "link"},
            ]
        }
    )
    measured = measure(b"", answer, words)
    assert measured.text == sizes("in a file")
    assert measured.other_bytes == 12


def test_structured_content_is_measured_compactly_and_apart() -> None:
    answer = b'{"content":[],"structuredContent": { "a" : [ 1, 2.50 ], "b" : "x y" } }'
    measured = measure(b"", answer, words)
    assert measured.structured == Sizes(24, 24, 2)
    assert measured.text == Sizes()


def test_escaped_characters_are_counted_as_the_characters_that_they_are() -> None:
    answer = b'{"structuredContent":{"a":"\\u65e5\\u672c \\u0007 \\\\u65e5 \\"\\u0022"}}'
    parts = read_texts(b"", answer)
    assert parts.structured == '{"a":"日本 \\u0007 \\\\u65e5 \\"\\u0022"}'
    assert json.loads(parts.structured) == json.loads(answer)["structuredContent"]
    assert parts.structured_bytes == len(answer) - len(b'{"structuredContent":}')


def test_an_error_s_message_is_its_text() -> None:
    answer = result({"code": -32602, "message": "no such tool", "data": {"x": 1}})
    measured = measure(b"", answer, words)
    assert measured.text == sizes("no such tool")
    assert measured.structured == Sizes()


def test_resources_and_prompts_count_as_text() -> None:
    resource = result({"contents": [{"uri": "a", "text": "one two"}, {"uri": "b", "blob": "AAAA"}]})
    assert measure(b"", resource, words).text == sizes("one two")
    assert measure(b"", resource, words).other_bytes == 4
    prompt = result(
        {
            "messages": [
                {"role": "user", "content": text_block("a b")},
                {"role": "user", "content": {"type": "image", "data": "AA"}},
                {"role": "assistant", "content": [text_block("c")]},
                {"role": "user", "content": "d e f"},
            ]
        }
    )
    assert measure(b"", prompt, words).text == sizes("a b", "c", "d e f")
    assert measure(b"", prompt, words).other_bytes == 2


DEEP = b"[" * 10_000 + b"]" * 10_000


@pytest.mark.parametrize(
    "odd",
    [
        b"NaN",
        b"-Infinity",
        b"9" * 5_000,
        b'"\\ud800"',
        b'"\xff\xfe"',
        b'"\x01"',
        DEEP,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    ],
)
def test_odd_json_beside_a_text_leaves_the_text_readable(odd: bytes) -> None:
    answer = b'{"content":[{"type":"text","text":"one two","x":%s}],"structuredContent":[ %s ]}'
    measured = measure(b"", answer % (odd, odd), words)
    assert measured.text == sizes("one two")
    assert measured.structured.bytes == len(odd) + 2
    assert measured.other_bytes == 0


def test_odd_characters_in_a_text_are_counted_once_each() -> None:
    measured = measure(b"", b'{"content":[{"type":"text","text":"a \\ud800 b"}]}', words)
    assert measured.text == Sizes(7, 5, 3)
    measured = measure(b"", b'{"content":[{"type":"text","text":"a\xff b"}]}', words)
    assert measured.text == sizes("a\ufffd b")


def test_what_is_no_json_is_text() -> None:
    assert measure(b"", b"plain words", words).text == sizes("plain words")
    assert measure(b"", b'{"content":[{"type":"te', words).text.bytes == 23
    assert measure(b"", b"  ", words).text == Sizes()


def test_members_of_another_type_are_passed_over() -> None:
    answer = result(
        {"content": [{"type": "text", "text": 5}, {"type": ["x"]}, 7, None, text_block("ok")]}
    )
    assert measure(b"", answer, words).text == sizes("ok")
    assert measure(b"", result({"content": 3, "messages": True}), words).text == Sizes()


def test_content_nested_without_end_is_not_followed() -> None:
    block: object = text_block("deep")
    for _ in range(60):
        block = {"type": "x", "content": [block]}
    assert measure(b"", result({"content": [block]}), words).text == Sizes()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "data", "blob", "resource", "structuredContent", "code"]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON, JSON)
def test_any_json_is_measured(arguments: object, answer: object) -> None:
    measured = measure(json.dumps(arguments).encode(), json.dumps(answer).encode(), words)
    assert measured.arguments.characters <= measured.arguments.bytes
    assert measured.other_bytes >= 0


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_are_measured(arguments: bytes, answer: bytes) -> None:
    measure(arguments, answer, words)


@given(st.lists(st.text(max_size=30), max_size=6), JSON)
def test_the_parts_add_up(texts: list[str], structured: object) -> None:
    answer = json.dumps(
        {"content": [text_block(text) for text in texts], "structuredContent": structured}
    )
    measured = measure(b"", answer.encode(), words)
    parts = [
        measure(b"", json.dumps({"content": [text_block(t)]}).encode(), words).text for t in texts
    ]
    total = Sizes()
    for part in parts:
        total += part
    assert measured.text == total
    alone = measure(b"", json.dumps({"structuredContent": structured}).encode(), words)
    assert measured.structured == alone.structured


@given(JSON)
def test_loose_reading_agrees_with_strict_reading(value: object) -> None:
    raw = json.dumps(value, indent=1).encode()
    if isinstance(value, dict):
        parts = members(raw)
        assert parts is not None
        assert {key: json.dumps(json.loads(part)) for key, part in parts.items()} == {
            key: json.dumps(part) for key, part in value.items()
        }
    elif isinstance(value, list):
        assert [json.dumps(json.loads(part)) for part in elements(raw)] == list(
            map(json.dumps, value)
        )
        assert members(raw) is None
    elif isinstance(value, str):
        assert string(raw) == value
    small = compact(raw)
    assert json.dumps(json.loads(small)) == json.dumps(value)
    assert json.dumps(json.loads(readable(small.decode()))) == json.dumps(value)
