"""Upstreams: all of them at the left, everything about one at the right."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import entitle
from console.screens.dialogs import confirm
from console.screens.first_steps import FirstStepsDeeds
from console.screens.overview import error_tone
from console.screens.selection_glance import SelectionGlance
from console.screens.upstream_text import upstream_lines
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.glyphs import STATES
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from proxy.commands import RemoveUpstream, SetUpstreamEnabled
from proxy.model import UpstreamDetail, UpstreamState, UpstreamView

COLUMNS = (
    Column("", 1),
    Column("upstream", 10, flex=2, most=24),
    Column("state", 10),
    Column("tools", 7, right=True, drop=2),
    Column("calls", 6, right=True, drop=3),
    Column("err", 5, right=True, drop=4),
)


def tools_of(view: UpstreamView) -> str:
    """Advertised tools, and of how many, where some are withheld."""
    if not view.withheld:
        return fmt.count(view.tools_advertised)
    return f"{fmt.count(view.tools_advertised)}/{fmt.count(view.tools_discovered)}"


class UpstreamsScreen(FirstStepsDeeds):
    """See the module's text. On narrow terminals the right side is a page of its own (Enter)."""

    SCOPE = scopes.UPSTREAMS
    BINDINGS = keys.bindings(scopes.UPSTREAMS)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[UpstreamView] = LineTable(
            COLUMNS, self._cells, lambda view: view.name, id="main"
        )
        self._pane = TextPane(id="pane")
        self._filter = FilterBar("part of a name, a state or a command", id="filter")
        self._detail: UpstreamDetail | None = None
        self._asked_at = 0.0
        """Of which snapshot the detail was asked."""
        self._selection = SelectionGlance()

    def body(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(self._table, classes="panel", id="master"),
            Vertical(self._pane, classes="panel", id="detail"),
        )
        yield self._filter

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        shown = [view for view in state.upstreams if self._wanted(view)]
        words = self._filter.text
        if words:
            empty = f"0 of {len(state.upstreams)} match \u2014 Esc clears the filter"
        elif state.loaded:
            empty = "No upstream is configured."
            if self.console.first_steps is not None:
                empty += "\na adds one,\ni imports those of your hosts."
        else:
            empty = "waiting for the station" + fmt.ELLIPSIS
        self._table.show(shown, empty)
        target = self.console.wanted_upstream
        if target is not None and state.loaded:
            self.console.wanted_upstream = None
            if not self._table.go_to(target):
                self._filter.put("")
                self._table.show(state.upstreams)
                self._table.go_to(target)
        total = len(state.upstreams)
        number = f"{len(shown)}/{total}" if words else f"{total}"
        entitle(self.query_one("#master"), f"upstreams {number}" + (f"  /{words}" if words else ""))
        if words:
            self._filter.note(number)
        self._draw_detail(state)

    def _wanted(self, view: UpstreamView) -> bool:
        words = self._filter.text.lower().split()
        haystack = f"{view.name} {STATES[view.state].word} {view.target} {view.prefix}".lower()
        return all(word in haystack for word in words)

    def _draw_detail(self, state: ConsoleState) -> None:
        view = self._table.current
        if view is None:
            self._detail = None
            self._pane.show(())
            entitle(self.query_one("#detail"), "detail")
            return
        if self._detail is not None and self._detail.view.name != view.name:
            self._detail = None
        stale = "  (stale)" if state.stale else ""
        entitle(self.query_one("#detail"), view.name + stale)
        self._pane.show(
            upstream_lines(
                view,
                self._detail,
                state.running,
                self.console.now(),
                self.console.tz,
                self._selection.value,
            )
        )
        self._selection.ask(self.console, state.stale, self._redraw_detail)
        if self._detail is None or self._asked_at != state.taken_at:
            self._ask(view.name, state.taken_at)

    def _redraw_detail(self) -> None:
        if self.is_current or self.modal_open():
            self._draw_detail(self.console.state)

    def _ask(self, name: str, taken_at: float) -> None:
        if self.console.state.stale:
            return
        self._asked_at = taken_at

        def got(detail: UpstreamDetail | None) -> None:
            current = self._table.current
            if detail is not None and current is not None and current.name == name:
                self._detail = detail
                if self.is_current or self.modal_open():
                    self._draw_detail(self.console.state)

        self.console.fetch(lambda: self.console.station.upstream(name), got, group="upstream")

    def _cells(self, view: UpstreamView) -> tuple[Cell, ...]:
        sign = STATES[view.state]
        off = view.state is UpstreamState.DISABLED
        return (
            sign.mark,
            Cell(view.name, Tone.MUTED if off else Tone.STRONG),
            sign.name,
            Cell(tools_of(view), Tone.MUTED if off else Tone.NORMAL),
            Cell(fmt.count(view.calls), Tone.MUTED if off else Tone.NORMAL),
            Cell(fmt.percent(view.errors, view.calls), error_tone(view)),
        )

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self, event: LineTable.Moved) -> None:
        self._detail = None
        self._pane.show((), top=True)
        self._draw_detail(self.console.state)
        self.draw_keys()

    @on(LineTable.Opened)
    def _opened(self, event: LineTable.Opened) -> None:
        view = self._table.current
        if view is None:
            return
        if self.has_class("-narrow"):
            from console.screens.upstream import UpstreamScreen

            self.console.push_screen(UpstreamScreen(view.name))
        else:
            self._pane.focus()

    @on(FilterBar.Changed)
    def _filtered(self) -> None:
        self.draw(self.console.state)

    @on(FilterBar.Closed)
    def _filter_closed(self) -> None:
        self._table.focus()
        self.draw(self.console.state)

    def go_back(self) -> bool:
        if self._pane.has_focus:
            self._table.focus()
            return True
        if self._filter.text:
            self._filter.action_clear()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        view = self._table.current
        if action in ("add", "import"):
            return self.console.first_steps is not None
        if action in ("reconnect", "remove", "show_calls", "copy"):
            return None if view is None else True
        if action == "enable":
            return view is not None and view.state is UpstreamState.DISABLED
        if action == "disable":
            return view is not None and view.state is not UpstreamState.DISABLED
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return self._table.current is not None and not self._pane.has_focus

    def action_filter(self) -> None:
        """Type a filter."""
        self._filter.open()

    def action_reconnect(self) -> None:
        """Reconnect the upstream under the cursor."""
        if self._table.current is not None:
            self.console.reconnect(self._table.current.name)

    def action_enable(self) -> None:
        """Switch it on."""
        view = self._table.current
        if view is not None and view.state is UpstreamState.DISABLED:
            self.console.carry_out(SetUpstreamEnabled(view.name, enabled=True))

    def action_disable(self) -> None:
        """Switch it off, after asking."""
        view = self._table.current
        if view is None or view.state is UpstreamState.DISABLED:
            return
        words = f"Its {fmt.plural(view.tools_advertised, 'tool')} disappear from all hosts."
        if view.in_flight:
            words += f" {fmt.plural(view.in_flight, 'call')} in flight will fail."
        words += "\ne switches it on again."
        name = view.name
        confirm(
            self.console,
            f"Disable {name}?",
            words,
            "Disable",
            lambda: self.console.carry_out(SetUpstreamEnabled(name, enabled=False)),
        )

    def action_remove(self) -> None:
        """Take it out of the settings, after asking."""
        view = self._table.current
        if view is None:
            return
        name = view.name
        confirm(
            self.console,
            f"Remove {name}?",
            f"[upstreams.{safe_line(name, 60)}] is taken out of your settings file "
            f"and the upstream stops.\nIt is: {safe_line(view.target, 200)}",
            "Remove",
            lambda: self.console.carry_out(RemoveUpstream(name)),
        )

    def action_show_calls(self) -> None:
        """Its calls on the Calls screen."""
        if self._table.current is not None:
            self.console.open_calls(f"up:{self._table.current.name}")

    def action_copy(self) -> None:
        """Copy everything that is shown about it."""
        if self._table.current is not None:
            self.copy(self._pane.plain, f"All about {self._table.current.name}")
