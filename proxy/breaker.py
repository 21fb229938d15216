"""A circuit breaker as a value: calls to an upstream that times out again and again are refused early.

A tool's own error never counts: it proves that the upstream answers. Pure; time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FAILURES_TO_OPEN = 5
FIRST_OPEN_SECONDS = 5.0
LAST_OPEN_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """Closed while ``open_until`` is ``None``; then open until that time, then one probe decides.

    Defaults: Envoy's consecutive-failure detector (5), Hystrix's sleep window (5 s), Envoy's cap (300 s).
    """

    failures: int = 0
    open_until: float | None = None
    open_seconds: float = FIRST_OPEN_SECONDS

    @property
    def closed(self) -> bool:
        """Calls pass."""
        return self.open_until is None

    def wants_probe(self, now: float) -> bool:
        """The open time is over: one question of our own may decide whether calls pass again."""
        return self.open_until is not None and now >= self.open_until

    def succeeded(self) -> Breaker:
        """The upstream answered something."""
        return self if self.failures == 0 and self.closed else Breaker()

    def failed(self, now: float) -> Breaker:
        """A call, or the probe, ended without an answer."""
        if self.open_until is not None:
            longer = min(LAST_OPEN_SECONDS, self.open_seconds * 2)
            return replace(self, open_until=now + longer, open_seconds=longer)
        failures = self.failures + 1
        if failures < FAILURES_TO_OPEN:
            return replace(self, failures=failures)
        return Breaker(failures, now + FIRST_OPEN_SECONDS, FIRST_OPEN_SECONDS)
