"""A door in front of a loopback endpoint that shows the token for clients that cannot.

Everything else passes as it is; the port in Host and Origin is made that of the endpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator


@contextlib.asynccontextmanager
async def token_door(port: int, token: str) -> AsyncGenerator[str]:
    """Serve; gives the address. ``port``: of the endpoint on 127.0.0.1."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        inner_writer.write(_changed(head, ours, port, token))
        async with asyncio.TaskGroup() as group:
            inward = group.create_task(_copy(reader, inner_writer))
            outward = group.create_task(_copy(inner_reader, writer))
            # One request for each connection: whichever side ends it ends it for both.
            for task in (inward, outward):
                task.add_done_callback(lambda _: (inward.cancel(), outward.cancel()))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    ours = server.sockets[0].getsockname()[1]
    async with server:
        yield f"http://localhost:{ours}/mcp"


def _changed(head: bytes, ours: int, port: int, token: str) -> bytes:
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept: list[bytes] = [lines[0]]
    for line in lines[1:]:
        name = line.partition(b":")[0].lower()
        if name in (b"host", b"origin"):
            line = line.replace(b":%d" % ours, b":%d" % port)
        if name != b"connection":
            kept.append(line)
    kept += [b"authorization: Bearer " + token.encode(), b"connection: close"]
    return b"\r\n".join(kept) + b"\r\n\r\n"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
