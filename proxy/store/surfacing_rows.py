"""Rows of the record of surfacing: events, ratings, opportunities and the tuner's steps, in and out."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proxy.store.calls import clean
from proxy.surface.model import (
    Adjustment,
    Arm,
    MemoryRating,
    Opportunity,
    QueryLevel,
    Rater,
    Rating,
    ShownMemory,
    SurfacingEvent,
)

LONGEST_NAME = 256
LONGEST_QUERY = 1_000
LONGEST_PREVIEW = 300
LONGEST_WHY = 200
LONGEST_REASON = 1_000
DIGEST = "sha256:"
"""Begins a query whose text is not kept."""

_LARGEST = 2**63 - 1
_EVENT = (
    "id, at, conversation, host, call_id, upstream, tool, query, level, arm, source, threshold, "
    "tokens, search_ms, cached"
)
_ADJUSTMENT = (
    "id, at, upstream, tool, before, after, reason, ratings, reverted_at, reverts, configured"
)


@dataclass(frozen=True, slots=True)
class RatingNote:
    """A rating on its way to the file."""

    surfacing_id: str
    memory_id: str
    rating: Rating
    rater: Rater
    at: float


Note = SurfacingEvent | RatingNote | Adjustment
"""What is never dropped for want of interest; opportunities are kept apart."""


def name_of(text: str) -> str:
    """A name or an id as it is stored."""
    return clean(text[:LONGEST_NAME])


def digest_of(query: str) -> str:
    """What stands for a query whose text is not kept."""
    if query.startswith(DIGEST):
        return query
    return DIGEST + hashlib.sha256(query.encode("utf-8", "replace")).hexdigest()[:16]


def cleaned(event: SurfacingEvent, redact: Callable[[str], str]) -> SurfacingEvent:
    """The event as it is stored: without secrets, within lengths, as SQLite takes it."""

    def text(value: str, longest: int) -> str:
        # A secret that the cut would break apart is hidden first.
        return clean(redact(value[: 4 * longest])[:longest])

    return SurfacingEvent(
        name_of(event.id),
        finite(event.at),
        name_of(event.conversation),
        name_of(event.host),
        min(max(event.call_id, 0), _LARGEST),
        name_of(event.upstream),
        name_of(event.tool),
        text(event.query, LONGEST_QUERY),
        event.level,
        event.arm,
        name_of(event.source),
        finite(event.threshold),
        event.tokens,
        finite(event.search_ms),
        event.cached,
        tuple(
            ShownMemory(
                name_of(shown.memory_id),
                finite(shown.score),
                text(shown.why, LONGEST_WHY),
                text(shown.preview, LONGEST_PREVIEW),
                shown.ratings,
            )
            for shown in event.memories
        ),
    )


def cleaned_step(step: Adjustment, id: int) -> Adjustment:
    """The step as it is stored, under ``id``."""
    return replace(
        step,
        id=id,
        upstream=name_of(step.upstream),
        tool=name_of(step.tool),
        reason=clean(step.reason[:LONGEST_REASON]),
    )


def insert_note(connection: sqlite3.Connection, note: Note) -> None:
    """Add an event, a rating or an adjustment; what is there already stays."""
    match note:
        case SurfacingEvent():
            _insert_event(connection, note)
        case RatingNote():
            _insert_rating(connection, note)
        case Adjustment():
            _insert_adjustment(connection, note)


def insert_opportunities(
    connection: sqlite3.Connection, opportunities: Iterable[Opportunity]
) -> None:
    """Add opportunities."""
    connection.executemany(
        "INSERT INTO opportunities (at, upstream, tool, decision, level, answer_chars, best_score, "
        "threshold, waited_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                finite(one.at),
                name_of(one.upstream),
                name_of(one.tool),
                one.decision.value,
                one.level.value,
                one.answer_chars,
                None if one.best_score is None else finite(one.best_score),
                finite(one.threshold),
                finite(one.waited_ms),
            )
            for one in opportunities
        ],
    )


def select_event(connection: sqlite3.Connection, surfacing_id: str) -> SurfacingEvent | None:
    """One event."""
    rows = connection.execute(
        f"SELECT number, {_EVENT} FROM events WHERE id = ?", (name_of(surfacing_id),)
    ).fetchall()
    return _event(connection, rows[0]) if rows else None


def select_events(
    connection: sqlite3.Connection, where: str, values: Sequence[object], order: str, limit: int
) -> list[SurfacingEvent]:
    """Events with their memories and ratings. ``where`` and ``order`` are SQL over ``events``."""
    rows = connection.execute(
        f"SELECT number, {_EVENT} FROM events WHERE {where} ORDER BY {order} LIMIT ?",
        (*values, limit),
    ).fetchall()
    return [_event(connection, row) for row in rows]


def select_adjustments(
    connection: sqlite3.Connection, limit: int, where: str = "1", values: Sequence[object] = ()
) -> list[Adjustment]:
    """The tuner's steps and reversals, newest first."""
    rows = connection.execute(
        f"SELECT {_ADJUSTMENT} FROM adjustments WHERE {where} ORDER BY id DESC LIMIT ?",
        (*values, max(0, limit)),
    )
    return [Adjustment(*row) for row in rows]


def select_last_adjustment(connection: sqlite3.Connection) -> int:
    """The highest id, 0 when there is none."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM adjustments").fetchone()
    return int(last)


def finite(number: float) -> float:
    """SQLite stores NaN as NULL."""
    return number if math.isfinite(number) else 0.0


def _insert_event(connection: sqlite3.Connection, event: SurfacingEvent) -> None:
    inserted = connection.execute(
        f"INSERT OR IGNORE INTO events ({_EVENT}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.id,
            event.at,
            event.conversation,
            event.host,
            event.call_id,
            event.upstream,
            event.tool,
            event.query,
            event.level.value,
            event.arm.value,
            event.source,
            event.threshold,
            event.tokens,
            event.search_ms,
            event.cached,
        ),
    )
    if not inserted.rowcount:
        return
    connection.executemany(
        "INSERT OR IGNORE INTO shown (event, memory_id, position, score, why, preview) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (inserted.lastrowid, one.memory_id, position, one.score, one.why, one.preview)
            for position, one in enumerate(event.memories)
        ],
    )
    connection.execute(
        "UPDATE events SET memories = (SELECT count(*) FROM shown WHERE event = number) "
        "WHERE number = ?",
        (inserted.lastrowid,),
    )


def _insert_rating(connection: sqlite3.Connection, note: RatingNote) -> None:
    row = connection.execute(
        "SELECT number, shown.memory_id FROM events JOIN shown ON shown.event = number "
        "WHERE events.id = ? AND shown.memory_id = ?",
        (note.surfacing_id, note.memory_id),
    ).fetchone()
    if row is None:  # retention took the event meanwhile, and takes its ratings along
        return
    connection.execute(
        "INSERT OR REPLACE INTO ratings (event, memory_id, rater, rating, at) "
        "VALUES (?, ?, ?, ?, ?)",
        (*row, note.rater.value, note.rating.value, note.at),
    )
    connection.execute(
        "INSERT OR REPLACE INTO verdicts (event, memory_id, rating, at) "
        "SELECT event, memory_id, rating, at FROM ratings WHERE event = ? AND memory_id = ? "
        "ORDER BY rater = ? DESC LIMIT 1",
        (*row, Rater.PERSON.value),
    )
    counts = ", ".join(
        f"{one.value} = (SELECT count(*) FROM verdicts WHERE event = number "
        f"AND rating = '{one.value}')"
        for one in Rating
    )
    connection.execute(f"UPDATE events SET {counts} WHERE number = ?", row[:1])


def _insert_adjustment(connection: sqlite3.Connection, step: Adjustment) -> None:
    connection.execute(
        f"INSERT OR IGNORE INTO adjustments ({_ADJUSTMENT}) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            step.id,
            finite(step.at),
            step.upstream,
            step.tool,
            finite(step.before),
            finite(step.after),
            step.reason,
            step.ratings,
            step.reverted_at,
            step.reverts,
            step.configured,
        ),
    )
    if step.reverts is not None:
        connection.execute(
            "UPDATE adjustments SET reverted_at = ? WHERE upstream = ? AND tool = ? "
            "AND id BETWEEN ? AND ? AND reverts IS NULL AND reverted_at IS NULL",
            (step.at, step.upstream, step.tool, step.reverts, step.id - 1),
        )


def _event(connection: sqlite3.Connection, row: Sequence[Any]) -> SurfacingEvent:
    number = row[0]
    ratings: dict[str, list[MemoryRating]] = {}
    for memory_id, rater, rating, at in connection.execute(
        "SELECT memory_id, rater, rating, at FROM ratings WHERE event = ? ORDER BY rater", (number,)
    ):
        ratings.setdefault(memory_id, []).append(MemoryRating(Rater(rater), Rating(rating), at))
    memories = tuple(
        ShownMemory(memory_id, score, why, preview, tuple(ratings.get(memory_id, ())))
        for memory_id, score, why, preview in connection.execute(
            "SELECT memory_id, score, why, preview FROM shown WHERE event = ? ORDER BY position",
            (number,),
        )
    )
    return SurfacingEvent(
        id=row[1],
        at=row[2],
        conversation=row[3],
        host=row[4],
        call_id=row[5],
        upstream=row[6],
        tool=row[7],
        query=row[8],
        level=QueryLevel(row[9]),
        arm=Arm(row[10]),
        source=row[11],
        threshold=row[12],
        tokens=row[13],
        search_ms=row[14],
        cached=bool(row[15]),
        memories=memories,
    )
