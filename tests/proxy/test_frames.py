"""Frames out of a byte stream."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.frames import FrameSplitter, FrameTooLong

_LINE = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"").strip()).filter(bool)


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    edges = [0, *places, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(st.lists(_LINE), st.lists(st.integers(min_value=0)))
def test_any_split_of_the_same_bytes_gives_the_same_lines(
    lines: list[bytes], cuts: list[int]
) -> None:
    splitter = FrameSplitter(1000)
    data = b"".join(line + b"\n" for line in lines)

    found = [line for piece in _cut(data, cuts) for line in splitter.feed(piece)]

    assert found == lines
    assert splitter.held == 0


@given(st.lists(st.sampled_from([3, 40_000, 160_000]), max_size=8), st.data())
def test_lines_of_any_size_come_out_of_the_room_that_they_are_read_to(
    sizes: list[int], data: st.DataObject
) -> None:
    splitter = FrameSplitter(160_000)
    lines = [bytes([97 + number % 26]) * size for number, size in enumerate(sizes)]
    waiting = memoryview(b"".join(line + b"\n" for line in lines))
    pieces = itertools.cycle(data.draw(st.lists(st.integers(1, 200_000), min_size=1, max_size=4)))
    found: list[bytes] = []
    while waiting:
        room = splitter.room()
        size = min(len(room), len(waiting), max(next(pieces), len(waiting) // 100))
        room[:size] = waiting[:size]
        waiting = waiting[size:]
        found += splitter.filled(size)
        del room

    assert found == lines
    assert splitter.held == 0


def test_the_room_for_a_large_line_is_given_back() -> None:
    splitter = FrameSplitter(100_000_000)
    usual = len(splitter.room())
    for size in (9_000_000, 1_000_000):
        splitter.feed(b"x" * size + b"\n")
        for _ in range(40):
            assert splitter.feed(b"{}\n") == [b"{}"]
        assert len(splitter.room()) == usual


def test_windows_line_ends_and_blank_lines_are_no_part_of_a_frame() -> None:
    assert FrameSplitter(100).feed(b'\r\n{"a":1}\r\n\n  \n{"b":2}\n') == [b'{"a":1}', b'{"b":2}']


def test_a_line_as_long_as_the_limit_passes_and_one_byte_more_does_not() -> None:
    assert FrameSplitter(5).feed(b"12345\n") == [b"12345"]
    with pytest.raises(FrameTooLong):
        FrameSplitter(5).feed(b"123456\n")


def test_a_line_without_end_is_refused_while_it_is_read() -> None:
    splitter = FrameSplitter(10)
    splitter.feed(b"12345")

    with pytest.raises(FrameTooLong, match="longer than 10 bytes"):
        splitter.feed(b"678901")
