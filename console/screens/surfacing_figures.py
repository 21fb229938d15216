"""The figures of surfacing: how helpful per tool and day, what was withheld, why nothing was shown."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.screens.base import MainScreen, entitle
from console.screens.surfacing_figures_text import answering_lines, decision_lines
from console.state import ConsoleState
from console.widgets.textpane import EMPTY, TextPane
from console.widgets.tone import Cell, Tone
from proxy.surface.model import SurfacingQuery, SurfacingView


class FiguresScreen(MainScreen):
    """See the module's text. One column; two where there is room."""

    SCOPE = scopes.SURFACING_FIGURES
    TAB = scopes.SURFACING
    BINDINGS = keys.bindings(scopes.SURFACING_FIGURES)

    def __init__(self) -> None:
        super().__init__()
        self._main = TextPane(id="main")
        self._more = TextPane(id="figures-decisions")
        self._view: SurfacingView | None = None
        self._version = -1

    def body(self) -> Iterable[Widget]:
        yield Horizontal(
            Vertical(self._main, classes="panel", id="figures"),
            Vertical(self._more, classes="panel", id="figures-more"),
        )

    def _ask(self) -> None:
        def got(view: SurfacingView) -> None:
            self._view = view
            self.redraw()

        query = SurfacingQuery(limit=0)
        self.console.fetch(
            lambda: self.console.station.surfacing(query), got, group="surfacing-figures"
        )

    def draw(self, state: ConsoleState) -> None:
        if state.loaded and not state.stale and state.surfacing_version != self._version:
            self._version = state.surfacing_version
            self._ask()
        stale = "   (stale)" if state.stale else ""
        entitle(self.query_one("#figures"), "surfacing in figures" + stale)
        view = self._view
        if view is None:
            self._main.show([(Cell("waiting for the station" + fmt.ELLIPSIS, Tone.MUTED),)])
            self._more.show(())
            return
        lines, more = answering_lines(view), decision_lines(view)
        self._more.show(more)
        self._main.show(lines if self.has_class("-wide") else [*lines, EMPTY, *more])
        entitle(self.query_one("#figures-more"), "calls")

    def offers_open(self) -> bool:
        return False

    def action_tuning(self) -> None:
        """The tuner's steps, and advice."""
        self.console.open_tuning()

    def action_reload(self) -> None:
        """Ask the station again."""
        self._ask()

    def action_copy(self) -> None:
        """Copy all."""
        if self._view is not None:
            both = [self._main.plain]
            both += [self._more.plain] if self.has_class("-wide") else []
            self.copy("\n\n".join(both), "The figures")
