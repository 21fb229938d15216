"""Savings: what mms saved and what it cost, per tool, per server, per day, with sums that add up."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import confirm
from console.screens.savings_text import (
    OWN,
    Grouping,
    SavingsRow,
    Summary,
    facts_lines,
    net_tone,
    net_words,
    plain_table,
    row_cells,
    rows_of,
    sum_row,
    summary_of,
)
from console.state import ConsoleState
from console.widgets.chart import Chart
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from proxy.answer_model import SavingsView
from proxy.commands import ClearCache

COLUMNS = (
    Column("", 14, flex=1, most=44),
    Column("calls", 6, right=True, drop=3),
    Column("smaller", 7, right=True, drop=4),
    Column("before", 8, right=True),
    Column("sent", 8, right=True),
    Column("fetched", 7, right=True, drop=1),
    Column("own", 6, right=True, drop=2),
    Column("net", 8, right=True),
    Column("share", 6, right=True),
)

RANGES = ((7, "7 days"), (30, "30 days"), (0, "all time"))
"""Days to ask the station for, and how a person calls them."""

_AGAIN_SECONDS = 5.0
"""The ledger is asked for again after so long while the screen is shown."""


class SavingsScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.SAVINGS
    BINDINGS = keys.bindings(scopes.SAVINGS)

    def __init__(self) -> None:
        super().__init__()
        self._chart = Chart(tone=Tone.GOOD, spaced=True)
        self._facts = TextPane(id="savings-facts")
        self._facts.can_focus = False
        self._table: LineTable[SavingsRow] = LineTable(
            COLUMNS, row_cells, lambda row: row.key, id="main"
        )
        self._sum: LineTable[SavingsRow] = LineTable(
            COLUMNS, row_cells, lambda row: row.key, header=False, quiet=True, id="savings-sum"
        )
        self._sum.can_focus = False
        self._grouping = Grouping.TOOL
        self._range = 0
        """Place in `RANGES`."""
        self._view: SavingsView | None = None
        self._summary: Summary | None = None
        self._made_of: tuple[SavingsView, Grouping] | None = None
        self._rows: list[SavingsRow] = []
        """Summed once per ledger and grouping."""
        self._asked_at: float | None = None

    def body(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(self._chart, classes="panel", id="savings-chart"),
            Vertical(self._facts, classes="panel", id="savings-more"),
            id="savings-top",
        )
        yield Vertical(self._table, self._sum, classes="panel", id="savings-table")

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        self._ask(state)
        panel = self.query_one("#savings-table")
        days, words = RANGES[self._range]
        title = f"by {self._grouping.value}, {words}"
        if state.stale:
            title += "   (stale)"
        view = self._view
        if view is None:
            entitle(panel, title)
            entitle(self.query_one("#savings-chart"), "net per day")
            self._chart.show((Cell(fmt.NONE, Tone.MUTED),), ())
            self._facts.show(())
            self._table.show((), "waiting for the station" + fmt.ELLIPSIS)
            self._sum.show(())
            return
        now, tz = self.console.now(), self.console.tz
        summary = self._summary = summary_of(view, now, tz, days, self._summary)
        made_of = (view, self._grouping)
        if self._made_of is None or any(
            one is not other for one, other in zip(made_of, self._made_of, strict=True)
        ):
            self._made_of, self._rows = made_of, rows_of(view, self._grouping)
        self._table.show(
            self._rows,
            "Nothing was answered yet. Answers over their budget are made smaller;\n"
            "what that saves is counted here.",
        )
        total = summary.total
        self._sum.show([sum_row(total)] if self._rows else ())
        costs = "net of all costs"
        if not self.has_class("-narrow"):
            costs = "net = before \u2212 sent \u2212 fetched back \u2212 own tools"
        entitle(panel, title, f"{costs}   counted with {view.tokenizer}")
        entitle(self.query_one("#savings-chart"), f"net per day, {words}", summary.span)
        self._chart.show((Cell(net_words(total), net_tone(total.net)),), summary.net_per_day)
        entitle(self.query_one("#savings-more"), "in short")
        self._facts.show(facts_lines(summary))

    def _ask(self, state: ConsoleState) -> None:
        now = self.console.now()
        recent = self._asked_at is not None and now - self._asked_at < _AGAIN_SECONDS
        if state.stale or recent:
            return
        self._asked_at = now
        days = RANGES[self._range][0]

        def got(view: SavingsView) -> None:
            if days == RANGES[self._range][0]:
                self._view = view
                self.redraw()
                self.draw_keys()

        self.console.fetch(lambda: self.console.station.savings(days), got, group="savings-screen")

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Opened)
    def _opened(self) -> None:
        row = self._table.current
        if row is None or not self.offers_open():
            return
        words = [f'up:"{row.key[0]}"']
        if len(row.key) > 1:
            words.append(f'tool:"{row.key[1]}"')
        self.console.open_calls(" ".join(words))

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self.draw_keys()

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "copy":
            return True if self._table.items else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        row = self._table.current
        return row is not None and self._grouping is not Grouping.DAY and row.key[0] != OWN

    def _group(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self.redraw()

    def action_tools(self) -> None:
        """Sums per tool."""
        self._group(Grouping.TOOL)

    def action_servers(self) -> None:
        """Sums per server."""
        self._group(Grouping.SERVER)

    def action_days(self) -> None:
        """Sums per day."""
        self._group(Grouping.DAY)

    def action_range(self) -> None:
        """The next range of days."""
        self._range = (self._range + 1) % len(RANGES)
        self._view, self._asked_at = None, None
        self.redraw()

    def action_held(self) -> None:
        """Browse the held texts."""
        self.console.open_held()

    def action_clear_cache(self) -> None:
        """Forget kept answers, after asking."""
        confirm(
            self.console,
            "Clear the cache of answers?",
            "All answers that are kept to be given again are forgotten; the next calls ask the "
            "upstreams. Held texts stay.",
            "Clear the cache",
            lambda: self.console.carry_out(ClearCache()),
        )

    def action_copy(self) -> None:
        """Copy the table with its sum."""
        if self._summary is not None:
            table = plain_table(self._table.items, sum_row(self._summary.total))
            self.copy(table, f"Savings by {self._grouping.value}")
