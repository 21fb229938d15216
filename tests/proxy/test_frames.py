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
