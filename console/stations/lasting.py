"""A station elsewhere that may go and come back: each question connects anew when it has to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from console.station import StationUnavailable
from console.stations.attached import AttachedStation
from console.stations.no_memory import NoMemory
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


class LastingStation:
    """`console.station.Station` over whatever station answers on a socket right now."""

    def __init__(self, socket: Path, memory: MemoryPort | None = None) -> None:
        self._socket = socket
        self._memory = memory if memory is not None else NoMemory()
        self._connected: AttachedStation | None = None
        self._connecting = asyncio.Lock()

    @property
    def attached(self) -> bool:
        return True

    @property
    def memory(self) -> MemoryPort:
        return self._memory

    async def aclose(self) -> None:
        """Leave; the station goes on."""
        connected, self._connected = self._connected, None
        if connected is not None:
            await connected.aclose()

    async def snapshot(self) -> Snapshot:
        return await (await self._station()).snapshot()

    async def upstream(self, name: str) -> UpstreamDetail | None:
        return await (await self._station()).upstream(name)

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        return await (await self._station()).calls(query)

    async def call(self, call_id: int) -> CallDetail | None:
        return await (await self._station()).call(call_id)

    async def settings(self) -> SettingsView:
        return await (await self._station()).settings()

    async def savings(self, days: int) -> SavingsView:
        return await (await self._station()).savings(days)

    async def held(self, limit: int) -> HeldList:
        return await (await self._station()).held(limit)

    async def held_answer(self, key: str) -> HeldDetail | None:
        return await (await self._station()).held_answer(key)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        return await (await self._station()).what_if(query)

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        return await (await self._station()).surfacing(query)

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        return await (await self._station()).tuning(since_hours, tool)

    async def selection(self) -> SelectionView:
        return await (await self._station()).selection()

    async def progressive(self, tool: str) -> ProgressiveView:
        return await (await self._station()).progressive(tool)

    async def execute(self, command: Command) -> CommandResult:
        return await (await self._station()).execute(command)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        return self._events()

    @asynccontextmanager
    async def _events(self) -> AsyncGenerator[AsyncIterator[Event]]:
        async with (await self._station()).events() as events:
            yield events

    async def _station(self) -> AttachedStation:
        """The connection, made anew if the last one has ended. Raises `StationUnavailable`."""
        async with self._connecting:
            if self._connected is not None and not self._connected.lost:
                return self._connected
            await self.aclose()
            try:
                self._connected = await AttachedStation.connect(self._socket)
            except OSError as error:
                raise StationUnavailable(f"no station answers on {self._socket}") from error
            return self._connected
