"""Where screens hand in what they want of the memory: requests run in workers, faults are never raised.

The memory may be slow, busy or gone; the screen goes on drawing what it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from console.stations.memory_space import SpaceMemory
from memory.api import GetOverview, MemoryPort, OverviewResult, PositionResult, Request
from memory.errors import MemoryFault
from memory.model import Actor, Origin, Record

if TYPE_CHECKING:
    from console.app import ConsoleApp

_Result = TypeVar("_Result")

PERSON = Actor(Origin.OPERATOR, "console")
"""Who asks: the person at this terminal."""
REST_SECONDS = 5.0
"""The overview is asked for again after so long, while a screen shows it."""


@dataclass(frozen=True, slots=True)
class Undo:
    """How the last change to a record is taken back."""

    words: str
    """What was done, a sentence."""
    request: Request[Record]


class MemoryDesk:
    """See the module's text. One per console; ``overview`` and ``fault`` are what was heard last."""

    def __init__(self, app: ConsoleApp, space: str) -> None:
        self._app = app
        self.space = space
        """Where requests go that name no space: all of the screens'."""
        self._asked_at: float | None = None
        self.overview: OverviewResult | None = None
        self.fault: MemoryFault | None = None
        """Why ``overview`` is missing or old; ``None`` while all is well."""
        self.waiting = 0
        """Open proposals, for the navigation."""
        self.undo: Undo | None = None

    def change_space(self, space: str) -> None:
        """Look at another space; what is known of the one before is forgotten."""
        self.space = space
        self.overview, self.fault, self.undo, self.waiting = None, None, None, 0
        self.refresh()

    @property
    def _memory(self) -> MemoryPort:
        return SpaceMemory(self._app.station.memory, self.space)

    def ask(
        self,
        request: Request[_Result],
        got: Callable[[_Result], None],
        failed: Callable[[MemoryFault], None],
        *,
        group: str,
    ) -> None:
        """Ask in a worker; a newer question of the same group replaces an older one."""

        async def work() -> None:
            try:
                value = await self._memory.ask(request, PERSON)
            except MemoryFault as fault:
                failed(fault)
                return
            got(value)

        self._app.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    def do(
        self,
        request: Request[_Result],
        then: Callable[[_Result], None],
        failed: Callable[[MemoryFault], None] | None = None,
    ) -> None:
        """Carry out what a person asked for; several may run at once. A fault becomes a notice."""

        async def work() -> None:
            try:
                value = await self._memory.ask(request, PERSON)
            except MemoryFault as fault:
                self._app.say(fault_words(fault), bad=True)
                if failed is not None:
                    failed(fault)
                return
            then(value)

        self._app.run_worker(work, group="memory-deeds", exit_on_error=False)

    def want_overview(self) -> None:
        """A screen shows the overview: ask for it unless it was asked for lately."""
        now = self._app.now()
        if self._asked_at is not None and now - self._asked_at < REST_SECONDS:
            return
        self._asked_at = now

        def got(overview: OverviewResult) -> None:
            self.overview, self.fault = overview, None
            self.waiting = overview.open_proposals
            self._app.paint_soon()

        def failed(fault: MemoryFault) -> None:
            self.fault = fault
            self._app.paint_soon()

        self.ask(GetOverview(), got, failed, group="memory-overview")

    def refresh(self) -> None:
        """Something was done that changes the counts: ask again now."""
        self._asked_at = None
        self.want_overview()

    def heard(self, position: PositionResult) -> None:
        """A screen learned how many decisions wait."""
        if position.open_proposals != self.waiting:
            self.waiting = position.open_proposals
            self._asked_at = None


def fault_words(fault: MemoryFault) -> str:
    """Message and hint in one line."""
    return f"{fault.message} {fault.hint}".strip()
