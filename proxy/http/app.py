"""The ASGI application of the loopback endpoint: MCP's streamable HTTP for hosts.

Written without a web framework, since every call passes through here and bodies are passed on as they
are. Source: MCP specification 2025-11-25, "Transports: Streamable HTTP".
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from proxy import wire
from proxy.dialects import HANDSHAKE_REVISIONS
from proxy.http.guard import Rules, check, headers_of
from proxy.http.host import HttpHost, Reply
from proxy.http.sse import KEEP_ALIVE, encode_event, one_line
from proxy.http.streams import Reader, Stream, event_id
from proxy.session import HostSession, Outlet, Peer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
OpenSession = Callable[[Peer, Outlet], HostSession]

BODY_SECONDS = 30.0
"""How long a host may take to send a body."""
PATIENCE_SECONDS = 20.0
"""After this, an answer becomes a stream, so that the host's HTTP client does not give up."""
KEEP_ALIVE_SECONDS = 15.0
RETRY_MS = 1000
"""How long a client that lost a stream should wait before it comes back."""
MAX_SESSIONS = 256
DISCARDED_BYTES = 32 * 1024 * 1024
DISCARDED_SECONDS = 2.0
_UNREAD = (408, 413)
"""Refusals that come before the body was read."""
_JSON = (b"content-type", b"application/json")
_CLOSE = (b"connection", b"close")
_STREAM = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class _Refused(Exception):
    """A request cannot be served."""

    def __init__(
        self, status: int, reason: str, id: wire.Raw | None = None, code: int = wire.INVALID_REQUEST
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.body = wire.error(id, code, f"mms: {reason}")


class HttpApp:
    """Sessions of hosts over HTTP. One per endpoint."""

    def __init__(
        self, rules: Rules, open_session: OpenSession, body_limit: Callable[[], int]
    ) -> None:
        """``body_limit``: longest body in bytes, asked anew for each request."""
        self._rules = rules
        self._open_session = open_session
        self._body_limit = body_limit
        self._hosts: dict[str, HttpHost] = {}

    @property
    def hosts(self) -> tuple[HttpHost, ...]:
        """Sessions that live."""
        return tuple(self._hosts.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        headers = headers_of(scope["headers"])
        if headers is None:
            await _answer(send, 400, _refusal_body("a header comes twice"))
            return
        method: str = scope["method"]
        refusal = check(method, scope["path"], headers, self._rules)
        if refusal is not None:
            await _discard_body(receive)
            body = _refusal_body(refusal.reason)
            await _answer(send, refusal.status, body, (*refusal.headers, _JSON, _CLOSE))
            return
        try:
            if method == "POST":
                await self._post(headers, receive, send)
            elif method == "GET":
                await self._get(headers, receive, send)
            else:
                host = self._host(headers)
                host.leave()
                await _answer(send, 204, b"")
        except _Refused as refused:
            if refused.status in _UNREAD:
                await _discard_body(receive)
            closing = (_JSON, _CLOSE) if refused.status in _UNREAD else (_JSON,)
            await _answer(send, refused.status, refused.body, closing)

    async def sweep(self) -> None:
        """End sessions that nobody uses, for ever."""
        while True:
            await asyncio.sleep(30.0)
            self.end_idle(time.monotonic())

    def end_idle(self, now: float) -> None:
        """End the sessions that had no connection for too long."""
        for host in self.hosts:
            if host.expired(now):
                host.leave()

    def end_all(self) -> None:
        """The endpoint stops."""
        for host in self.hosts:
            host.leave()

    # methods

    async def _post(self, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        frame = one_line(await self._read_body(headers, receive))
        try:
            message = wire.parse(frame)
        except wire.MalformedMessage as error:
            code = wire.INVALID_REQUEST if frame[:1] == b"[" else wire.PARSE_ERROR
            id = None if error.id is None else wire.Raw(error.id)
            raise _Refused(400, f"cannot read this message: {error.reason}", id, code) from None
        kind = wire.kind_of(message)
        if kind is wire.MessageKind.NONE:
            raise _Refused(400, "neither a request, a notification nor a response")
        method = wire.string(message, "method") or ""
        id = message["id"] if kind is wire.MessageKind.REQUEST else None
        if method == "initialize" and id is not None and "mcp-session-id" not in headers:
            await self._initialize(id, frame, send)
            return
        if method == "server/discover" and "mcp-session-id" not in headers:
            # The question of a newer era; the answer makes hosts go on with ``initialize``.
            raise _Refused(404, "Method not found", id, wire.METHOD_NOT_FOUND)
        _check_revision(headers, id)
        host = self._host(headers, id)
        if method == "initialize":
            raise _Refused(400, "this session is initialized already", id)
        assert host.session is not None
        if id is None:
            host.session.receive(frame)
            if method == "notifications/cancelled":
                _withdraw(host, message)
            await _answer(send, 202, b"")
            return
        reply = host.expect(id)
        if reply is None:
            raise _Refused(400, "a request with this id is still under way", id)
        host.receive(reply, frame)
        await self._reply(host, reply, receive, send)

    async def _initialize(self, id: wire.Raw, frame: bytes, send: Send) -> None:
        if len(self._hosts) >= MAX_SESSIONS and not self._make_room():
            raise _Refused(503, f"{MAX_SESSIONS} hosts are connected already", id)
        host = HttpHost(self._ended)
        reply = host.expect(id)
        assert reply is not None
        host.session = self._open_session(Peer("http"), host)
        host.receive(reply, frame)
        response = reply.response
        if response is None or "result" not in wire.parse(response):
            host.leave()
            body = response or wire.error(id, wire.INTERNAL_ERROR, "mms: the handshake failed")
            await _answer(send, 200, body, (_JSON,))
            return
        self._hosts[host.id] = host
        await _answer(send, 200, response, (_JSON, (b"mcp-session-id", host.id.encode())))

    async def _reply(self, host: HttpHost, reply: Reply, receive: Receive, send: Send) -> None:
        """Answer a request: at once as JSON, or as a stream when there is something to say before."""
        if not reply.wake.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await reply.wake.wait()
        host.used_at = time.monotonic()
        if reply.response is not None:
            await _answer(send, 200, reply.response, (_JSON,))
            return
        if host.ended and reply.stream is None:
            body = wire.error(wire.Raw(reply.id), wire.SERVER_ERROR, "mms: the session has ended")
            await _answer(send, 503, body, (_JSON,))
            return
        primed = host.primed and not reply.withdrawn
        await self._write(host, host.begin_stream(reply), receive, send, primed=primed)

    async def _get(self, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        _check_revision(headers, None)
        host = self._host(headers)
        last = headers.get("last-event-id", "")
        if last:
            stream = host.streams.find(last)
            if stream is None:
                raise _Refused(400, "nothing is kept that follows this Last-Event-ID")
        else:
            stream = host.streams.unasked
            if stream.reader is not None:
                raise _Refused(409, "this session has a stream already")
        await self._write(host, stream, receive, send, primed=host.primed and not last)

    async def _write(
        self, host: HttpHost, stream: Stream, receive: Receive, send: Send, *, primed: bool
    ) -> None:
        """Send a stream's events until it or the connection ends."""
        reader = stream.attach()
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(_watch(receive, reader))
                writing = group.create_task(_pump(stream, reader, send, primed=primed))
                reader.cut_off = writing.cancel
                writing.add_done_callback(lambda _: watching.cancel())
        finally:
            stream.detach(reader)
            host.used_at = time.monotonic()

    # helpers

    def _host(self, headers: Mapping[str, str], id: wire.Raw | None = None) -> HttpHost:
        session_id = headers.get("mcp-session-id", "")
        if not session_id:
            raise _Refused(400, "begin with initialize, then send the header Mcp-Session-Id", id)
        host = self._hosts.get(session_id)
        if host is None:
            raise _Refused(404, "there is no such session; begin anew with initialize", id)
        host.used_at = time.monotonic()
        return host

    async def _read_body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        limit = self._body_limit()
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            raise _Refused(413, f"the body is longer than proxy.max_host_frame_bytes = {limit:,}")
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    event = await receive()
                    if event["type"] != "http.request":
                        raise _Refused(400, "the connection ended within the body")
                    chunk: bytes = event.get("body", b"")
                    size += len(chunk)
                    if size > limit:
                        raise _Refused(
                            413, f"the body is longer than proxy.max_host_frame_bytes = {limit:,}"
                        )
                    chunks.append(chunk)
                    if not event.get("more_body", False):
                        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        except TimeoutError:
            raise _Refused(408, f"the body did not come within {BODY_SECONDS:.0f} s") from None

    def _make_room(self) -> bool:
        """End the session that has been unused for longest, if there is one."""
        now = time.monotonic()
        unused = [(host.idle_for(now), host) for host in self.hosts]
        longest = max(unused, key=lambda pair: pair[0])
        if longest[0] < 60.0:
            return False
        longest[1].leave()
        return True

    def _ended(self, host: HttpHost) -> None:
        self._hosts.pop(host.id, None)


async def _pump(stream: Stream, reader: Reader, send: Send, *, primed: bool) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": list(_STREAM)})
    first = encode_event(b"", event_id(stream, stream.sent), RETRY_MS) if primed else b""
    await send({"type": "http.response.body", "body": first, "more_body": True})
    while not reader.gone:
        reader.wake.clear()
        event = stream.next()
        if event is not None:
            text = encode_event(event.frame, event_id(stream, event.number))
            await send({"type": "http.response.body", "body": text, "more_body": True})
        elif stream.finished:
            break
        else:
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await reader.wake.wait()
            except TimeoutError:
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _watch(receive: Receive, reader: Reader) -> None:
    """Notice that the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.gone = True
    reader.wake.set()


async def _discard_body(receive: Receive) -> None:
    """Read what the client still sends, within bounds.

    Closing a connection with unread bytes resets it, and the client would lose our answer.
    """
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARDED_SECONDS):
            while size < DISCARDED_BYTES:
                event = await receive()
                size += len(event.get("body", b""))
                if not event.get("more_body", False):
                    return


async def _answer(
    send: Send, status: int, body: bytes, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    length = (b"content-length", str(len(body)).encode())
    sized = headers if status == 204 else (*headers, length)
    await send({"type": "http.response.start", "status": status, "headers": list(sized)})
    await send({"type": "http.response.body", "body": body})


def _refusal_body(reason: str) -> bytes:
    return wire.error(None, wire.INVALID_REQUEST, f"mms: {reason}")


def _check_revision(headers: Mapping[str, str], id: wire.Raw | None) -> None:
    """A missing header means an older client, which the specification allows."""
    revision = headers.get("mcp-protocol-version")
    if revision is not None and revision not in HANDSHAKE_REVISIONS:
        supported = ", ".join(HANDSHAKE_REVISIONS)
        reason = f"MCP-Protocol-Version {revision[:40]!r} is not supported; use one of {supported}"
        raise _Refused(400, reason, id)


def _withdraw(host: HttpHost, message: wire.Members) -> None:
    if "params" in message:
        with suppress(wire.MalformedMessage):
            id = wire.members_of(message["params"]).get("requestId")
            if id is not None:
                host.withdraw(bytes(id))
