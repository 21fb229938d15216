"""The last resort: any text, any budget, always within it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.cuts import (
    fit_prefix,
    fit_suffix,
    natural_end,
    natural_start,
    safe_end,
    safe_start,
)
from proxy.compress.model import CharacterGauge, ContentType, Task
from proxy.compress.truncate import truncate
from proxy.tokens import InProcessCounter

KEY = "0123456789abcdef"
TEXTS = st.one_of(
    st.text(max_size=300),
    st.text(
        alphabet=st.sampled_from(
            list("ab \n\r\t.\u0301\u200d\U0001f469\ud800\udc00中\u0e01\u0627")
        ),
        max_size=400,
    ),
    st.lists(st.text(max_size=40), max_size=40).map("\n".join),
)


class TokenGauge:
    """Real o200k tokens."""

    unit = "tokens"

    def __init__(self) -> None:
        self._counter = InProcessCounter()

    def size(self, text: str, /) -> int:
        return self._counter([text])[0]

    def sizes(self, texts: Sequence[str], /) -> Sequence[int]:
        return self._counter(texts)


@pytest.fixture(scope="module")
def tokens() -> TokenGauge:
    return TokenGauge()


def task(text: str, budget: int, key: str = KEY) -> Task:
    return Task(text, budget, CharacterGauge(), key=key)


@given(TEXTS, st.integers(0, 400), st.sampled_from(["", KEY]))
def test_any_text_fits_any_budget_and_the_same_again(text: str, budget: int, key: str) -> None:
    found = truncate(task(text, budget, key))
    assert CharacterGauge().size(found.text) <= budget
    assert found.text == truncate(task(text, budget, key)).text
    assert len(found.text) <= len(text)
    assert found.complete == (found.text == text)


@settings(deadline=None)
@given(TEXTS, st.integers(0, 120))
def test_any_text_fits_any_budget_of_tokens(tokens: TokenGauge, text: str, budget: int) -> None:
    found = truncate(Task(text, budget, tokens, key=KEY))
    assert tokens.size(found.text) <= budget


def test_a_text_within_the_budget_comes_back_as_it_is() -> None:
    found = truncate(task("short\r\n", 7))
    assert found.text == "short\r\n"
    assert found.complete


def test_the_cut_is_at_a_lines_end_and_names_the_lines_that_follow() -> None:
    text = "\n".join(f"line {number} of many" for number in range(1, 201))
    found = truncate(task(text, 600))
    body, note = found.text.rsplit("\n", 1)
    shown = body.count("\n") + 1
    assert text.startswith(body + "\n")
    assert f'sections=["lines:{shown + 1}-200"]' in note
    assert f'stm_proxy_read_more(key="{KEY}")' in note
    assert found.overhead == len(note)


def test_a_small_budget_keeps_a_short_announcement_and_a_tiny_one_nothing() -> None:
    text = "word " * 500
    assert "not shown" not in truncate(task(text, 150)).text
    assert "of 2,500 characters shown]" in truncate(task(text, 150)).text
    assert KEY not in truncate(task(text, 150)).text
    assert truncate(task(text, 6)).text.endswith("…")
    assert truncate(task(text, 0)).text == ""


def test_without_a_handle_no_tool_is_named() -> None:
    found = truncate(task("word " * 500, 400, key=""))
    assert "stm_proxy" not in found.text
    assert found.text.endswith("characters shown]")


def test_json_is_cut_as_text_when_it_cannot_stay_json() -> None:
    text = '{"a": ' + "[" * 20_000
    found = truncate(Task(text, 300, CharacterGauge(), key=KEY, content=ContentType.JSON_OBJECT))
    assert len(found.text) <= 300


@given(
    st.text(
        alphabet=st.sampled_from(
            list("ab\r\n\u0301\u200d\U0001f469\U0001f1e6\U0001f1ff\ud83d\udc69")
        ),
        max_size=40,
    )
)
def test_a_cut_separates_no_pair_no_mark_and_no_line_end(text: str) -> None:
    for at in range(len(text) + 1):
        before, after = safe_start(text, at), safe_end(text, at)
        assert 0 <= before <= at <= after <= len(text)
        for place in (before, after):
            if 0 < place < len(text):
                assert text[place] not in ("\u0301", "\u200d")
                assert text[place - 1 : place + 1] not in ("\r\n", "\ud83d\udc69")


def test_a_flag_is_not_cut_in_halves() -> None:
    text = "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"
    assert [safe_start(text, at) for at in range(5)] == [0, 0, 2, 2, 4]


@given(TEXTS, st.integers(0, 300))
def test_prefix_and_suffix_are_as_long_as_the_room_allows(text: str, room: int) -> None:
    gauge = CharacterGauge()
    assert fit_prefix(text, room, gauge) == min(room, len(text))
    assert fit_suffix(text, room, gauge) == min(room, len(text))


def test_natural_boundaries_are_blank_lines_lines_sentences_words() -> None:
    assert natural_end("word " * 20 + "one\n\ntwo three", 112) == 105
    assert natural_end("a first line here\nnext", 20) == 18
    assert natural_end("The end of it. Then more words", 16) == 14
    assert natural_end("many plain words here", 13) == 11
    assert natural_start("zero one\ntwo three four five", 7) == 9
    assert natural_start("zero one two three four five", 7) == 9


def test_a_line_of_many_megabytes_takes_linear_time(tokens: TokenGauge) -> None:
    text = "x1y" * 2_000_000
    started = time.perf_counter()
    found = truncate(Task(text, 4000, tokens, key=KEY))
    assert tokens.size(found.text) <= 4000
    assert time.perf_counter() - started < 5
