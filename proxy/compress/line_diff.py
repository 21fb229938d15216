"""The difference of two lists of lines, in bounded time.

Common ends are stripped, lines that occur once on both sides are aligned (patience), and what is left
between them is compared exactly (Myers, "An O(ND) Difference Algorithm", 1986) within a fixed amount of
work. A part that would take more counts as replaced: the difference is then longer, never wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

MOST_WORK = 200_000
"""Steps of the exact comparison over all parts together, about 40 ms."""
_FEW_EDITS = 32
"""Up to so many insertions and deletions are found first, before lines are looked at one by one."""
_MOST_EDITS = 120
"""Insertions and deletions in one part that is compared exactly."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """``old[old_start:old_end]`` became ``new[new_start:new_end]``; one of them may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def line_diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """What changed, in order; the parts between hunks are equal on both sides."""
    start = _equal_start(old, new, (0, len(old), 0, len(new)))
    end = _equal_end(old, new, (start, len(old), start, len(new)))
    work = [MOST_WORK]
    middle = (start, len(old) - end, start, len(new) - end)
    few = _exact(old, new, middle, work, _FEW_EDITS)
    if few is not None:
        runs = [(0, 0, start), *sorted(few), (len(old) - end, len(new) - end, end)]
        return [Hunk(*gap) for gap in _gaps([run for run in runs if run[2]], len(old), len(new))]
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(line, len(numbers)) for line in old[start : len(old) - end]]
    right = [numbers.setdefault(line, len(numbers)) for line in new[start : len(new) - end]]
    pairs: list[tuple[int, int, int]] = []
    waiting = [(0, len(left), 0, len(right))]
    while waiting:
        area = waiting.pop()
        a1, a2, b1, b2 = area
        count = _equal_start(left, right, area)
        pairs.append((a1, b1, count))
        a1, b1 = a1 + count, b1 + count
        count = _equal_end(left, right, (a1, a2, b1, b2))
        a2, b2 = a2 - count, b2 - count
        pairs.append((a2, b2, count))
        area = (a1, a2, b1, b2)
        if a1 == a2 or b1 == b2:
            continue
        anchors = _anchors(left, right, area)
        if anchors:
            at_left, at_right = a1, b1
            for x, y in [*anchors, (a2, b2)]:
                if x > at_left and y > at_right:
                    waiting.append((at_left, x, at_right, y))
                if x < a2:
                    pairs.append((x, y, 1))
                at_left, at_right = x + 1, y + 1
            continue
        pairs += _exact(left, right, area, work, _MOST_EDITS) or []
    runs = sorted(pair for pair in pairs if pair[2])
    return [
        Hunk(x1 + start, x2 + start, y1 + start, y2 + start)
        for x1, x2, y1, y2 in _gaps(runs, len(left), len(right))
    ]


_Line = TypeVar("_Line", str, int)
_Area = tuple[int, int, int, int]
"""From and to on the left, from and to on the right."""
_Run = tuple[int, int, int]
"""Start on the left, start on the right, number of equal lines."""


def _equal_start(left: Sequence[_Line], right: Sequence[_Line], area: _Area) -> int:
    """How many lines at the beginning of both sides are equal. Compares slices, doubling them."""
    a1, a2, b1, b2 = area
    most = min(a2 - a1, b2 - b1)
    count, step = 0, 1
    while count < most and step:
        step = min(step, most - count)
        a, b = a1 + count, b1 + count
        if left[a : a + step] == right[b : b + step]:
            count += step
            step *= 2
        else:
            step //= 2
    return count


def _equal_end(left: Sequence[_Line], right: Sequence[_Line], area: _Area) -> int:
    """How many lines at the end of both sides are equal."""
    a1, a2, b1, b2 = area
    most = min(a2 - a1, b2 - b1)
    count, step = 0, 1
    while count < most and step:
        step = min(step, most - count)
        a, b = a2 - count, b2 - count
        if left[a - step : a] == right[b - step : b]:
            count += step
            step *= 2
        else:
            step //= 2
    return count


def _anchors(left: list[int], right: list[int], area: _Area) -> list[tuple[int, int]]:
    """Lines that occur once on both sides, as many as keep their order: a longest rising sequence."""
    a1, a2, b1, b2 = area
    of_left, of_right = Counter(left[a1:a2]), Counter(right[b1:b2])
    places = {line: at for at, line in enumerate(right[b1:b2], b1) if of_right[line] == 1}
    pairs = [
        (at, places[line])
        for at, line in enumerate(left[a1:a2], a1)
        if of_left[line] == 1 and line in places
    ]
    tops: list[int] = []
    indexes: list[int] = []
    before: list[int] = []
    for index, (_, y) in enumerate(pairs):
        pile = bisect_left(tops, y)
        before.append(indexes[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(y)
            indexes.append(index)
        else:
            tops[pile] = y
            indexes[pile] = index
    found: list[tuple[int, int]] = []
    at = indexes[-1] if indexes else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _exact(
    left: Sequence[_Line], right: Sequence[_Line], area: _Area, work: list[int], most_edits: int
) -> list[_Run] | None:
    """Equal runs of a part; ``None`` when it differs in more lines, or the work is used up."""
    a1, a2, b1, b2 = area
    n, m = a2 - a1, b2 - b1
    if abs(n - m) > most_edits:
        return None
    furthest: dict[int, int] = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(n + m, most_edits) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            begun = x
            y = x - diagonal
            if x < n and y < m and left[a1 + x] == right[b1 + y]:
                equal = _equal_start(left, right, (a1 + x, a2, b1 + y, b2))
                x += equal
                y += equal
            furthest[diagonal] = x
            work[0] -= 1 + (x - begun) // 32
            if x >= n and y >= m:
                return _runs(trace, area)
            if work[0] < 0:
                return None
    return None


def _runs(trace: list[dict[int, int]], area: _Area) -> list[_Run]:
    """The way back through the furthest points, as runs of equal lines."""
    a1, a2, b1, b2 = area
    x, y = a2 - a1, b2 - b1
    found: list[_Run] = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        diagonal = x - y
        if edits == 0:
            if x:
                found.append((a1, b1, x))
            break
        down = diagonal == -edits or (
            diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        before = diagonal + 1 if down else diagonal - 1
        from_x = furthest[before]
        from_y = from_x - before
        begun = from_x if down else from_x + 1
        if x > begun:
            found.append((a1 + begun, b1 + begun - diagonal, x - begun))
        x, y = from_x, from_y
    return found


def _gaps(runs: list[_Run], old: int, new: int) -> Iterator[_Area]:
    """What lies between equal runs."""
    at_old = at_new = 0
    for x, y, count in [*runs, (old, new, 0)]:
        if x > at_old or y > at_new:
            yield at_old, x, at_new, y
        at_old, at_new = x + count, y + count
