"""What can be done with a shown memory: rate it, and go to the call that it went with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proxy.commands import CommandResult, RateMemory
from proxy.model import CallDetail
from proxy.surface.model import Rating, SurfacingEvent

if TYPE_CHECKING:
    from console.app import ConsoleApp

MOST_EVENTS = 1_000
"""The station tells so many at once."""


class Rater:
    """Sends ratings one by one: a memory whose rating is on its way takes no second one."""

    def __init__(self, console: Callable[[], ConsoleApp], done: Callable[[], None]) -> None:
        """``done``: called when the station has answered, whatever it said."""
        self._console = console
        self._done = done
        self.busy: set[tuple[str, str]] = set()

    def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, then: Callable[[], None]
    ) -> None:
        """Rate; ``then`` is called when the station has taken it. A refusal becomes a notice."""
        key = (surfacing_id, memory_id)
        if key in self.busy:
            return
        self.busy.add(key)

        def told(result: CommandResult) -> None:
            self.busy.discard(key)
            if result.ok:
                then()
            else:
                self._console().say(result.message, bad=True)
            self._done()

        self._console().carry_out(RateMemory(surfacing_id, memory_id, rating), told)


def open_call(console: ConsoleApp, event: SurfacingEvent) -> None:
    """Show the call that the memories went with, on the screen Calls."""
    from console import scopes
    from console.screens.call import CallScreen

    def got(detail: CallDetail | None) -> None:
        if detail is None:
            console.say(
                f"Call #{event.call_id} is no longer recorded; what was shown with it is kept longer.",
                bad=True,
            )
            return
        console.action_go(scopes.CALLS)
        console.push_screen(CallScreen((detail.record,), detail.record.id))

    console.fetch(lambda: console.station.call(event.call_id), got, group="call")
