"""A scrolling text whose lines carry tones: details, answers, stderr, help.

Text is wrapped to the width of the pane, at spaces where there are any. Like every widget here it
draws only what one can see and neutralises foreign text itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells
from textual import events
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import keys, scopes
from console.safe import safe, safe_line
from console.widgets.scrolling import set_lines
from console.widgets.tone import Cell, Tone, Toned, draw

TextLine = tuple[Cell, ...]
"""One line before it is wrapped."""

EMPTY: TextLine = ()


class Flow(tuple[Cell, ...]):
    """A line all of whose cells wrap, each keeping its tone: running text with marked words."""

    __slots__ = ()


def lines_of(text: str, tone: Tone = Tone.NORMAL, indent: str = "") -> list[TextLine]:
    """A text of several lines, neutralised, tabs as spaces, each line indented."""
    return [
        (Cell(indent + line, tone),) for line in safe(text).expandtabs(4).rstrip("\n").split("\n")
    ]


def wrap(line: TextLine, width: int) -> list[TextLine]:
    """The line in pieces of at most ``width`` cells; continued lines keep the first one's indent.

    Only the last cell of a line wraps; what comes before it is taken as a short label. In a `Flow` all do.
    """
    if isinstance(line, Flow):
        return _flow(line, width)
    cells = [Cell(safe_line(cell.text), cell.tone) for cell in line]
    total = sum(cell_len(cell.text) for cell in cells)
    if total <= width or not cells or width < 4:
        return [tuple(cells)]
    head, last = cells[:-1], cells[-1]
    label = sum(cell_len(cell.text) for cell in head)
    if label > width - 10:
        head, label, last = [], 0, Cell("".join(cell.text for cell in cells), last.tone)
    stripped = last.text.lstrip(" ")
    indent = " " * min(label + len(last.text) - len(stripped), max(0, width - 10))
    pieces = _pieces(last.text, width - label, width - len(indent))
    out: list[TextLine] = [(*head, Cell(pieces[0], last.tone))]
    out.extend((Cell(indent + piece, last.tone),) for piece in pieces[1:])
    return out


def _flow(line: Flow, width: int) -> list[TextLine]:
    cells = [Cell(safe_line(cell.text), cell.tone) for cell in line]
    whole = "".join(cell.text for cell in cells)
    if cell_len(whole) <= width or width < 4:
        return [tuple(cells)]
    indent = " " * min(len(whole) - len(whole.lstrip(" ")), max(0, width - 10))
    out: list[TextLine] = []
    place, left = 0, [*cells]
    for number, piece in enumerate(_pieces(whole, width, width - len(indent))):
        # `_pieces` drops spaces where it cuts, and nothing else.
        start = whole.index(piece, place) if piece else place
        _take(left, start - place)
        taken = _take(left, len(piece))
        out.append((*((Cell(indent),) if number and indent else ()), *taken))
        place = start + len(piece)
    return out


def _take(cells: list[Cell], length: int) -> list[Cell]:
    """Remove so many characters from the front and give them."""
    out: list[Cell] = []
    while length > 0 and cells:
        first = cells.pop(0)
        if len(first.text) > length:
            cells.insert(0, Cell(first.text[length:], first.tone))
            first = Cell(first.text[:length], first.tone)
        out.append(first)
        length -= len(first.text)
    return out


def _pieces(text: str, first: int, rest: int) -> list[str]:
    """Cut at the last space that fits, else anywhere. ``first`` and ``rest`` are widths in cells."""
    out: list[str] = []
    room = first
    narrow = text.isascii()
    while text:
        if len(text) <= room and (narrow or cell_len(text) <= room):
            out.append(text)
            break
        window = text[:room] if narrow else (chop_cells(text[: room + 1], room) or [text[:1]])[0]
        cut = window.rfind(" ") + 1
        start = len(window) - len(window.lstrip(" "))
        if cut <= max(start, len(window) // 3):
            cut = max(1, len(window))
        out.append(text[:cut].rstrip(" "))
        text = text[cut:].lstrip(" ")
        room = max(1, rest)
    return out or [""]


class TextPane(ScrollView, Toned, can_focus=True):  # pyright: ignore[reportIncompatibleMethodOverride]  # Textual's own
    """See the module's text."""

    BINDINGS = keys.bindings(scopes.LISTS)
    DEFAULT_CSS = """
    TextPane { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size: 1 1; }
    """

    def __init__(
        self, lines: Sequence[TextLine] = (), *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._source: tuple[TextLine, ...] = tuple(lines)
        self._wrapped: list[TextLine] = []
        self._wrapped_at = -1

    @property
    def plain(self) -> str:
        """The whole text without tones, as it may be copied."""
        return "\n".join(
            "".join(safe_line(cell.text) for cell in line).rstrip() for line in self._source
        )

    def show(self, lines: Sequence[TextLine], *, top: bool = False) -> None:
        """Show this text; ``top`` scrolls to its beginning, else the place is kept."""
        fresh = tuple(lines)
        if fresh != self._source:
            self._source = fresh
            self._wrapped_at = -1
            self._wrap()
        if top:
            self.scroll_to(y=0, animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        self._wrap()

    def on_show(self) -> None:
        """What came while it was hidden was wrapped for no width in particular."""
        self._wrapped_at = -1
        self._wrap()
        self._refresh_scrollbars()

    def _wrap(self) -> None:
        width = max(1, self.scrollable_content_region.width - 2)
        if self._wrapped_at == width:
            return
        self._wrapped_at = width
        self._wrapped = [piece for line in self._source for piece in wrap(line, width)]
        set_lines(self, max(1, len(self._wrapped)))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = y + round(self.scroll_y)
        width = self.size.width
        if index >= len(self._wrapped):
            return draw(self, (), width)
        return draw(self, (Cell(" "), *self._wrapped[index]), width)

    def action_cursor_down(self) -> None:
        self.scroll_relative(y=1, animate=False)

    def action_cursor_up(self) -> None:
        self.scroll_relative(y=-1, animate=False)

    def action_cursor_top(self) -> None:
        self.scroll_home(animate=False)

    def action_cursor_bottom(self) -> None:
        self.scroll_end(animate=False)

    def action_cursor_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def action_cursor_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def action_open_row(self) -> None:
        """Enter does nothing in a text."""
