"""Finished calls in SQLite: rows, queries, totals per day, retention.

Only the recorder writes (one connection). Anyone may read, also while a station runs and after one
was killed: `read_calls`, `read_call`, `read_totals`, `read_history`.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proxy.model import CallQuery, CallRecord, Outcome, Sizes, Totals
from proxy.store.call_schema import MIGRATIONS
from proxy.store.database import open_for_reading
from proxy.store.savings import NO_LEDGER, StoredLedger, select_ledger
from proxy.sums import add, local_day, minute_start

COLUMNS = (
    "id, started_at, duration_ms, host, session, upstream, tool, outcome, error, "
    "arguments_bytes, arguments_characters, arguments_tokens, "
    "text_bytes, text_characters, text_tokens, "
    "structured_bytes, structured_characters, structured_tokens, other_bytes, "
    "strategy, before_bytes, before_characters, before_tokens, overhead_tokens, held_key, "
    "fetched_upstream, fetched_tool, cache, cache_age_seconds, fault, surfacing_id, surfaced_tokens"
)

RETENTION_SLICE = 500
"""Rows deleted in one transaction."""

NOT_WELL = frozenset(Outcome) - {Outcome.OK, Outcome.CANCELLED}
"""What ``errors_only`` asks for: a tool's own errors too, but nothing that a person cancelled."""

_LARGEST = 2**63 - 1
_LONGEST_PATTERN = 1000
"""Characters of a pattern or a text to search for; the rest is ignored."""

_FOLD = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

_Three = tuple[int, int, int]
Row = tuple[
    *tuple[int, float, float, str, int, str, str, str, str],
    *tuple[*_Three, *_Three, *_Three, int],
    *tuple[str, *_Three, int, str, str, str, str, float, str, str, int],
]
"""One call in the order of `COLUMNS`."""


@dataclass(frozen=True, slots=True)
class StoredTotals:
    """Sums over everything ever recorded."""

    today: Totals
    """Since local midnight."""
    all_time: Totals


@dataclass(frozen=True, slots=True)
class History:
    """What a recorder needs to go on where the last one ended."""

    last_call_id: int
    days: Mapping[str, Totals]
    minutes: Mapping[int, Totals]
    """Sums by the minute's start, of the time asked for."""
    ledger: StoredLedger


NO_HISTORY = History(0, {}, {}, NO_LEDGER)


def read_calls(database: Path, query: CallQuery) -> tuple[CallRecord, ...]:
    """Finished calls, newest first; none when nothing was ever recorded.

    Raises `StoreUnavailable`.
    """
    with open_for_reading(database, MIGRATIONS) as connection:
        return () if connection is None else select_calls(connection, query)


def read_call(database: Path, call_id: int) -> CallRecord | None:
    """One call. Raises `StoreUnavailable`."""
    with open_for_reading(database, MIGRATIONS) as connection:
        if connection is None or not 0 <= call_id <= _LARGEST:
            return None
        query = f"SELECT {COLUMNS} FROM calls WHERE id = ?"
        row = connection.execute(query, (call_id,)).fetchone()
    return None if row is None else record_of(row)


def read_totals(database: Path, *, now: float) -> StoredTotals:
    """Totals of the local day of ``now`` and of all time. Raises `StoreUnavailable`."""
    with open_for_reading(database, MIGRATIONS) as connection:
        days = {} if connection is None else select_days(connection)
    all_time = Totals()
    for totals in days.values():
        all_time = add(all_time, totals)
    return StoredTotals(days.get(local_day(now), Totals()), all_time)


def read_history(database: Path, *, since: float) -> History:
    """Last id, totals per day, and sums per minute from ``since`` on. Raises `StoreUnavailable`."""
    with open_for_reading(database, MIGRATIONS) as connection:
        if connection is None:
            return NO_HISTORY
        return History(
            last_call_id(connection),
            select_days(connection),
            select_minutes(connection, since),
            select_ledger(connection),
        )


def select_calls(connection: sqlite3.Connection, query: CallQuery) -> tuple[CallRecord, ...]:
    """Finished calls, newest first."""
    where, values = _conditions(query)
    limit = max(1, min(query.limit, 10_000))
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM calls WHERE {where} ORDER BY id DESC LIMIT ?", (*values, limit)
    )
    return tuple(record_of(row) for row in rows)


def select_days(connection: sqlite3.Connection) -> dict[str, Totals]:
    """Totals by local day."""
    rows = connection.execute(
        "SELECT day, calls, errors, tokens_in, tokens_out, bytes_out FROM days"
    )
    return {day: Totals(*numbers) for day, *numbers in rows}


def select_minutes(connection: sqlite3.Connection, since: float) -> dict[int, Totals]:
    """Sums by the start of each minute, of calls that began at ``since`` or later."""
    rows = connection.execute(
        "SELECT CAST(started_at / 60 AS INTEGER) * 60 AS minute, count(*), "
        "sum(outcome IN ('error', 'timeout', 'upstream_lost')), sum(arguments_tokens), "
        "sum(text_tokens + structured_tokens), sum(text_bytes + structured_bytes + other_bytes) "
        "FROM calls WHERE started_at >= ? GROUP BY minute",
        (float(minute_start(since)),),
    )
    return {minute: Totals(*numbers) for minute, *numbers in rows}


def last_call_id(connection: sqlite3.Connection) -> int:
    """The highest id ever recorded, 0 before the first call."""
    (last,) = connection.execute(
        "SELECT max((SELECT value FROM facts WHERE name = 'last_call_id'), "
        "(SELECT coalesce(max(id), 0) FROM calls))"
    ).fetchone()
    return int(last)


def count_calls(connection: sqlite3.Connection) -> int:
    """How many calls are kept."""
    (count,) = connection.execute("SELECT count(*) FROM calls").fetchone()
    return int(count)


def insert_calls(connection: sqlite3.Connection, records: Iterable[CallRecord]) -> int:
    """Add calls, inside the caller's transaction; returns how many.

    An id that is already there keeps its call, and the new one is not added.
    """
    rows = [row_of(record) for record in records]
    marks = ", ".join("?" * (COLUMNS.count(",") + 1))
    added = connection.executemany(
        f"INSERT OR IGNORE INTO calls ({COLUMNS}) VALUES ({marks})", rows
    ).rowcount
    if rows:
        connection.execute(
            "UPDATE facts SET value = max(value, ?) WHERE name = 'last_call_id'",
            (max(row[0] for row in rows),),
        )
    return max(0, added)


def add_to_days(connection: sqlite3.Connection, days: Mapping[str, Totals]) -> None:
    """Add totals to those of their days, inside the caller's transaction."""
    connection.executemany(
        "INSERT INTO days (day, calls, errors, tokens_in, tokens_out, bytes_out) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (day) DO UPDATE SET "
        "calls = calls + excluded.calls, errors = errors + excluded.errors, "
        "tokens_in = tokens_in + excluded.tokens_in, "
        "tokens_out = tokens_out + excluded.tokens_out, "
        "bytes_out = bytes_out + excluded.bytes_out",
        [
            (day, t.calls, t.errors, t.tokens_in, t.tokens_out, t.bytes_out)
            for day, t in days.items()
        ],
    )


def delete_old(connection: sqlite3.Connection, *, before: float, surplus: int) -> int:
    """Delete one slice of calls that began before ``before``, or of the ``surplus`` oldest ones.

    Runs inside the caller's transaction; returns how many went, 0 when nothing is left to delete.
    """
    deleted = connection.execute(
        "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE started_at < ? "
        "ORDER BY started_at LIMIT ?)",
        (before, RETENTION_SLICE),
    ).rowcount
    if deleted or surplus <= 0:
        return deleted
    return connection.execute(
        "DELETE FROM calls WHERE id IN (SELECT id FROM calls ORDER BY id LIMIT ?)",
        (min(surplus, RETENTION_SLICE),),
    ).rowcount


def row_of(record: CallRecord) -> Row:
    """A call as a row: text that SQLite takes, numbers within 64 bits."""
    return (
        record.id,
        _finite(record.started_at),
        _finite(record.duration_ms),
        clean(record.host),
        record.session,
        clean(record.upstream),
        clean(record.tool),
        record.outcome.value,
        clean(record.error),
        *_numbers(record.arguments),
        *_numbers(record.text),
        *_numbers(record.structured),
        min(record.other_bytes, _LARGEST),
        clean(record.strategy),
        *_numbers(record.before),
        record.overhead_tokens,
        clean(record.held_key),
        clean(record.fetched_upstream),
        clean(record.fetched_tool),
        clean(record.cache),
        _finite(record.cache_age_seconds),
        clean(record.fault),
        clean(record.surfacing_id),
        record.surfaced_tokens,
    )


def record_of(row: Row) -> CallRecord:
    """A row as a call."""
    return CallRecord(
        id=row[0],
        started_at=row[1],
        duration_ms=row[2],
        host=row[3],
        session=row[4],
        upstream=row[5],
        tool=row[6],
        outcome=Outcome(row[7]),
        error=row[8],
        arguments=Sizes(row[9], row[10], row[11]),
        text=Sizes(row[12], row[13], row[14]),
        structured=Sizes(row[15], row[16], row[17]),
        other_bytes=row[18],
        strategy=row[19],
        before=Sizes(row[20], row[21], row[22]),
        overhead_tokens=row[23],
        held_key=row[24],
        fetched_upstream=row[25],
        fetched_tool=row[26],
        cache=row[27],
        cache_age_seconds=row[28],
        fault=row[29],
        surfacing_id=row[30],
        surfaced_tokens=row[31],
    )


def clean(text: str) -> str:
    """``text`` without what SQLite refuses or cuts at: lone surrogates and NUL become U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _finite(number: float) -> float:
    return number if math.isfinite(number) else 0.0


def _numbers(sizes: Sizes) -> tuple[int, int, int]:
    return sizes.bytes, sizes.characters, sizes.tokens


def matches(record: CallRecord, query: CallQuery) -> bool:
    """Whether a call that is not in the database yet answers the query (its limit aside)."""
    needle = _folded(query.text[:_LONGEST_PATTERN])
    texts = (record.upstream, record.tool, record.host, record.error)
    return (
        (query.before_id is None or record.id < query.before_id)
        and query.upstream in ("", record.upstream)
        and query.host in ("", record.host)
        and (not query.tool or _matches_pattern(query.tool[:_LONGEST_PATTERN], record.tool))
        and not (query.errors_only and record.outcome not in NOT_WELL)
        and not 0 < query.slower_than_ms >= record.duration_ms
        and (not needle or any(needle in _folded(text) for text in texts))
    )


def _conditions(query: CallQuery) -> tuple[str, tuple[str | int | float, ...]]:
    """The query as SQL; `matches` says the same in Python."""
    terms: list[tuple[str, tuple[str | int | float, ...]]] = []
    if query.before_id is not None:
        terms.append(("id < ?", (max(0, min(query.before_id, _LARGEST)),)))
    if query.upstream:
        terms.append(("upstream = ?", (clean(query.upstream),)))
    if query.host:
        terms.append(("host = ?", (clean(query.host),)))
    if "*" in query.tool:
        terms.append(("tool GLOB ?", (_glob(clean(query.tool[:_LONGEST_PATTERN])),)))
    elif query.tool:
        terms.append(("tool = ?", (clean(query.tool),)))
    if query.errors_only:
        names = ", ".join(f"'{outcome.value}'" for outcome in Outcome if outcome in NOT_WELL)
        terms.append((f"outcome IN ({names})", ()))
    if query.slower_than_ms > 0:
        terms.append(("duration_ms > ?", (query.slower_than_ms,)))
    if query.text:
        pattern = f"%{_like(clean(query.text[:_LONGEST_PATTERN]))}%"
        columns = ("upstream", "tool", "host", "error")
        term = " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in columns)
        terms.append((f"({term})", (pattern,) * len(columns)))
    where = " AND ".join(term for term, _ in terms) or "1"
    return where, tuple(value for _, values in terms for value in values)


def _glob(pattern: str) -> str:
    """Only ``*`` keeps its meaning; a run of them is one, since each costs a loop."""
    return re.sub(r"\*+", "*", pattern).replace("[", "[[]").replace("?", "[?]")


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _folded(text: str) -> str:
    """Lower case as SQLite's LIKE sees it: ASCII letters only."""
    return text.translate(_FOLD)


def _matches_pattern(pattern: str, name: str) -> bool:
    """``*`` stands for any text; linear in the name."""
    first, *middle = pattern.split("*")
    if not middle:
        return first == name
    *middle, last = middle
    if not name.startswith(first):
        return False
    position = len(first)
    for part in middle:
        found = name.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return len(name) - len(last) >= position and name.endswith(last)
