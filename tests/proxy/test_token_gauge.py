"""The token gauge counts exactly, takes any text, and forgets."""

from __future__ import annotations

import pytest
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
    counted: list[int] = []
    real = gauge._count

    def count(texts: list[str], *rest: object, **named: object) -> list[int]:
        counted.append(len(texts))
        return real(texts, *rest, **named)

    text = "some words " * 1000
    gauge.forget()
    gauge._count = count
    try:
        first = gauge.size(text)
        assert (gauge.size(text), list(gauge.sizes([text]))) == (first, [first])
        assert counted == [1]
        gauge.forget()
        assert gauge.size(text) == first
        assert counted == [1, 1]
    finally:
        gauge._count = real


def test_the_memory_is_bounded(gauge: TokenGauge) -> None:
    for number in range(300):
        gauge.size(f"{number} " * 600)
    assert len(gauge._known) <= 64
    gauge.forget()
    assert not gauge._known


@given(st.text(st.characters(), max_size=300))
def test_no_text_measures_more_than_its_bytes(text: str) -> None:
    assert TokenGauge().size(text) <= len(text.encode("utf-8", "surrogatepass"))
