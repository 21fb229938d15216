"""Counting tokens: exact, for any text, in a child process that never outlives its parent."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence

import pytest

from proxy.tokens import ChildCounter, InProcessCounter


class Fallback:
    """Counts characters and remembers that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        self.asked += 1
        return [len(text) for text in texts]

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def counter() -> Iterator[ChildCounter]:
    counter = ChildCounter(Fallback())
    yield counter
    counter.close()


def test_counts_are_real_counts(counter: ChildCounter) -> None:
    texts = ["hello world", "", "日本語のテキスト", '{"a":[1,2,3]}', "x" * 100_000]
    assert list(counter(texts)) == list(InProcessCounter()(texts))
    assert counter(["hello world", ""]) == (2, 0)


def test_no_texts_need_no_process() -> None:
    counter = ChildCounter(Fallback())
    assert counter([]) == []
    assert counter.pid is None


def test_lone_surrogates_and_special_tokens_are_ordinary_text(counter: ChildCounter) -> None:
    replaced, odd, special = counter(["a\ufffdb", "a\ud800b", "<|endoftext|>"])
    assert odd == replaced
    assert special > 1


def test_a_child_that_dies_is_replaced_by_counting_here() -> None:
    fallback = Fallback()
    counter = ChildCounter(fallback)
    try:
        assert counter(["hello world"]) == (2,)
        pid = counter.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert counter(["hello"]) == [5]
        assert counter.pid is None
        assert counter(["hello you"]) == [9]
        assert fallback.asked == 2
    finally:
        counter.close()


def test_a_child_that_cannot_start_is_replaced_by_counting_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    fallback = Fallback()
    assert ChildCounter(fallback)(["abc"]) == [3]


def test_the_child_ends_when_its_input_ends_as_it_does_when_the_parent_is_killed() -> None:
    counter = ChildCounter(Fallback())
    counter(["x"])
    child = counter._child
    assert child is not None
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=10) == 0
    counter.close()


def test_counting_after_close_starts_anew() -> None:
    counter = ChildCounter(Fallback())
    try:
        assert counter(["hello world"]) == (2,)
        counter.close()
        assert counter(["hello world"]) == (2,)
    finally:
        counter.close()


def test_the_child_takes_no_signals_from_the_terminal() -> None:
    counter = ChildCounter(Fallback())
    try:
        counter(["x"])
        assert counter.pid is not None
        assert os.getpgid(counter.pid) != os.getpgid(0)
    finally:
        counter.close()
