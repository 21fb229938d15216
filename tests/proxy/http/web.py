"""A web server in the test's own loop whose answers a test scripts."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from proxy.http.server import bind_loopback, serving


@dataclass(eq=False)
class Exchange:
    """One request that came in, and the way to answer it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    _send: Callable[[dict[str, Any]], Awaitable[None]] = field(repr=False)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client has closed the connection."""

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body)

    async def start(self, status: int = 200, **headers: str) -> None:
        pairs = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        await self.start(status, content_length=str(len(body)), **headers)
        await self.write(body, more=False)

    async def json(self, message: Any, status: int = 200, **headers: str) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        await self.answer(status, body, content_type="application/json", **headers)

    async def result(self, result: Any, **headers: str) -> None:
        await self.json({"jsonrpc": "2.0", "id": self.message["id"], "result": result}, **headers)

    async def stream(self, *events: str) -> None:
        """Begin an event stream."""
        await self.start(content_type="text/event-stream")
        await self.write("".join(f"{event}\n\n" for event in events).encode())

    async def event(self, message: Any, id: str = "") -> None:
        text = json.dumps(message)
        await self.write((f"id: {id}\n" if id else "").encode() + f"data: {text}\n\n".encode())

    async def end(self) -> None:
        await self.write(b"", more=False)


Handler = Callable[[Exchange], Awaitable[None]]


@asynccontextmanager
async def web(handler: Handler, port: int = 0) -> AsyncGenerator[str]:
    """Serve; gives the address. A handler that raises cuts its connection off."""
    stopping = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        headers = {k.decode(): v.decode() for k, v in scope["headers"]}
        target = scope["path"] + (f"?{q.decode()}" if (q := scope["query_string"]) else "")
        exchange = Exchange(scope["method"], target, headers, body, send)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            exchange.gone.set()

        async def stop() -> None:
            await stopping.wait()
            exchange.gone.set()

        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(watch()), group.create_task(stop())]
            try:
                await handler(exchange)
            except Cut:
                return  # without the end of the response: the server cuts the connection off
            finally:
                for helper in helpers:
                    helper.cancel()

    bound = bind_loopback("127.0.0.1", port)
    with warnings.catch_warnings():
        async with serving(app, bound, stopping.set):
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"


class Cut(Exception):
    """Raised by a handler: close the connection without an end."""
