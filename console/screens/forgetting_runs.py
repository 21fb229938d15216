"""Runs of forgetting: when, by whom, how many, and how many later searches missed what they archived."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.memory_desk import fault_words
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import confirm
from console.screens.forgetting_text import run_cells, run_lines
from console.screens.memory_text import ago, day, fault_lines
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell
from memory.api import ListRuns, RunPage, UndoResult, UndoRun
from memory.errors import MemoryFault
from memory.model import Run

if TYPE_CHECKING:
    from console.app import ConsoleApp

COLUMNS = (
    Column("", 1),
    Column("when", 16),
    Column("by", 8, flex=1, drop=2),
    Column("what", 14, right=True),
    Column("regret", 12, right=True),
    Column("ago", 7, right=True, drop=1),
)
MOST = 500


class RunsScreen(MainScreen):
    """See the module's text. "Missed" counts searches that would have found an archived record."""

    SCOPE = scopes.RUNS
    TAB = scopes.FORGETTING
    BINDINGS = keys.bindings(scopes.RUNS)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[Run] = LineTable(COLUMNS, self._cells, lambda run: run.id, id="main")
        self._pane = TextPane(id="run-text")
        self._pane.can_focus = False
        self._runs: tuple[Run, ...] | None = None
        self._fault: MemoryFault | None = None

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="runs")
        yield Vertical(self._pane, classes="panel", id="run")

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    def _ask(self) -> None:
        def got(page: RunPage) -> None:
            self._runs, self._fault = page.runs, None
            self.redraw()

        def failed(fault: MemoryFault) -> None:
            self._fault = fault
            self.redraw()

        self.console.memory.ask(ListRuns(limit=MOST), got, failed, group="memory-detail")

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#runs")
        runs = self._runs
        if runs is None:
            words = "asking the memory" + fmt.ELLIPSIS
            if self._fault is not None:
                words = fault_lines(self._fault, "r")
            self._table.show((), words)
            entitle(panel, "runs")
        else:
            self._table.show(runs, "Nothing was ever forgotten.")
            missed = sum(run.would_have_hit for run in runs if run.undone_at is None)
            stale = "  (stale)" if self._fault is not None else ""
            below = f"{fmt.count(missed)} later searches missed something" if runs else ""
            if self._fault is not None:
                below = "\u2716 " + fault_words(self._fault)
            entitle(panel, f"runs {fmt.count(len(runs))}{stale}", below)
        self._draw_run()

    def _cells(self, run: Run) -> tuple[Cell, ...]:
        return run_cells(run, self.console.now(), self.console.tz)

    def _draw_run(self) -> None:
        run = self._table.current
        lines = run_lines(run, self.console.now(), self.console.tz) if run is not None else ()
        self._pane.show(lines, top=True)
        entitle(self.query_one("#run"), "this run" if run is not None else "")

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_run()
        self.draw_keys()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        run = self._table.current
        if action == "undo":
            return True if run is not None and run.undone_at is None else None
        if action == "copy":
            return True if run is not None else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def action_undo(self) -> None:
        """Restore what the run archived, after asking."""
        run = self._table.current
        if run is not None and run.undone_at is None:
            undo_run(self.console, run, self._ask)

    def action_copy(self) -> None:
        """Copy all about the run."""
        if self._table.current is not None:
            self.copy(self._pane.plain, "All about this run")

    def action_reload(self) -> None:
        """Ask again."""
        self._ask()


def undo_run(app: ConsoleApp, run: Run, then: Callable[[], None]) -> None:
    """Take a run back, after asking."""

    def done(result: UndoResult) -> None:
        words = f"{fmt.plural(len(result.restored), 'record')} restored."
        if result.conflicts:
            words += f" {fmt.plural(len(result.conflicts), 'record')} had changed and stay as is."
        app.say(words)
        then()

    number = fmt.plural(run.archived, "record")
    confirm(
        app,
        f"Take run {safe_line(run.id, 30)} back?",
        f"It archived {number} on {day(run.at, app.tz)} ({ago(run.at, app.now())}).\n"
        "They become active again; those that changed since are left alone.",
        "Take it back",
        lambda: app.memory.do(UndoRun(run.id), done, lambda _: then()),
    )
