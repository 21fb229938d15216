"""The vocabulary of emphasis: widgets say what a text means, the theme decides how that looks.

A tone is never the only sign of a meaning: wherever it matters, a glyph and a word say the same.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, cast

from rich.segment import Segment
from rich.style import Style
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.strip import Strip
from textual.widget import Widget

from console.format import fit


class Tone(Enum):
    """What a piece of text is to the reader."""

    NORMAL = "normal"
    STRONG = "strong"
    MUTED = "muted"
    TITLE = "title"
    ACCENT = "accent"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    KEY = "key"
    CHOSEN = "chosen"
    """The screen one is on."""


COMPONENTS: set[str] = {f"tone--{tone.value}" for tone in Tone} | {
    "tone--cursor",
    "tone--cursor-blurred",
}
"""Component classes that an app with toned widgets declares."""


_CLASS = {tone: f"tone--{tone.value}" for tone in Tone}


class Cell(NamedTuple):
    """A piece of text with its tone. The text is raw: drawing neutralises it."""

    text: str
    tone: Tone = Tone.NORMAL


class Toned(Widget):
    """A widget that draws in tones.

    The rules of a tone are the same for all widgets, so the app has them once: Textual matches every
    component class of every widget again whenever a class of the screen changes, and with a dozen
    tones for each widget that was a quarter of the time that the console takes to open.
    """

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The app's styles of these components, on this widget's background."""
        here = DOMNode()
        here._attach(self)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as Textual itself does
        app = cast("DOMNode", self.app)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves it open
        here.styles.base.merge(app.get_component_styles(*names).base)
        return here.styles


def tone_style(widget: Widget, tone: Tone) -> Style:
    """The tone's style on that widget's background, under the present theme."""
    return widget.get_component_rich_style(_CLASS[tone])


def cursor_style(widget: Widget, focused: bool) -> Style:
    """The background of the line under the cursor; colours of states stay readable on it."""
    name = "tone--cursor" if focused else "tone--cursor-blurred"
    style = widget.get_component_rich_style(name)
    if style.reverse:  # the terminal's own colours: a coloured word would become a coloured block
        return Style(color="default", bgcolor="default", reverse=True, bold=True)
    return Style(bgcolor=style.bgcolor, bold=style.bold)


def draw(widget: Widget, cells: tuple[Cell, ...], width: int, over: Style | None = None) -> Strip:
    """One line of exactly ``width`` terminal cells; what does not fit is cut with an ellipsis."""
    segments: list[Segment] = []
    left = width
    for position, cell in enumerate(cells):
        if left <= 0:
            break
        text = fit(cell.text, left)
        if position < len(cells) - 1:
            text = _unpadded(cell.text, text)
        style = tone_style(widget, cell.tone)
        segment = Segment(text, style + over if over is not None else style)
        segments.append(segment)
        left -= segment.cell_length
    if left > 0:
        base = tone_style(widget, Tone.NORMAL)
        segments.append(Segment(" " * left, base + over if over is not None else base))
    return Strip(segments, width)


def _unpadded(raw: str, fitted: str) -> str:
    """Undo the padding that `fit` added, but keep the spaces that the text has itself."""
    own = len(raw) - len(raw.rstrip(" "))
    return fitted.rstrip(" ") + " " * min(own, len(fitted) - len(fitted.rstrip(" ")))
