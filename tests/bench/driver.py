"""The measuring side: sends prepared requests and takes the time until the answer's last byte is there.

It reads only the id of an answer, so that its own cost is small and the same for every column.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ID = re.compile(rb'"id":(\d+)')
PATIENCE = 120.0


class Channel(asyncio.Protocol):
    """One connection; requests are answered in any order."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[bytes]] = {}
        self.write: Any = None
        self._parts: list[bytes] = []
        self._last = 0

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._parts:
                line = b"".join((*self._parts, line))
                self._parts.clear()
            self._take(line)
        if rest:
            self._parts.append(rest)

    def _take(self, line: bytes) -> None:
        found = _ID.search(line[:64])
        if found is None or b'"method"' in line[:64]:
            return
        future = self.waiting.pop(int(found.group(1)), None)
        if future is not None and not future.done():
            future.set_result(line)

    def connection_lost(self, exc: Exception | None) -> None:
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the server has hung up"))

    async def ask(self, method: bytes, params: bytes) -> bytes:
        """Send one request; returns the whole line of the answer."""
        self._last += 1
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.waiting[self._last] = future
        self.write(
            b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":%b}\n' % (self._last, method, params)
        )
        return await future

    async def shake_hands(self) -> None:
        """Introduce ourselves as a host does."""
        await self.ask(
            b"initialize",
            b'{"protocolVersion":"2025-11-25","capabilities":{},'
            b'"clientInfo":{"name":"bench","version":"1"}}',
        )
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')


@dataclass(frozen=True)
class Load:
    """What is called, how often, and by how many at once."""

    name: str
    tool: str
    arguments: dict[str, Any]
    callers: int
    calls: int


@dataclass(frozen=True)
class Sample:
    """One round. Durations in seconds."""

    durations: list[float]
    elapsed: float


async def measure(channels: Sequence[Channel], load: Load, prefix: str) -> Sample:
    """Make the calls, spread over the callers and the channels that there are."""
    params = json.dumps({"name": prefix + load.tool, "arguments": load.arguments}).encode()
    first = json.loads(await channels[0].ask(b"tools/call", params))
    assert "result" in first, first
    assert not first["result"].get("isError"), first
    durations: list[float] = []
    left = load.calls

    async def caller(channel: Channel) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            started = time.perf_counter()
            line = await channel.ask(b"tools/call", params)
            durations.append(time.perf_counter() - started)
            assert b'"isError":true' not in line[-200:]

    async with asyncio.timeout(PATIENCE):
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(load.callers):
                group.create_task(caller(channels[number % len(channels)]))
        return Sample(durations, time.perf_counter() - started)


async def open_socket(path: Path) -> Channel:
    """A channel to a station's socket."""
    transport, channel = await asyncio.get_running_loop().create_unix_connection(Channel, str(path))
    channel.write = transport.write
    return channel


async def open_program(
    command: Sequence[str], environment: Mapping[str, str]
) -> tuple[Channel, subprocess.Popen[bytes]]:
    """Start a program and talk to it on its pipes."""
    loop = asyncio.get_running_loop()
    process = subprocess.Popen(  # noqa: ASYNC220  # starting takes a millisecond
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(environment),
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    _, channel = await loop.connect_read_pipe(Channel, process.stdout)
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
    channel.write = writer.write
    return channel, process
