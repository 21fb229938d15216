"""The command palette: every action of the registry, and what can be done with each upstream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.types import IgnoreReturnCallbackType

from console import keys, scopes
from console.safe import safe_line
from proxy.model import UpstreamState

if TYPE_CHECKING:
    from console.app import ConsoleApp


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the palette."""

    name: str
    help: str
    run: IgnoreReturnCallbackType


class ActionCommands(Provider):
    """Entries are named "noun: verb", so that typing either finds them."""

    async def discover(self) -> Hits:
        for entry in self.entries():
            yield DiscoveryHit(Content(entry.name), entry.run, entry.name, entry.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self.entries():
            score = matcher.match(entry.name)
            if score > 0:
                yield Hit(score, matcher.highlight(entry.name), entry.run, entry.name, entry.help)

    def entries(self) -> Iterator[Entry]:
        """What can be done now, this screen's actions first."""
        app = cast("ConsoleApp", self.app)
        screen = self.screen
        scope = getattr(screen, "SCOPE", "")
        for action in keys.actions(scope):
            if screen.check_action(action.action, ()):
                yield self._of(action, scopes.TITLES[scope].lower(), screen.run_action)
        for action in keys.actions(scopes.EVERYWHERE):
            if action.id.startswith("go."):
                yield self._of(action, "go", app.run_action)
        yield Entry(
            "savings: held texts", "browse the whole answers behind what was cut", app.open_held
        )
        yield Entry("forgetting: runs", "what was archived, what it cost, and undo", app.open_runs)
        yield Entry(
            "surfacing: figures",
            "helpfulness, and why nothing is shown",
            app.open_surfacing_figures,
        )
        yield Entry("surfacing: tuning", "steps of the tuner, advice", app.open_tuning)
        cut = next((one for one in reversed(app.state.calls) if one.held_key), None)
        if cut is not None:
            name = safe_line(f"{cut.upstream}.{cut.tool}", 80)
            yield Entry(
                f"what-if: last cut answer, #{cut.id} {name}",
                "the same answer under other strategies and budgets",
                partial(app.open_what_if, cut),
            )
        for view in app.state.upstreams:
            name = safe_line(view.name, 60)
            yield Entry(
                f"upstream: open {name}",
                "show it on the Upstreams screen",
                partial(app.open_upstream, view.name),
            )
            if view.state is not UpstreamState.DISABLED:
                yield Entry(
                    f"upstream: reconnect {name}",
                    "stop it if it runs and start it now",
                    partial(app.reconnect, view.name),
                )
        for theme in sorted(app.available_themes):
            yield Entry(
                f"theme: {theme}",
                "until the console ends; console.theme keeps it",
                partial(self._theme, app, theme),
            )
        for action in keys.actions(scopes.EVERYWHERE):
            if action.id in ("app.help", "app.quit"):
                yield self._of(action, "mms", app.run_action)

    def _of(
        self,
        action: keys.Action,
        noun: str,
        run: Callable[[str], IgnoreReturnCallbackType | object],
    ) -> Entry:
        app = cast("ConsoleApp", self.app)
        key = app.keymap.shown(action)
        return Entry(
            f"{noun}: {action.label.lower()}",
            f"{action.help}  ({key})",
            cast("IgnoreReturnCallbackType", partial(run, action.action)),
        )

    @staticmethod
    def _theme(app: ConsoleApp, name: str) -> None:
        app.theme = name
