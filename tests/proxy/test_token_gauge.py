"""The token gauge counts exactly, takes any text, and forgets."""

from __future__ import annotations

from typing import Any

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.model import Gauge
from proxy.token_gauge import TokenGauge
from proxy.tokens import InProcessCounter


@pytest.fixture(scope="module")
def gauge() -> TokenGauge:
    return TokenGauge()


def test_sizes_are_those_of_the_ledger(gauge: TokenGauge) -> None:
    texts = ["hello world", "", "日本語のテキスト", '{"a":[1,2,3]}', "x" * 100_000, "a\ud800b"]
    wanted = list(InProcessCounter()(texts))
    assert list(gauge.sizes(texts)) == wanted
    assert [gauge.size(text) for text in texts] == wanted
    assert [gauge.size(text) for text in texts] == wanted


def test_it_measures_tokens_for_strategies(gauge: TokenGauge) -> None:
    used: Gauge = gauge
    assert used.unit == "tokens"
    assert used.size("hello world") == 2
    assert list(used.sizes([])) == []
    assert list(used.sizes(["hello world"])) == [2]


def test_a_long_text_is_counted_once_until_forgotten(gauge: TokenGauge) -> None:
    counted: list[str] = []
    real = gauge._one

    def count(text: str) -> int:
        counted.append(text)
        return real(text)

    text = "some words " * 1000
    gauge.forget()
    gauge._one = count
    try:
        first = gauge.size(text)
        assert (gauge.size(text), list(gauge.sizes([text]))) == (first, [first])
        assert len(counted) == 1
        gauge.forget()
        assert gauge.size(text) == first
        assert len(counted) == 2
    finally:
        gauge._one = real


@pytest.mark.parametrize("count", [2, 299, 300, 1000])
def test_many_texts_measure_what_each_of_them_does(gauge: TokenGauge, count: int) -> None:
    texts = [f"text number {number} of some" for number in range(count - 1)]
    for last in ("", "\ud800", "<|endoftext|>"):
        assert list(gauge.sizes([*texts, last])) == [gauge.size(text) for text in [*texts, last]]


class OnlyBatches:
    """The package's tokenizer without the method that the gauge prefers."""

    def __init__(self, real: Any) -> None:
        self.count_batch = real.count_batch


def test_it_counts_without_what_the_package_keeps_to_itself(
    monkeypatch: pytest.MonkeyPatch, gauge: TokenGauge
) -> None:
    texts = ["hello world", "a\ud800b", "", "x" * 1000]
    real = toktok._encoding
    monkeypatch.setattr(toktok, "_encoding", lambda name: OnlyBatches(real(name)))
    other = TokenGauge()
    assert other._one is not gauge._one
    assert [other.size(text) for text in texts] == [gauge.size(text) for text in texts]


def test_the_memory_is_bounded(gauge: TokenGauge) -> None:
    for number in range(300):
        gauge.size(f"{number} " * 600)
    assert len(gauge._known) <= 64
    gauge.forget()
    assert not gauge._known


@given(st.text(st.characters(), max_size=300))
def test_no_text_measures_more_than_its_bytes(text: str) -> None:
    assert TokenGauge().size(text) <= len(text.encode("utf-8", "surrogatepass"))


def test_a_long_text_among_others_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    used = TokenGauge()
    text = "one line of many\n" * 1_000
    first = list(used.sizes([text, ""]))

    def never(_text: str) -> int:
        raise AssertionError("this was counted before")

    monkeypatch.setattr(used, "_one", never)
    assert [used.size(text), 0] == first


def lines(count: int) -> str:
    return "".join(
        f"12:00:01 INFO request {number} took {number % 97} ms\n" for number in range(count)
    )


def test_a_long_text_far_above_the_limit_is_estimated_and_said_to_have_so_many_from_then_on() -> (
    None
):
    gauge = TokenGauge()
    text = lines(20_000)
    exact = gauge.size(text)
    gauge.forget()
    about = gauge.estimate(text, 4_000)
    assert about is not None
    assert abs(about - exact) < exact / 50
    assert about == int(float(f"{about:.2e}"))
    assert gauge.size(text) == about
    gauge.forget()
    assert gauge.size(text) == exact


@pytest.mark.parametrize(("count", "limit"), [(100, 1), (20_000, 250_000)])
def test_a_text_that_is_short_or_not_far_above_the_limit_is_counted(count: int, limit: int) -> None:
    gauge = TokenGauge()
    assert gauge.estimate(lines(count), limit) is None


def test_what_was_counted_is_not_estimated() -> None:
    gauge = TokenGauge()
    text = lines(20_000)
    exact = gauge.size(text)
    assert gauge.estimate(text, 10) is None
    assert gauge.size(text) == exact
