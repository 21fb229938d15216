"""A table that draws only the lines one can see, however many rows it has.

Textual's own ``DataTable`` repaints every visible cell for any change and takes seconds for 100,000
rows. This one holds a sequence of items and turns an item into cells when its line is drawn. The
cursor belongs to an item, not to a line number, and stays on it when rows come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import keys, scopes
from console.format import fit
from console.widgets.columns import GAP, Column, share
from console.widgets.scrolling import set_lines
from console.widgets.tone import Cell, Tone, Toned, cursor_style, draw, tone_style

Item = TypeVar("Item")

_MARK = "\u258c"
"""Stands before the cursor's line, so that it is found without colour."""


class LineTable(ScrollView, Toned, Generic[Item], can_focus=True):  # pyright: ignore[reportIncompatibleMethodOverride]  # Textual's own
    """See the module's text.

    An item whose cells are fewer than the columns is drawn as plain text over the whole width (the head of
    a group, say); its first cell begins with a space, where the mark of the cursor stands.

    ``quiet``: the cursor shows only while the table has the focus.
    ``follow``: the cursor stays on the last row as rows are added; moving up ends it.
    """

    BINDINGS = keys.bindings(scopes.LISTS)
    DEFAULT_CSS = """
    LineTable { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size: 1 1; }
    """

    follow: var[bool] = var(False, init=False)
    cursor: var[int] = var(0, init=False)

    class Moved(Message):
        """The cursor is on another item (or there is none: ``key`` is ``None``)."""

        def __init__(self, table: LineTable[Any], key: Hashable | None) -> None:
            super().__init__()
            self.table = table
            self.key = key

        @property
        def control(self) -> LineTable[Any]:
            return self.table

    class Opened(Moved):
        """Enter was pressed on an item, or it was clicked while the cursor was on it."""

    class FollowEnded(Message):
        """The cursor left the last row, so new rows no longer move it."""

    def __init__(
        self,
        columns: Sequence[Column],
        cells: Callable[[Item], tuple[Cell, ...]],
        key: Callable[[Item], Hashable],
        *,
        empty: str = "",
        header: bool = True,
        quiet: bool = False,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._columns = tuple(columns)
        self._cells = cells
        self._key = key
        self._items: Sequence[Item] = ()
        self._header = 1 if header else 0
        self._quiet = quiet
        self._cursor_key: Hashable | None = None
        self._shared: tuple[int, tuple[int, ...]] = (-1, ())
        """The last width, and what of it each column gets."""
        self._drawn: dict[int, tuple[tuple[Cell, ...], bool]] = {}
        """What each line of the screen showed when it was last drawn."""
        self.empty = empty
        """Shown in place of rows; several lines may be given."""

    @property
    def items(self) -> Sequence[Item]:
        """What is shown now."""
        return self._items

    @property
    def current(self) -> Item | None:
        """The item under the cursor."""
        return self._items[self.cursor] if self._items else None

    def show(self, items: Sequence[Item], empty: str | None = None) -> None:
        """Show these items; the cursor stays on its item as long as that is among them."""
        if empty is not None:
            self.empty = empty
        before = self._cursor_key
        self._items = items
        place = self._place_of(before)
        # Bypass the watcher: the place changed, not the item under the cursor.
        self.set_reactive(LineTable.cursor, place)
        self._cursor_key = self._key(items[place]) if items else None
        self._resize()
        if self.follow:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
        elif before is None or self._cursor_key != before:
            self._reveal()
        self._refresh_changed()
        if self._cursor_key != before:
            self.post_message(self.Moved(self, self._cursor_key))

    def go_to(self, key: Hashable) -> bool:
        """Put the cursor on an item; false when it is not among the rows."""
        for index, item in enumerate(self._items):
            if self._key(item) == key:
                self.cursor = index
                return True
        return False

    def text_lines(self) -> list[str]:
        """The lines on the screen as plain text."""
        return [self.render_line(y).text for y in range(self.size.height)]

    def _place_of(self, key: Hashable | None) -> int:
        items = self._items
        last = max(0, len(items) - 1)
        if self.follow or not items:
            return last
        near = min(self.cursor, last)
        for index in (near, near - 1, near + 1):
            if 0 <= index < len(items) and self._key(items[index]) == key:
                return index
        for index, item in enumerate(items):
            if self._key(item) == key:
                return index
        return near

    def _resize(self) -> None:
        set_lines(self, max(1, len(self._items)) + self._header)

    def _refresh_changed(self) -> None:
        """Repaint the lines that would look different, which are few when one value changed."""
        height = self.size.height
        changed = [y for y in range(height) if self._line_content(y) != self._drawn.get(y)]
        if len(changed) * 2 > height:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _page(self) -> int:
        return max(1, self.scrollable_content_region.height - self._header)

    def _reveal(self) -> None:
        top = round(self.scroll_target_y)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        elif self.cursor >= top + self._page():
            self.scroll_to(y=self.cursor - self._page() + 1, animate=False, immediate=True)

    def validate_cursor(self, value: int) -> int:
        return max(0, min(value, len(self._items) - 1))

    def watch_cursor(self) -> None:
        if self.follow and self.cursor < len(self._items) - 1:
            self.follow = False
            self.post_message(self.FollowEnded())
        self._cursor_key = self._key(self._items[self.cursor]) if self._items else None
        self._reveal()
        self._refresh_changed()
        self.post_message(self.Moved(self, self._cursor_key))

    def watch_follow(self) -> None:
        if self.follow and self._items:
            self.cursor = len(self._items) - 1
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        self._resize()
        if self.follow:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
        else:
            self._reveal()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        row = event.y + round(self.scroll_y) - self._header
        if event.y < self._header or not 0 <= row < len(self._items):
            return
        if row == self.cursor:
            self.action_open_row()
        else:
            self.cursor = row

    def action_cursor_down(self) -> None:
        self.cursor += 1

    def action_cursor_up(self) -> None:
        self.cursor -= 1

    def action_cursor_top(self) -> None:
        self.cursor = 0

    def action_cursor_bottom(self) -> None:
        self.cursor = len(self._items) - 1

    def action_cursor_page_down(self) -> None:
        self.cursor += self._page()

    def action_cursor_page_up(self) -> None:
        self.cursor -= self._page()

    def action_open_row(self) -> None:
        if self._items:
            self.post_message(self.Opened(self, self._cursor_key))

    def render_line(self, y: int) -> Strip:
        cells, marked = self._drawn[y] = self._line_content(y)
        width = self.size.width
        if len(cells) != len(self._columns):
            if not marked:
                return draw(self, cells, width)
            first = cells[0]
            spanning = (Cell(_MARK, Tone.ACCENT), first._replace(text=first.text[1:]), *cells[1:])
            return draw(self, spanning, width, over=cursor_style(self, self.has_focus))
        return self._line(cells, width, marked=marked)

    def _line_content(self, y: int) -> tuple[tuple[Cell, ...], bool]:
        """What is on a line of the screen: a cell per column (else plain text), and the mark."""
        if not self._items:
            lines = self.empty.split("\n")
            place = y - self._header
            shown = 0 <= place < len(lines)
            return ((Cell(" " + lines[place], Tone.MUTED),) if shown else (), False)
        if self._header and y == 0:
            return (tuple(Cell(column.title, Tone.TITLE) for column in self._columns), False)
        index = y - self._header + round(self.scroll_y)
        if index >= len(self._items):
            return ((), False)
        return (self._cells(self._items[index]), self._marks(index))

    def _marks(self, index: int) -> bool:
        return index == self.cursor and (self.has_focus or not self._quiet)

    def _line(self, cells: tuple[Cell, ...], width: int, *, marked: bool) -> Strip:
        """Neighbours of one tone share a segment: the compositor's work grows with their number."""
        parts: list[tuple[str, Tone]] = [(_MARK if marked else " ", Tone.ACCENT)]
        used = 1
        for column, cell, cells_wide in zip(
            self._columns, cells, self._share(max(1, width - 2)), strict=True
        ):
            if cells_wide == 0:
                continue
            gap = " " * GAP if used > 1 else ""
            text = gap + fit(cell.text, cells_wide, right=column.right)
            tone = cell.tone
            if tone is parts[-1][1] and used > 1:
                parts[-1] = (parts[-1][0] + text, tone)
            else:
                parts.append((text, tone))
            used += len(gap) + cells_wide
        if used < width:
            parts.append((" " * (width - used), Tone.NORMAL))
        if marked:
            over = cursor_style(self, self.has_focus)
            segments = [Segment(text, tone_style(self, tone) + over) for text, tone in parts]
        else:
            segments = [Segment(text, tone_style(self, tone)) for text, tone in parts]
        return Strip(segments, max(used, width)).adjust_cell_length(width)

    def _share(self, room: int) -> tuple[int, ...]:
        if self._shared[0] != room:
            self._shared = (room, share(self._columns, room))
        return self._shared[1]
