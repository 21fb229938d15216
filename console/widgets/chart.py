"""Bars over time from eighth blocks, with the peak written beside them.

`bars` is pure and gives strings; the widget only colours them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.strip import Strip
from textual.widget import Widget

from console import format as fmt
from console.widgets.tone import COMPONENTS, Cell, Tone, draw

_EIGHTHS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"


def resample(values: Sequence[int], width: int) -> list[int]:
    """As many columns as fit, oldest first: several values summed into one column, never parts.

    With room for more than one column per value each value takes several.
    """
    if not values or width <= 0:
        return []
    per_column = -(-len(values) // width)
    if per_column == 1:
        wide = max(1, width // len(values))
        return [value for value in values for _ in range(wide)]
    first = len(values) % per_column
    groups = [values[:first]] if first else []
    groups.extend(values[i : i + per_column] for i in range(first, len(values), per_column))
    return [sum(group) for group in groups]


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


class Chart(Widget):
    """A headline over bars. ``unit`` names what the peak counts."""

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = """
    Chart { height: 1fr; }
    """

    def __init__(self, *, tone: Tone = Tone.ACCENT, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tone = tone
        self._values: tuple[int, ...] = ()
        self._headline: tuple[Cell, ...] = ()

    def show(self, headline: tuple[Cell, ...], values: Sequence[int]) -> None:
        """Draw these values, oldest first, one per minute."""
        fresh = tuple(values)
        if (fresh, headline) != (self._values, self._headline):
            self._values, self._headline = fresh, headline
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y == 0:
            return draw(self, (Cell(" "), *self._headline), width)
        height = self.size.height - 1
        columns = resample(self._values, width - 7)
        if not columns or y > height:
            return draw(self, (), width)
        peak = max(columns)
        scale = ""
        if y == 1:
            scale = fmt.count(peak)
        elif y == height:
            scale = "0"
        row = bars(columns, height)[y - 1]
        return draw(self, (Cell(f"{scale:>5} ", Tone.MUTED), Cell(row, self._tone)), width)
