"""Measuring calls: exact, for any bytes, in a child process that never outlives its parent."""

from __future__ import annotations

import io
import os
import signal
import struct
import sys
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.measure import Call, measure
from proxy.measure_child import CALLS, FIGURES, HEAD, TEXTS, figures_of, measured_of, serve
from proxy.measuring import ChildMeasurer, MeasurerHere
from proxy.tokens import InProcessCounter


class Characters:
    """Counts characters and remembers that it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, texts: Sequence[str], /) -> Sequence[int]:
        self.asked += 1
        return [len(text) for text in texts]

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def measurer() -> Iterator[ChildMeasurer]:
    measurer = ChildMeasurer(MeasurerHere(Characters()))
    yield measurer
    measurer.close()


def _answer(text: str) -> bytes:
    return b'{"content":[{"type":"text","text":"%s"}],"structuredContent":{"a":1}}' % text.encode()


def test_counts_are_real_counts(measurer: ChildMeasurer) -> None:
    texts = ["hello world", "", "日本語のテキスト", '{"a":[1,2,3]}', "x" * 100_000]
    assert list(measurer.count(texts)) == list(InProcessCounter()(texts))
    assert measurer.count(["hello world", ""]) == (2, 0)


def test_calls_measure_what_they_measure_here(measurer: ChildMeasurer) -> None:
    long = "many words " * 20_000
    calls: list[Call] = [
        (b'{"q":"hello"}', _answer("hello world")),
        (b"", b""),
        (b'{ "long": "%s" }' % long.encode(), _answer(long)),
        (b"\xff\xfe", b"[" * 50_000),
        (b"NaN", b'{"content":[{"type":"text","text":"\\ud800"}]}'),
        (b"{}", b'{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}'),
    ]
    wanted = [measure(*call, InProcessCounter()) for call in calls]
    assert list(measurer.measure(calls)) == wanted
    assert list(MeasurerHere(InProcessCounter()).measure(calls)) == wanted
    assert wanted[0].text.tokens == 2


def test_nothing_to_measure_needs_no_process() -> None:
    measurer = ChildMeasurer(MeasurerHere(Characters()))
    assert measurer.count([]) == ()
    assert list(measurer.measure([])) == []
    assert measurer.pid is None


def test_lone_surrogates_and_special_tokens_are_ordinary_text(measurer: ChildMeasurer) -> None:
    replaced, odd, special = measurer.count(["a\ufffdb", "a\ud800b", "<|endoftext|>"])
    assert odd == replaced
    assert special > 1


def test_the_child_gets_nothing_of_the_terminal_and_gives_way_to_others(
    measurer: ChildMeasurer,
) -> None:
    measurer.count(["x"])
    assert measurer.pid is not None
    assert os.getpgid(measurer.pid) != os.getpgid(0)
    assert os.getpriority(os.PRIO_PROCESS, measurer.pid) == 19


def test_a_child_that_dies_is_replaced_by_measuring_here() -> None:
    counter = Characters()
    measurer = ChildMeasurer(MeasurerHere(counter))
    try:
        assert measurer.count(["hello world"]) == (2,)
        pid = measurer.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        (measured,) = measurer.measure([(b"[1]", b"")])
        assert measured.arguments.tokens == 3
        assert measurer.pid is None
        assert measurer.count(["hello you"]) == [9]
        assert counter.asked == 2
    finally:
        measurer.close()


def test_a_child_that_cannot_start_is_replaced_by_measuring_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert ChildMeasurer(MeasurerHere(Characters())).count(["abc"]) == [3]


def test_the_child_ends_with_its_input_and_measuring_after_close_starts_anew() -> None:
    measurer = ChildMeasurer(MeasurerHere(Characters()))
    try:
        measurer.count(["x"])
        child = measurer._child
        assert child is not None
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(timeout=10) == 0
        measurer.close()
        assert measurer.count(["hello world"]) == (2,)
    finally:
        measurer.close()


JSON_LIKE = st.binary(max_size=60) | st.text(max_size=40).map(_answer)


@given(st.lists(st.tuples(st.binary(max_size=40), JSON_LIKE), max_size=5))
def test_any_bytes_come_through_the_pipe_as_they_are(calls: list[Call]) -> None:
    payloads = [payload for call in calls for payload in call]
    lengths = struct.pack(f"<{len(payloads)}Q", *map(len, payloads))
    question = HEAD.pack(CALLS, len(calls)) + lengths + b"".join(payloads)
    question += HEAD.pack(TEXTS, 1) + struct.pack("<Q", 3) + b"abc"
    answer = io.BytesIO()

    serve(io.BytesIO(question), answer, Characters())

    numbers = struct.unpack(f"<{len(answer.getvalue()) // 8}Q", answer.getvalue())
    assert numbers[-1] == 3
    wanted = [measure(*call, Characters()) for call in calls]
    assert numbers[:-1] == tuple(figure for one in wanted for figure in figures_of(one))
    starts = range(0, len(numbers) - 1, FIGURES)
    assert [measured_of(numbers[start : start + FIGURES]) for start in starts] == wanted
