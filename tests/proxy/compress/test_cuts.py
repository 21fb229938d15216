"""Where texts may be cut, and how much of them fits."""

from __future__ import annotations

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
from proxy.compress.model import CharacterGauge
from tests.proxy.compress.gauges import TEXTS, TokenGauge

TOKENS = TokenGauge()


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


def test_a_chain_of_marks_without_end_is_cut_all_the_same() -> None:
    text = "a" + "\u0301" * 10_000
    assert safe_start(text, 5_000) == 5_000
    assert safe_end(text, 5_000) == 5_000


@given(TEXTS, st.integers(0, 300))
def test_prefix_and_suffix_are_as_long_as_the_room_allows(text: str, room: int) -> None:
    gauge = CharacterGauge()
    assert fit_prefix(text, room, gauge) == min(room, len(text))
    assert fit_suffix(text, room, gauge) == min(room, len(text))


@settings(deadline=None)
@given(TEXTS.map(lambda text: text * 3), st.integers(0, 60))
def test_prefix_and_suffix_fit_when_tokens_are_counted(text: str, room: int) -> None:
    start, end = fit_prefix(text, room, TOKENS), fit_suffix(text, room, TOKENS)
    assert TOKENS.size(text[:start]) <= room
    assert TOKENS.size(text[len(text) - end :]) <= room


def test_nearly_all_of_the_room_is_used_when_tokens_are_counted() -> None:
    text = "The quick brown fox, 1234567 times over: jumps! " * 500
    assert TOKENS.size(text[: fit_prefix(text, 1000, TOKENS)]) >= 970


def test_natural_boundaries_are_blank_lines_lines_sentences_words() -> None:
    assert natural_end("word " * 20 + "one\n\ntwo three", 112) == 105
    assert natural_end("a first line here\nnext", 20) == 18
    assert natural_end("The end of it. Then more words", 16) == 14
    assert natural_end("many plain words here", 12) == 11
    assert natural_start("zero one\ntwo three four five", 7) == 9
    assert natural_start("zero one two three four five", 7) == 9


@given(TEXTS, st.integers(-3, 500))
def test_natural_boundaries_lie_on_the_near_side(text: str, at: int) -> None:
    place = max(0, min(at, len(text)))
    assert 0 <= natural_end(text, at) <= place
    assert place <= natural_start(text, at) <= len(text)
