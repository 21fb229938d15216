"""Choose spans: best first, with what they need, as long as they fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

from proxy.compress.model import Gauge
from proxy.compress.segments import Span, SpanKind

_MISSES = 80
"""How many spans in a row may be too large before the rest is given up."""
_MEASURED = 120
"""Candidates that are measured together."""
_LONGEST_UNIT = 16
"""Characters that one token of a text has at most, nearly always."""
_SEPARATE = 8
"""Characters that are counted for what stands between spans."""


def candidates(spans: Sequence[Span], order: Iterable[int], room: int) -> list[int]:
    """The first of ``order`` (best first) that have about ``room`` characters together."""
    fence = SpanKind.FENCE
    found: list[int] = []
    for index in order:
        start, end, kind, _, _ = spans[index]
        if kind is fence:
            continue  # comes with its code
        found.append(index)
        room -= end - start + _SEPARATE
        if room < 0:
            break
    return found


class Choice:
    """The spans to choose from. They are measured when they come into question, and once."""

    def __init__(
        self, spans: Sequence[Span], order: Sequence[int], mark: int, text: str, gauge: Gauge
    ) -> None:
        """``order``: the candidates, best first. ``mark``: the measure of a mark at a gap."""
        self.mark = mark
        self._spans = spans
        self._order = order
        self._text = text
        self._gauge = gauge
        self._sizes = [0] * len(spans)
        """Measure of each span; 0 for those that were not measured and cannot be taken."""
        self._measured = 0
        """How many of the candidates are measured, with what they need."""
        self._known = (0, 0, b"")
        """How the last choice was before the first candidate did not fit: its place in the order, what was
        spent, and what was kept. Any room that allows for as much leads there."""

    def take(self, room: int) -> list[int]:
        """The indexes to keep, ascending, so that spans and marks measure about ``room``."""
        spans, sizes, mark, order = self._spans, self._sizes, self.mark, self._order
        count = len(spans)
        room -= mark
        begin, spent, known = self._known
        if known and spent <= room:
            kept = bytearray(known)
            room -= spent
        else:
            begin, spent = 0, 0
            kept = bytearray(count + 2)  # index + 1: both ends have a neighbour that is there
            kept[0] = kept[count + 1] = 1
        misses = 0
        missed = False
        for number in range(begin, len(order)):
            index = order[number]
            if kept[index + 1]:
                continue
            if number >= self._measured:
                self._measure_more(number)
            cost = sizes[index] + mark - mark * (kept[index] + kept[index + 2])
            needs = spans[index][4]
            missing: Sequence[int] = ()
            if needs and not kept[needs[-1] + 1]:  # else the others are kept, too
                missing = [need for need in needs if not kept[need + 1]]
                for one in missing:
                    cost += sizes[one] + mark - mark * (kept[one] + kept[one + 2])
            if cost > room:
                if not missed:
                    missed = True
                    self._known = (number, spent, bytes(kept))
                misses += 1
                if misses > _MISSES:
                    break
                continue
            misses = 0
            room -= cost
            spent += cost
            kept[index + 1] = 1
            for one in missing:
                kept[one + 1] = 1
        self._close_gaps(kept)
        return list(compress(range(count), memoryview(kept)[1:]))

    def _measure_more(self, number: int) -> None:
        """Measure the candidates from the one with this number on, and what they need."""
        spans = self._spans
        self._measured = number + _MEASURED
        wanted = set(self._order[number : self._measured])
        for needs in {spans[index].needs for index in wanted}:
            wanted.update(needs)
        self._measure(sorted(wanted))

    def _measure(self, indexes: Iterable[int]) -> None:
        spans, sizes, text = self._spans, self._sizes, self._text
        new = [index for index in indexes if not sizes[index]]
        parts = [text[spans[index].start : spans[index].end] for index in new]
        for index, size in zip(new, self._gauge.sizes(parts), strict=True):
            sizes[index] = size or 1

    def _close_gaps(self, kept: bytearray) -> None:
        """A gap of one span that measures no more than its mark is no gap."""
        spans, longest = self._spans, _LONGEST_UNIT * self.mark
        alone: list[int] = []
        index = kept.find(b"\1\0\1")
        while index >= 0:
            if spans[index].end - spans[index].start <= longest:
                alone.append(index)
            index = kept.find(b"\1\0\1", index + 1)
        self._measure(alone)
        for index in alone:
            if self._sizes[index] <= self.mark:
                kept[index + 1] = 1
