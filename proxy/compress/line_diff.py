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

MOST_WORK = 200_000
"""Steps of the exact comparison over all parts together, about 40 ms."""
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
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(line, len(numbers)) for line in old]
    right = [numbers.setdefault(line, len(numbers)) for line in new]
    work = [MOST_WORK]
    pairs: list[tuple[int, int, int]] = []
    waiting = [(0, len(left), 0, len(right))]
    while waiting:
        area = waiting.pop()
        head, area = _strip_start(left, right, area)
        tail, area = _strip_end(left, right, area)
        pairs += [head, tail]
        a1, a2, b1, b2 = area
        if a1 == a2 or b1 == b2:
            continue
        anchors = _anchors(left, right, area)
        if anchors:
            at_left, at_right = a1, b1
            for x, y in anchors:
                waiting.append((at_left, x, at_right, y))
                pairs.append((x, y, 1))
                at_left, at_right = x + 1, y + 1
            waiting.append((at_left, a2, at_right, b2))
            continue
        pairs += _exact(left, right, area, work)
    return list(_hunks(sorted(pair for pair in pairs if pair[2]), len(left), len(right)))


_Area = tuple[int, int, int, int]
_Run = tuple[int, int, int]
"""Start on the left, start on the right, number of equal lines."""


def _strip_start(left: list[int], right: list[int], area: _Area) -> tuple[_Run, _Area]:
    a1, a2, b1, b2 = area
    most = min(a2 - a1, b2 - b1)
    count = 0
    while count < most and left[a1 + count] == right[b1 + count]:
        count += 1
    return (a1, b1, count), (a1 + count, a2, b1 + count, b2)


def _strip_end(left: list[int], right: list[int], area: _Area) -> tuple[_Run, _Area]:
    a1, a2, b1, b2 = area
    most = min(a2 - a1, b2 - b1)
    count = 0
    while count < most and left[a2 - count - 1] == right[b2 - count - 1]:
        count += 1
    return (a2 - count, b2 - count, count), (a1, a2 - count, b1, b2 - count)


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


def _exact(left: list[int], right: list[int], area: _Area, work: list[int]) -> list[_Run]:
    """Equal runs of a part without anchors; none when finding them would take too long."""
    a1, a2, b1, b2 = area
    n, m = a2 - a1, b2 - b1
    if abs(n - m) > _MOST_EDITS:
        return []
    furthest: dict[int, int] = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(n + m, _MOST_EDITS) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            begun = x
            y = x - diagonal
            while x < n and y < m and left[a1 + x] == right[b1 + y]:
                x += 1
                y += 1
            furthest[diagonal] = x
            work[0] -= 1 + x - begun
            if x >= n and y >= m:
                return _runs(trace, area)
            if work[0] < 0:
                return []
    return []


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


def _hunks(runs: list[_Run], old: int, new: int) -> Iterator[Hunk]:
    """What lies between equal runs."""
    at_old = at_new = 0
    for x, y, count in [*runs, (old, new, 0)]:
        if x > at_old or y > at_new:
            yield Hunk(at_old, x, at_new, y)
        at_old, at_new = x + count, y + count
