"""Memory: search as an agent would, browse by kind and state, look at a record and change it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.memory_desk import fault_words
from console.safe import safe_line
from console.screens import memory_deeds as deeds
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import Choice, ChoiceDialog
from console.screens.memory_text import (
    fault_lines,
    hit_lines,
    record_lines,
    seconds,
    title_of,
    whole_text,
)
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.memory_glyphs import RECORD_STATES
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from memory.api import ListRecords, Order, RecordPage, Search, SearchResult
from memory.errors import MemoryFault
from memory.model import DEFAULT_SPACE, Hit, Kind, Record, State

COLUMNS = (
    Column("", 1),
    Column("text", 12, flex=1),
    Column("kind", 10, drop=2),
    Column("used", 5, right=True, drop=3),
    Column("age", 7, right=True, drop=1),
)
AGENT_TOP = 5
"""So many hits an agent gets when it does not say how many."""
SEARCH_TOP = 25
PAGE = 50
_MOST_SPACES = 15
KINDS: tuple[tuple[Kind, ...], ...] = ((), *((kind,) for kind in Kind))
STATES: tuple[tuple[State, ...], ...] = (*((state,) for state in State), tuple(State))
ORDERS = (Order.NEWEST, Order.OLDEST, Order.CHANGED)


@dataclass(frozen=True, slots=True)
class Row:
    """A record in the list, with its place among the hits of a search."""

    record: Record
    hit: Hit | None = None
    place: int = 0


class MemoryScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.MEMORY
    BINDINGS = keys.bindings(scopes.MEMORY)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[Row] = LineTable(
            COLUMNS, self._cells, lambda row: row.record.id, header=False, id="main"
        )
        self._pane = TextPane(id="memory-text")
        self._box = FilterBar("what an agent would ask for; Enter searches", id="filter")
        self._kind = 0
        self._state = STATES.index((State.ACTIVE,))
        self._order = 0
        self._rows: list[Row] | None = None
        self._next = ""
        self._query = ""
        """What was searched for; empty: browsing."""
        self._found: SearchResult | None = None
        self._fault: MemoryFault | None = None

    def body(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(self._table, classes="panel", id="master"),
            Vertical(self._pane, classes="panel", id="detail"),
        )
        yield self._box

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    # -- asking -------------------------------------------------------------------------------

    def _ask(self, after: str = "") -> None:
        if self._query:
            self._search()
        else:
            self._browse(after)

    def _search(self) -> None:
        states = STATES[self._state]

        def got(result: SearchResult) -> None:
            self._fault, self._found, self._next = None, result, ""
            self._rows = [Row(hit.record, hit, place) for place, hit in enumerate(result.hits, 1)]
            self._redraw_all()

        self.console.memory.ask(
            Search(
                self._query,
                top_k=SEARCH_TOP,
                kinds=KINDS[self._kind],
                include_superseded=State.SUPERSEDED in states,
                include_archived=State.ARCHIVED in states,
            ),
            got,
            self._failed,
            group="memory",
        )

    def _browse(self, after: str) -> None:
        shown = len(self._rows or ())

        def got(page: RecordPage) -> None:
            self._fault, self._found, self._next = None, None, page.next
            fresh = [Row(record) for record in page.records]
            if after and self._rows is not None:
                known = {row.record.id for row in self._rows}
                self._rows = [*self._rows, *(row for row in fresh if row.record.id not in known)]
            else:
                self._rows = fresh
            self._redraw_all()

        self.console.memory.ask(
            ListRecords(
                kinds=KINDS[self._kind],
                states=STATES[self._state],
                order=ORDERS[self._order],
                limit=PAGE if after else min(500, max(PAGE, shown)),
                after=after,
            ),
            got,
            self._failed,
            group="memory",
        )

    def _failed(self, fault: MemoryFault) -> None:
        self._fault = fault
        self._redraw_all()

    def _redraw_all(self) -> None:
        self.redraw()
        self._draw_detail()

    def _again(self) -> None:
        """Something else is asked for: what is shown does not fit any more."""
        self._rows, self._next, self._found = None, "", None
        self.redraw()
        self._ask()

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#master")
        answered = self._rows is not None or self._fault is not None
        self.set_class(answered and not self._rows, "-none")
        if self._rows is None:
            words = "asking the memory" + fmt.ELLIPSIS
            if self._fault is not None:
                words = fault_lines(self._fault, "r")
            self._table.show((), words)
            entitle(panel, self._title())
            self._draw_detail()
            return
        self._table.show(self._rows, self._empty())
        below = self._below()
        if self._fault is not None:
            below = "\u2716 " + fault_words(self._fault)
        entitle(panel, self._title(), below)
        self._draw_detail()

    def _title(self) -> str:
        number = "" if self._rows is None else f" {fmt.count(len(self._rows))}"
        if self._rows is not None and self._next:
            number += "+"
        kind = KINDS[self._kind]
        states = STATES[self._state]
        what = kind[0].value if kind else "all kinds"
        where = states[0].value if len(states) == 1 else "any state"
        order = "" if self._query else f", {ORDERS[self._order].value}"
        if self._query and where not in ("active", "any state"):
            where = f"active and {where}"
        search = f"  /{self._query}" if self._query else ""
        stale = "  (stale)" if self._fault is not None and self._rows is not None else ""
        space = self.console.memory.space
        first = "" if space == DEFAULT_SPACE else f"{safe_line(space, 24)}: "
        return f"{first}{what}, {where}{order}{number}{search}{stale}"

    def _below(self) -> str:
        found = self._found
        if found is None:
            return "m: more" if self._next else ""
        parts = [f"an agent gets the first {AGENT_TOP}"]
        if found.repeats_left_out:
            parts.append(f"{fmt.plural(found.repeats_left_out, 'repeat')} left out")
        if found.degraded:
            parts.insert(0, f"\u25b2 by words alone: {safe_line(found.degraded, 160)}")
        return "   ".join(parts)

    def _empty(self) -> str:
        if self._query:
            return "Nothing like that is remembered.\nEsc leaves the search."
        if STATES[self._state] != (State.ACTIVE,) or self._kind:
            return "Nothing of this kind and state.\nt and s choose others."
        return "Nothing is remembered yet.\n\nAgents store what they learn with\nthe memory tools of mms."

    def _cells(self, row: Row) -> tuple[Cell, ...]:
        record = row.record
        sign = RECORD_STATES[record.state]
        mark = Cell("\u25c6", Tone.ACCENT) if record.pinned else sign.mark
        faint = record.state is not State.ACTIVE or row.place > AGENT_TOP
        title = title_of(record)
        if row.hit is not None:
            warn = "\u25b2 " if row.hit.warnings else ""
            title = f"{row.hit.parts.final_score:.2f} {warn}{title}"
        return (
            mark,
            Cell(title, Tone.MUTED if faint else Tone.STRONG),
            Cell(record.kind.value, Tone.MUTED),
            Cell(f"{fmt.count(record.use_count)}\u00d7" if record.use_count else "", Tone.MUTED),
            Cell(fmt.age(self.console.now() - seconds(record.recorded_at)), Tone.MUTED),
        )

    def _draw_detail(self, *, top: bool = False) -> None:
        if not self.whole:
            return
        panel = self.query_one("#detail")
        row = self._table.current
        if row is None:
            self._pane.show(())
            entitle(panel, "")
            return
        now, tz = self.console.now(), self.console.tz
        if row.hit is not None and self._found is not None:
            self._pane.show(hit_lines(row.hit, self._found, now, tz), top=top)
            entitle(panel, f"hit {row.place}", "Enter: history and more")
        else:
            self._pane.show(record_lines(row.record, now, tz), top=top)
            entitle(panel, row.record.kind.value, "Enter: history and more")

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_detail(top=True)
        self.draw_keys()
        rows = self._table.items
        if self._next and rows and self._table.cursor == len(rows) - 1 and len(rows) > 1:
            self._ask(self._next)

    @on(LineTable.Opened)
    def _opened(self) -> None:
        row = self._table.current
        if row is not None:
            self.console.open_record(row.record.id)

    @on(FilterBar.Closed)
    def _box_closed(self) -> None:
        self._table.focus()
        if self._box.text != self._query:
            self._query = self._box.text
            self._again()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.console.memory.want_overview()
        if self._rows is not None:
            self._ask()  # it may have been changed on its own page

    def typing_words(self) -> tuple[str, str]:
        return "search", "leave the search"

    def go_back(self) -> bool:
        if self._query:
            self._box.action_clear()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self._table.current
        record = row.record if row is not None else None
        match action:
            case "copy" | "copy_id":
                return True if record is not None else None
            case "pin":
                expunged = record is not None and record.state is State.EXPUNGED
                return None if record is None or expunged else True
            case "archive":
                return record is not None and record.state in deeds.ARCHIVABLE
            case "restore":
                return record is not None and record.state in deeds.RESTORABLE
            case "more":
                return bool(self._next)
            case "undo":
                return self.console.memory.undo is not None
            case "order":
                return not self._query
            case _:
                return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None

    def action_search(self) -> None:
        """Type what to look for."""
        self._box.open()

    def action_kind(self) -> None:
        """The next kind."""
        self._kind = (self._kind + 1) % len(KINDS)
        self._again()

    def action_state(self) -> None:
        """The next state."""
        self._state = (self._state + 1) % len(STATES)
        self._again()

    def action_order(self) -> None:
        """The next order."""
        self._order = (self._order + 1) % len(ORDERS)
        self._again()

    def action_space(self) -> None:
        """Choose a space."""
        desk = self.console.memory
        spaces = desk.overview.spaces if desk.overview is not None else ()
        others = [space for space in spaces if space != desk.space]
        if not others:
            self.console.say(
                f"There is only the space {desk.space}. "
                "A host gets one of its own by mms connect --space NAME."
            )
            return

        def chosen(space: str | None) -> None:
            if space is not None and space != desk.space:
                desk.change_space(space)
                self._again()

        offered = [*others[:_MOST_SPACES], desk.space]
        choices = [
            Choice(space, str(number) if number < 10 else "", space)
            for number, space in enumerate(offered, 1)
        ]
        self.console.push_screen(
            ChoiceDialog(
                "Memory spaces", "Spaces share nothing. Which one do you want to see?", choices
            ),
            chosen,
        )

    def action_more(self) -> None:
        """The next page."""
        if self._next:
            self._ask(self._next)

    def action_reload(self) -> None:
        """Ask again."""
        self._ask()

    def _do(self, deed: str) -> None:
        row = self._table.current
        if row is None or not self.check_action(deed, ()):
            return
        act = {"pin": deeds.toggle_pin, "archive": deeds.archive, "restore": deeds.restore}[deed]
        act(self.console, row.record, self._ask)

    def action_pin(self) -> None:
        """Pin it, or take the pin away."""
        self._do("pin")

    def action_archive(self) -> None:
        """Take it out of search, after asking."""
        self._do("archive")

    def action_restore(self) -> None:
        """Make it active again."""
        self._do("restore")

    def action_undo(self) -> None:
        """Take the last change back."""
        deeds.take_back(self.console, self._ask)

    def action_copy(self) -> None:
        """Copy the text."""
        row = self._table.current
        if row is not None:
            self.copy(whole_text(row.record.text), "The text")

    def action_copy_id(self) -> None:
        """Copy the id."""
        row = self._table.current
        if row is not None:
            self.copy(row.record.id, "The id")
