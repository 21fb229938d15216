"""Decisions: what the memory would change and what waits for the person's word; nothing is irreversible.

A decided row stays where it is, marked, until it is ten seconds old or the list is read again, so that a
key pressed twice never decides about the next row.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.memory_desk import fault_words
from console.safe import safe_line
from console.screens import memory_deeds as deeds
from console.screens.base import MainScreen, entitle
from console.screens.decisions_queue import DecisionQueue
from console.screens.decisions_text import (
    can_undo,
    proposal_lines,
    records_of,
    row_cells,
    title,
)
from console.screens.dialogs import confirm
from console.screens.memory_text import fault_lines
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.memory_glyphs import PROPOSAL_STATES
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from memory.api import (
    Decide,
    Decision,
    GetPosition,
    ListProposals,
    PositionResult,
    ProposalPage,
    ProposalView,
)
from memory.errors import MemoryFault
from memory.model import ProposalKind, ProposalState, Record

COLUMNS = (
    Column("", 1),
    Column("", 9),
    Column("what", 10, flex=1),
    Column("impact", 9, drop=2),
    Column("age", 6, right=True, drop=1),
)
POLL_SECONDS = 2.0
"""So often the memory is asked whether anything changed, while the screen is shown."""
DECIDED = tuple(state for state in ProposalState if state is not ProposalState.OPEN)
PAGE = 50


class DecisionsScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.DECISIONS
    BINDINGS = keys.bindings(scopes.DECISIONS)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[ProposalView] = LineTable(
            COLUMNS, self._cells, lambda view: view.proposal.id, header=False, id="main"
        )
        self._pane = TextPane(id="decision-text")
        self._filter = FilterBar("words of the texts", id="filter")
        self._queue = DecisionQueue()
        self._space = ""
        self._keep: dict[str, str] = {}
        """Proposal to the record that shall stay instead of the proposed one."""
        self._position: PositionResult | None = None
        self._fault: MemoryFault | None = None
        self._paused = False
        self._decided = False
        """Whether the decided ones are shown."""
        self._busy: set[str] = set()
        """Proposals whose decision is on its way."""

    def body(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(self._table, classes="panel", id="master"),
            Vertical(self._pane, classes="panel", id="detail"),
        )
        yield self._filter

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(POLL_SECONDS, self.poll)
        self._reload()

    # -- asking -------------------------------------------------------------------------------

    def poll(self) -> None:
        """Ask whether anything changed; read the list again if so."""
        if not self.is_current or self._paused:
            return
        current = self._table.current
        if self._queue.drop_old(self.console.now(), current.proposal.id if current else ""):
            self.redraw()

        def got(position: PositionResult) -> None:
            self.console.memory.heard(position)
            before, self._position = self._position, position
            moved = before is not None and position != before
            if moved or position.open_proposals != self._queue.open or self._fault is not None:
                self._reload()

        self.console.memory.ask(GetPosition(), got, self._failed, group="memory-position")

    def _reload(self, after: str = "") -> None:
        states = DECIDED if self._decided else (ProposalState.OPEN,)
        # Read as many as were shown, so that a refresh takes none away from under the cursor.
        shown = len(self._queue.views or ())
        limit = PAGE if after else min(500, max(PAGE, shown))

        def got(page: ProposalPage) -> None:
            self._fault = None
            self._queue.take(page, more=bool(after))
            self.console.memory.waiting = page.open
            self.redraw()

        self.console.memory.ask(
            ListProposals(states=states, limit=limit, after=after),
            got,
            self._failed,
            group="memory",
        )

    def _failed(self, fault: MemoryFault) -> None:
        self._fault = fault
        self.redraw()

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#master")
        views = self._queue.views
        self.set_class(not views and (views is not None or self._fault is not None), "-none")
        name = "decided" if self._decided else "waiting"
        if views is None:
            words = "asking the memory" + fmt.ELLIPSIS
            if self._fault is not None:
                words = fault_lines(self._fault, "r")
            self._table.show((), words)
            entitle(panel, name)
            self._draw_detail()
            return
        words = self._filter.text
        shown = self._queue.matching(words.lower().split())
        self._table.show(shown, self._empty(words, len(views)))
        number = fmt.count(len(views) if self._decided else self._queue.open)
        if words:
            number = f"{fmt.count(len(shown))}/{fmt.count(len(views))}"
            self._filter.note(number)
        title_words = f"{name} {number}" + (f"  /{words}" if words else "")
        if self._paused:
            title_words += "  PAUSED"
        below = "m: more" if self._queue.next else ""
        if self._fault is not None:
            title_words += "  (stale)"
            below = "\u2716 " + fault_words(self._fault)
        entitle(panel, title_words, below)
        self._draw_detail()

    def _empty(self, words: str, total: int) -> str:
        if words:
            return f"0 of {total} match \u2014 Esc clears the filter"
        if self._decided:
            return "Nothing was decided yet."
        return (
            "Nothing waits for you.\n\n"
            "What the memory would replace,\nmerge or let in comes here first."
        )

    def _cells(self, view: ProposalView) -> tuple[Cell, ...]:
        cells = row_cells(view, self.console.now())
        if view.proposal.id in self._busy:
            return (Cell(fmt.ELLIPSIS, Tone.ACCENT), *cells[1:])
        return cells

    def _draw_detail(self, *, top: bool = False) -> None:
        panel = self.query_one("#detail")
        view = self._table.current
        if view is None:
            self._pane.show(())
            entitle(panel, "")
            return
        keep = self._keep.get(view.proposal.id, "")
        lines = proposal_lines(view, keep, self.console.now(), self.console.tz)
        self._pane.show(lines, top=top)
        entitle(panel, title(view), f"proposal {view.proposal.id}")

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_detail(top=True)
        self.draw_keys()

    @on(LineTable.Opened)
    def _opened(self) -> None:
        if self._table.current is not None:
            self.add_class("-reading")
            self._pane.focus()
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
        space = self.console.memory.space
        if space != self._space and self._space:
            self._queue.start_anew()
            self._keep.clear()
            self._reload()
        elif self._queue.views is not None:
            self._reload()
        self._space = space

    def go_back(self) -> bool:
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self._table.focus()
            return True
        if self._filter.text:
            self._filter.action_clear()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    @property
    def _readable(self) -> bool:
        """The texts are on the screen: nobody decides about what is not shown."""
        return not self.has_class("-narrow") or self.has_class("-reading")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._table.current
        one = view.proposal if view is not None else None
        undoable = view is not None and can_undo(view)
        can_decide = one is not None and one.state is ProposalState.OPEN and self._readable
        free = one is not None and one.id not in self._busy
        match action:
            case "approve" | "reject":
                return True if can_decide and free else (False if undoable else None)
            case "keep_both":
                pair = one is not None and one.kind in (
                    ProposalKind.SUPERSEDE,
                    ProposalKind.DUPLICATE,
                )
                return (True if can_decide and free else None) if pair and not undoable else False
            case "undo":
                return undoable and free
            case "edit":
                return True if can_decide and view is not None and records_of(view) else None
            case "survivor":
                several = one is not None and one.kind in (
                    ProposalKind.SUPERSEDE,
                    ProposalKind.DUPLICATE,
                )
                return (True if can_decide else None) if several else False
            case "record":
                return True if view is not None and records_of(view) else None
            case "copy":
                return True if view is not None else None
            case "more":
                return bool(self._queue.next)
            case _:
                return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None and not self._pane.has_focus

    def action_approve(self) -> None:
        """Do what is proposed. A plan of forgetting asks first: it is about many records."""
        view = self._table.current
        if view is None or not self.check_action("approve", ()):
            return
        if view.proposal.kind is not ProposalKind.RUN:
            self._decide(view, Decision.APPROVE)
            return
        number = fmt.plural(len(view.proposal.replace), "record")
        confirm(
            self.console,
            f"Run the plan {safe_line(view.proposal.plan_hash[:12])}?",
            f"{number} are archived, as {safe_line(view.proposal.proposer, 60)} asked.\n"
            "They can be restored: Forgetting (8) shows and undoes runs.",
            "Run it",
            lambda: self._decide(view, Decision.APPROVE),
        )

    def action_reject(self) -> None:
        """Leave all as it is."""
        view = self._table.current
        if view is not None and self.check_action("reject", ()):
            self._decide(view, Decision.REJECT)

    def action_keep_both(self) -> None:
        """Leave all as it is for good."""
        view = self._table.current
        if view is not None and self.check_action("keep_both", ()):
            self._decide(view, Decision.KEEP_BOTH)

    def action_undo(self) -> None:
        """Take the decision under the cursor back."""
        view = self._table.current
        if view is not None and self.check_action("undo", ()):
            self._decide(view, Decision.UNDO)

    def _decide(self, view: ProposalView, decision: Decision) -> None:
        name = view.proposal.id
        self._busy.add(name)
        keep = self._keep.get(name, "") if decision is Decision.APPROVE else ""

        def done(changed: ProposalView) -> None:
            self._busy.discard(name)
            state = changed.proposal.state
            self._queue.put(changed, decided=state is not ProposalState.OPEN)
            if state is ProposalState.OPEN:
                words = "Taken back: it waits again."
            elif decision is Decision.UNDO:
                words = "Taken back: the records are as they were."
            else:
                back = "u takes it" if can_undo(changed) else "Forgetting (8) takes the run"
                words = f"{PROPOSAL_STATES[state].word.capitalize()}; {back} back."
            self.console.say(words)
            self.redraw()
            self._reload()

        def failed(_: MemoryFault) -> None:
            self._busy.discard(name)
            self.redraw()
            self._reload()

        self.console.memory.do(Decide(name, decision, keep=keep), done, failed)
        self.redraw()

    def action_edit(self) -> None:
        """Change one of the texts before deciding."""
        view = self._table.current
        if view is None or not self.check_action("edit", ()):
            return

        def chosen(record: Record) -> None:
            deeds.edit(self.console, record, self._reload)

        records = records_of(view)
        words = "Nothing is decided by editing."
        deeds.choose_record(self.console, "Edit which text?", words, records, chosen)

    def action_survivor(self) -> None:
        """Choose which record stays."""
        view = self._table.current
        if view is None or not self.check_action("survivor", ()):
            return

        def chosen(record: Record) -> None:
            self._keep[view.proposal.id] = record.id
            self._draw_detail(top=True)

        deeds.choose_record(
            self.console,
            "Which one stays?",
            "Nothing happens yet; approving (a) does it.",
            records_of(view),
            chosen,
        )

    def action_record(self) -> None:
        """Show one of the records in full."""
        view = self._table.current
        if view is not None:
            deeds.choose_record(
                self.console,
                "Show which record?",
                "The one that stays is the first.",
                records_of(view),
                lambda record: self.console.open_record(record.id),
            )

    def action_filter(self) -> None:
        """Type a filter."""
        self._filter.open()

    def action_decided(self) -> None:
        """Show what was decided, or what waits."""
        self._decided = not self._decided
        self._queue.start_anew()
        self.redraw()
        self._reload()

    def action_pause(self) -> None:
        """Hold the list still."""
        self._paused = not self._paused
        self.redraw()

    def action_more(self) -> None:
        """The next page."""
        if self._queue.next:
            self._reload(self._queue.next)

    def action_reload(self) -> None:
        """Ask again; decided rows go."""
        self._queue.let_go()
        self._reload()

    def action_copy(self) -> None:
        """Copy everything that is shown about it."""
        if self._table.current is not None:
            self.copy(self._pane.plain, "All about this decision")
