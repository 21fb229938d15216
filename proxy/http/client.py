"""HTTP as a link to an upstream needs it: one exchange at a time, bodies within a limit.

Redirects are followed only where neither the address nor the message changes, so that configured headers
never reach anybody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

import httpx2

from proxy import wire
from proxy.http.failures import describe_redirect
from proxy.http.sse import Event, EventParser, EventTooLong, one_line
from proxy.links.link import LinkLost

CONNECT_SECONDS = 15.0
WRITE_SECONDS = 30.0
KEEP_CONNECTION_SECONDS = 4.0
"""Less than the 5 s after which common servers close an idle connection, perhaps under our request."""
USE_UP_SECONDS = 0.5
MAX_REDIRECTS = 3
_ERROR_BODY_BYTES = 64 * 1024


class AnswerRefused(Exception):
    """One message will get no answer; ``str()`` continues "upstream NAME …"."""


class DialogueLost(Exception):
    """The whole dialogue is of no use any more."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.lost = LinkLost(reason, permanent)


class RedirectedAway(Exception):
    """The server wants to be spoken to elsewhere; ``str()`` continues "upstream NAME …"."""


class HttpClient:
    """Connections to one address, with the configured headers."""

    def __init__(
        self, url: httpx2.URL, headers: Mapping[str, str], limit: int, *, direct: bool
    ) -> None:
        """``limit``: longest message in bytes. ``direct``: use no HTTP proxy of the environment."""
        # It logs every address with its query at INFO, and those may hold secrets.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self.url = url
        self._limit = limit
        self._client = httpx2.AsyncClient(
            headers={"user-agent": "mms", **headers},
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
            limits=httpx2.Limits(
                max_connections=None,
                max_keepalive_connections=32,
                keepalive_expiry=KEEP_CONNECTION_SECONDS,
            ),
            trust_env=not direct,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    @contextlib.asynccontextmanager
    async def exchange(
        self, method: str, headers: dict[str, str], content: bytes | None
    ) -> AsyncGenerator[httpx2.Response]:
        """One request and its answer. Raises `RedirectedAway` and `httpx2.HTTPError`."""
        url = self.url
        for _ in range(MAX_REDIRECTS):
            async with self._client.stream(
                method, url, headers=headers, content=content
            ) as response:
                if not response.is_redirect:
                    yield response
                    return
                try:
                    target = url.join(response.headers["location"])
                except httpx2.InvalidURL:
                    raise RedirectedAway("redirects to an address that cannot be read") from None
                same = (target.scheme, target.host, target.port) == (url.scheme, url.host, url.port)
                if not same or (method != "GET" and response.status_code not in (307, 308)):
                    raise RedirectedAway(describe_redirect(url, target))
                url = target
        raise RedirectedAway("redirects in a circle; check the path in url")

    async def read_events(self, response: httpx2.Response, take: Callable[[Event], bool]) -> bool:
        """Hand over events until ``take`` has enough (true) or the stream ends.

        Raises `AnswerRefused` and `httpx2.HTTPError`.
        """
        parser = EventParser(self._limit)
        chunks = response.aiter_bytes()
        try:
            async for chunk in chunks:
                for event in parser.feed(chunk):
                    if event.name == b"message" and take(event):
                        await _use_up(chunks)
                        return True
        except EventTooLong as error:
            raise AnswerRefused(f"sent too much: {error}") from None
        return False

    async def read_all(self, response: httpx2.Response) -> bytes:
        """A whole body. Raises `AnswerRefused` and `httpx2.HTTPError`."""
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > self._limit:
                raise AnswerRefused(
                    f"sent too much: an answer is longer than {self._limit:,} bytes"
                )
            chunks.append(chunk)
        return b"".join(chunks).strip()


async def read_some(response: httpx2.Response) -> bytes:
    """The start of an error's body."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _ERROR_BODY_BYTES:
            break
    return body[:_ERROR_BODY_BYTES]


def json_rpc_error(body: bytes) -> wire.Members | None:
    """The message in the body of a failing status, if it is a JSON-RPC error."""
    try:
        message = wire.parse(one_line(body))
        if "error" not in message or "jsonrpc" not in message:
            return None
        wire.members_of(message["error"])
    except wire.MalformedMessage:
        return None
    return message


async def _use_up(chunks: AsyncIterator[bytes]) -> None:
    """Read what follows an answer: a connection is used again only when its stream has ended."""
    with contextlib.suppress(httpx2.HTTPError, TimeoutError):
        async with asyncio.timeout(USE_UP_SECONDS):
            async for _ in chunks:
                pass
