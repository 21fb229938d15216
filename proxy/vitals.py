"""What is counted about one upstream: calls, latency, restarts, and what it prints."""

from __future__ import annotations

import statistics
from collections import deque

from proxy.tail import Tail
from proxy.tool_sums import nearest_rank

STDERR_CHARACTERS = 64 * 1024
LATENCY_SAMPLES = 500


class Vitals:
    """Counts since the station started."""

    def __init__(self) -> None:
        self.calls = 0
        self.errors = 0
        """Of the calls, those that got no answer or a JSON-RPC error."""
        self.restarts = 0
        self.noise_lines = 0
        """Lines of its output that were no messages."""
        self.stderr = Tail(STDERR_CHARACTERS)
        self.last_words = ""
        """The latest line of the error output of this start, not of an earlier one."""
        self._durations: deque[float] = deque(maxlen=LATENCY_SAMPLES)

    def count(self, duration_ms: float, *, failed: bool) -> None:
        """A call has ended."""
        self.calls += 1
        self.errors += failed
        self._durations.append(duration_ms)

    def print_line(self, line: str) -> None:
        """It wrote a line to its error output."""
        self.stderr.append(line)
        self.last_words = line

    @property
    def p50_ms(self) -> float | None:
        """Median over the latest calls; ``None`` before the first one."""
        return statistics.median(self._durations) if self._durations else None

    @property
    def p95_ms(self) -> float | None:
        """95th percentile (nearest rank) over the latest calls."""
        ordered = sorted(self._durations)
        return nearest_rank(ordered, 95) if ordered else None
