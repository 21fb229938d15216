"""Counting tokens: exact, for any text."""

from __future__ import annotations

from proxy.tokens import InProcessCounter


def test_counts_are_real_counts() -> None:
    assert list(InProcessCounter()(["hello world", "", "<|endoftext|>"])) == [2, 0, 7]


def test_lone_surrogates_count_as_replacement_characters() -> None:
    replaced, odd, plain = InProcessCounter()(["a\ufffdb", "a\ud800b", "hello world"])
    assert odd == replaced
    assert plain == 2
