"""Surfacing: every memory that was shown with an answer, for which call and why, and what it was worth.

The list keeps its order while one rates: a rated memory stays where it is, and the cursor goes on to the
next unrated one.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.screens.base import MainScreen, entitle
from console.screens.surfacing_deeds import MOST_EVENTS, Rater, open_call
from console.screens.surfacing_rows import Row, arranged, next_unrated, rows_of
from console.screens.surfacing_text import (
    MEMORY_COLUMNS,
    empty_words,
    preview_lines,
    problem_words,
    row_cells,
)
from console.state import ConsoleState
from console.surfacing_words import tool_name
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from proxy.surface.model import Rating, SurfacingEvent, SurfacingQuery, SurfacingView

PAGE = 100
"""Events asked for at once."""


class SurfacingScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.SURFACING
    BINDINGS = keys.bindings(scopes.SURFACING)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[Row] = LineTable(
            MEMORY_COLUMNS, self._cells, lambda row: row.key, header=False, id="main"
        )
        self._preview = TextPane(id="surfacing-preview-text")
        self._preview.can_focus = False
        self._problem = TextPane(id="surfacing-problem")
        self._problem.can_focus = False
        self._filter = FilterBar(
            "words of a memory, a tool, a query; unrated, conflict", id="filter"
        )
        self._rater = Rater(lambda: self.console, self._rated)
        self._view: SurfacingView | None = None
        self._events: list[SurfacingEvent] = []
        self._limit = PAGE
        self._unrated_first = True
        self._version = -1

    def body(self) -> Iterable[Widget]:
        yield self._problem
        yield Vertical(self._table, classes="panel", id="surfacing-list")
        yield Vertical(self._preview, classes="panel", id="surfacing-preview")
        yield self._filter

    # -- asking -------------------------------------------------------------------------------

    def _ask(self, *, anew: bool = False) -> None:
        """Read the list again; ``anew``: in its proper order."""
        query = self._query()

        def got(view: SurfacingView) -> None:
            if query != self._query():
                return
            first = self._view is None or anew
            known = () if first else [event.id for event in self._events]
            self._view = view
            self._events = arranged(view.recent, known, unrated_first=self._unrated_first)
            self.redraw()
            if first:
                self._go_to_unrated(("", ""))

        self.console.fetch(lambda: self.console.station.surfacing(query), got, group="surfacing")

    def _query(self) -> SurfacingQuery:
        return SurfacingQuery(limit=self._limit, unrated_first=self._unrated_first)

    def _go_to_unrated(self, after: tuple[str, str]) -> None:
        row = next_unrated(self._table.items, after)
        if row is not None:
            self._table.go_to(row.key)

    def _rated(self) -> None:
        self._ask()

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        if state.loaded and not state.stale and state.surfacing_version != self._version:
            self._version = state.surfacing_version
            self._ask()
        panel = self.query_one("#surfacing-list")
        view = self._view
        if view is None:
            self._table.show((), "waiting for the station" + fmt.ELLIPSIS)
            entitle(panel, "memories shown" + ("   (stale)" if state.stale else ""))
            self._draw_preview()
            return
        words = self._filter.text
        rows = rows_of(self._events, words.lower().split())
        self._table.show(rows, empty_words(view, filtered=bool(words and self._events)))
        problem = problem_words(view)
        self._problem.show(
            [(Cell("\u25b2 ", Tone.WARN), Cell(problem, Tone.WARN))] if problem else ()
        )
        self._problem.set_class(bool(problem), "-shown")
        self.set_class(not self._events, "-none")
        entitle(panel, *self._titles(view, rows, state))
        self._draw_preview()

    def _titles(self, view: SurfacingView, rows: list[Row], state: ConsoleState) -> tuple[str, str]:
        words = self._filter.text
        title = "memories shown"
        if view.events_total:
            title += f" with {fmt.plural(view.events_total, 'answer')}"
        if words:
            found = fmt.count(sum(row.memory is not None for row in rows))
            self._filter.note(found)
            title = f"memories {found}   /{words}"
        if state.stale:
            title += "   (stale)"
        below = f"{fmt.count(view.unrated)} unrated in 30 days"
        below += ", unrated first" if self._unrated_first else ", newest first"
        if len(view.recent) < view.events_total:
            below += f"   {fmt.count(len(view.recent))} answers listed"
            below += ", m: more" if self._limit < MOST_EVENTS else ""
        return title, below if self._events else ""

    def _draw_preview(self) -> None:
        panel = self.query_one("#surfacing-preview")
        row = self._table.current
        if row is None:
            entitle(panel, "")
            self._preview.show(())
            return
        event = row.event
        name = f"#{event.call_id}  {tool_name(event.upstream, event.tool)}"
        entitle(panel, name, "Enter shows all")
        self._preview.show(preview_lines(row, self.console.now(), self.console.tz), top=True)

    def _cells(self, row: Row) -> tuple[Cell, ...]:
        cells = row_cells(row, self.console.now(), self.console.tz)
        if row.key in self._rater.busy:
            return (Cell(fmt.ELLIPSIS, Tone.ACCENT), *cells[1:])
        return cells

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_preview()
        self.draw_keys()

    @on(LineTable.Opened)
    def _opened(self) -> None:
        row = self._table.current
        if row is not None:
            from console.screens.surfacing_event import EventScreen

            self.console.push_screen(EventScreen(row.event, row.key[1], self._query()))

    @on(FilterBar.Changed)
    def _filtered(self) -> None:
        self.redraw()

    @on(FilterBar.Closed)
    def _filter_closed(self) -> None:
        self._table.focus()
        self.redraw()

    def go_back(self) -> bool:
        if self._filter.text:
            self._filter.action_clear()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self._table.current
        match action:
            case "rate" | "copy":
                return True if row is not None and row.memory is not None else None
            case "call":
                return True if row is not None else None
            case "order":
                return True if self._events else None
            case "more":
                view = self._view
                hidden = view is not None and len(view.recent) < view.events_total
                return hidden and self._limit < MOST_EVENTS
            case _:
                return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None

    def action_rate(self, rating: str) -> None:
        """Rate the memory under the cursor and go on to the next unrated one."""
        row = self._table.current
        if row is None or row.memory is None:
            return

        def taken() -> None:
            current = self._table.current
            if current is not None and current.key == row.key:
                self._go_to_unrated(row.key)

        self._rater.rate(*row.key, Rating(rating), taken)
        self.redraw()

    def action_filter(self) -> None:
        """Type a filter."""
        self._filter.open()

    def action_figures(self) -> None:
        """How well surfacing does."""
        self.console.open_surfacing_figures()

    def action_tuning(self) -> None:
        """The tuner's steps, and advice."""
        self.console.open_tuning()

    def action_order(self) -> None:
        """Unrated first, or newest first."""
        self._unrated_first = not self._unrated_first
        self._ask(anew=True)

    def action_call(self) -> None:
        """The call that the memory went with."""
        row = self._table.current
        if row is not None:
            open_call(self.console, row.event)

    def action_more(self) -> None:
        """Older ones, too."""
        self._limit = min(MOST_EVENTS, self._limit + PAGE)
        self._ask()

    def action_reload(self) -> None:
        """Ask again; rated ones take their proper place."""
        self._ask(anew=True)

    def action_copy(self) -> None:
        """Copy the memory under the cursor."""
        row = self._table.current
        if row is not None and row.memory is not None:
            self.copy(row.memory.preview, "The memory")
