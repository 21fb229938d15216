"""Answers requests on a Unix socket, one after the other, in one thread of its own.

The service is opened, used, configured and closed in that thread only, so that nothing in it needs a lock.
The event loop reads, writes and waits. Garbage on a connection costs that connection and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from config.schema import MemorySettings
from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Instant
from memory.process import wire

LINGER_SECONDS = 0.5
"""So long the process stays after its last client has left."""
FIRST_CLIENT_SECONDS = 10.0
WAITING_CALLS = 64
"""Of one connection; then it is not read until one is answered."""
UNREAD_LIMIT = 4 * wire.FRAME_LIMIT
"""Bytes that may wait for a client that does not read; then it is dropped."""
_log = logging.getLogger("mms.memory.server")


class Service(Protocol):
    """The memory itself. Every method is called in one and the same thread."""

    def answer(self, request: Request[Any], actor: Actor, now: Instant, /) -> Any:
        """Do it. Raises `MemoryFault`."""
        ...

    def configure(self, settings: MemorySettings, /) -> None:
        """New settings are in force."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of all files."""
        ...


OpenService = Callable[[], Service]
"""Open the memory with the settings in force. Raises `MemoryFault`; the next request tries again."""


@dataclass(frozen=True, slots=True)
class _Job:
    connection: _Connection
    call: wire.Call


class Server:
    """Serves one memory from `listen` until its clients have left or `stop` is called."""

    def __init__(
        self, open_service: OpenService, clock: Callable[[], Instant] | None = None
    ) -> None:
        """``clock``: the time of a request; the system's by default."""
        self._open_service = open_service
        self._clock = clock or _now
        self._service: Service | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memory")
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue()
        self._connections: set[_Connection] = set()
        self._ending = asyncio.Event()
        self._leaving: asyncio.TimerHandle | None = None
        self._is_working = False

    async def serve(
        self,
        bound: socket.socket,
        ready: Callable[[], None],
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        """Answer on ``bound`` until the end; the request under way is finished and the memory closed.

        ``ready`` is called once connections are taken, ``ending`` once no request is begun any more.
        """
        loop = asyncio.get_running_loop()
        listening = await loop.create_unix_server(lambda: _Connection(self), sock=bound)
        self._leave_after(FIRST_CLIENT_SECONDS)
        ready()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._work())
                await self._ending.wait()
                ending()
                listening.close()
                for connection in tuple(self._connections):
                    connection.say_goodbye()
                self._jobs.put_nowait(None)
        finally:
            listening.close()
            self._cancel_leaving()
            for connection in tuple(self._connections):
                connection.close()
            await loop.run_in_executor(self._thread, self._close_service)
            self._thread.shutdown()

    def stop(self) -> None:
        """Begin to end."""
        self._ending.set()

    async def configure(self, settings: MemorySettings) -> None:
        """Hand new settings to the memory, between two requests."""
        if not self._ending.is_set():
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._configure, settings)

    # connections

    def joined(self, connection: _Connection) -> None:
        """A client is there."""
        self._connections.add(connection)
        self._cancel_leaving()

    def left(self, connection: _Connection) -> None:
        """A client is gone."""
        self._connections.discard(connection)
        self._rest()

    def take(self, connection: _Connection, call: wire.Call) -> None:
        """Queue a call."""
        self._jobs.put_nowait(_Job(connection, call))

    @property
    def is_ending(self) -> bool:
        """No call is begun any more."""
        return self._ending.is_set()

    def _rest(self) -> None:
        if not self._connections and not self._is_working and self._leaving is None:
            self._leave_after(LINGER_SECONDS)

    def _leave_after(self, seconds: float) -> None:
        self._leaving = asyncio.get_running_loop().call_later(seconds, self._ending.set)

    def _cancel_leaving(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    # work

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while (job := await self._jobs.get()) is not None and not self._ending.is_set():
            connection = job.connection
            if connection.is_gone:
                continue  # nobody waits for it, and it was not begun
            connection.begun = job.call.id
            self._is_working = True
            try:
                frame = await loop.run_in_executor(self._thread, self._answer, job.call)
            finally:
                self._is_working = False
            connection.answer(frame)
            self._rest()

    def _answer(self, call: wire.Call) -> bytes:
        """In the memory's thread. A fault of ours costs this call only."""
        try:
            request = call.request()
            if self._service is None:
                self._service = self._open_service()
            result = self._service.answer(request, call.actor, self._clock())
            return wire.result_frame(call.id, result)
        except MemoryFault as fault:
            return wire.fault_frame(call.id, fault)
        except Exception as error:
            _log.exception("%s failed", call.method)
            fault = MemoryFault(
                FaultCode.INTERNAL,
                f"The memory itself failed ({type(error).__name__}).",
                "Its log has more: memory.log beside its database.",
            )
            return wire.fault_frame(call.id, fault)

    def _configure(self, settings: MemorySettings) -> None:
        if self._service is not None:
            try:
                self._service.configure(settings)
            except Exception:
                _log.exception("new settings could not be applied")

    def _close_service(self) -> None:
        service, self._service = self._service, None
        if service is not None:
            try:
                service.close()
            except Exception:
                _log.exception("closing the memory failed")


class _Connection(asyncio.Protocol):
    """One client."""

    def __init__(self, server: Server) -> None:
        self.begun = 0
        """Id of the last call that was begun."""
        self.is_gone = False
        self._server = server
        self._lines = wire.Lines()
        self._transport: asyncio.Transport | None = None
        self._greeted = False
        self._waiting = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        user = _peer_user(transport.get_extra_info("socket"))
        if user is not None and user != os.getuid():
            _log.warning("refused a connection of user %d", user)
            self.is_gone = True
            transport.abort()
            return
        self._server.joined(self)
        if self._server.is_ending:
            self.say_goodbye()
            self.close()

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                if self.is_gone:
                    return
                if self._greeted:
                    self._call(wire.read_call(line))
                else:
                    self._greet(wire.read_greeting(line))
        except (wire.FrameTooLong, wire.Malformed) as error:
            _log.warning("closed a connection: %s", error)
            self._send(wire.fault_frame(0, MemoryFault(FaultCode.INVALID, str(error))))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        self._server.left(self)

    def answer(self, frame: bytes) -> None:
        """A call was answered."""
        self._send(frame)
        self._waiting -= 1
        if self._waiting == WAITING_CALLS - 1 and self._transport is not None:
            self._transport.resume_reading()

    def say_goodbye(self) -> None:
        """Tell how far we came."""
        self._send(wire.goodbye_frame(self.begun))

    def close(self) -> None:
        """Hang up after what was written."""
        self.is_gone = True
        if self._transport is not None:
            self._transport.close()

    def _greet(self, theirs: wire.Greeting) -> None:
        self._greeted = True
        self._send(wire.greeting_frame())
        if theirs.version != wire.version():
            self.close()  # they see our version and say what to do

    def _call(self, call: wire.Call) -> None:
        self._waiting += 1
        if self._waiting == WAITING_CALLS and self._transport is not None:
            self._transport.pause_reading()
        self._server.take(self, call)

    def _send(self, frame: bytes) -> None:
        transport = self._transport
        if self.is_gone or transport is None or transport.is_closing():
            return
        transport.write(frame)
        if transport.get_write_buffer_size() > UNREAD_LIMIT:
            _log.warning("dropped a client that does not read its answers")
            transport.abort()


def bind(path: Path) -> socket.socket:
    """A socket that only this user can open. The caller holds the memory's lock, so an old file is dead."""
    path.unlink(missing_ok=True)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
        bound.setblocking(False)
    except BaseException:
        bound.close()
        raise
    return bound


def _peer_user(connection: socket.socket | None) -> int | None:
    """The user at the other end, where the system tells (Linux); elsewhere the file's mode must do."""
    if connection is None or sys.platform != "linux":
        return None
    with contextlib.suppress(OSError):
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return struct.unpack("3i", data)[1]
    return None


def _now() -> Instant:
    return time.time_ns() // 1_000
