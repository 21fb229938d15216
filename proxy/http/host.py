"""One host's HTTP session: which connection each message of mms goes out on. No I/O.

A message about a request goes out on that request's own answer; everything else waits for the stream
that the host opens with GET.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from proxy import wire
from proxy.http.sse import one_line
from proxy.http.streams import Stream, Streams
from proxy.session import HostSession

IDLE_SECONDS = 30 * 60.0
"""How long a session without any open connection lives."""
LEFT_SECONDS = 2 * 60.0
"""The same for a host that had a stream of unasked messages: on this machine, only its end closes that."""
PRIMED_SINCE = "2025-11-25"
"""First revision whose clients understand an event without data, which tells how to come back."""
_log = logging.getLogger("mms.http")


@dataclass(slots=True, eq=False)
class Reply:
    """The answer to one request, as far as it has come."""

    id: bytes
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it is known how to answer."""
    response: bytes | None = None
    """The whole answer, when nothing had to be said before it."""
    stream: Stream | None = None
    """Set as soon as there is something to say before the answer."""
    withdrawn: bool = False
    """The host has cancelled the request."""


class HttpHost:
    """Outlet of a session, and all that its connections share."""

    def __init__(self, on_end: Callable[[HttpHost], None]) -> None:
        self.id = secrets.token_hex(16)
        """The session id; 128 random bits. A name and not a right: the token is wanted as well."""
        self.session: HostSession | None = None
        self.streams = Streams()
        self.used_at = time.monotonic()
        self.ended = False
        self._on_end = on_end
        self._replies: dict[bytes, Reply] = {}
        self._receiving: bytes | None = None
        """Id of the request that the session is reading."""

    # the outlet of the session

    def send(self, frame: bytes, about: bytes | None) -> None:
        """Pass a message on: with its request's answer, or on the stream of unasked messages."""
        if self.ended:
            return
        answered = _answered_id(frame, about)
        if answered == b"null" and self._receiving is not None:
            # What could not be read far enough for its id is what is being received right now.
            answered = self._receiving
            frame = wire.encode({**wire.parse(frame), "id": wire.Raw(answered)})
        reply = self._replies.get(answered if answered is not None else about or b"")
        if reply is None:
            if answered is None:
                self._add(self.streams.unasked, frame)
            return  # else an answer that nobody waits for any more
        if answered is None:
            self._add(self._stream_of(reply), frame)
            reply.wake.set()
            return
        del self._replies[reply.id]
        if reply.stream is None:
            reply.response = frame
        else:
            self._add(reply.stream, frame)
            reply.stream.finish()
        reply.wake.set()

    def close(self) -> None:
        """No message comes any more; what is queued still goes out."""
        if self.ended:
            return
        self.ended = True
        for reply in self._replies.values():
            reply.wake.set()
        self._replies.clear()
        for stream in self.streams.all():
            stream.finish()
        self._on_end(self)

    # connections

    def expect(self, id: wire.Raw) -> Reply | None:
        """A request has come; ``None`` when one with this id is still under way."""
        key = bytes(id)
        if key in self._replies:
            return None
        reply = self._replies[key] = Reply(key)
        return reply

    def receive(self, reply: Reply, frame: bytes) -> None:
        """Hand a request to the session, after `expect`."""
        assert self.session is not None
        self._receiving = reply.id
        try:
            self.session.receive(frame)
        finally:
            self._receiving = None

    def begin_stream(self, reply: Reply) -> Stream:
        """The answer takes long: say so on a stream, before anything else is known."""
        return self._stream_of(reply)

    def withdraw(self, id: bytes) -> None:
        """The host does not want this answer any more, and none must be sent."""
        reply = self._replies.pop(id, None)
        if reply is not None:
            reply.withdrawn = True
            stream = self._stream_of(reply)
            stream.finish()
            self.streams.forget(stream)  # a client that came back for it would come back for ever
            reply.wake.set()

    @property
    def primed(self) -> bool:
        """Streams begin with an event that has an id and no data."""
        return self.session is not None and self.session.protocol >= PRIMED_SINCE

    def expired(self, now: float) -> bool:
        """Nobody uses it any more; a client that thinks otherwise is told to begin anew."""
        return self.idle_for(now) > (LEFT_SECONDS if self.streams.unasked.read else IDLE_SECONDS)

    def idle_for(self, now: float) -> float:
        """Seconds since a connection was open."""
        if self._replies or self.streams.being_read:
            self.used_at = now
        return now - self.used_at

    def leave(self) -> None:
        """The host is gone or has to go."""
        if self.session is not None:
            self.session.close()
        self.close()

    def _stream_of(self, reply: Reply) -> Stream:
        if reply.stream is None:
            self.streams.tidy()
            reply.stream = self.streams.open()
        return reply.stream

    def _add(self, stream: Stream, frame: bytes) -> None:
        if not self.streams.add(stream, one_line(frame)):
            _log.warning("dropped a host that does not read its event stream")
            readers = [stream.reader for stream in self.streams.all()]
            self.leave()
            for reader in readers:
                if reader is not None and reader.cut_off is not None:
                    reader.cut_off()


def _answered_id(frame: bytes, about: bytes | None) -> bytes | None:
    """The id of the request that ``frame`` answers; ``None`` when it is no response."""
    if about is not None and frame.startswith(b'{"jsonrpc":"2.0","id":' + about + b',"result":'):
        return about  # most frames; a parse costs a millisecond per megabyte
    try:
        message = wire.parse(frame)
    except wire.MalformedMessage:
        return None
    if wire.kind_of(message) is not wire.MessageKind.RESPONSE:
        return None
    return bytes(message["id"])
