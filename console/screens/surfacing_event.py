"""One answer with memories: the call, the query, the threshold, and every memory in full with its ratings."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.screens.base import MainScreen, entitle
from console.screens.surfacing_deeds import Rater, open_call
from console.screens.surfacing_rows import Row, next_unrated, rated
from console.screens.surfacing_text import MEMORY_COLUMNS, event_lines, row_cells
from console.state import ConsoleState
from console.surfacing_words import tool_name, unrated_in
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from proxy.surface.model import Rating, SurfacingEvent, SurfacingQuery, SurfacingView


class EventScreen(MainScreen):
    """See the module's text. Opened from the list; its keys rate the memory that is marked."""

    SCOPE = scopes.SURFACING_EVENT
    TAB = scopes.SURFACING
    BINDINGS = keys.bindings(scopes.SURFACING_EVENT)

    def __init__(self, event: SurfacingEvent, memory_id: str, query: SurfacingQuery) -> None:
        """``memory_id``: which one is marked at first; empty: the first unrated. ``query``: the list's."""
        super().__init__()
        self._event = event
        self._wanted: str | None = memory_id
        """Where the cursor shall begin; ``None`` once it is there."""
        self._query = query
        self._table: LineTable[Row] = LineTable(
            MEMORY_COLUMNS, self._cells, lambda row: row.key, header=False, id="main"
        )
        self._pane = TextPane(id="surfacing-event-text")
        self._rater = Rater(lambda: self.console, self._ask)
        self._version: int | None = None

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="surfacing-memories")
        yield Vertical(self._pane, classes="panel", id="surfacing-event")

    def _ask(self) -> None:
        """Its ratings may have changed."""

        def got(view: SurfacingView) -> None:
            fresh = next((one for one in view.recent if one.id == self._event.id), None)
            if fresh is not None:
                self._event = fresh
            self.redraw()

        self.console.fetch(
            lambda: self.console.station.surfacing(self._query), got, group="surfacing-event"
        )

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        if self._version is not None and state.surfacing_version != self._version:
            self._ask()
        self._version = state.surfacing_version
        event = self._event
        rows = [Row(event, memory) for memory in event.memories]
        self._table.styles.height = min(max(1, len(rows)), 6)
        self._table.show(rows)
        self._start(rows)
        waits = unrated_in(event)
        number = fmt.plural(len(rows), "memory", "memories")
        rated = f", {fmt.count(waits)} unrated" if waits else ", all rated"
        title = number + rated + ("   (stale)" if state.stale else "")
        entitle(self.query_one("#surfacing-memories"), title)
        name = f"shown with #{event.call_id}  {tool_name(event.upstream, event.tool)}"
        entitle(self.query_one("#surfacing-event"), name)
        self._draw_text()

    def _start(self, rows: list[Row]) -> None:
        """Put the cursor where the page was opened for, once."""
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        unrated = next_unrated(rows, ("", ""))
        key = (self._event.id, wanted) if wanted else unrated.key if unrated else None
        if key is not None:
            self._table.go_to(key)

    def _draw_text(self, *, top: bool = False) -> None:
        row = self._table.current
        chosen = row.key[1] if row is not None else ""
        now, tz = self.console.now(), self.console.tz
        self._pane.show(event_lines(self._event, chosen, now, tz), top=top)

    def _cells(self, row: Row) -> tuple[Cell, ...]:
        cells = row_cells(row, self.console.now(), self.console.tz)
        if row.key in self._rater.busy:
            return (Cell(fmt.ELLIPSIS, Tone.ACCENT), *cells[1:])
        return cells

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_text()
        self.draw_keys()

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "rate":
            return True if self._table.current is not None else None
        if action == "record":
            return self._event.source == "memory" and self._table.current is not None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def action_rate(self, rating: str) -> None:
        """Rate the marked memory and go on to the next unrated one."""
        row = self._table.current
        if row is None:
            return

        def taken() -> None:
            self._event = rated(self._event, row.key[1], Rating(rating), self.console.now())
            following = next_unrated(self._table.items, row.key)
            current = self._table.current
            if following is not None and current is not None and current.key == row.key:
                self._table.go_to(following.key)

        self._rater.rate(*row.key, Rating(rating), taken)
        self.redraw()

    def action_call(self) -> None:
        """The call on the screen Calls."""
        open_call(self.console, self._event)

    def action_record(self) -> None:
        """The record of the marked memory."""
        row = self._table.current
        if row is not None and self.check_action("record", ()):
            self.console.open_record(row.key[1])

    def action_copy(self) -> None:
        """Copy all."""
        self.copy(self._pane.plain, "All about this answer's memories")
