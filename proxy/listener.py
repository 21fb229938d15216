"""The station's Unix socket: hosts, bridges and operators come in here. Same user only.

A bridge introduces itself with ``{"mms":"host","version":1,"pid":…,"directory":…}``, an operator with
``{"mms":"operator","version":1}``; a plain MCP client just begins to speak.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import msgspec

from proxy import wire
from proxy.frames import FrameSplitter, FrameTooLong
from proxy.session import HostSession, Outlet, Peer

WRITE_BUFFER_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for a host that does not read; then it is dropped."""
LARGE_FRAME = 128 * 1024
FIRST_LINE_LIMIT = 64 * 1024
_OPENING_BYTES = 16 * 1024
"""Read at once before it is known who speaks."""
_log = logging.getLogger("mms.listener")

NewSession = Callable[[Peer, Outlet], HostSession]
"""Make the session of a new connection."""
ServeOperator = Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]
"""Take over an operator's connection."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What happens to those who come in."""

    host: NewSession
    operator: ServeOperator
    frame_limit: Callable[[], int]
    """Longest line of a host in bytes."""


class SocketInUse(Exception):
    """Another process answers on the socket."""


async def listen(path: Path, doors: Doors) -> asyncio.Server:
    """Bind the socket, readable for this user only. The caller holds the station's lock.

    A file left by a station that died is removed. Raises `SocketInUse` or `OSError`.
    """
    bound = _bind(path)
    return await asyncio.get_running_loop().create_unix_server(
        lambda: _Connection(doors), sock=bound, backlog=128
    )


def _bind(path: Path) -> socket.socket:
    """A bound socket file that nobody else can open at any moment."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists() or path.is_symlink():
            _remove_stale(path)
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


def _remove_stale(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            path.unlink(missing_ok=True)
        else:
            raise SocketInUse(f"{path} is in use by another process")


class _Hello(msgspec.Struct):
    """The first line of a bridge or an operator."""

    mms: str = ""
    pid: int = 0
    directory: str = ""
    space: str = ""


class _Connection(asyncio.BufferedProtocol):
    """One connection; what it is shows in its first line."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors
        self._transport: asyncio.Transport | None = None
        self._first = b""
        self._opening = bytearray(_OPENING_BYTES)
        self._session: HostSession | None = None
        self._splitter = FrameSplitter(doors.frame_limit())
        self._peer = Peer("socket")
        self._introduced = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport = cast("asyncio.Transport", transport)
        pid, uid = _credentials(transport.get_extra_info("socket"))
        if uid is not None and uid != os.getuid():
            _log.warning("refused a connection of user %d, process %d", uid, pid or 0)
            transport.abort()
            return
        self._peer = Peer("socket", pid)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the loop reads the next bytes to."""
        return self._splitter.room() if self._introduced else memoryview(self._opening)

    def buffer_updated(self, nbytes: int) -> None:
        """The loop has read so many."""
        if not self._introduced:
            self._opened(bytes(self._opening[:nbytes]))
            return
        try:
            lines = self._splitter.filled(nbytes)
        except FrameTooLong as error:
            self._too_long(error)
        else:
            self._receive(lines)

    def _opened(self, data: bytes) -> None:
        """Bytes of the first line."""
        self._first += data
        if b"\n" not in self._first:
            if len(self._first) > FIRST_LINE_LIMIT and not self._first.startswith(b'{"mms"'):
                self._begin(self._first)
            return
        if self._first.startswith(b'{"mms"'):
            line, _, rest = self._first.partition(b"\n")
            self._introduce(line, rest)
        else:
            self._begin(self._first)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._session is not None:
            self._session.close()

    def eof_received(self) -> bool:
        # A host that closed its input is gone: what it waits for has nowhere to go.
        return False

    def send(self, frame: bytes, about: bytes | None) -> None:
        """Outlet of the session. One stream carries everything, so ``about`` does not matter."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if len(frame) < LARGE_FRAME:
            transport.write(frame + b"\n")
        else:  # one more system call is cheaper than a copy
            transport.write(frame)
            transport.write(b"\n")
        if transport.get_write_buffer_size() > WRITE_BUFFER_LIMIT:
            _log.warning("dropped a host that does not read its answers")
            transport.abort()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    def _introduce(self, line: bytes, rest: bytes) -> None:
        try:
            hello = msgspec.json.decode(line, type=_Hello)
        except msgspec.MsgspecError:
            hello = _Hello()
        if hello.mms == "operator":
            self._hand_over(rest)
            return
        self._peer = replace(
            self._peer,
            directory=hello.directory,
            space=hello.space[:64],
            pid=hello.pid or self._peer.pid,
        )
        self._begin(rest)

    def _begin(self, rest: bytes) -> None:
        self._introduced = True
        self._first = b""
        self._opening = bytearray()
        self._session = self._doors.host(self._peer, self)
        try:
            lines = self._splitter.feed(rest)
        except FrameTooLong as error:
            self._too_long(error)
        else:
            self._receive(lines)

    def _receive(self, lines: list[bytes]) -> None:
        assert self._session is not None
        for line in lines:
            self._session.receive(line)

    def _too_long(self, error: FrameTooLong) -> None:
        self.send(wire.error(None, wire.INVALID_REQUEST, f"mms: {error}"), None)
        if self._transport is not None:
            self._transport.close()

    def _hand_over(self, rest: bytes) -> None:
        """Turn the connection into a pair of streams for the operator's side."""
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=4 * 1024 * 1024, loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        writer = asyncio.StreamWriter(self._transport, protocol, reader, loop)
        if rest:
            reader.feed_data(rest)
        self._doors.operator(reader, writer)


def _credentials(connection: socket.socket | None) -> tuple[int | None, int | None]:
    """Process and user at the other end, where the system tells (Linux)."""
    if connection is None or sys.platform != "linux":
        return None, None
    with contextlib.suppress(OSError):
        data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", data)
        return pid, uid
    return None, None
