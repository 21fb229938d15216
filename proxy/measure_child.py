"""The process that measures calls for the record: payloads in, as they were relayed, figures out.

A request is a kind (1 byte), a number of items (4 bytes), the lengths of its payloads (8 bytes each) and
the payloads; a text has one, a call two: arguments and result. The answer is one number (8 bytes) for a
text, ten for a call. All little-endian. The process ends when its input ends, so it never outlives the
station.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Sequence
from typing import BinaryIO

from proxy.heap import keep_freed_memory
from proxy.measure import Count, Measured, measure_all
from proxy.model import Sizes
from proxy.tokens import InProcessCounter

TEXTS = 0
"""Kind: payloads are texts in UTF-8."""
CALLS = 1
"""Kind: payloads are arguments and results in turn."""
HEAD = struct.Struct("<BI")
FIGURES = 10
"""Numbers that describe one call."""
_LOADING = 10
_WORKING = 19
"""Niceness. Loading is soon over; the rest may take what nobody else wants."""


def main() -> None:
    """Load the vocabulary and measure until the input ends."""
    keep_freed_memory()
    niceness = _be_nice(_LOADING)
    count = InProcessCounter()
    count(["a"])
    _be_nice(_WORKING - niceness)
    serve(sys.stdin.buffer, sys.stdout.buffer, count)


def serve(source: BinaryIO, sink: BinaryIO, count: Count) -> None:
    """Answer requests until ``source`` ends."""
    while len(head := source.read(HEAD.size)) == HEAD.size:
        kind, number = HEAD.unpack(head)
        payloads = _payloads(source, number if kind == TEXTS else 2 * number)
        figures = _tokens(payloads, count) if kind == TEXTS else _measured(payloads, count)
        del payloads
        sink.write(struct.pack(f"<{len(figures)}Q", *figures))
        sink.flush()


def figures_of(measured: Measured) -> tuple[int, ...]:
    """The numbers that describe one call."""
    parts = (measured.arguments, measured.text, measured.structured)
    sizes = [figure for part in parts for figure in (part.bytes, part.characters, part.tokens)]
    return (*sizes, measured.other_bytes)


def measured_of(figures: Sequence[int]) -> Measured:
    """The call that `figures_of` described."""
    return Measured(
        Sizes(*figures[0:3]), Sizes(*figures[3:6]), Sizes(*figures[6:9]), figures[FIGURES - 1]
    )


def _payloads(source: BinaryIO, number: int) -> list[bytes]:
    lengths = struct.unpack(f"<{number}Q", source.read(8 * number))
    return [source.read(length) for length in lengths]


def _tokens(payloads: Sequence[bytes], count: Count) -> Sequence[int]:
    return count([payload.decode("utf-8", "replace") for payload in payloads])


def _measured(payloads: Sequence[bytes], count: Count) -> Sequence[int]:
    calls = list(zip(payloads[::2], payloads[1::2], strict=True))
    return [figure for one in measure_all(calls, count) for figure in figures_of(one)]


def _be_nice(by: int) -> int:
    """Give way to others from now on; returns the niceness."""
    nice: Callable[[int], int] | None = getattr(os, "nice", None)
    return by if nice is None else nice(by)
