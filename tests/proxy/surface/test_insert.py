"""Memories go into an answer, and every other byte of it stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema_surfacing import SurfacingPosition
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN, footer, progressive_footer
from proxy.surface.insert import insert

APPEND, PREPEND, SECTION = (
    SurfacingPosition.APPEND,
    SurfacingPosition.PREPEND,
    SurfacingPosition.SECTION,
)
MEMORY = 'Memory, not instructions\n1: "quoted" \\ text'
BLOCK = b'{"type":"text","text":' + json.dumps(MEMORY).encode() + b"}"


def _texts(result: bytes | None) -> list[str]:
    assert result is not None
    return [block["text"] for block in json.loads(result)["content"] if block["type"] == "text"]


def test_the_three_positions() -> None:
    result = b'{"content": [ {"type":"text","text":"one"}, {"type":"image","data":""} ] }'
    assert _texts(insert(result, MEMORY, APPEND)) == ["one", MEMORY]
    assert _texts(insert(result, MEMORY, PREPEND)) == [MEMORY, "one"]
    assert _texts(insert(result, MEMORY, SECTION)) == ["one\n\n" + MEMORY]
    two = b'{"content":[{"type":"text","text":"one"},{"text":"two","type":"text"}]}'
    assert _texts(insert(two, MEMORY, SECTION)) == ["one", "two\n\n" + MEMORY]


@pytest.mark.parametrize("position", SurfacingPosition)
def test_an_empty_answer_gets_its_only_block(position: SurfacingPosition) -> None:
    assert insert(b'{"content":[]}', MEMORY, position) == b'{"content":[' + BLOCK + b"]}"
    assert insert(b'{"content": [ ] }', MEMORY, position) == b'{"content": [' + BLOCK + b" ] }"


@pytest.mark.parametrize("position", SurfacingPosition)
@pytest.mark.parametrize(
    "result",
    [b"", b"{}", b"[]", b"null", b'"content"', b'{"content":null}', b'{"content":{}}', b"{odd"],
)
def test_what_has_no_content_has_no_place(result: bytes, position: SurfacingPosition) -> None:
    assert insert(result, MEMORY, position) is None


@pytest.mark.parametrize(
    "text",
    [
        "part" + progressive_footer(0, 4, 100, "k1"),
        "part" + progressive_footer(0, 4, 100, "k1", '"Next"'),
        "[\u2026 contents: section id | tokens | title]\n"
        + footer("k1", 10, 100, "tokens", "lines:1-4"),
        "shown\n" + footer("k1", 10, 100, "tokens"),
        '{"rows": [1, 2]}',
        " [1, 2]\n",
        "see:\n```sh\nmake",
    ],
)
def test_what_has_to_stay_last_stays_last_in_its_block(text: str) -> None:
    result = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    assert _texts(insert(result, MEMORY, SECTION)) == [text, MEMORY]
    assert _texts(insert(result, MEMORY, APPEND)) == [text, MEMORY]
    assert _texts(insert(result, MEMORY, PREPEND)) == [MEMORY, text]


def test_an_agent_that_splits_at_the_token_still_gets_the_chunk() -> None:
    text = "the chunk" + progressive_footer(0, 9, 100, "k1")
    result = json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    for position in SurfacingPosition:
        whole = "\n".join(_texts(insert(result, MEMORY, position)))
        chunk, token, rest = whole.partition(PROGRESSIVE_FOOTER_TOKEN)
        assert chunk.removeprefix(MEMORY + "\n") == "the chunk"
        assert token
        assert rest.startswith("0-9/100 | ")


def test_blocks_that_are_no_text_are_not_continued() -> None:
    for block in (
        b'{"type":"image","text":"x"}',
        b'{"type":"text","text":7}',
        b'{"type":"text"}',
        b'"text"',
        b"17",
    ):
        result = b'{"content":[' + block + b"]}"
        assert insert(result, MEMORY, SECTION) == b'{"content":[' + block + b"," + BLOCK + b"]}"


def test_half_a_surrogate_pair_in_the_memory_does_no_harm() -> None:
    result = insert(b'{"content":[]}', "a\ud800b", APPEND)
    assert _texts(result) == ["a\ufffdb"]


def test_odd_json_survives_to_the_byte() -> None:
    before = (
        b'{"x":NaN,"n":1e999,"content":[{"type":"text","text":"a\\ud800\\u000A","_meta":{"b":-0.0}}'
    )
    after = b' ],\n"structuredContent":{"id":123456789012345678901234567890},"content2":[]}'
    assert insert(before + after, MEMORY, APPEND) == before + b"," + BLOCK + after
    section = insert(before + after, "M", SECTION)
    assert section == before.replace(b"000A", b"000A\\n\\nM") + after


def test_the_last_of_several_contents_is_the_one_that_readers_take() -> None:
    result = b'{"content":[],"content":[{"type":"text","text":"x"}]}'
    assert _texts(insert(result, MEMORY, APPEND)) == ["x", MEMORY]


SPACE = st.sampled_from(["", " ", "\n\t"])
OTHER = st.sampled_from(
    ["NaN", "1e999", '"\\ud800"', "[[], {}]", '{"a":{"content":[1]}}', "-0", '"]}"']
)


@st.composite
def results(draw: Any) -> bytes:
    """Results with blocks and members of every kind, in any order and layout."""
    blocks = st.one_of(
        st.text(max_size=20).map(lambda text: json.dumps({"type": "text", "text": text})),
        st.text(max_size=9).map(
            lambda text: (
                json.dumps({"text": text, "type": "text"}, ensure_ascii=False)
                .encode("utf-8", "replace")
                .decode()
            )
        ),
        OTHER.map(lambda odd: '{"type":"resource", "resource":' + odd + "}"),
        OTHER,
    )
    space = draw(SPACE)
    content = f"{space},{draw(SPACE)}".join(draw(st.lists(blocks, max_size=4)))
    parts = [f'"content"{space}:{space}[{space}{content}{draw(SPACE)}]']
    for name in draw(st.lists(st.sampled_from(["_meta", "isError", "zz"]), max_size=3)):
        parts.insert(draw(st.integers(0, len(parts))), f'"{name}":{draw(OTHER)}')
    return f"{{{space}{','.join(parts)}{draw(SPACE)}}}".encode()


@given(
    results(),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
    st.sampled_from(SurfacingPosition),
)
def test_without_what_was_put_in_the_answer_is_the_same_bytes(
    result: bytes, text: str, position: SurfacingPosition
) -> None:
    placed = insert(result, text, position)
    assert placed is not None
    start = next(
        (at for at, (one, other) in enumerate(zip(placed, result, strict=False)) if one != other),
        len(result),
    )
    added = len(placed) - len(result)
    # What was added may begin with bytes like those that follow: some cut near there restores the input.
    assert any(
        placed[:at] + placed[at + added :] == result
        for at in range(max(0, start - added), start + 1)
    )
    blocks: Any = json.loads(placed)["content"]
    block = blocks[0] if position is PREPEND else blocks[-1]
    if block != {"type": "text", "text": text}:
        assert position is SECTION
        texts: list[str] = [one["text"] for one in blocks if "'text'" in str(one)]
        assert any(one.endswith("\n\n" + text) for one in texts)


@given(st.binary(max_size=60), st.sampled_from(SurfacingPosition))
def test_any_bytes_are_taken(result: bytes, position: SurfacingPosition) -> None:
    placed = insert(result, MEMORY, position)
    assert placed is None or len(placed) > len(result)
