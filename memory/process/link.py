"""One connection to the memory's process, from the client's side. A protocol: it needs no task."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, cast

from memory.api import Request
from memory.model import Actor
from memory.process import wire


class NotBegun(Exception):
    """The request was surely not begun."""


class Lost(Exception):
    """The connection ended while the request was under way."""


class Link(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.greeted: asyncio.Future[wire.Greeting] = loop.create_future()
        """Their greeting, or `Lost` or `wire.Malformed`."""
        self.pid = 0
        self._ended: asyncio.Future[None] = loop.create_future()
        self._lines = wire.Lines()
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[int, asyncio.Future[wire.Answer]] = {}
        self._numbers = itertools.count(1)
        self._says_goodbye = False

    @property
    def is_open(self) -> bool:
        """It takes requests."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and not self._says_goodbye

    async def ask(self, request: Request[Any], actor: Actor) -> Any:
        """The result. Raises `MemoryFault`, `NotBegun` or `Lost`."""
        number = next(self._numbers)
        frame = wire.call_frame(number, request, actor)
        if not self.is_open or self._transport is None:
            raise NotBegun("the memory's process is ending")
        future: asyncio.Future[wire.Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._transport.write(frame)
        try:
            answer = await future
        finally:
            self._waiting.pop(number, None)
        return answer.value(request)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._transport.abort()

    async def aclose(self) -> None:
        """Hang up and wait until the socket is closed."""
        self.abort()
        await self._ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.write(wire.greeting_frame())

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                if self.greeted.done():
                    self._take(wire.read_reply(line))
                else:
                    greeting = wire.read_greeting(line)
                    self.pid = greeting.pid
                    self.greeted.set_result(greeting)
        except (wire.Malformed, wire.FrameTooLong) as error:
            if not self.greeted.done():
                self.greeted.set_exception(wire.Malformed(str(error)))
            self._fail(Lost(f"what the memory's process sent could not be read: {error}"))
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        lost = Lost("the memory's process ended")
        if not self.greeted.done():
            self.greeted.set_exception(lost)
        if not self.greeted.cancelled():
            self.greeted.exception()  # asked for, so that nobody is told that nobody asked
        self._fail(lost)
        if not self._ended.done():
            self._ended.set_result(None)

    def _take(self, reply: wire.Answer | wire.Goodbye) -> None:
        if isinstance(reply, wire.Goodbye):
            self._says_goodbye = True
            for number, future in self._waiting.items():
                if number > reply.begun and not future.done():
                    future.set_exception(NotBegun("the memory's process is ending"))
            return
        future = self._waiting.get(reply.id)
        if future is not None and not future.done():
            future.set_result(reply)

    def _fail(self, error: Exception) -> None:
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error)
