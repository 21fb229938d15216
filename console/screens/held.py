"""Held texts: the full answers behind what was made smaller, as they lie on disk."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import confirm
from console.screens.held_text import copy_text, drop_question
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from proxy.answer_model import HeldDetail, HeldList, HeldView
from proxy.commands import CommandResult, DropHeld

COLUMNS = (
    Column("", 1),
    Column("server", 10, flex=1, most=20),
    Column("tool", 14, flex=2, most=32),
    Column("size", 8, right=True),
    Column("on disk", 8, right=True, drop=1),
    Column("held", 7, right=True, drop=2),
    Column("used", 7, right=True),
    Column("reads", 5, right=True),
    Column("key", 16, drop=3),
)

MOST = 1000
"""So many of the last used ones are listed."""


class HeldScreen(MainScreen):
    """See the module's text. A pinned text was given to a connected host and is not evicted."""

    SCOPE = scopes.HELD
    TAB = scopes.SAVINGS
    BINDINGS = keys.bindings(scopes.HELD)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[HeldView] = LineTable(
            COLUMNS, self._cells, lambda view: view.key, id="main"
        )
        self._filter = FilterBar("part of a server, a tool or a key", id="filter")
        self._list: HeldList | None = None

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="held")
        yield self._filter

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    def _ask(self) -> None:
        def got(value: HeldList) -> None:
            self._list = value
            self.redraw()

        self.console.fetch(lambda: self.console.station.held(MOST), got, group="held")

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#held")
        stale = "   (stale)" if state.stale else ""
        if self._list is None:
            self._table.show((), "waiting for the station" + fmt.ELLIPSIS)
            entitle(panel, "held texts" + stale)
            return
        totals = self._list.totals
        shown = [view for view in self._list.answers if self._wanted(view)]
        words = self._filter.text
        empty = (
            f"0 of {len(self._list.answers)} match \u2014 Esc clears the filter"
            if words
            else "Nothing is held. When an answer is cut, the whole of it is kept here,\n"
            "so that the agent and you can read what was left out."
        )
        self._table.show(shown, empty)
        number = fmt.count(totals.answers)
        if words:
            number = f"{fmt.count(len(shown))}/{number}"
            self._filter.note(number)
        elif len(self._list.answers) < totals.answers:
            number = f"{fmt.count(len(shown))} of {number}, used last"
        title = f"held texts {number}" + (f"   /{words}" if words else "") + stale
        entitle(panel, title, totals_words(self._list))

    def _wanted(self, view: HeldView) -> bool:
        words = self._filter.text.lower().split()
        pinned = "pinned" if view.pinned else ""
        haystack = f"{view.upstream} {view.tool} {view.key} {pinned}".lower()
        return all(word in haystack for word in words)

    def _cells(self, view: HeldView) -> tuple[Cell, ...]:
        now = self.console.now()
        return (
            Cell("\u25c6" if view.pinned else " ", Tone.ACCENT),
            Cell(view.upstream),
            Cell(view.tool, Tone.STRONG),
            Cell(fmt.size(view.bytes)),
            Cell(fmt.size(view.stored_bytes), Tone.MUTED),
            Cell(fmt.age(now - view.created_at), Tone.MUTED),
            Cell(fmt.age(now - view.used_at)),
            Cell(fmt.count(view.reads), Tone.NORMAL if view.reads else Tone.MUTED),
            Cell(view.key, Tone.MUTED),
        )

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Opened)
    def _opened(self) -> None:
        view = self._table.current
        if view is not None:
            self.console.open_held_text(view.key)

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self.draw_keys()

    @on(FilterBar.Changed)
    def _filtered(self) -> None:
        self.redraw()

    @on(FilterBar.Closed)
    def _filter_closed(self) -> None:
        self._table.focus()
        self.redraw()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self._list is not None:
            self._ask()  # one may have been dropped on its own page

    def go_back(self) -> bool:
        if self._filter.text:
            self._filter.action_clear()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("copy_key", "copy", "drop"):
            return True if self._table.current is not None else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None

    def action_filter(self) -> None:
        """Type a filter."""
        self._filter.open()

    def action_reload(self) -> None:
        """Ask the station again."""
        self._ask()

    def action_copy_key(self) -> None:
        """Copy the key under the cursor."""
        view = self._table.current
        if view is not None:
            self.copy(view.key, "The key")

    def action_copy(self) -> None:
        """Copy the text under the cursor."""
        view = self._table.current
        if view is None:
            return

        def got(detail: HeldDetail | None) -> None:
            copy_text(self, detail)

        key = view.key
        self.console.fetch(lambda: self.console.station.held_answer(key), got, group="held_text")

    def action_drop(self) -> None:
        """Delete the text under the cursor, after asking."""
        view = self._table.current
        if view is None:
            return

        def done(result: CommandResult) -> None:
            self.console.say(result.message, bad=not result.ok)
            self._ask()

        key = view.key
        confirm(
            self.console,
            f"Drop the held text {safe_line(key, 40)}?",
            drop_question(view),
            "Drop it",
            lambda: self.console.carry_out(DropHeld(key), done),
        )


def totals_words(held: HeldList) -> str:
    """How full the store is: ``12 MB held in 3.1 MB of 268 MB, 0 evicted``."""
    totals = held.totals
    words = (
        f"{fmt.size(totals.bytes)} held in {fmt.size(totals.stored_bytes)} "
        f"of {fmt.size(totals.capacity_bytes)}"
    )
    if totals.evicted:
        words += f", {fmt.count(totals.evicted)} evicted"
    pinned = sum(view.pinned for view in held.answers)
    return words + (f", {fmt.count(pinned)} pinned \u25c6" if pinned else "")
