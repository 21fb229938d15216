"""Choose spans: best first, with what they need, as long as they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compress.segments import Span

_MISSES = 80
"""How many spans in a row may be too large before the rest is given up."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The spans to choose from; sizes of those that can come into question."""

    spans: Sequence[Span]
    order: Sequence[int]
    """Best first."""
    sizes: Sequence[int]
    """Measure of each span; 0 for those that were not counted and cannot be taken."""
    mark: int
    """Measure of a mark at a gap."""

    def take(self, room: int) -> list[int]:
        """The indexes to keep, ascending, so that spans and marks measure about ``room``."""
        spans, sizes, mark = self.spans, self.sizes, self.mark
        count = len(spans)
        kept = bytearray(count + 2)  # index + 1: both ends have a neighbour that is there
        kept[0] = kept[count + 1] = 1
        room -= mark
        misses = 0
        for index in self.order:
            if kept[index + 1]:
                continue
            wanted = [index]
            if spans[index].needs:
                wanted += [need for need in spans[index].needs if not kept[need + 1]]
            cost = 0
            for one in wanted:
                if not sizes[one]:
                    cost = room + 1
                    break
                beside = kept[one] + kept[one + 2]
                cost += sizes[one] + (1 - beside) * mark
            if cost > room:
                misses += 1
                if misses > _MISSES:
                    break
                continue
            misses = 0
            room -= cost
            for one in wanted:
                kept[one + 1] = 1
        self._close_gaps(kept)
        return [index for index in range(count) if kept[index + 1]]

    def _close_gaps(self, kept: bytearray) -> None:
        """A gap of one span that measures no more than its mark is no gap."""
        sizes, mark = self.sizes, self.mark
        index = kept.find(b"\1\0\1")
        while index >= 0:
            if 0 < sizes[index] <= mark:
                kept[index + 1] = 1
            index = kept.find(b"\1\0\1", index + 1)
