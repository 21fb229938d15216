"""A station that runs in another process, reached over the operator channel of its socket.

The protocol is described in `proxy.operator`. The connection belongs to the loop that opened it and
needs no task of its own: the bytes arrive in callbacks.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from console.station import StationUnavailable
from console.stations.no_memory import NoMemory
from memory.api import MemoryPort
from proxy.answer_model import HeldDetail, HeldList, SavingsView, WhatIf, WhatIfQuery
from proxy.commands import Command, CommandResult
from proxy.event_stream import EventFeed
from proxy.events import Event, EventsLost, StationStopping
from proxy.model import (
    CallDetail,
    CallQuery,
    CallRecord,
    SettingsView,
    Snapshot,
    UpstreamDetail,
)
from proxy.operator import GREETING, VERSION, StationLine, Welcome
from proxy.surface.model import SurfacingQuery, SurfacingView, TuningReport
from proxy.telemetry.model import ProgressiveView, SelectionView
from proxy.wire_values import WireError, decode, decode_event, encode, encode_tagged

_Answer = TypeVar("_Answer")

MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line can only be a fault; 10,000 calls take about 5 MB."""
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 30.0
_WHAT_IF_SECONDS = 120.0
"""Many strategies over an answer of megabytes."""
_COMMAND_SECONDS = 150.0
"""A reconnect may wait for an upstream's start and handshake."""


class NoStation(StationUnavailable):
    """No station runs for this data directory (as opposed to one that cannot be talked to)."""


class AttachedStation:
    """`console.station.Station` over a socket. Made by `connect`; close it with `aclose`."""

    def __init__(
        self, connection: _Connection, welcome: Welcome, memory: MemoryPort | None = None
    ) -> None:
        self._connection = connection
        self._memory = memory if memory is not None else NoMemory()
        self._events_lock = asyncio.Lock()
        self._events_flow = False
        self.pid = welcome.pid
        self.product = welcome.product
        """Version of the mms that runs there."""

    @classmethod
    async def connect(
        cls,
        socket_path: Path,
        *,
        memory: MemoryPort | None = None,
        timeout_seconds: float = _CONNECT_SECONDS,
    ) -> AttachedStation:
        """Open the operator channel. Raises `StationUnavailable` with what to do.

        ``memory``: the memory beside that station; without it, requests to it fail.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_seconds):
                transport, connection = await loop.create_unix_connection(
                    _Connection, str(socket_path)
                )
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NoStation(
                f"No station is running (nothing answers at {socket_path}). "
                "Start one with: mms serve"
            ) from error
        except (OSError, TimeoutError) as error:
            raise StationUnavailable(
                f"The station at {socket_path} cannot be reached: "
                f"{error or f'no connection within {timeout_seconds:g} s'}."
            ) from error
        try:
            _refuse_strangers(transport.get_extra_info("socket"), socket_path)
            transport.write(GREETING)
            async with asyncio.timeout(timeout_seconds):
                welcome = await connection.welcome
        except TimeoutError as error:
            transport.abort()
            raise StationUnavailable(
                f"The station at {socket_path} did not greet within {timeout_seconds:g} s. "
                "If it hangs, end its process and start mms again."
            ) from error
        except BaseException:
            transport.abort()
            raise
        if welcome.mms != "station" or welcome.version != VERSION:
            transport.abort()
            raise StationUnavailable(
                f"The station at {socket_path} (mms {welcome.product or 'of unknown version'}, "
                f"process {welcome.pid}) speaks another version of the operator channel. "
                "End it and start mms again, so that both are of the same version."
            )
        return cls(connection, welcome, memory)

    async def __aenter__(self) -> AttachedStation:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Leave; the station goes on. Open event streams end."""
        self._connection.leave()

    @property
    def lost(self) -> bool:
        """The connection is over; only a new one helps."""
        return self._connection.over

    @property
    def attached(self) -> bool:
        return True

    @property
    def memory(self) -> MemoryPort:
        return self._memory

    async def snapshot(self) -> Snapshot:
        return await self._ask("snapshot", b"{}", Snapshot)

    async def upstream(self, name: str) -> UpstreamDetail | None:
        return await self._ask("upstream", encode({"name": name}), UpstreamDetail | None)

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        return await self._ask("calls", encode(query), tuple[CallRecord, ...])

    async def call(self, call_id: int) -> CallDetail | None:
        return await self._ask("call", encode({"id": call_id}), CallDetail | None)

    async def settings(self) -> SettingsView:
        return await self._ask("settings", b"{}", SettingsView)

    async def savings(self, days: int) -> SavingsView:
        return await self._ask("savings", encode({"days": days}), SavingsView)

    async def held(self, limit: int) -> HeldList:
        return await self._ask("held", encode({"limit": limit}), HeldList)

    async def held_answer(self, key: str) -> HeldDetail | None:
        return await self._ask("held_answer", encode({"key": key}), HeldDetail | None)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        return await self._ask("what_if", encode(query), WhatIf, _WHAT_IF_SECONDS)

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        return await self._ask("surfacing", encode(query), SurfacingView)

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        asked = encode({"since_hours": since_hours, "tool": tool})
        return await self._ask("tuning", asked, TuningReport)

    async def selection(self) -> SelectionView:
        return await self._ask("selection", b"{}", SelectionView)

    async def progressive(self, tool: str) -> ProgressiveView:
        return await self._ask("progressive", encode({"tool": tool}), ProgressiveView)

    async def execute(self, command: Command) -> CommandResult:
        return await self._ask("execute", encode_tagged(command), CommandResult, _COMMAND_SECONDS)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        return self._events()

    @asynccontextmanager
    async def _events(self) -> AsyncGenerator[AsyncIterator[Event]]:
        self._connection.check()
        async with self._connection.feed.subscribe() as events:
            async with self._events_lock:
                if not self._events_flow:
                    await self._ask("events", b"{}", bool)
                    self._events_flow = True
            yield events

    async def _ask(
        self, ask: str, arguments: bytes, kind: Any, timeout_seconds: float = _ANSWER_SECONDS
    ) -> Any:
        try:
            async with asyncio.timeout(timeout_seconds):
                value = await self._connection.ask(ask, arguments)
        except TimeoutError as error:
            raise StationUnavailable(
                f"The station did not answer within {timeout_seconds:g} s ({ask})."
            ) from error
        try:
            return decode(value, kind)
        except WireError as error:
            raise StationUnavailable(
                f"The station (mms {self.product or 'of unknown version'}) answered {ask} in a way "
                f"that this version does not understand: {error}. Start both with the same version."
            ) from error


class _Connection(asyncio.Protocol):
    """Splits the stream into lines and hands each to the question or the feed it belongs to."""

    def __init__(self) -> None:
        self.feed = EventFeed()
        self.welcome: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._searched = 0
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._last_id = 0
        self._end = ""
        """Why nothing more comes; empty while the connection stands."""

    # -- asked by AttachedStation -------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Nothing more comes."""
        return bool(self._end)

    def check(self) -> None:
        """Raise `StationUnavailable` when the connection is over."""
        if self._end:
            raise StationUnavailable(self._end)

    async def ask(self, ask: str, arguments: bytes) -> msgspec.Raw:
        self.check()
        assert self._transport is not None
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._transport.write(
                b'{"id":%d,"ask":"%b","with":%b}\n' % (number, ask.encode(), arguments)
            )
            return await answer
        finally:
            del self._waiting[number]

    def leave(self) -> None:
        self._finish("This connection to the station was closed.")

    # -- called by the loop -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._searched))) >= 0:
            line = bytes(self._buffer[start:end])
            start = end + 1
            self._take(line)
            if self._end:
                return
        del self._buffer[:start]
        self._searched = len(self._buffer)
        if self._searched > MAX_LINE_BYTES:
            self._finish(
                f"The station sent a line of more than {MAX_LINE_BYTES >> 20} MiB; "
                "the connection was given up."
            )

    def connection_lost(self, exc: Exception | None) -> None:
        why = f" ({exc})" if exc else ""
        self._finish(
            f"The connection to the station was lost{why}. "
            "It may have stopped; look with: mms status"
        )

    # -- insides ------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        try:
            if not self.welcome.done():
                self.welcome.set_result(decode(line, Welcome))
                return
            message = decode(line, StationLine)
            if bytes(message.event):
                event = decode_event(message.event)
                # A kind that only a newer station knows may matter: have the reader look again.
                self.feed.publish(EventsLost(1) if event is None else event)
                return
        except WireError as error:
            self._finish(
                f"What answers on the station's socket is not a station that this version of mms "
                f"understands ({error})."
            )
            return
        answer = self._waiting.get(message.id) if message.id is not None else None
        if answer is None or answer.done():
            return
        if message.error is not None:
            answer.set_exception(StationUnavailable(message.error))
        else:
            answer.set_result(message.value)

    def _finish(self, reason: str) -> None:
        if self._end:
            return
        self._end = reason
        if self._transport is not None:
            self._transport.abort()
        for future in (self.welcome, *self._waiting.values()):
            if not future.done():
                future.set_exception(StationUnavailable(reason))
        # Nobody may wait for the greeting any more; its exception counts as seen.
        if self.welcome.done() and not self.welcome.cancelled():
            self.welcome.exception()
        self.feed.publish(StationStopping(reason))


def _refuse_strangers(connected: Any, socket_path: Path) -> None:
    """Settings and answers are private: talk only to a station of the same user (or to none)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None or connected is None:
        # Elsewhere the directory, which only its owner may enter, is the protection.
        return
    _, uid, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, option, 12))
    if uid != os.getuid():
        raise StationUnavailable(
            f"The socket {socket_path} belongs to another user (uid {uid}); mms will not talk to it."
        )
