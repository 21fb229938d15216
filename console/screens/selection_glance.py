"""The log of tool selections as a screen shows it: asked for now and then, since it is read as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proxy.telemetry.model import SelectionView

if TYPE_CHECKING:
    from console.app import ConsoleApp

LOOK_SECONDS = 30.0
"""The file may have 50 MB; nobody needs its sums more often."""


class SelectionGlance:
    """The newest sums, and when they were asked for."""

    def __init__(self) -> None:
        self.value: SelectionView | None = None
        self._asked_at: float | None = None

    def ask(self, console: ConsoleApp, stale: bool, changed: Callable[[], None]) -> None:
        """Ask the station, unless that was done a moment ago. ``changed``: called with the answer."""
        now = console.now()
        if stale or (self._asked_at is not None and now - self._asked_at < LOOK_SECONDS):
            return
        self._asked_at = now

        def got(value: SelectionView) -> None:
            if value != self.value:
                self.value = value
                changed()

        console.fetch(lambda: console.station.selection(), got, group="selection")
