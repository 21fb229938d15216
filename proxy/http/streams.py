"""Event streams of one HTTP session, which can be read on after a break. No I/O.

A stream outlives the connection that reads it: a client that lost its connection comes back with the id
of the last event that it saw.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

KEPT_BYTES = 4 * 1024 * 1024
"""Events of one session that are kept to be read again."""
UNREAD_BYTES = 64 * 1024 * 1024
"""Events that may wait for a client that is connected and does not read."""
WAITING_MESSAGES = 256
"""Messages that wait while no client reads the stream of unasked messages; older ones are dropped."""
FINISHED_STREAMS = 64
_EVENT_COST = 200
"""Bytes that an event takes besides its text, roughly."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One message on a stream."""

    number: int
    """Counts from 1 within the stream."""
    frame: bytes


@dataclass(slots=True, eq=False)
class Reader:
    """A connection that reads a stream."""

    wake: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False
    """Its connection has ended, or another one has taken its place."""
    cut_off: Callable[[], object] | None = None
    """Ends the connection even while it waits for a client that does not read."""


class Stream:
    """Messages in order, each with a number."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.events: deque[StreamEvent] = deque()
        self.sent = 0
        """Number of the last event that a reader was given."""
        self.finished = False
        """Nothing will be added any more."""
        self.reader: Reader | None = None
        self.read = False
        """It has had a reader."""
        self._last = 0

    def add(self, frame: bytes) -> None:
        """Append a message."""
        self._last += 1
        self.events.append(StreamEvent(self._last, frame))
        self.wake()

    def finish(self) -> None:
        """Nothing comes after this."""
        self.finished = True
        self.wake()

    def wake(self) -> None:
        """Tell the reader that something changed."""
        if self.reader is not None:
            self.reader.wake.set()

    def attach(self) -> Reader:
        """A new connection reads; an older one has to stop."""
        if self.reader is not None:
            self.reader.gone = True
            self.reader.wake.set()
        self.reader = Reader()
        self.read = True
        return self.reader

    def detach(self, reader: Reader) -> None:
        """A connection has ended."""
        reader.gone = True
        if self.reader is reader:
            self.reader = None

    def next(self) -> StreamEvent | None:
        """The first event that has not been sent, which counts as sent from now on."""
        if self.sent >= self._last or not self.events:
            return None
        position = max(0, self.sent + 1 - self.events[0].number)
        event = self.events[position]
        self.sent = event.number
        return event

    def rewind(self, number: int) -> bool:
        """Go on after event ``number``; false when that is not possible any more."""
        oldest = self.events[0].number if self.events else self._last + 1
        if not oldest - 1 <= number <= self._last:
            return False
        self.sent = number
        return True

    @property
    def unsent(self) -> int:
        """Events that no reader was given yet."""
        return self._last - self.sent


class Streams:
    """All streams of a session and the memory that they take together."""

    def __init__(self) -> None:
        self.unasked = Stream(0)
        """What no request of the client is the reason for."""
        self._by_number: dict[int, Stream] = {0: self.unasked}
        self._next = 0
        self._bytes = 0

    def open(self) -> Stream:
        """A new stream for the answer of one request."""
        self._next += 1
        stream = Stream(self._next)
        self._by_number[stream.number] = stream
        return stream

    def add(self, stream: Stream, frame: bytes) -> bool:
        """Append a message; false when too much waits for a client that does not read."""
        stream.add(frame)
        self._bytes += len(frame) + _EVENT_COST
        if stream is self.unasked and stream.reader is None:
            while stream.unsent > WAITING_MESSAGES and len(stream.events) > WAITING_MESSAGES:
                self._drop_first(stream)
        if self._bytes > KEPT_BYTES:
            self._trim()
        return self._bytes <= UNREAD_BYTES

    def find(self, event_id: str) -> Stream | None:
        """The stream that ``event_id`` is from, ready to go on after it."""
        number, _, event = event_id.partition("-")
        if not (number.isdecimal() and event.isdecimal() and len(event_id) < 40):
            return None
        stream = self._by_number.get(int(number))
        if stream is None or not stream.rewind(int(event)):
            return None
        return stream

    def forget(self, stream: Stream) -> None:
        """It cannot be read again."""
        self._by_number.pop(stream.number, None)
        while stream.events:
            self._drop_first(stream)

    def all(self) -> tuple[Stream, ...]:
        """Every stream that can still be read."""
        return tuple(self._by_number.values())

    @property
    def being_read(self) -> bool:
        """A client is connected to one of them."""
        return any(stream.reader is not None for stream in self._by_number.values())

    def tidy(self) -> None:
        """Forget the oldest finished streams when there are many."""
        finished = [s for s in self._by_number.values() if s.finished and s.reader is None]
        for stream in finished[: max(0, len(finished) - FINISHED_STREAMS)]:
            self.forget(stream)

    def _trim(self) -> None:
        """Drop the oldest events that have been sent or that nobody reads, but no stream's last."""
        for stream in list(self._by_number.values()):
            while (
                self._bytes > KEPT_BYTES
                and len(stream.events) > 1
                and (stream.reader is None or stream.events[0].number <= stream.sent)
            ):
                self._drop_first(stream)
        for stream in list(self._by_number.values()):
            if self._bytes <= KEPT_BYTES:
                return
            if stream.finished and stream.reader is None:
                self.forget(stream)

    def _drop_first(self, stream: Stream) -> None:
        event = stream.events.popleft()
        self._bytes -= len(event.frame) + _EVENT_COST
        stream.sent = max(stream.sent, event.number)


def event_id(stream: Stream, number: int) -> str:
    """The id under which a client sees an event; number 0 is the stream's start."""
    return f"{stream.number}-{number}"
