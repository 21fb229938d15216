"""How long to wait before an upstream is tried again. Pure: chance and time are passed in."""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST_SECONDS = 0.5
LAST_SECONDS = 60.0
STEADY_SECONDS = 60.0
"""An upstream that stayed up this long starts again from the first delay."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures in a row. Delays double from `FIRST_SECONDS` to `LAST_SECONDS`, with full jitter.

    Source: Amazon Builders' Library, "Timeouts, retries and backoff with jitter"; a tenth of the delay
    is kept as a floor so that a crash loop never turns tight.
    """

    failures: int = 0

    def after_failure(self, up_seconds: float) -> Backoff:
        """One more failure, after ``up_seconds`` of service."""
        before = 0 if up_seconds >= STEADY_SECONDS else self.failures
        return replace(self, failures=before + 1)

    def delay(self, chance: float) -> float:
        """Seconds to wait now. ``chance``: uniform in [0, 1)."""
        if self.failures == 0:
            return 0.0
        most = min(LAST_SECONDS, FIRST_SECONDS * 2.0 ** min(self.failures - 1, 16))
        return most * (0.1 + 0.9 * chance)
