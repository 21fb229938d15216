"""The one port through which screens and CLI see the engine.

Two things implement it: the engine in this process, and a station that runs elsewhere, reached over
the operator channel of its socket. The same contract tests run on both and on the fake.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from memory.api import MemoryPort
from proxy.answer_model import HeldDetail, HeldList, SavingsView, WhatIf, WhatIfQuery
from proxy.commands import Command, CommandResult
from proxy.events import Event
from proxy.model import (
    CallDetail,
    CallQuery,
    CallRecord,
    SettingsView,
    Snapshot,
    UpstreamDetail,
)
from proxy.surface.model import SurfacingQuery, SurfacingView, TuningReport
from proxy.telemetry.model import ProgressiveView, SelectionView


class StationUnavailable(Exception):
    """The station cannot be reached (any more). ``str()`` says why and what to do."""


class Station(Protocol):
    """A running station, seen from the outside.

    Every method may raise `StationUnavailable`.
    """

    @property
    def attached(self) -> bool:
        """True when the station is another process, which goes on when this one leaves."""
        ...

    @property
    def memory(self) -> MemoryPort:
        """The memory beside this station. It raises `MemoryFault`, never `StationUnavailable`."""
        ...

    async def snapshot(self) -> Snapshot:
        """Everything that the overview shows, taken now."""
        ...

    async def upstream(self, name: str) -> UpstreamDetail | None:
        """One upstream in full; ``None`` when there is none of that name."""
        ...

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        """Finished calls, newest first."""
        ...

    async def call(self, call_id: int) -> CallDetail | None:
        """One call with its texts; ``None`` when there is none of that id."""
        ...

    async def settings(self) -> SettingsView:
        """The settings in force with their provenance and problems."""
        ...

    async def savings(self, days: int) -> SavingsView:
        """The ledger of the last ``days`` local days, today included; 0: of all time."""
        ...

    async def held(self, limit: int) -> HeldList:
        """Held answers, used last first, at most ``limit`` (1 to 10,000)."""
        ...

    async def held_answer(self, key: str) -> HeldDetail | None:
        """One held answer with its text; ``None`` when it is not held (any more)."""
        ...

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        """A recorded call's answer under other settings. May take seconds for a large one."""
        ...

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        """Surfacing as a whole: memories shown, ratings, reasons why nothing was shown, the tuner."""
        ...

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        """What would serve better, by recent calls and feedback. ``tool``: ``None`` for all; a name,
        or ``UPSTREAM/TOOL``; empty matches none."""
        ...

    async def selection(self) -> SelectionView:
        """The log of tool selections, added up."""
        ...

    async def progressive(self, tool: str) -> ProgressiveView:
        """How progressive answers are read on. ``tool`` as for `tuning`; empty: all."""
        ...

    async def execute(self, command: Command) -> CommandResult:
        """Do what a person asked. A refusal is a result, not an exception."""
        ...

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Subscribe; the iterator ends after `StationStopping`."""
        ...
