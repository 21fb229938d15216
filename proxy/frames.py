"""Newline-delimited frames out of a byte stream, in linear time and with a limit. No I/O."""

from __future__ import annotations


class FrameTooLong(Exception):
    """A line passed the limit before it ended.

    Reading on would cost memory without bound, so the connection has to end.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"a line is longer than {limit:,} bytes")
        self.limit = limit


class FrameSplitter:
    """Collects chunks until a line is complete.

    Chunks are joined once per line: a 50 MB line in 64 KiB chunks is copied once, not once per chunk.
    Any split of the same bytes gives the same lines.
    """

    __slots__ = ("_held", "_limit", "_parts")

    def __init__(self, limit: int) -> None:
        """``limit``: the longest line in bytes, without its end."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0

    @property
    def held(self) -> int:
        """Bytes of the line that has not ended yet."""
        return self._held

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that ``data`` completes, without line ends and without blank lines.

        Raises `FrameTooLong` when a line passes the limit; the splitter is of no use after that.
        """
        if b"\n" not in data:
            self._hold(data)
            return []
        pieces = data.split(b"\n")
        if self._parts:
            self._hold(pieces[0])
            pieces[0] = b"".join(self._parts)
            self._parts.clear()
            self._held = 0
        rest = pieces.pop()
        lines: list[bytes] = []
        for piece in pieces:
            if len(piece) > self._limit:
                raise FrameTooLong(self._limit)
            line = piece.strip()
            if line:
                lines.append(line)
        if rest:
            self._hold(rest)
        return lines

    def _hold(self, data: bytes) -> None:
        self._held += len(data)
        if self._held > self._limit:
            raise FrameTooLong(self._limit)
        self._parts.append(data)
