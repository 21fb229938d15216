"""Folded logs come back byte for byte, and are only used when they save enough."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema import Compression
from proxy.compress.lossless_log import fold, fold_log, unfold_log
from proxy.compress.model import CharacterGauge, ContentType, Task
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge

TOKENS = TokenGauge()
LINES = st.lists(
    st.sampled_from(
        [
            "12:00:01 INFO user=alice took 5 ms",
            "12:00:02 INFO user=bob took 17 ms",
            "12:00:02 INFO user=bob took 17 ms\r",
            "13:10:02\tINFO user=carol took {} ms",
            "= x|y <> [] \u00a4",
            "A=1",
            "A|1",
            "A|",
            "*3",
            "|",
            "",
            "  at x.y(Z.java:7)",
            "f=\u00e9\u4e2d 1",
        ]
    ),
    max_size=60,
).map("\n".join)


def access_log(lines: int, end: str = "\n") -> str:
    return end.join(
        f"2026-11-30T12:{i // 60:02d}:{i % 60:02d}Z INFO [worker-{i % 4}] GET /v1/items/{i * 7919 % 9973} "
        f"status=200 took={i * 31 % 97}ms"
        for i in range(lines)
    )


@given(st.one_of(TEXTS, STRUCTURED, LINES))
def test_whatever_is_folded_comes_back_exactly(text: str) -> None:
    folded = fold(text)
    assert folded is None or unfold_log(folded) == text
    assert fold(text) == folded


@given(LINES, st.integers(0, 2000))
def test_a_folded_log_fits_saves_a_tenth_and_is_complete(text: str, budget: int) -> None:
    found = fold_log(Task(text, budget, CharacterGauge(), content=ContentType.LOG))
    if found is not None:
        assert found.complete
        assert len(found.text) <= budget
        assert len(found.text) <= 0.9 * len(text)
        assert unfold_log(found.text) == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n", "\n\n"])
def test_line_ends_and_the_end_of_the_text_survive(end: str, last: str) -> None:
    text = access_log(50, end) + last
    folded = fold(text)
    assert folded is not None
    assert len(folded) < 0.6 * len(text)
    assert unfold_log(folded) == text


def test_a_usual_log_loses_a_third_of_its_tokens_and_the_legend_is_short() -> None:
    text = access_log(200)
    found = fold_log(Task(text, 100_000, TOKENS, key=KEY, content=ContentType.LOG))
    assert found is not None
    assert found.strategy is Compression.LOSSLESS
    assert TOKENS.size(found.text) <= 0.67 * TOKENS.size(text)
    assert found.overhead <= 60


def test_repeated_lines_become_a_number() -> None:
    text = "disk is nearly full\n" * 5_000
    folded = fold(text)
    assert folded is not None
    assert len(folded) < 300
    assert unfold_log(folded) == text


def test_a_log_that_cannot_fit_is_given_up_at_once() -> None:
    assert (
        fold_log(Task(access_log(9_000), 1_000, CharacterGauge(), content=ContentType.LOG)) is None
    )


def test_a_text_that_uses_every_mark_is_not_folded() -> None:
    assert fold("|\u00a6\u2502~^ x 1\n" * 10) is None


@pytest.mark.parametrize(
    "text", ["", "no legend", "[folded log, complete: but not like this]\nA|1"]
)
def test_what_was_not_folded_is_not_unfolded(text: str) -> None:
    with pytest.raises(ValueError, match="not a folded log"):
        unfold_log(text)


def test_a_row_without_its_template_is_refused() -> None:
    folded = fold(access_log(50))
    assert folded is not None
    with pytest.raises(ValueError, match="no template"):
        unfold_log(folded.split("\n", 1)[0] + "\nB|1")


def test_a_log_of_chance_is_not_folded_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(4)
    text = "\n".join(f"12:00:01 INFO id={dice.getrandbits(256):064x}" for _ in range(300))

    def never(_text: str) -> str:
        raise AssertionError("nothing like this fits")

    monkeypatch.setattr("proxy.compress.lossless_log.fold", never)
    assert fold_log(Task(text, 4_000, TOKENS, content=ContentType.LOG)) is None


def test_many_equal_lines_are_folded_however_long() -> None:
    text = "\n".join(["12:00:01 INFO nothing new"] * 30_000 + ["12:00:02 INFO done"])
    found = fold_log(Task(text, 400, TOKENS, content=ContentType.LOG))
    assert found is not None
    assert unfold_log(found.text) == text
