"""Overview: is everything well, and what is going on?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.first_steps import FirstStepsDeeds
from console.screens.memory_overview import memory_title, overview_lines
from console.screens.savings_text import Summary, card_words, net_tone, share, summary_of
from console.screens.surfacing_glance import glance_line
from console.state import SAVINGS_DAYS, ConsoleState, calls_per_minute
from console.widgets.chart import Chart
from console.widgets.columns import Column
from console.widgets.glyphs import SEVERITIES, STATES
from console.widgets.linetable import LineTable
from console.widgets.textpane import EMPTY, TextLine, TextPane
from console.widgets.tone import Cell, Tone
from proxy.model import Attention, HostView, RunningCall, UpstreamState, UpstreamView

UPSTREAM_COLUMNS = (
    Column("", 1),
    Column("upstream", 10, flex=2, most=24),
    Column("state", 10),
    Column("since", 6, drop=4),
    Column("p50 ms", 6, right=True, drop=5),
    Column("p95 ms", 6, right=True, drop=2),
    Column("calls", 6, right=True),
    Column("err", 5, right=True),
    Column("reason", 14, flex=5, drop=3),
)


class SavingsChart(Chart, can_focus=True):
    """The card that leads to the Savings screen, by Enter or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "open", show=False)]

    class Opened(Message):
        """A person wants to see more."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(tone=Tone.GOOD, spaced=True, id=id)

    def on_click(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Tell the screen."""
        self.post_message(self.Opened())


class MemoryCard(TextPane):
    """The panel that leads to the memory's screens, by Enter or a click."""

    class Opened(Message):
        """A person wants to see more."""

    def on_click(self) -> None:
        self.action_open_row()

    def action_open_row(self) -> None:
        """Tell the screen."""
        self.post_message(self.Opened())


class SurfacingLine(TextPane, can_focus=False):
    """The line that leads to Surfacing by a click; it names the key that does the same."""

    class Opened(Message):
        """A person wants to see more."""

    def on_click(self) -> None:
        self.post_message(self.Opened())


class OverviewScreen(FirstStepsDeeds, MainScreen):
    """See the module's text. Without any upstream it is the welcome page."""

    SCOPE = scopes.OVERVIEW
    BINDINGS = keys.bindings(scopes.OVERVIEW)

    def __init__(self) -> None:
        super().__init__()
        self._savings = SavingsChart(id="savings-chart-small")
        self._summary: Summary | None = None
        self._tokens = Chart()
        self._calls = Chart(tone=Tone.GOOD)
        self._upstreams: LineTable[UpstreamView] = LineTable(
            UPSTREAM_COLUMNS, self._upstream_cells, lambda view: view.name, id="main"
        )
        self._attention: LineTable[Attention] = LineTable(
            (Column("", 1), Column("", 5), Column("", 20, flex=1)),
            self._attention_cells,
            lambda item: (item.at, item.subject, item.text),
            header=False,
            quiet=True,
            empty="Nothing needs you.",
            id="attention",
        )
        self._hosts: LineTable[HostView] = LineTable(
            (
                Column("", 10, flex=3, most=20),
                Column("", 5, right=True),
                Column("", 6, right=True, drop=2),
                Column("", 16, flex=2, drop=3),
            ),
            self._host_cells,
            lambda host: host.session,
            header=False,
            quiet=True,
            empty="No host is connected.",
            id="hosts",
        )
        self._in_flight: LineTable[RunningCall] = LineTable(
            (Column("", 5, right=True), Column("", 12, flex=1)),
            self._running_cells,
            lambda call: call.id,
            header=False,
            quiet=True,
            empty="No call is running.",
            id="running",
        )
        self._memory = MemoryCard(id="memory-card")
        self._surfacing = SurfacingLine(id="surfacing-glance")
        self._welcome = TextPane(id="welcome")

    def body(self) -> Iterable[Widget]:
        cards = Horizontal(
            Vertical(self._savings, classes="panel", id="card-savings"),
            Vertical(self._tokens, classes="panel", id="card-tokens"),
            Vertical(self._calls, classes="panel", id="card-calls"),
            id="cards",
        )
        table = Vertical(self._upstreams, classes="panel", id="panel-upstreams")
        bottom = Horizontal(
            Vertical(self._attention, classes="panel", id="panel-attention"),
            Vertical(self._in_flight, classes="panel", id="panel-running"),
            Vertical(self._hosts, classes="panel", id="panel-hosts"),
            Vertical(self._memory, classes="panel", id="panel-memory"),
            id="bottom",
        )
        yield Vertical(cards, table, self._surfacing, bottom, id="dashboard")
        yield self._welcome

    def draw(self, state: ConsoleState) -> None:
        now = self.console.now()
        welcome = state.loaded and not state.upstreams
        if welcome is not self.has_class("-welcome"):
            self.set_class(welcome, "-welcome")
            self.set_focus(self._welcome if welcome else self._upstreams)
        if welcome:
            self._welcome.show(self._welcome_lines())
            return
        self._draw_cards(state, now)
        self._draw_upstreams(state)
        entitle(
            self.query_one("#panel-attention"),
            f"attention {len(state.attention)}" if state.attention else "attention",
        )
        waiting = None if state.loaded else fmt.ELLIPSIS
        self._attention.show(state.attention, waiting or "Nothing needs you.")
        self._draw_memory()
        key = next(one.number for one in scopes.SCREENS if one.id == scopes.SURFACING)
        wide = self.has_class("-wide")
        self._surfacing.show([glance_line(state.surfacing, key, wide=wide)] if state.loaded else ())
        running = f"running {len(state.running)}" if state.running else "running"
        entitle(self.query_one("#panel-running"), running)
        running_first = sorted(state.running, key=lambda call: call.started_at)
        self._in_flight.show(running_first, waiting or "No call is running.")
        entitle(
            self.query_one("#panel-hosts"),
            f"hosts {len(state.hosts)}" if state.hosts else "hosts",
        )
        self._hosts.show(
            state.hosts,
            waiting
            or f"No host is connected.\n{self.console.connect_hint}\nprints how to point one here.",
        )

    def _draw_memory(self) -> None:
        """Counts by kind, what waits, how the index is."""
        desk = self.console.memory
        desk.want_overview()
        entitle(self.query_one("#panel-memory"), memory_title(desk.overview, desk.fault))
        self._memory.show(overview_lines(desk.overview, desk.fault))

    def _draw_savings(self, state: ConsoleState, now: float) -> None:
        """Net today and of the last days, and what our own tools cost."""
        self.console.want_savings()
        card = self.query_one("#card-savings")
        wide = self.has_class("-wide")
        title = f"net tokens saved, last {SAVINGS_DAYS} days" if wide else "net tokens saved"
        view = state.savings
        if view is None:
            entitle(card, title)
            self._savings.show((Cell(fmt.NONE, Tone.MUTED),), ())
            return
        self._summary = summary_of(view, now, self.console.tz, SAVINGS_DAYS, self._summary)
        today = self._summary.today
        entitle(card, title, card_words(self._summary.total, SAVINGS_DAYS, wide=wide))
        headline = (
            Cell(fmt.count(today.net), net_tone(today.net)),
            Cell(f" today {share(today)}", Tone.MUTED),
        )
        self._savings.show(headline, self._summary.net_per_day)

    def _draw_cards(self, state: ConsoleState, now: float) -> None:
        self._draw_savings(state, now)
        minutes = state.minutes
        if not state.loaded:
            for chart, card, title in (
                (self._tokens, "#card-tokens", self._tokens_title()),
                (self._calls, "#card-calls", "calls per minute"),
            ):
                entitle(self.query_one(card), title)
                chart.show((Cell(fmt.NONE, Tone.MUTED),), ())
            return
        today = f"today {fmt.count(state.today.tokens_out)} out"
        if self.has_class("-wide"):
            today += f", {fmt.count(state.today.tokens_in)} in"
        entitle(self.query_one("#card-tokens"), self._tokens_title(), today)
        sent = sum(minute.tokens_in for minute in minutes)
        received = sum(minute.tokens_out for minute in minutes)
        self._tokens.show(
            (
                Cell(fmt.count(received), Tone.STRONG),
                Cell(" out  ", Tone.MUTED),
                Cell(fmt.count(sent), Tone.STRONG),
                Cell(" in", Tone.MUTED),
            ),
            [minute.tokens_out + minute.tokens_in for minute in minutes],
        )
        today = f"today {fmt.count(state.today.calls)}, {fmt.count(state.today.errors)} err"
        entitle(self.query_one("#card-calls"), "calls per minute", today)
        errors = sum(minute.errors for minute in minutes)
        calls = sum(minute.calls for minute in minutes)
        self._calls.show(
            (
                Cell(fmt.count(calls_per_minute(state, now)), Tone.STRONG),
                Cell(" now  ", Tone.MUTED),
                Cell(f"{fmt.count(len(state.running))}", Tone.STRONG),
                Cell(" run  ", Tone.MUTED),
                Cell(
                    f"{fmt.percent(errors, calls)} err" if calls else "no calls",
                    Tone.BAD if errors else Tone.MUTED,
                ),
            ),
            [minute.calls for minute in minutes],
        )

    def _tokens_title(self) -> str:
        return "tokens per minute, last hour" if self.has_class("-wide") else "tokens per minute"

    def _draw_upstreams(self, state: ConsoleState) -> None:
        panel = self.query_one("#panel-upstreams")
        waiting = sum(
            view.state in (UpstreamState.FAILED, UpstreamState.BACKING_OFF, UpstreamState.DEGRADED)
            for view in state.upstreams
        )
        title = "upstreams" if state.loaded else "upstreams \u2014 waiting for the station"
        if waiting:
            title += (
                f" \u2014 {waiting} need attention" if waiting > 1 else " \u2014 1 needs attention"
            )
        if state.stale and state.loaded:
            title += " (stale)"
        self._upstreams.show(state.upstreams, "\u2026" if not state.loaded else "")
        entitle(panel, title, reason_of(self._upstreams.current))

    def _upstream_cells(self, view: UpstreamView) -> tuple[Cell, ...]:
        now = self.console.now()
        sign = STATES[view.state]
        faint = Tone.MUTED if view.state is UpstreamState.DISABLED else Tone.NORMAL
        share = fmt.percent(view.errors, view.calls)
        return (
            sign.mark,
            Cell(view.name, Tone.STRONG if faint is Tone.NORMAL else faint),
            sign.name,
            Cell(fmt.age(now - view.since), Tone.MUTED),
            Cell(fmt.milliseconds(view.p50_ms), faint),
            Cell(fmt.milliseconds(view.p95_ms), faint),
            Cell(fmt.count(view.calls), faint),
            Cell(share, error_tone(view)),
            Cell(view.reason, Tone.MUTED),
        )

    def _attention_cells(self, item: Attention) -> tuple[Cell, ...]:
        sign = SEVERITIES[item.severity]
        subject = item.subject.removeprefix("upstream ")
        text = f"{safe_line(subject, 60)}: {safe_line(item.text, 300)} {item.action}".rstrip()
        return (sign.mark, Cell(fmt.short_clock(item.at, self.console.tz), Tone.MUTED), Cell(text))

    def _running_cells(self, call: RunningCall) -> tuple[Cell, ...]:
        lasted = fmt.age(self.console.now() - call.started_at)
        return (Cell(lasted, Tone.ACCENT), Cell(f"{call.upstream}.{call.tool}"))

    def _host_cells(self, host: HostView) -> tuple[Cell, ...]:
        now = self.console.now()
        return (
            Cell(host.name, Tone.STRONG),
            Cell(fmt.count(host.calls)),
            Cell(fmt.age(now - host.connected_at), Tone.MUTED),
            Cell(host.directory or host.endpoint, Tone.MUTED),
        )

    def _welcome_lines(self) -> list[TextLine]:
        station = self.console.state.station
        file = station.config_file if station else ""
        lines: list[TextLine] = [
            EMPTY,
            (Cell("  mms stands between your agents and their MCP servers.", Tone.STRONG),),
            (Cell("  There is no server behind it yet. Three ways to begin:"),),
            EMPTY,
        ]
        if self.console.first_steps is not None:
            if self.console.first_steps.has_demo:
                lines += _way("d", "Try the demo", "bundled servers and a scripted agent")
            lines += _way("i", "Import", "what Claude, Cursor, VS Code or Codex already use")
            lines += _way("a", "Add", "one server, by its command or its URL")
        else:
            lines += _way(
                "$", "mms add NAME --command \u2026", "one server, by its command or its URL"
            )
            lines += _way("$", "mms import", "servers that your hosts already have")
        lines += [
            EMPTY,
            (Cell("  Then point a host here. This prints the snippet for it:", Tone.NORMAL),),
            EMPTY,
            (Cell("     $ ", Tone.MUTED), Cell(self.console.connect_hint, Tone.ACCENT)),
            EMPTY,
            (Cell("  Settings: ", Tone.MUTED), Cell(file, Tone.MUTED)),
        ]
        return lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        welcome = self.has_class("-welcome")
        if action in ("add", "import", "demo"):
            steps = self.console.first_steps
            return steps is not None and welcome and (action != "demo" or steps.has_demo)
        if action == "copy":
            return welcome
        if action == "savings":
            return not welcome
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return not self.has_class("-welcome")

    def action_savings(self) -> None:
        """The Savings screen."""
        self.console.action_go(scopes.SAVINGS)

    @on(MemoryCard.Opened)
    def _memory_opened(self) -> None:
        waiting = self.console.memory.waiting
        self.console.action_go(scopes.DECISIONS if waiting else scopes.MEMORY)

    @on(SurfacingLine.Opened)
    def _surfacing_opened(self) -> None:
        self.console.action_go(scopes.SURFACING)

    @on(SavingsChart.Opened)
    def _savings_opened(self) -> None:
        self.action_savings()

    def action_copy(self) -> None:
        """Copy the command that connects a host."""
        self.copy(self.console.connect_hint, "The command")

    @on(LineTable.Opened)
    def _opened(self, event: LineTable.Opened) -> None:
        if event.table is self._upstreams:
            self.console.open_upstream(str(event.key))
        elif event.table is self._attention and self._attention.current is not None:
            self._open_subject(self._attention.current.subject)
        elif event.table is self._in_flight and self._in_flight.current is not None:
            self.console.open_upstream(self._in_flight.current.upstream)
        elif event.table is self._hosts and self._hosts.current is not None:
            self.console.open_calls(f'host:"{self._hosts.current.name}"')

    def _open_subject(self, subject: str) -> None:
        words = subject.split()
        names = {view.name for view in self.console.state.upstreams}
        found = next((word for word in words if word in names), None)
        if found is not None:
            self.console.open_upstream(found)
        elif words[:1] == ["settings"]:
            self.console.action_go(scopes.CONFIG)

    @on(LineTable.Moved)
    def _moved(self, event: LineTable.Moved) -> None:
        if event.table is self._upstreams:
            self._draw_upstreams(self.console.state)


def reason_of(view: UpstreamView | None) -> str:
    """Why it is in its state and what comes next; empty while all is well."""
    if view is None:
        return ""
    return " \u2192 ".join(part for part in (view.reason, view.next_action) if part)


def error_tone(view: UpstreamView) -> Tone:
    """The share of failed calls: nothing, noticeable, or bad (above 5 %)."""
    if view.errors == 0 or view.calls == 0:
        return Tone.MUTED
    return Tone.BAD if view.errors * 20 > view.calls else Tone.WARN


def _way(key: str, name: str, what: str) -> list[TextLine]:
    return [
        (Cell(f"     {key}  ", Tone.KEY), Cell(f"{name:<14}", Tone.STRONG), Cell(what, Tone.MUTED))
    ]
