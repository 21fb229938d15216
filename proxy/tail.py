"""The last lines of something that never ends, bounded in characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator


class Tail:
    """Newest lines; the oldest are dropped. One line is always kept, however long."""

    def __init__(self, limit: int) -> None:
        """``limit``: characters of all lines together."""
        self._limit = limit
        self._held = 0
        self._lines: deque[str] = deque()

    def append(self, line: str) -> None:
        """Add the newest line."""
        self._lines.append(line)
        self._held += len(line)
        while self._held > self._limit and len(self._lines) > 1:
            self._held -= len(self._lines.popleft())

    @property
    def last(self) -> str:
        """The newest line, empty if there is none."""
        return self._lines[-1] if self._lines else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
