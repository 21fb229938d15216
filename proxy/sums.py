"""Sums over calls, kept in memory: per local day for ever, per minute for the last day.

The writer adds to them, any thread reads them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

from proxy.model import CallRecord, Minute, Outcome, Totals

FAILURES = frozenset({Outcome.ERROR, Outcome.TIMEOUT, Outcome.UPSTREAM_LOST})
"""What counts as an error in sums: faults on the way, not a tool's own error."""

KEPT_MINUTES = 24 * 60


def local_day(at: float) -> str:
    """The local date of a moment, as ``YYYY-MM-DD``."""
    return time.strftime("%Y-%m-%d", time.localtime(at))


def minute_start(at: float) -> int:
    """The moment's minute: seconds since the epoch, a multiple of 60."""
    return int(at // 60) * 60


def add(one: Totals, other: Totals) -> Totals:
    """Both together."""
    return Totals(
        one.calls + other.calls,
        one.errors + other.errors,
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
        one.bytes_out + other.bytes_out,
    )


def totals_of(record: CallRecord) -> Totals:
    """One call as totals."""
    return totals_by_minute((record,))[minute_start(record.started_at)]


def totals_by_minute(records: Iterable[CallRecord]) -> dict[int, Totals]:
    """Totals of each minute in which one of the calls began."""
    minutes: dict[int, list[int]] = {}
    for record in records:
        text, structured = record.text, record.structured
        sums = minutes.setdefault(minute_start(record.started_at), [0, 0, 0, 0, 0])
        sums[0] += 1
        sums[1] += record.outcome in FAILURES
        sums[2] += record.arguments.tokens
        sums[3] += text.tokens + structured.tokens
        sums[4] += text.bytes + structured.bytes + record.other_bytes
    return {minute: Totals(*sums) for minute, sums in minutes.items()}


def totals_by_day(minutes: Mapping[int, Totals]) -> dict[str, Totals]:
    """Totals of each local day (days begin on a minute, wherever one is)."""
    days: dict[str, Totals] = {}
    for minute, totals in minutes.items():
        day = local_day(minute)
        days[day] = add(days.get(day, Totals()), totals)
    return days


class CallSums:
    """Totals per day and sums per minute of all calls seen. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._days: dict[str, Totals] = {}
        self._all_time = Totals()
        self._minutes: dict[int, Totals] = {}

    def restore_days(self, days: Mapping[str, Totals]) -> None:
        """Replace the totals per day; the minutes stay."""
        with self._lock:
            self._set_days(days)

    def restore(self, days: Mapping[str, Totals], minutes: Mapping[int, Totals]) -> None:
        """Replace everything by what a store holds."""
        with self._lock:
            self._set_days(days)
            self._minutes = dict(minutes)

    def include(self, records: Iterable[CallRecord]) -> None:
        """Add finished calls."""
        minutes = totals_by_minute(records)
        days = totals_by_day(minutes)
        with self._lock:
            for minute, totals in minutes.items():
                self._minutes[minute] = add(self._minutes.get(minute, Totals()), totals)
            for day, totals in days.items():
                self._days[day] = add(self._days.get(day, Totals()), totals)
                self._all_time = add(self._all_time, totals)
            while len(self._minutes) > KEPT_MINUTES:
                del self._minutes[min(self._minutes)]

    def days(self) -> dict[str, Totals]:
        """Totals by local day."""
        with self._lock:
            return dict(self._days)

    def today(self, now: float) -> Totals:
        """Totals since the local midnight before ``now``."""
        with self._lock:
            return self._days.get(local_day(now), Totals())

    def all_time(self) -> Totals:
        """Totals of everything."""
        with self._lock:
            return self._all_time

    def minutes(self, count: int, now: float) -> tuple[Minute, ...]:
        """The last ``count`` minutes up to the one of ``now``, oldest first, without gaps."""
        last = minute_start(now)
        with self._lock:
            return tuple(
                minute_of(start, self._minutes.get(start, Totals()))
                for start in range(last - 60 * (count - 1), last + 60, 60)
            )

    def _set_days(self, days: Mapping[str, Totals]) -> None:
        self._days = dict(days)
        self._all_time = Totals()
        for totals in days.values():
            self._all_time = add(self._all_time, totals)


def minute_of(start: int, totals: Totals) -> Minute:
    """One minute's sums as a screen takes them."""
    return Minute(float(start), totals.calls, totals.errors, totals.tokens_in, totals.tokens_out)
