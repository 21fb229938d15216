"""Newline-delimited frames out of a byte stream, in linear time and with a limit. No I/O."""

from __future__ import annotations

_ROOM = 64 * 1024
"""Bytes of the buffer that a stream begins with."""
_FAST_UP_TO = 1024 * 1024
"""Up to this size the buffer grows fourfold, then twofold."""
_MOST_KEPT = 4 * 1024 * 1024
"""A larger buffer is given up as soon as its line has ended."""
_SMALL_LINES = 32
"""After so many reads that did not need it, a large buffer is given up, too."""


class FrameTooLong(Exception):
    """A line passed the limit before it ended.

    Reading on would cost memory without bound, so the connection has to end.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"a line is longer than {limit:,} bytes")
        self.limit = limit


class FrameSplitter:
    """Collects bytes until a line is complete.

    The bytes are read straight into a buffer that is kept, and copied once, when their line is complete.
    Any split of the same bytes gives the same lines.
    """

    __slots__ = ("_buffer", "_held", "_idle", "_limit")

    def __init__(self, limit: int) -> None:
        """``limit``: the longest line in bytes, without its end."""
        self._limit = limit
        self._buffer = bytearray(_ROOM)
        self._held = 0
        self._idle = 0

    @property
    def held(self) -> int:
        """Bytes of the line that has not ended yet."""
        return self._held

    def room(self) -> memoryview:
        """Where to read the next bytes to; tell `filled` how many there are before asking again."""
        held = self._held
        size = len(self._buffer)
        if size - held < _ROOM // 2:
            # A new one: whoever reads may still have a view of the old one, which then cannot grow.
            larger = bytearray(4 * size if size < _FAST_UP_TO else 2 * size)
            larger[:held] = memoryview(self._buffer)[:held]
            self._buffer = larger
        view = memoryview(self._buffer)
        return view[held:] if held else view

    def filled(self, size: int) -> list[bytes]:
        """Return the lines that the next ``size`` bytes of `room` complete.

        They come without line ends and without blank lines. Raises `FrameTooLong` when a line passes
        the limit; the splitter is of no use after that.
        """
        buffer = self._buffer
        total = self._held + size
        end = buffer.find(b"\n", self._held, total)
        if end < 0:
            self._hold(total)
            return []
        lines: list[bytes] = []
        start = 0
        with memoryview(buffer) as view:
            while end >= 0:
                if end - start > self._limit:
                    raise FrameTooLong(self._limit)
                line = bytes(view[start:end]).strip()
                if line:
                    lines.append(line)
                start = end + 1
                end = buffer.find(b"\n", start, total)
        rest = total - start
        if rest:
            buffer[:rest] = buffer[start:total]
        self._hold(rest)
        if len(buffer) > _ROOM:
            self._give_up(total)
        return lines

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes, for whoever has read it elsewhere."""
        lines: list[bytes] = []
        rest = memoryview(data)
        while rest:
            room = self.room()
            piece = rest[: len(room)]
            room[: len(piece)] = piece
            rest = rest[len(piece) :]
            lines += self.filled(len(piece))
        return lines

    def _hold(self, size: int) -> None:
        if size > self._limit:
            raise FrameTooLong(self._limit)
        self._held = size

    def _give_up(self, used: int) -> None:
        """Go back to a small buffer when a large one is too large, or was not needed for a while."""
        self._idle = self._idle + 1 if used <= _ROOM // 2 else 0
        if self._held <= _ROOM // 2 and (
            len(self._buffer) > _MOST_KEPT or self._idle >= _SMALL_LINES
        ):
            smaller = bytearray(_ROOM)
            smaller[: self._held] = memoryview(self._buffer)[: self._held]
            self._buffer = smaller
            self._idle = 0
