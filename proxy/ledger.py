"""What mms saved and what it cost: from one call's figures to sums per local day, upstream and tool.

The rules: a call that did not end well saves 0, so does one whose answer went out as it came. What
the host itself would have cut off counts neither as received nor as sent. What agents fetch back, and
what our own tools cost in tool lists, is taken off. Pure, but for the lock of `Ledger`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta

from proxy.answer_model import Savings, SavingsLine
from proxy.model import CallRecord, Outcome
from proxy.sums import local_day, minute_start

OURS = "mms"
"""The upstream under which our own tools' calls and costs stand."""
OUR_TOOLS = "stm_"
"""How the names of our own tools begin; together with `OURS` they are no upstream's."""

Key = tuple[str, str, str]
"""Local day, upstream, tool."""
Figures = tuple[int, int, int, int, int, int, int, int]
"""The fields of `Savings` in order. Python's garbage collector passes over such tuples."""

_NOTHING: Figures = (0, 0, 0, 0, 0, 0, 0, 0)
_ANSWERED = frozenset({Outcome.OK, Outcome.TOOL_ERROR})


def entries_of(
    records: Iterable[CallRecord], host_cut_tokens: Iterable[int]
) -> Iterator[tuple[Key, Savings]]:
    """Where and how calls count, each with where its host cuts; without those that do not count."""
    days: dict[int, str] = {}
    for record, cut in zip(records, host_cut_tokens, strict=True):
        minute = minute_start(record.started_at)
        if minute not in days:
            days[minute] = local_day(minute)
        entry = entry_of(record, cut, days[minute])
        if entry is not None:
            yield entry


def entry_of(
    record: CallRecord, host_cut_tokens: int = 0, day: str = ""
) -> tuple[Key, Savings] | None:
    """Where and how one call counts; ``None`` when it does not (it got no answer).

    ``host_cut_tokens``: where the host cuts answers itself; 0: it does not. ``day``: the local day of
    its beginning, when that is known already.
    """
    day = day or local_day(record.started_at)
    sent = _capped(record.text.tokens + record.structured.tokens, host_cut_tokens)
    if record.fetched_upstream:
        return (day, record.fetched_upstream, record.fetched_tool), Savings(fetched=sent)
    if is_ours(record):
        return (day, OURS, record.tool), Savings(control_tools=sent)
    if record.outcome not in _ANSWERED:
        return None
    reduced = record.before.tokens > 0 and record.outcome is Outcome.OK
    return (day, record.upstream, record.tool), Savings(
        calls=1,
        reduced=int(reduced),
        before=_capped(record.before.tokens, host_cut_tokens)
        if reduced
        else max(0, sent - record.surfaced_tokens),
        sent=sent,
        notices=min(record.overhead_tokens, sent),
        cache_hits=int(bool(record.cache)),
    )


def tool_list_entry(at: float, tokens: int) -> tuple[Key, Savings]:
    """What our own tools cost in one tool list that a host was given."""
    return (local_day(at), OURS, ""), Savings(control_tools=tokens)


def is_ours(record: CallRecord) -> bool:
    """The call was of one of our own tools."""
    return record.upstream == OURS and record.tool.startswith(OUR_TOOLS)


def figures_of(savings: Savings) -> Figures:
    """The sums as a row."""
    return (
        savings.calls,
        savings.reduced,
        savings.before,
        savings.sent,
        savings.fetched,
        savings.notices,
        savings.control_tools,
        savings.cache_hits,
    )


def summed(entries: Iterable[tuple[Key, Savings]]) -> dict[Key, Figures]:
    """Entries with the same key together."""
    sums: dict[Key, Figures] = {}
    for key, savings in entries:
        sums[key] = plus(sums.get(key, _NOTHING), figures_of(savings))
    return sums


def merge(into: dict[Key, Figures], more: Mapping[Key, Figures]) -> None:
    """Add ``more`` to the sums of ``into``."""
    for key, figures in more.items():
        into[key] = plus(into.get(key, _NOTHING), figures)


def plus(one: Figures, other: Figures) -> Figures:
    """Both together, field by field."""
    return (
        one[0] + other[0],
        one[1] + other[1],
        one[2] + other[2],
        one[3] + other[3],
        one[4] + other[4],
        one[5] + other[5],
        one[6] + other[6],
        one[7] + other[7],
    )


def first_day(days: int, now: float) -> str:
    """The local date with which the last ``days`` days begin, today included; 0: before all days."""
    if days <= 0:
        return ""
    today = date.fromisoformat(local_day(now))
    return (today - timedelta(days=min(days - 1, today.toordinal() - 1))).isoformat()


def lines_of(sums: Mapping[Key, Figures], since: str) -> tuple[SavingsLine, ...]:
    """The lines of ``since`` and later, by day, upstream, tool.

    Days after today are in: a clock that was ahead loses nothing.
    """
    return tuple(
        SavingsLine(day, upstream, tool, Savings(*figures))
        for (day, upstream, tool), figures in sorted(sums.items())
        if day >= since
    )


class Ledger:
    """Sums of all days, in memory. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[Key, Figures] = {}

    def restore(self, sums: Mapping[Key, Figures]) -> None:
        """Replace everything by what a store holds."""
        with self._lock:
            self._sums = dict(sums)

    def include(self, sums: Mapping[Key, Figures]) -> None:
        """Add sums of finished calls."""
        with self._lock:
            merge(self._sums, sums)

    def sums(self) -> dict[Key, Figures]:
        """All of them."""
        with self._lock:
            return dict(self._sums)

    def lines(self, days: int, now: float) -> tuple[SavingsLine, ...]:
        """Of the last ``days`` local days, today included; 0: of all time."""
        return lines_of(self.sums(), first_day(days, now))


def _capped(tokens: int, cap: int) -> int:
    return min(tokens, cap) if cap > 0 else tokens
