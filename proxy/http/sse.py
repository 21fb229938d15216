"""Server-sent events: bytes to events and back, in linear time and with a limit. No I/O.

Source: WHATWG HTML, "Server-sent events", as far as MCP uses it.
"""

from __future__ import annotations

from dataclasses import dataclass

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: readers skip it, but it shows both ends that the connection lives."""
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. An event without data still tells its id and how long to wait."""

    data: bytes
    name: bytes = b"message"
    id: str = ""
    """Empty: the event has none."""
    retry_ms: int | None = None
    """How long the sender wants a reader to wait before it connects again."""


class EventTooLong(Exception):
    """An event passed the limit before it ended; the stream is of no use any more."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"an event is longer than {limit:,} bytes")
        self.limit = limit


class EventParser:
    """Collects chunks until events are complete. Any split of the same bytes gives the same events."""

    def __init__(self, limit: int) -> None:
        """``limit``: the longest event in bytes."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        """Bytes of the unfinished line and of the event's data so far."""
        self._after_return = False
        self._first_line = True
        self._reset()

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that ``chunk`` completes. Raises `EventTooLong`."""
        if self._after_return and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return []
        self._after_return = chunk[-1:] == b"\r"
        events: list[Event] = []
        for piece in chunk.splitlines(keepends=True):
            self._held += len(piece)
            if self._held > self._limit:
                raise EventTooLong(self._limit)
            self._parts.append(piece)
            if piece[-1:] in (b"\n", b"\r"):
                line = b"".join(self._parts).rstrip(b"\r\n")
                self._parts.clear()
                self._line(line, events)
        return events

    def _line(self, line: bytes, events: list[Event]) -> None:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            if self._seen:
                events.append(Event(b"\n".join(self._data), self._name, self._id, self._retry))
            self._held = 0
            self._reset()
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value or b"message"
        elif field == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit() and len(value) < 10:
            self._retry = int(value)
        else:
            return  # a comment or an unknown field
        self._seen = True

    def _reset(self) -> None:
        self._data: list[bytes] = []
        self._name = b"message"
        self._id = ""
        self._retry: int | None = None
        self._seen = False


def encode_event(data: bytes, id: str = "", retry_ms: int | None = None) -> bytes:
    """One event. ``data`` must be free of line ends, which `one_line` sees to."""
    head = f"id: {id}\n" if id else ""
    if retry_ms is not None:
        head += f"retry: {retry_ms}\n"
    return head.encode() + b"data: " + data + b"\n\n"


def one_line(text: bytes) -> bytes:
    """A JSON text without line ends.

    In JSON they can only stand between values, so spaces mean the same; left in, they would cut a
    frame in two where frames are lines.
    """
    if b"\n" in text:
        text = text.replace(b"\n", b" ")
    if b"\r" in text:
        text = text.replace(b"\r", b" ")
    return text.strip()
