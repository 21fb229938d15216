"""The port to a memory that another process owns. The process is started when nobody answers.

Everything here runs on the event loop of whoever asks (one client per loop), and no task of ours is
needed: a connection is a protocol, and starting is done by the request that needs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, cast

from config.paths import Paths
from memory import api
from memory.api import MemoryPort, Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor
from memory.process import wire
from memory.process.link import Link, Lost, NotBegun
from memory.process.program import (
    OWNED_ELSEWHERE,
    READY,
    last_complaint,
    log_file,
    reap,
    start_memory,
)
from memory.tools.names import READING_TOOLS

START_SECONDS = 15.0
"""So long a process may take until it answers."""
ASK_SECONDS = 60.0
LONG_ASK_SECONDS = 300.0
PAUSE_SECONDS = 0.05
"""Between two looks at a socket that another process is about to open."""
GRACE_SECONDS = 2.0
"""So long an owner that we did not start may take to answer, or to end, before we try to start again."""

_LONG = (api.Export, api.Import, api.Reindex, api.PreviewForgetting, api.Verify, api.ExpungeRecord)
_REPEATABLE = (
    api.Search,
    api.ListRecords,
    api.GetRecord,
    api.GetOverview,
    api.GetPosition,
    api.ListProposals,
    api.PreviewForgetting,
    api.GetPlan,
    api.ListRuns,
    api.GetIndexStatus,
    api.Verify,
    api.Export,
    api.BestProcedures,
)
R = TypeVar("R")


class MemoryClient(MemoryPort):
    """Asks the memory's process of one instance. Use it on one event loop; leave it with `aclose`."""

    def __init__(
        self,
        paths: Paths,
        environ: Mapping[str, str],
        *,
        idle_seconds: float = 900.0,
        program: Sequence[str] | None = None,
    ) -> None:
        """``idle_seconds``: after so long without a request the connection is closed, so that the process
        can end. ``program``: what to start instead of the memory's process."""
        self.idle_seconds = idle_seconds
        self._paths = paths
        self._environ = environ
        self._program = program
        self._link: Link | None = None
        self._connecting = asyncio.Lock()
        self._asking = 0
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    async def __aenter__(self) -> MemoryClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    @property
    def is_connected(self) -> bool:
        """A process answers us now."""
        return self._link is not None and self._link.is_open

    @property
    def process(self) -> int | None:
        """Process id of the memory while we are connected."""
        return self._link.pid if self._link is not None and self._link.is_open else None

    async def ask(self, request: Request[R], actor: Actor) -> R:
        """The answer. Raises `MemoryFault`; UNAVAILABLE says whether it may have been done after all."""
        seconds = LONG_ASK_SECONDS if isinstance(request, _LONG) else ASK_SECONDS
        self._asking += 1
        self._stay()
        try:
            async with asyncio.timeout(seconds):
                return cast("R", await self._ask(request, actor))
        except TimeoutError:
            raise MemoryFault(
                FaultCode.UNAVAILABLE,
                f"The memory did not answer within {seconds:g} s.",
                _what_to_do(request),
            ) from None
        finally:
            self._asking -= 1
            self._rest()

    async def aclose(self) -> None:
        """Leave. Requests under way fail; later ones are refused."""
        self._closed = True
        self._stay()
        link, self._link = self._link, None
        if link is not None:
            await link.aclose()
        reap()

    async def _ask(self, request: Request[Any], actor: Actor) -> Any:
        again = True
        while True:
            link = await self._linked()
            try:
                return await link.ask(request, actor)
            except NotBegun as error:
                if not again:
                    raise _gone(str(error), "Nothing was done; ask again.") from None
            except Lost as error:
                if not (again and _is_repeatable(request)):
                    raise _gone(str(error), _what_to_do(request)) from None
            again = False

    # connecting

    async def _linked(self) -> Link:
        async with self._connecting:
            if self._closed:
                raise MemoryFault(FaultCode.UNAVAILABLE, "The connection to the memory was closed.")
            if self._link is None or not self._link.is_open:
                self._link = None
                reap()
                self._link = await self._connect()
            return self._link

    async def _connect(self) -> Link:
        """Reach the process, starting it as needed. Raises `MemoryFault` after `START_SECONDS`."""
        try:
            async with asyncio.timeout(START_SECONDS):
                link = await self._reach()
                while link is None:
                    is_ours = await self._start()
                    link = await self._reach()
                    if not is_ours:
                        link = link or await self._wait_for_owner()
                return link
        except TimeoutError:
            raise self._unavailable(
                f"The memory's process did not answer within {START_SECONDS:g} s."
            ) from None

    async def _reach(self) -> Link | None:
        """A connection to a process that answers; ``None`` when there is none."""
        loop = asyncio.get_running_loop()
        try:
            _, link = await loop.create_unix_connection(Link, str(self._paths.memory_socket))
        except OSError:
            return None
        try:
            greeting = await link.greeted
        except Lost:
            return None  # it is ending
        except wire.Malformed as error:
            raise self._unavailable(f"{self._paths.memory_socket}: {error}.") from None
        except BaseException:
            link.abort()
            raise
        if greeting.version != wire.version():
            link.abort()
            raise MemoryFault(
                FaultCode.UNAVAILABLE,
                f"The memory's process ({greeting.pid}) belongs to another version of mms.",
                "End every mms of the other version (mms stop), then try again.",
            )
        return link

    async def _start(self) -> bool:
        """Start a process and wait until it is ready; false when another one owns the memory."""
        try:
            process = start_memory(self._paths, self._environ, self._program)
        except OSError as error:
            raise self._unavailable(
                f"The memory's process could not be started: {error}."
            ) from None
        assert process.stdout is not None
        try:
            if await _says_ready(process.stdout.fileno()):
                return True
        finally:
            process.stdout.close()
        code = await asyncio.to_thread(_exit_code, process)
        # 0 without a word: it was reaped by somebody else, and its code is lost.
        if code in (OWNED_ELSEWHERE, 0):
            return False
        complaint = last_complaint(self._paths)
        how = f"exited with code {code}" if code is not None else "closed its output"
        raise self._unavailable(f"The memory's process {how}: {complaint}".rstrip(": "))

    async def _wait_for_owner(self) -> Link | None:
        """The other process opens its socket soon, or it is ending and frees the lock."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                while (link := await self._reach()) is None:  # noqa: ASYNC110  # others' socket
                    await asyncio.sleep(PAUSE_SECONDS)
                return link
        return None

    def _unavailable(self, message: str) -> MemoryFault:
        return MemoryFault(FaultCode.UNAVAILABLE, message, f"See {log_file(self._paths)}.")

    # idleness

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        if self._asking == 0 and not self._closed and self._link is not None:
            self._stay()
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self.idle_seconds, self._leave)

    def _leave(self) -> None:
        self._idle = None
        link, self._link = self._link, None
        if link is not None:
            link.close()


async def _says_ready(descriptor: int) -> bool:
    """Whether the process says that it is ready before it closes its output."""
    loop = asyncio.get_running_loop()
    said: asyncio.Future[bool] = loop.create_future()
    got = b""

    def read() -> None:
        nonlocal got
        try:
            data = os.read(descriptor, 64)
        except BlockingIOError:
            return
        got += data
        if not said.done() and (not data or READY in got):
            said.set_result(READY in got)

    os.set_blocking(descriptor, False)
    loop.add_reader(descriptor, read)
    try:
        return await said
    finally:
        loop.remove_reader(descriptor)


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(5.0)
    except subprocess.TimeoutExpired:
        return None


def _gone(message: str, hint: str) -> MemoryFault:
    return MemoryFault(FaultCode.UNAVAILABLE, f"{message[:1].upper()}{message[1:]}.", hint)


def _is_repeatable(request: Request[Any]) -> bool:
    """Doing it twice is as good as doing it once."""
    match request:
        case api.CallTool():
            return request.name in READING_TOOLS
        case api.AddRecord() | api.RecordOutcome():
            return bool(request.key)
        case _:
            return isinstance(request, _REPEATABLE)


def _what_to_do(request: Request[Any]) -> str:
    if _is_repeatable(request):
        return "Nothing was changed; ask again."
    return "It may have been done all the same: look before asking for it again."
