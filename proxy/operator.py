"""The operator side of the station's socket: how a console or a command line sees a running engine.

The listener reads the first line of a connection, ``{"mms":"operator","version":1}``, makes sure that
the peer is the same user, and hands the rest to `serve_operator`. From then on, one JSON object per
line:

- the station greets: ``{"mms":"station","version":1,"pid":4711,"product":"0.1.0"}``
- a question: ``{"id":1,"ask":"upstream","with":{"name":"github"}}``, answered, in any order, by
  ``{"id":1,"value":…}`` or ``{"id":1,"error":"one sentence"}``
- ``ask`` is ``snapshot``, ``upstream`` (name), ``calls`` (the fields of `CallQuery`), ``call`` (id),
  ``settings``, ``savings`` (days), ``held`` (limit), ``held_answer`` (key), ``what_if`` (the fields of
  `WhatIfQuery`), ``surfacing`` (the fields of `SurfacingQuery`), ``tuning`` (since_hours, tool),
  ``selection``, ``progressive`` (tool), ``execute`` (a command with its ``type``) or ``events``
- once ``events`` was answered, ``{"event":{"type":"HostLeft",…}}`` lines come in between.

A reader that is slow holds up its own answers and loses events (counted), never the engine.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Protocol

import msgspec

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
from proxy.wire_values import WireError, decode, decode_command, encode, encode_tagged

VERSION = 1
"""Version of this protocol; raised only when an older side could not make sense of it."""

GREETING = b'{"mms":"operator","version":%d}\n' % VERSION
"""The first line that a client sends."""

MAX_QUESTIONS = 64
"""Questions of one connection that are worked on at once; further ones wait in the socket."""

_CALLS_AT_ONCE = 100

_log = logging.getLogger("mms.operator")


class StationService(Protocol):
    """The engine as its own loop sees it; the twin of the console's ``Station``.

    All methods are called in the engine's loop and must not block it.
    """

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
        """Held answers, used last first."""
        ...

    async def held_answer(self, key: str) -> HeldDetail | None:
        """One held answer with its text; ``None`` when it is not held (any more)."""
        ...

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        """A recorded call's answer under other settings."""
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

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Events from now on, through a bounded queue that counts what it drops.

        The iterator ends after `StationStopping`. `proxy.event_stream.EventFeed` is one.
        """
        ...


class Welcome(msgspec.Struct):
    """The station's greeting."""

    mms: str
    version: int
    pid: int = 0
    product: str = ""


class Question(msgspec.Struct):
    """One line from a client."""

    id: int
    ask: str
    with_: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw, name="with")


class StationLine(msgspec.Struct):
    """One line from the station after the greeting: an answer or an event."""

    id: int | None = None
    value: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)
    error: str | None = None
    event: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


class _Name(msgspec.Struct):
    name: str


class _Id(msgspec.Struct):
    id: int


class _Days(msgspec.Struct):
    days: int


class _Limit(msgspec.Struct):
    limit: int


class _Key(msgspec.Struct):
    key: str


class _Tuning(msgspec.Struct):
    since_hours: float
    tool: str | None = None


class _Tool(msgspec.Struct):
    tool: str = ""


async def serve_operator(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    service: StationService,
    *,
    product: str = "",
) -> None:
    """Answer one client until it goes away. The first line has been read and the peer checked.

    ``product`` is the version of mms. Cancel it to end the connection from this side. What a client
    asked for is carried out even when it leaves before the answer. The writer is closed at the end.
    """
    try:
        await _hold(_Conversation(reader, writer, service), product)
    except asyncio.CancelledError:
        # The station ends: do not wait for a client that may never read the rest. Not an ``except*``,
        # which would turn the cancellation into a group, and the station's end into a failure.
        writer.transport.abort()
        raise
    finally:
        writer.close()


async def _encode_calls(records: Sequence[CallRecord]) -> bytes:
    """As JSON, a slice at a time: 10,000 calls at once would hold up the engine for 25 ms."""
    parts: list[bytes] = []
    for start in range(0, len(records), _CALLS_AT_ONCE):
        parts.append(encode(records[start : start + _CALLS_AT_ONCE])[1:-1])
        await asyncio.sleep(0)
    return b"[" + b",".join(parts) + b"]"


async def _hold(conversation: _Conversation, product: str) -> None:
    try:
        await conversation.hold(product)
    except* ConnectionError:
        # The client is gone; whatever was still to be said has nobody to hear it.
        pass


class _Conversation:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        service: StationService,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._service = service
        self._room = asyncio.Semaphore(MAX_QUESTIONS)
        self._events: asyncio.Task[None] | None = None

    async def hold(self, product: str) -> None:
        welcome = Welcome("station", VERSION, os.getpid(), product)
        await self._send(msgspec.json.encode(welcome))
        async with asyncio.TaskGroup() as group:
            while line := await self._next_line():
                try:
                    question = decode(line, Question)
                except WireError as error:
                    await self._send(encode({"id": None, "error": f"This is no question: {error}"}))
                    continue
                await self._room.acquire()
                group.create_task(self._answer(question, group))
            if self._events is not None:
                self._events.cancel()

    async def _next_line(self) -> bytes:
        """The next line, empty when the client is done."""
        try:
            return await self._reader.readline()
        except ConnectionError:
            return b""
        except ValueError:
            await self._send(encode({"id": None, "error": "The line is too long."}))
            return b""

    async def _answer(self, question: Question, group: asyncio.TaskGroup) -> None:
        try:
            line = b'{"id":%d,"value":%b}' % (question.id, await self._value(question, group))
        except WireError as error:
            reason = f"{question.ask!r} was asked in a way that this version does not know: {error}"
            line = encode({"id": question.id, "error": reason})
        except Exception as error:
            # The fence of the channel: one question that fails in the engine is answered as such and
            # the connection goes on. The log has the whole story.
            _log.exception("the question %r failed", question.ask)
            line = encode({"id": question.id, "error": str(error) or type(error).__name__})
        finally:
            self._room.release()
        with suppress(ConnectionError):
            await self._send(line)

    async def _value(self, question: Question, group: asyncio.TaskGroup) -> bytes:
        match question.ask:
            case "snapshot":
                return encode(await self._service.snapshot())
            case "upstream":
                return encode(await self._service.upstream(decode(question.with_, _Name).name))
            case "calls":
                query = decode(question.with_, CallQuery) if bytes(question.with_) else CallQuery()
                return await _encode_calls(await self._service.calls(query))
            case "call":
                return encode(await self._service.call(decode(question.with_, _Id).id))
            case "settings":
                return encode(await self._service.settings())
            case "savings":
                return encode(await self._service.savings(decode(question.with_, _Days).days))
            case "held":
                return encode(await self._service.held(decode(question.with_, _Limit).limit))
            case "held_answer":
                key = decode(question.with_, _Key).key
                return encode(await self._service.held_answer(key))
            case "what_if":
                asked = decode(question.with_, WhatIfQuery)
                return encode(await self._service.what_if(asked))
            case "surfacing":
                wanted = decode(question.with_, SurfacingQuery)
                return encode(await self._service.surfacing(wanted))
            case "tuning":
                given = decode(question.with_, _Tuning)
                return encode(await self._service.tuning(given.since_hours, given.tool))
            case "selection":
                return encode(await self._service.selection())
            case "progressive":
                named = decode(question.with_, _Tool)
                return encode(await self._service.progressive(named.tool))
            case "execute":
                return encode(await self._service.execute(decode_command(question.with_)))
            case "events":
                return await self._begin_events(group)
            case _:
                raise WireError("there is no such question")

    async def _begin_events(self, group: asyncio.TaskGroup) -> bytes:
        """Answer only once the subscription stands, so that the client misses nothing after."""
        if self._events is not None:
            return b"true"
        stands: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._events = group.create_task(self._stream_events(stands))
        try:
            await stands
        except BaseException:
            self._events = None
            raise
        return b"true"

    async def _stream_events(self, stands: asyncio.Future[None]) -> None:
        try:
            async with self._service.subscribe() as events:
                stands.set_result(None)
                async for event in events:
                    await self._send(b'{"event":%b}' % encode_tagged(event))
        except ConnectionError:
            pass
        except Exception as error:
            if not stands.done():
                # Told to the one who asked, as the answer to the question.
                stands.set_exception(error)
                return
            # Without events the client would show stale data as live; it had better see an end.
            _log.exception("the stream of events failed")
            self._writer.close()
        finally:
            if not stands.done():
                stands.cancel()

    async def _send(self, line: bytes) -> None:
        """Write one line and wait until the client has taken most of it.

        The wait is what bounds memory: a client that does not read gets no further answers, and its
        events pile up, and are dropped, in its own bounded queue.
        """
        self._writer.write(line + b"\n")
        await self._writer.drain()
