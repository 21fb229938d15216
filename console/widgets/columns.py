"""How a table's columns share the width: pure arithmetic in terminal cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 2
"""Empty cells between two columns."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    width: int
    """Narrowest useful width, 1 or more."""
    flex: int = 0
    """Share of the width that is left over; 0 keeps the column narrow."""
    right: bool = False
    """Numbers are aligned right."""
    drop: int = 0
    """0: always shown. Else columns with higher numbers go first when the table is narrow."""
    most: int = 0
    """A flexible column never gets wider than this; 0 sets no limit."""


def share(columns: Sequence[Column], width: int) -> tuple[int, ...]:
    """The width of every column, 0 for those that are not shown.

    The sum with a `GAP` between shown columns is never more than ``width``, unless not even the
    columns that are always shown fit; then the last of these are cut.
    """
    shown = list(range(len(columns)))
    while _needed(columns, shown) > width:
        droppable = [index for index in shown if columns[index].drop > 0]
        if not droppable:
            break
        shown.remove(max(droppable, key=lambda index: (columns[index].drop, index)))
    widths = [columns[index].width if index in shown else 0 for index in range(len(columns))]
    left = width - _needed(columns, shown)
    if left < 0:
        return _cut(widths, width)
    growing = [index for index in shown if columns[index].flex > 0]
    while left > 0 and growing:
        total = sum(columns[index].flex for index in growing)
        given = 0
        for index in list(growing):
            extra = max(1, left * columns[index].flex // total) if left > given else 0
            extra = min(extra, left - given)
            most = columns[index].most
            if most and widths[index] + extra >= most:
                extra = max(0, most - widths[index])
                growing.remove(index)
            widths[index] += extra
            given += extra
        if given == 0:
            break
        left -= given
    return tuple(widths)


def _needed(columns: Sequence[Column], shown: Sequence[int]) -> int:
    return sum(columns[index].width for index in shown) + GAP * max(0, len(shown) - 1)


def _cut(widths: Sequence[int], width: int) -> tuple[int, ...]:
    out: list[int] = []
    used = 0
    for wanted in widths:
        gap = GAP if used and wanted else 0
        room = max(0, min(wanted, width - used - gap))
        out.append(room)
        used += room + gap if room else 0
    return tuple(out)
