"""One upstream on a whole screen, for terminals too narrow for two columns."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Vertical
from textual.widget import Widget

from console import keys, scopes
from console.screens.base import MainScreen, entitle
from console.screens.selection_glance import SelectionGlance
from console.screens.upstream_text import upstream_lines
from console.state import ConsoleState
from console.widgets.textpane import TextPane
from console.widgets.tone import Cell, Tone
from proxy.model import UpstreamDetail


class UpstreamScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.UPSTREAM
    TAB = scopes.UPSTREAMS
    BINDINGS = keys.bindings(scopes.UPSTREAM)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name_shown = name
        self._pane = TextPane(id="main")
        self._detail: UpstreamDetail | None = None
        self._asked_at = -1.0
        self._selection = SelectionGlance()

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._pane, classes="panel", id="one")

    def draw(self, state: ConsoleState) -> None:
        name = self._name_shown
        entitle(self.query_one("#one"), name + ("  (stale)" if state.stale else ""))
        view = state.upstream(name)
        if view is None:
            self._pane.show([(Cell("It is no longer configured. Esc goes back.", Tone.MUTED),)])
            return
        now = self.console.now()
        self._pane.show(
            upstream_lines(
                view, self._detail, state.running, now, self.console.tz, self._selection.value
            )
        )
        self._selection.ask(self.console, state.stale, self._redraw_if_current)
        if not state.stale and self._asked_at != state.taken_at:
            self._asked_at = state.taken_at
            self.console.fetch(
                lambda: self.console.station.upstream(name), self._got, group="upstream"
            )

    def _got(self, detail: UpstreamDetail | None) -> None:
        self._detail = detail
        if self.is_current:
            self.draw(self.console.state)

    def _redraw_if_current(self) -> None:
        if self.is_current:
            self.draw(self.console.state)

    def offers_open(self) -> bool:
        return False

    def action_copy(self) -> None:
        """Copy the text."""
        self.copy(self._pane.plain, f"All about {self._name_shown}")
