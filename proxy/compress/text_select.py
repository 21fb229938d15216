"""Choose spans: best first, with what they need, as long as they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from proxy.compress.segments import Span

_MISSES = 80
"""How many spans in a row may be too large before the rest is given up."""

_NEVER = 1 << 40
"""Cost of a span that was not counted."""


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
            size = sizes[index]
            cost = size + mark - mark * (kept[index] + kept[index + 2]) if size else _NEVER
            needs = spans[index].needs
            missing = [need for need in needs if not kept[need + 1]] if needs else needs
            for one in missing:
                size = sizes[one]
                cost += size + mark - mark * (kept[one] + kept[one + 2]) if size else _NEVER
            if cost > room:
                misses += 1
                if misses > _MISSES:
                    break
                continue
            misses = 0
            room -= cost
            kept[index + 1] = 1
            for one in missing:
                kept[one + 1] = 1
        self._close_gaps(kept)
        return list(compress(range(count), memoryview(kept)[1:]))

    def _close_gaps(self, kept: bytearray) -> None:
        """A gap of one span that measures no more than its mark is no gap."""
        sizes, mark = self.sizes, self.mark
        index = kept.find(b"\1\0\1")
        while index >= 0:
            if 0 < sizes[index] <= mark:
                kept[index + 1] = 1
            index = kept.find(b"\1\0\1", index + 1)
