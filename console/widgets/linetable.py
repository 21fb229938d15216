"""A table that draws only the lines one can see, however many rows it has.

Textual's own ``DataTable`` repaints every visible cell for any change and takes seconds for 100,000
rows. This one holds a sequence of items and turns an item into cells when its line is drawn. The
cursor belongs to an item, not to a line number, and stays on it when rows come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import keys
from console.format import fit
from console.widgets.columns import GAP, Column, share
from console.widgets.tone import COMPONENTS, Cell, Tone, cursor_style, draw, tone_style

Item = TypeVar("Item")

_MARK = "\u258c"
"""Stands before the cursor's line, so that it is found without colour."""


class LineTable(ScrollView, Generic[Item], can_focus=True):
    """See the module's text.

    ``quiet``: the cursor shows only while the table has the focus.
    ``follow``: the cursor stays on the last row as rows are added; moving up ends it.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    BINDINGS = keys.bindings(keys.LISTS)
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
        self.refresh()
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
        height = max(1, len(self._items)) + self._header
        width = self.scrollable_content_region.width or self.size.width
        self.virtual_size = Size(width, height)

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
        self.refresh()
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
        width = self.size.width
        if self._header and y == 0:
            titles = tuple(Cell(column.title, Tone.TITLE) for column in self._columns)
            return self._line(titles, width, marked=False) if self._items else self._blank(width)
        index = y - self._header + round(self.scroll_y)
        if not self._items:
            return self._empty_line(y - self._header, width)
        if index >= len(self._items):
            return self._blank(width)
        return self._line(self._cells(self._items[index]), width, marked=self._marks(index))

    def _marks(self, index: int) -> bool:
        return index == self.cursor and (self.has_focus or not self._quiet)

    def _blank(self, width: int) -> Strip:
        return draw(self, (), width)

    def _empty_line(self, y: int, width: int) -> Strip:
        lines = self.empty.split("\n")
        if not 0 <= y < len(lines):
            return self._blank(width)
        return draw(self, (Cell(" " + lines[y], Tone.MUTED),), width)

    def _line(self, cells: tuple[Cell, ...], width: int, *, marked: bool) -> Strip:
        over = cursor_style(self, self.has_focus) if marked else None
        base = tone_style(self, Tone.NORMAL)
        mark = tone_style(self, Tone.ACCENT)
        if over is not None:
            base, mark = base + over, mark + over
        segments = [Segment(_MARK if marked else " ", mark)]
        used = 1
        room = max(1, width - 2)
        for column, cell, columns_width in zip(
            self._columns, cells, share(self._columns, room), strict=True
        ):
            if columns_width == 0:
                continue
            if used > 1:
                segments.append(Segment(" " * GAP, base))
                used += GAP
            style = tone_style(self, cell.tone)
            text = fit(cell.text, columns_width, right=column.right)
            segments.append(Segment(text, style + over if over is not None else style))
            used += columns_width
        if used < width:
            segments.append(Segment(" " * (width - used), base))
        return Strip(segments).adjust_cell_length(width, base)
