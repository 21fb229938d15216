"""Forgetting: what a plan would archive and why, record by record; change the plan, then run exactly it.

Whatever a person changes here (an exemption, a pin, another survivor) makes a new plan with another hash.
What is confirmed is the plan that is shown; if a record in it changed meanwhile, the run is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.memory_desk import fault_words
from console.screens import memory_deeds as deeds
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import confirm_typed
from console.screens.forgetting_runs import undo_run
from console.screens.forgetting_text import (
    HASH_SHOWN,
    REASONS,
    PlanRow,
    counted,
    decision_lines,
    expected_word,
    head_lines,
    plan_rows,
    row_cells,
    run_question,
    summary_lines,
)
from console.screens.memory_text import fault_lines
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from memory.api import (
    DecisionView,
    GetPlan,
    ListRuns,
    PlanView,
    PreviewForgetting,
    RunForgetting,
    RunPage,
    RunResult,
)
from memory.errors import FaultCode, MemoryFault
from memory.model import Exemptions, Guard, Reason, Record

COLUMNS = (
    Column("", 1),
    Column("record", 18, flex=2),
    Column("", 9),
    Column("need", 6, right=True, drop=2),
    Column("age", 5, right=True, drop=1),
)
PAGE = 100
_EXPLAINED = (
    "No plan yet. r makes one and shows it; nothing is forgotten.\n\n"
    "Forgetting archives, it never deletes: what was replaced,\n"
    "what another record says too, what has expired, what never\n"
    "worked, and what is hardly needed any more.\n\n"
    "You see every record first, can keep or pin any of them,\n"
    "and every run can be taken back."
)


class ForgettingScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.FORGETTING
    BINDINGS = keys.bindings(scopes.FORGETTING)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[PlanRow] = LineTable(
            COLUMNS, self._cells, lambda row: row.key, header=False, id="main"
        )
        self._summary = TextPane(id="plan-summary")
        self._summary.can_focus = False
        self._pane = TextPane(id="forgetting-text")
        self._space = ""
        self._plan: PlanView | None = None
        self._items: tuple[DecisionView, ...] = ()
        self._rows: list[PlanRow] = []
        self._wished = Exemptions()
        self._reason: Reason | None = None
        self._next = ""
        self._asked = False
        """Whether an earlier plan was asked for."""
        self._busy = ""
        self._fault: MemoryFault | None = None

    def body(self) -> Iterable[Widget]:
        yield self._summary
        yield Horizontal(
            Vertical(self._table, classes="panel", id="master"),
            Vertical(self._pane, classes="panel", id="detail"),
            id="plan",
        )

    def on_mount(self) -> None:
        super().on_mount()
        self._load()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        space = self.console.memory.space
        if space != self._space and self._space:
            self._drop_plan()
            self._wished, self._reason, self._fault = Exemptions(), None, None
            self._load()
        self._space = space

    # -- asking -------------------------------------------------------------------------------

    def _load(self, after: str = "") -> None:
        """A page of the plan that is kept."""
        known = self._plan
        hash_ = known.plan.hash if known is not None else ""

        def got(plan: PlanView) -> None:
            self._asked = True
            if self._has_run(plan):
                self._drop_plan()
            else:
                self._take(plan, more=bool(after))
            self.redraw()

        def failed(fault: MemoryFault) -> None:
            self._asked = True
            if fault.code is FaultCode.NOT_FOUND:
                self._drop_plan()
                self._fault = None
            else:
                self._fault = fault
            self.redraw()

        request = GetPlan(hash_, reason=self._reason, limit=PAGE, after=after)
        self.console.memory.ask(request, got, failed, group="memory")

    def _has_run(self, plan: PlanView) -> bool:
        """The memory keeps a plan for a day, also after it ran."""
        overview = self.console.memory.overview
        run = overview.last_run if overview is not None else None
        return run is not None and run.undone_at is None and run.plan_hash == plan.plan.hash

    def _drop_plan(self) -> None:
        self._plan, self._items, self._rows, self._next = None, (), [], ""

    def _take(self, plan: PlanView, *, more: bool = False) -> None:
        self._fault, self._busy = None, ""
        self._plan = plan
        self._wished = plan.plan.exemptions
        self._items = (*self._items, *plan.items) if more else plan.items
        self._next = plan.next
        self._rows = plan_rows(plan, self._items)
        self.redraw()
        self.draw_keys()

    def _preview(self, wished: Exemptions) -> None:
        """Make a new plan."""
        self._busy = "making a plan"

        def got(plan: PlanView) -> None:
            self._asked = True
            self._take(plan)
            self.console.memory.refresh()
            if self._reason is not None:
                self._load()

        def failed(fault: MemoryFault) -> None:
            self._busy, self._fault = "", fault
            self.redraw()

        request = PreviewForgetting(exemptions=wished, limit=PAGE)
        self.console.memory.ask(request, got, failed, group="memory")
        self.redraw()

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#master")
        plan = self._plan
        self.set_class(plan is None, "-none")
        if plan is None:
            words = _EXPLAINED
            if self._fault is not None:
                words = fault_lines(self._fault, "r")
            elif self._busy or not self._asked:
                words = (self._busy or "asking the memory") + fmt.ELLIPSIS
            self._table.show((), words)
            entitle(panel, "forgetting", "nothing is deleted, ever")
            self._draw_detail()
            return
        empty = "Nothing would be forgotten."
        self._table.show(self._rows, empty)
        self._summary.show(summary_lines(plan))
        name = "plan" if self._reason is None else f"only {REASONS[self._reason][0]}"
        loaded = len(self._items)
        if self._next:
            name += f", {fmt.count(loaded)} of {fmt.count(sum(counted(plan)))} loaded"
        busy = f"   {self._busy}{fmt.ELLIPSIS}" if self._busy else ""
        stale = "   (stale)" if self._fault is not None else ""
        below = "m: more" if self._next else ""
        if self._fault is not None:
            below = "\u2716 " + fault_words(self._fault)
        entitle(panel, name + busy + stale, below)
        self._draw_detail()

    def _cells(self, row: PlanRow) -> tuple[Cell, ...]:
        cells = row_cells(row)
        return tuple(Cell(cell.text, Tone.MUTED) for cell in cells) if self._busy else cells

    def _draw_detail(self, *, top: bool = False) -> None:
        panel = self.query_one("#detail")
        row, plan = self._table.current, self._plan
        if row is None or plan is None:
            self._pane.show(())
            entitle(panel, "")
            return
        if row.view is None:
            self._pane.show(head_lines(row), top=top)
            entitle(panel, REASONS[row.reason][0])
            return
        now, tz = self.console.now(), self.console.tz
        self._pane.show(decision_lines(row.view, plan.plan.policy, now, tz), top=top)
        entitle(panel, "would be archived" if row.view.decision.prune else "stays")

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_detail(top=True)
        self.draw_keys()
        rows = self._table.items
        if self._next and len(rows) > 1 and self._table.cursor == len(rows) - 1:
            self._load(self._next)

    @on(LineTable.Opened)
    def _opened(self) -> None:
        if self._table.current is not None:
            self.add_class("-reading")
            self._pane.focus()
            self.draw_keys()

    def go_back(self) -> bool:
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self._table.focus()
            return True
        if self._reason is not None:
            self._reason = None
            self._load()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    @property
    def _view(self) -> DecisionView | None:
        row = self._table.current
        return row.view if row is not None else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._view
        plan = self._plan
        match action:
            case "exempt":
                free = view is not None and (
                    view.decision.prune or view.decision.guard is Guard.EXEMPT
                )
                return (True if free and not self._busy else None) if plan is not None else False
            case "pin" | "record" | "copy":
                return (True if view is not None else None) if plan is not None else False
            case "survivor":
                twin = view is not None and view.decision.reason is Reason.DUPLICATE
                return twin and view is not None and view.survivor is not None and not self._busy
            case "run":
                if plan is None:
                    return False
                ready = counted(plan)[0] > 0 and not self._busy and self._fault is None
                return True if ready else None
            case "reason":
                return plan is not None and len(plan.by_reason) > 1
            case "more":
                return bool(self._next)
            case _:
                return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None and not self._pane.has_focus

    def action_preview(self) -> None:
        """Make a plan, with the present exemptions."""
        self._preview(self._wished)

    def action_exempt(self) -> None:
        """Leave the record out of the plan, or put it back."""
        view = self._view
        if view is None or not self.check_action("exempt", ()):
            return
        name = view.decision.id
        kept = set(self._wished.keep) ^ {name}
        self._preview(replace(self._wished, keep=tuple(sorted(kept))))

    def action_survivor(self) -> None:
        """Let this one stay and its twin go."""
        view = self._view
        if view is None or view.survivor is None or not self.check_action("survivor", ()):
            return
        mine, other = view.decision.id, view.survivor.id
        chosen = (set(self._wished.survivors) - {other}) | {mine}
        self._preview(replace(self._wished, survivors=tuple(sorted(chosen))))

    def action_pin(self) -> None:
        """Never forget it; a new plan follows."""
        view = self._view
        if view is not None:
            deeds.toggle_pin(self.console, view.record, lambda: self._preview(self._wished))

    def action_record(self) -> None:
        """The record in full, or the one that stays for it."""
        view = self._view
        if view is None:
            return
        records = (view.record,) if view.survivor is None else (view.record, view.survivor)

        def chosen(record: Record) -> None:
            self.console.open_record(record.id)

        words = "The first would go, the second stays for it."
        deeds.choose_record(self.console, "Show which record?", words, records, chosen)

    def action_reason(self) -> None:
        """Only one reason, then the next, then all."""
        plan = self._plan
        if plan is None:
            return
        order: list[Reason | None] = [None, *(reason for reason, _, _ in plan.by_reason)]
        place = order.index(self._reason) if self._reason in order else 0
        self._reason = order[(place + 1) % len(order)]
        self._load()

    def action_more(self) -> None:
        """The next page."""
        if self._next:
            self._load(self._next)

    def action_runs(self) -> None:
        """All runs."""
        self.console.open_runs()

    def action_run(self) -> None:
        """Archive what the plan says, after a typed confirmation."""
        plan = self._plan
        if plan is None or not self.check_action("run", ()):
            return
        confirm_typed(
            self.console,
            f"Run the plan {plan.plan.hash[:HASH_SHOWN]}",
            run_question(plan),
            expected_word(plan),
            lambda: self._run(plan),
        )

    def _run(self, plan: PlanView) -> None:
        self._busy = "archiving"
        self.redraw()

        def done(result: RunResult) -> None:
            self._busy = ""
            if result.run is None:
                waits = "It waits on Decisions (7)."
                self.console.say(waits if result.proposal_id else "Nothing was left to archive.")
                self._load()
                return
            words = f"{fmt.plural(result.run.archived, 'record')} archived."
            if result.skipped:
                words += f" {fmt.plural(len(result.skipped), 'record')} had changed and stay."
            self.console.say(f"{words} u takes the run back.")
            self._drop_plan()
            self._wished, self._reason = Exemptions(), None
            self.console.memory.refresh()
            self.redraw()
            self.console.open_runs()

        def failed(_: MemoryFault) -> None:
            self._busy = ""
            self.redraw()

        self.console.memory.do(RunForgetting(plan.plan.hash), done, failed)

    def action_undo(self) -> None:
        """Take the last run back, after asking."""

        def got(page: RunPage) -> None:
            last = next((run for run in page.runs if run.undone_at is None), None)
            if last is None:
                self.console.say("There is no run to take back.")
            else:
                undo_run(self.console, last, self._load)

        self.console.memory.do(ListRuns(limit=10), got)

    def action_copy(self) -> None:
        """Copy everything that is shown about the record."""
        if self._view is not None:
            self.copy(self._pane.plain, "All about this record")
