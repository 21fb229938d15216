"""Run an ASGI application on a loopback port, inside a loop that belongs to others."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any

KEEP_ALIVE_SECONDS = 75
"""Hosts use idle connections again; closing them early races with their next request."""
STOP_SECONDS = 2


class NotLoopbackError(ValueError):
    """The address could be reached by other machines."""


def bind_loopback(host: str, port: int) -> socket.socket:
    """A bound TCP socket; ``host`` is ``localhost`` or an address of the loopback interface.

    Raises `NotLoopbackError` or `OSError` (the port is in use).
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        raise NotLoopbackError(f"{host!r} is no address; use 127.0.0.1 or ::1") from None
    if not address.is_loopback:
        raise NotLoopbackError(
            f"{host} can be reached by other machines; only 127.0.0.1 or ::1 are served"
        )
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # With protocol 0, asyncio would not turn off Nagle's algorithm, and answers would wait 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setblocking(False)
        bound.bind((str(address), port))
        bound.listen(128)  # now, so that a port in use shows here and not within the server
    except BaseException:
        bound.close()
        raise
    return bound


@contextlib.asynccontextmanager
async def serving(
    app: Callable[..., Any], bound: socket.socket, before_stop: Callable[[], None]
) -> AsyncGenerator[None]:
    """Serve ``app`` on ``bound`` within the block, then close everything.

    ``before_stop``: ends what streams for ever, so that their connections can close in order.
    """
    import uvicorn

    started = asyncio.Event()

    class Server(uvicorn.Server):
        """The process's signals belong to whoever started the station."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started.set()

        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None, None, None]:
            yield

    config = uvicorn.Config(
        app,
        log_config=None,  # the default prints on the terminal that the console draws on
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        interface="asgi3",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,  # the default waits for ever for open streams
    )
    server = Server(config)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(server.serve(sockets=[bound]))
        try:
            await started.wait()  # closing the socket earlier would make the start fail
            yield
        finally:
            if started.is_set():
                for listener in server.servers:
                    listener.close()  # at once: a successor may want the same port
                before_stop()
                server.should_exit = True
                # Cancelling would leave connections open; it stops by itself within its time.
                await asyncio.wait({running}, timeout=STOP_SECONDS + 1)
            running.cancel()
            bound.close()
