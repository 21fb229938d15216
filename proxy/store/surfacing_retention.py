"""How long surfacing is remembered: what is old goes, and old queries keep a digest only."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from proxy.store.database import transaction
from proxy.store.held_rows import shrink
from proxy.store.surfacing_rows import DIGEST, digest_of

KEPT_SECONDS = 90 * 86_400.0
KEPT_EVENTS = 20_000
KEPT_OPPORTUNITIES = 100_000
KEPT_ADJUSTMENTS = 1_000
"""The newest ones, and the last of every tool, which says where its threshold is."""
QUERY_SECONDS = 30 * 86_400.0
"""The text of an older query is replaced by its digest."""
_PAUSE_SECONDS = 600.0
_PAUSE_NOTES = 1_000

_DELETE_ADJUSTMENTS = (
    "DELETE FROM adjustments WHERE id <= (SELECT max(id) FROM adjustments) - ? "
    "AND id NOT IN (SELECT max(id) FROM adjustments GROUP BY upstream, tool)"
)


class Retention:
    """Applies the limits every now and then. For the thread that writes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last: float | None = None
        self._notes = 0

    def apply(self, connection: sqlite3.Connection, notes: int) -> None:
        """Delete what is due, if it was long enough ago; ``notes`` were written since."""
        now = self._clock()
        self._notes += notes
        if (
            self._last is not None
            and abs(now - self._last) < _PAUSE_SECONDS
            and self._notes < _PAUSE_NOTES
        ):
            return
        with transaction(connection):
            deleted = _delete(connection, now)
            _forget_queries(connection, now - QUERY_SECONDS)
        self._last, self._notes = now, 0
        if deleted:
            shrink(connection)


def _delete(connection: sqlite3.Connection, now: float) -> int:
    before = now - KEPT_SECONDS
    return sum(
        connection.execute(statement, values).rowcount
        for statement, values in (
            ("DELETE FROM events WHERE at < ?", (before,)),
            (
                "DELETE FROM events WHERE number <= (SELECT max(number) FROM events) - ?",
                (KEPT_EVENTS,),
            ),
            ("DELETE FROM opportunities WHERE at < ?", (before,)),
            (
                "DELETE FROM opportunities WHERE id <= (SELECT max(id) FROM opportunities) - ?",
                (KEPT_OPPORTUNITIES,),
            ),
            (_DELETE_ADJUSTMENTS, (KEPT_ADJUSTMENTS,)),
        )
    )


def _forget_queries(connection: sqlite3.Connection, before: float) -> None:
    rows = connection.execute(
        "SELECT number, query FROM events WHERE at < ? AND query <> '' AND substr(query, 1, ?) <> ?",
        (before, len(DIGEST), DIGEST),
    ).fetchall()
    connection.executemany(
        "UPDATE events SET query = ? WHERE number = ?",
        [(digest_of(query), number) for number, query in rows],
    )
