"""Chunk by chunk: word for word, with a footer that says how to go on."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.model import CharacterGauge, ContentType, Task
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN
from proxy.compress.progressive import natural_end, progressive
from tests.proxy.compress.gauges import KEY, TEXTS, TokenGauge

GAUGE = CharacterGauge()
TOKENS = TokenGauge()


def first(text: str, budget: int, content: ContentType = ContentType.PROSE, key: str = KEY) -> str:
    found = progressive(Task(text, budget, GAUGE, key=key, content=content))
    assert found is not None
    assert GAUGE.size(found.text) <= budget
    body, token, footer = found.text.rpartition(PROGRESSIVE_FOOTER_TOKEN)
    assert found.overhead == len(token + footer)
    assert text.startswith(body)
    return found.text


def test_the_footer_is_the_one_of_the_specification() -> None:
    text = first("word " * 1000, 400)
    match = re.search(
        r"\n---\n\[progressive: chars=0-(\d+)/5000 \| remaining=(\d+) \| has_more=True\]"
        rf'\n\[-> stm_proxy_read_more\(key="{KEY}", offset=(\d+)\)\]\Z',
        text,
    )
    assert match is not None
    assert int(match[1]) == int(match[3]) == 5000 - int(match[2])


def test_a_chunk_ends_at_a_blank_line_if_one_is_near() -> None:
    text = "a sentence\nand more\n\n" * 100
    body = first(text, 700).rpartition(PROGRESSIVE_FOOTER_TOKEN)[0]
    assert body.endswith("\n\n")


def test_a_chunk_ends_at_a_line_then_at_a_space_then_anywhere() -> None:
    assert natural_end("x" * 90 + "\n" + "y z" + "w" * 40, 0, 100) == 91
    assert natural_end("x" * 90 + " " + "w" * 40, 0, 100) == 91
    assert natural_end("x" * 200, 0, 100) == 100
    assert natural_end("a b" + "x" * 200, 0, 100) == 100


def test_a_chunk_never_ends_inside_a_line_end_or_a_character() -> None:
    assert natural_end("x" * 99 + "\r\n" + "y" * 9, 0, 100) == 99
    assert natural_end("x" * 99 + "\ud83d\ude00" + "y" * 9, 0, 100) == 99
    assert natural_end("x" * 99 + "e\u0301" + "y" * 9, 0, 100) == 99


def test_the_headings_that_follow_are_named() -> None:
    text = "".join(f"# Part {number}\n\n{'words and words ' * 30}\n\n" for number in range(9))
    found = first(text, 1500, ContentType.MARKDOWN)
    assert re.search(r'\n\[Remaining: "Part \d", "Part \d", "Part \d", … \d more\]\n\[-> ', found)


def test_without_a_key_no_call_is_suggested() -> None:
    assert "stm_proxy_read_more" not in first("word " * 1000, 400, key="")


def test_a_budget_for_less_than_the_footer_is_refused() -> None:
    assert progressive(Task("word " * 1000, 30, GAUGE, key=KEY)) is None
    assert progressive(Task("word " * 1000, 0, GAUGE, key=KEY)) is None


@given(TEXTS, st.integers(0, 400), st.sampled_from(list(ContentType)))
def test_any_text_and_budget_fit_or_are_refused(
    text: str, budget: int, content: ContentType
) -> None:
    task = Task(text, budget, GAUGE, key=KEY, content=content)
    found = progressive(task)
    assert found == progressive(task)
    if found is not None:
        assert GAUGE.size(found.text) <= budget
        assert len(found.text) < len(text)
        assert text.startswith(found.text.rpartition(PROGRESSIVE_FOOTER_TOKEN)[0])


@settings(deadline=None, max_examples=40)
@given(TEXTS.map(lambda text: text * 9), st.integers(60, 200))
def test_tokens_fit_too(text: str, budget: int) -> None:
    found = progressive(Task(text, budget, TOKENS, key=KEY))
    if found is not None:
        assert TOKENS.size(found.text) <= budget


def test_a_line_of_fifty_megabytes_takes_no_longer_than_what_is_shown() -> None:
    text = "x" * 50_000_000
    found = progressive(Task(text, 4000, TOKENS, key=KEY))
    assert found is not None
    assert TOKENS.size(found.text) <= 4000
    assert len(found.text) > 4000
