"""A station for exactly one host on our own input and output (containers, CI)."""

from __future__ import annotations

import asyncio
import os

from proxy import wire
from proxy.frames import FrameSplitter, FrameTooLong
from proxy.listener import NewSession
from proxy.pipes import pipe_file
from proxy.session import HostSession, Peer


async def serve_stdio(open_session: NewSession, frame_limit: int) -> None:
    """Serve the host until it closes our input.

    Our own output is moved away first, so that nothing that prints can break the protocol.
    """
    loop = asyncio.get_running_loop()
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe_file(sink, "wb", loop))
    left = asyncio.Event()
    outlet = _Output(writer)
    session = open_session(Peer("stdio", os.getppid(), os.getcwd()), outlet)  # noqa: PTH109
    reader, _ = await loop.connect_read_pipe(
        lambda: _Input(session, frame_limit, left), pipe_file(source, "rb", loop)
    )
    try:
        await left.wait()
    finally:
        session.close()
        reader.close()
        writer.close()


class _Output:
    def __init__(self, writer: asyncio.WriteTransport) -> None:
        self._writer = writer

    def send(self, frame: bytes, about: bytes | None) -> None:
        self._writer.write(frame + b"\n")

    def close(self) -> None:
        self._writer.close()


class _Input(asyncio.Protocol):
    def __init__(self, session: HostSession, frame_limit: int, left: asyncio.Event) -> None:
        self._session = session
        self._splitter = FrameSplitter(frame_limit)
        self._left = left

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._splitter.feed(data):
                self._session.receive(line)
        except FrameTooLong as error:
            self._session.send(wire.error(None, wire.INVALID_REQUEST, f"mms: {error}"))
            self._left.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._left.set()
