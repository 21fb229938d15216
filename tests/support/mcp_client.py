"""A raw MCP client for tests: speaks to a station's socket or to a program, hides nothing.

Every message that comes in is kept in the order in which it came. Waits are bounded by `PATIENCE`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 30.0
"""Seconds that any wait may take; far more than anything takes on a machine that is not busy."""
LINE_LIMIT = 96 * 1024 * 1024
REVISION = "2025-11-25"

Message = dict[str, Any]


OWN_PREFIXES = ("stm_", "memory_")
"""Of the tools that mms itself answers."""


class Refused(Exception):
    """A request was answered with a JSON-RPC error."""

    def __init__(self, error: Any) -> None:
        super().__init__(json.dumps(error)[:500])
        self.error = error


class ConnectionEnded(Exception):
    """The other side hung up while an answer was awaited."""


@dataclass
class RawClient:
    """One connection. Made by `connect_socket` or `start_program`."""

    reader: asyncio.StreamReader
    write: Callable[[bytes], None]
    received: list[Message] = field(default_factory=list[Message])
    """Everything that came in, parsed."""
    lines: list[bytes] = field(default_factory=list[bytes])
    """The same as it came, for comparing bytes; only lines up to a megabyte."""
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    """By method: what to answer to requests of the server. A callable gets the parameters."""
    ended: bool = False
    _waiting: dict[Any, asyncio.Future[Message]] = field(
        default_factory=dict[Any, "asyncio.Future[Message]"]
    )
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _next_id: int = 0

    # sending

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"method": method, **({} if params is None else {"params": params})})

    def begin(
        self, method: str, params: Mapping[str, Any] | None = None, *, id: Any = None
    ) -> tuple[Any, asyncio.Future[Message]]:
        """Send a request; returns its id and the future of its whole response."""
        if id is None:
            self._next_id += 1
            id = self._next_id
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[id] = future
        if self.ended:
            future.set_exception(ConnectionEnded())
        else:
            self.send(
                {"id": id, "method": method, **({} if params is None else {"params": params})}
            )
        return id, future

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        id: Any = None,
        seconds: float = PATIENCE,
    ) -> Any:
        """The result. Raises `Refused`, `ConnectionEnded` or `TimeoutError`."""
        _, future = self.begin(method, params, id=id)
        async with asyncio.timeout(seconds):
            message = await future
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    async def initialize(
        self,
        name: str = "test",
        capabilities: Mapping[str, Any] | None = None,
        *,
        seconds: float = PATIENCE,
    ) -> Any:
        """Shake hands; returns what the server said about itself."""
        result = await self.request(
            "initialize",
            {
                "protocolVersion": REVISION,
                "capabilities": capabilities or {},
                "clientInfo": {"name": name, "version": "1"},
            },
            seconds=seconds,
        )
        self.notify("notifications/initialized")
        return result

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        meta: Mapping[str, Any] | None = None,
        seconds: float = PATIENCE,
    ) -> Any:
        """The result of ``tools/call``, tool errors included."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
        if meta is not None:
            params["_meta"] = meta
        return await self.request("tools/call", params, seconds=seconds)

    async def text(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, seconds: float = PATIENCE
    ) -> str:
        """The first text of a call that must succeed."""
        result = await self.call(tool, arguments, seconds=seconds)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    async def failure(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, seconds: float = PATIENCE
    ) -> str:
        """The text of a call that must fail as a tool error."""
        result = await self.call(tool, arguments, seconds=seconds)
        assert result.get("isError") is True, str(result)[:500]
        return result["content"][0]["text"]

    async def tools(self) -> list[str]:
        """The names of the upstreams' tools that are listed."""
        listed = (await self.request("tools/list"))["tools"]
        return [tool["name"] for tool in listed if not tool["name"].startswith(OWN_PREFIXES)]

    # receiving

    def notifications(self, method: str) -> list[Message]:
        """Parameters of the notifications that came so far, in order."""
        return [m.get("params", {}) for m in self.received if m.get("method") == method]

    async def until(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until something that depends on what came in is true."""
        async with asyncio.timeout(seconds):
            while not holds():
                if self.ended:
                    raise ConnectionEnded
                self._changed.clear()
                await self._changed.wait()

    async def until_notified(self, method: str, count: int = 1, seconds: float = PATIENCE) -> None:
        """Wait for a notification."""
        await self.until(lambda: len(self.notifications(method)) >= count, seconds)

    async def pump(self) -> None:
        """Read until the other side hangs up. Runs as a task of whoever made the client."""
        try:
            while line := await self.reader.readline():
                if line.strip():
                    self._take(line)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.ended = True
            self._changed.set()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(ConnectionEnded())
                    future.exception()  # whoever waits gets it; nobody has to

    def _take(self, line: bytes) -> None:
        message: Message = json.loads(line)
        self.received.append(message)
        if len(line) <= 1 << 20:
            self.lines.append(line)
        if "method" in message and "id" in message:
            self._answer(message)
        elif "method" not in message:
            future = self._waiting.pop(message.get("id"), None)
            if future is not None and not future.done():
                future.set_result(message)
        self._changed.set()

    def _answer(self, message: Message) -> None:
        answer = self.answers.get(message["method"])
        if answer is None:
            return
        if callable(answer):
            answer = answer(message.get("params", {}))
        self.send({"id": message["id"], "result": answer})


@contextlib.asynccontextmanager
async def connect_socket(path: Path, *, seconds: float = PATIENCE) -> AsyncIterator[RawClient]:
    """Connect to a station's socket, as soon as it answers."""
    reader, writer = await _open(path, seconds)
    client = RawClient(reader, writer.write)
    async with asyncio.TaskGroup() as group:
        pump = group.create_task(client.pump())
        try:
            yield client
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            pump.cancel()


@contextlib.asynccontextmanager
async def connect_host(
    path: Path, name: str = "test", capabilities: Mapping[str, Any] | None = None
) -> AsyncIterator[RawClient]:
    """Connect to a station's socket and shake hands."""
    async with connect_socket(path) as client:
        await client.initialize(name, capabilities)
        yield client


async def _open(path: Path, seconds: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(seconds):
        while True:
            try:
                return await asyncio.open_unix_connection(str(path), limit=LINE_LIMIT)
            except OSError:
                await asyncio.sleep(0.02)


@dataclass
class ProgramClient(RawClient):
    """A client of a program that it has started."""

    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the program."""
        assert self.process is not None
        return self.process.pid


@contextlib.asynccontextmanager
async def start_program(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    directory: Path | None = None,
    kill: bool = False,
) -> AsyncIterator[ProgramClient]:
    """Start a server on pipes. At the end its input is closed; it must then exit by itself.

    ``kill``: it need not, and is killed with all that it started.
    """
    loop = asyncio.get_running_loop()
    process = subprocess.Popen(  # noqa: ASYNC220  # starting takes a millisecond
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        cwd=directory,
        start_new_session=True,
        bufsize=0,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    output, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), process.stdout
    )
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
    client = ProgramClient(reader, writer.write, process=process)
    try:
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(client.pump())
            try:
                yield client
            finally:
                writer.close()
                if kill:
                    os.killpg(process.pid, signal.SIGKILL)
                await _exit(process)
                pump.cancel()
    finally:
        output.close()


async def _exit(process: subprocess.Popen[bytes]) -> None:
    """Wait for the exit that closing its input brings about; never leave the program behind."""
    try:
        async with asyncio.timeout(PATIENCE):
            while process.poll() is None:  # noqa: ASYNC110  # a process sets no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
