"""A result is taken apart and put together without touching what is not meant to change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import wire
from proxy.answer import all_text, held_text, key_of, key_of_bytes, parse_answer, rebuild

RESULT: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "first", "annotations": {"audience": ["user"]}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inner", "x": 1}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
        {"type": "text", "text": "last"},
    ],
    "structuredContent": {"n": 1.50},
    "unknown": [1, {"a": None}],
}
BODY = json.dumps(RESULT).encode()

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def test_texts_are_found_in_blocks_and_embedded_resources_in_order() -> None:
    answer = parse_answer(BODY)
    assert [(block.index, block.text) for block in answer.blocks] == [
        (0, "first"),
        (2, "inner"),
        (4, "last"),
    ]
    assert answer.structured == '{"n": 1.5}'
    assert not answer.is_error


def test_other_texts_keep_everything_else_in_its_place() -> None:
    answer = parse_answer(BODY)
    body = rebuild(
        answer,
        {0: "1st", 2: "in", 4: ""},
        structured=None,
        added=["more"],
        about={"key": "0123456789abcdef"},
    )
    found = json.loads(body)
    assert found["content"] == [
        {"type": "text", "text": "1st", "annotations": {"audience": ["user"]}},
        RESULT["content"][1],
        {"type": "resource", "resource": {"uri": "file:///a", "text": "in", "x": 1}},
        RESULT["content"][3],
        {"type": "text", "text": "more"},
    ]
    assert "structuredContent" not in found
    assert found["unknown"] == RESULT["unknown"]
    assert found["_meta"] == {"mms": {"key": "0123456789abcdef"}}


@pytest.mark.parametrize(
    "block",
    [
        '{"type":"text","text":"old"}',
        '{"type": "text", "text": "old"}',
        '{"type":"text","text":"older","text":"old"}',
        '{"type":"text","text":"old","annotations":{"priority":1.0}}',
        '{"text":"old","type":"text"}',
    ],
)
@given(st.text())
def test_a_single_text_is_put_in_as_into_any_block(block: str, text: str) -> None:
    alone = parse_answer(f'{{"content":[{block}]}}'.encode())
    among = parse_answer(f'{{"content":[{block},{{"type":"other"}}]}}'.encode())
    texts = {0: text or "new"}

    found = json.loads(rebuild(alone, texts, structured=None, about={}))["content"]
    wanted = json.loads(rebuild(among, texts, structured=None, about={}))["content"]

    assert [one.text for one in alone.blocks] == ["old"]
    assert list(found[0].items()) == list(wanted[0].items())
    assert found[0]["text"] == texts[0]


def test_the_upstreams_own_meta_stays_beside_ours() -> None:
    answer = parse_answer(b'{"content":[],"_meta":{"mms":1,"progressToken":2}}')
    found = json.loads(rebuild(answer, {}, structured=None, about={"key": "k"}))
    assert found["_meta"] == {"mms": 1, "progressToken": 2, "mms/answer": {"key": "k"}}


def test_a_pointer_leads_to_the_exact_text() -> None:
    assert held_text(BODY, "/content/0/text") == "first"
    assert held_text(BODY, "/content/2/resource/text") == "inner"
    assert held_text(BODY, "clean:/content/4/text") == "last"
    assert held_text(b'{"structuredContent":{"n": 1.50}}', "/structuredContent") == '{"n": 1.50}'
    assert held_text(BODY, "") == BODY.decode()


@pytest.mark.parametrize("pointer", ["/content/9/text", "/nothing", "/content/x"])
def test_a_pointer_to_nothing_is_an_error_of_its_own_kind(pointer: str) -> None:
    with pytest.raises(wire.MalformedMessage):
        held_text(BODY, pointer)


def test_lone_surrogates_survive_the_round_trip() -> None:
    body = rb'{"content":[{"type":"text","text":"a\ud800b"}]}'
    answer = parse_answer(body)
    assert answer.blocks[0].text == "a\ud800b"
    again = rebuild(answer, {0: "c\udfffd"}, structured=None, about={})
    assert parse_answer(again).blocks[0].text == "c\udfffd"
    assert held_text(body, "/content/0/text") == "a\ud800b"
    assert len(key_of("a\ud800b")) == 16


def test_the_same_text_has_the_same_handle() -> None:
    assert key_of("x") == key_of_bytes(b"x") == key_of("x")
    assert key_of("x") != key_of("y")


def test_all_text_falls_back_to_structured_content() -> None:
    assert all_text(BODY) == "first\n\ninner\n\nlast"
    assert all_text(b'{"content":[],"structuredContent":{"a":1}}') == '{"a":1}'


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError"]), anything))
def test_any_object_is_taken_apart_or_refused(result: dict[str, Any]) -> None:
    body = json.dumps(result).encode()
    answer = parse_answer(body)
    again = json.loads(rebuild(answer, {}, structured=answer.structured, about={}))
    content = result.get("content")
    assert again["content"] == (content if isinstance(content, list) else [])
