"""Bars over time from eighth blocks, with the peak written beside them.

`bars` is pure and gives strings; the widget only colours them.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from console import format as fmt
from console.widgets.tone import Cell, Tone, Toned, draw

_EIGHTHS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"

_AXIS_FROM = 6
"""Lines from which on the last one names the times."""


def resample(values: Sequence[int], width: int) -> list[int]:
    """Exactly ``width`` columns, oldest first.

    A column that covers several values shows their mean, rounded up so that little is not nothing;
    with room for more columns than values each value takes several.
    """
    total = len(values)
    if not total or width <= 0:
        return []
    out: list[int] = []
    for column in range(width):
        first = column * total // width
        last = max(first + 1, (column + 1) * total // width)
        out.append(-(-sum(values[first:last]) // (last - first)))
    return out


def bars(columns: Sequence[int], height: int) -> list[str]:
    """Rows from top to bottom. A value above 0 always shows at least one eighth."""
    peak = max(columns, default=0)
    rows: list[str] = []
    for row in range(height - 1, -1, -1):
        line: list[str] = []
        for value in columns:
            eighths = 0 if peak == 0 else round(value * height * 8 / peak)
            if value > 0:
                eighths = max(1, eighths)
            line.append(_EIGHTHS[max(0, min(8, eighths - row * 8))])
        rows.append("".join(line))
    return rows


def spread(values: Sequence[int], width: int) -> list[int]:
    """One bar per value with a gap between two, as wide as there is room; else as `resample`.

    The bars end at the right edge, where the newest is.
    """
    total = len(values)
    each = width // total if total else 0
    if each < 2:
        return resample(values, width)
    out = [0] * (width - each * total)
    for value in values:
        out += [0, *([value] * (each - 1))]
    return out


class Chart(Toned):
    """A headline over bars, oldest first. ``spaced``: one bar per value, days instead of minutes."""

    DEFAULT_CSS = """
    Chart { height: 1fr; }
    """

    def __init__(
        self, *, tone: Tone = Tone.ACCENT, spaced: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._spaced = spaced
        self._tone = tone
        self._values: tuple[int, ...] = ()
        self._headline: tuple[Cell, ...] = ()

    def show(self, headline: tuple[Cell, ...], values: Sequence[int]) -> None:
        """Draw these values, oldest first, one per minute (day)."""
        fresh = tuple(values)
        if (fresh, headline) != (self._values, self._headline):
            self._values, self._headline = fresh, headline
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return draw(self, (Cell(" "), *self._headline), width)
        room = width - 7
        axis = self.size.height >= _AXIS_FROM
        height = self.size.height - 1 - axis
        columns = (spread if self._spaced else resample)(self._values, room)
        if not columns or y > height + axis:
            return draw(self, (), width)
        if y > height:
            line = self._axis(room)
            return draw(self, (Cell(" " * 6), Cell(line, Tone.MUTED)), width)
        scale = ""
        if y == 1:
            scale = fmt.brief(max(0, *columns))
        elif y == height:
            scale = "0"
        row = bars(columns, height)[y - 1]
        return draw(self, (Cell(f"{scale:>5} ", Tone.MUTED), Cell(row, self._tone)), width)

    def _axis(self, room: int) -> str:
        number = len(self._values)
        if self._spaced:
            return f"{number} days"[: room - 5].ljust(room - 5) + "today"
        left, middle = f"-{number} min", f"-{number // 2} min"
        return left + middle.center(room - len(left) - 3) + "now"
