"""What agents missed in shortened answers: reports in a small file of their own, bounded.

A report is noted at once and written by a thread. Reads see it from the first moment.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from proxy.answer_model import FeedbackLine, FeedbackReport
from proxy.store.calls import clean
from proxy.store.database import Migration, open_for_reading
from proxy.store.note_store import NoteStore

KEPT_SECONDS = 90 * 86_400.0
KEPT_REPORTS = 10_000
MOST_WAITING = 1_000
"""Reports kept in memory while the file cannot be written; then the oldest are lost."""
LONGEST_TEXT = 4_000
"""Characters of what was missing that are kept."""
_LONGEST_NAME = 256
_LATEST = 3
WHAT = "store of feedback"

MIGRATIONS = (
    Migration(
        "reports of agents",
        (
            """CREATE TABLE reports (
                id INTEGER PRIMARY KEY,
                created_at REAL NOT NULL,
                server TEXT NOT NULL,
                tool TEXT NOT NULL,
                kind TEXT NOT NULL,
                missing TEXT NOT NULL,
                trace_id TEXT NOT NULL
            )""",
            "CREATE INDEX reports_by_time ON reports (created_at)",
        ),
    ),
)

_Row = tuple[float, str, str, str, str, str]
"""When, server, tool, kind, what was missing, trace."""


class _Kind(Protocol):
    @property
    def value(self) -> str: ...


class Feedback(Protocol):
    """One report; `proxy.control_tools.FeedbackArguments` is one."""

    @property
    def server(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def missing(self) -> str: ...
    @property
    def kind(self) -> _Kind: ...
    @property
    def trace_id(self) -> str: ...


def _as_it_is(text: str) -> str:
    return text


class FeedbackStore(NoteStore[_Row]):
    """Reports in one file, with what is not written yet in memory. Any thread may call any method."""

    def __init__(
        self,
        database: Path,
        *,
        redact: Callable[[str], str] = _as_it_is,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``redact`` hides secrets in what agents write."""
        super().__init__(
            database,
            MIGRATIONS,
            self._insert_rows,
            what=WHAT,
            thread="mms-feedback",
            most_waiting=MOST_WAITING,
        )
        self._database = database
        self._redact = redact
        self._clock = clock

    def report(self, feedback: Feedback, at: float) -> None:
        """Keep a report. Returns at once."""
        row = (
            at,
            clean(feedback.server[:_LONGEST_NAME]),
            clean(feedback.tool[:_LONGEST_NAME]),
            clean(feedback.kind.value),
            clean(self._redact(feedback.missing[: 2 * LONGEST_TEXT])[:LONGEST_TEXT]),
            clean(feedback.trace_id[:_LONGEST_NAME]),
        )
        self.note(row)

    def counts(self, *, upstream: str = "", tool: str = "") -> FeedbackReport:
        """Reports by tool and kind; empty names match all. Blocking.

        Raises `StoreUnavailable` when the file cannot be read.
        """
        rows = self.with_waiting(lambda: _read(self._database))
        return _counted(rows, upstream, tool, self._clock())

    def _insert_rows(self, connection: sqlite3.Connection, rows: Sequence[_Row]) -> None:
        connection.executemany(
            "INSERT INTO reports (created_at, server, tool, kind, missing, trace_id) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute(
            "DELETE FROM reports WHERE created_at < ?", (self._clock() - KEPT_SECONDS,)
        )
        connection.execute(
            "DELETE FROM reports WHERE id <= (SELECT max(id) FROM reports) - ?", (KEPT_REPORTS,)
        )


def read_feedback(
    database: Path, *, now: float, upstream: str = "", tool: str = ""
) -> FeedbackReport:
    """Reports by tool and kind from the file, without a station. Raises `StoreUnavailable`."""
    return _counted(_read(database), upstream, tool, now)


def _read(database: Path) -> list[_Row]:
    """Oldest first."""
    with open_for_reading(database, MIGRATIONS, what=WHAT) as connection:
        if connection is None:
            return []
        return connection.execute(
            "SELECT created_at, server, tool, kind, missing, trace_id FROM reports ORDER BY id"
        ).fetchall()


def _counted(rows: Iterable[_Row], upstream: str, tool: str, now: float) -> FeedbackReport:
    groups: dict[tuple[str, str, str], list[_Row]] = {}
    for row in rows:
        if row[0] >= now - KEPT_SECONDS and upstream in ("", row[1]) and tool in ("", row[2]):
            groups.setdefault(row[1:4], []).append(row)
    return FeedbackReport(
        tuple(
            FeedbackLine(
                *key,
                reports=len(group),
                last_at=max(row[0] for row in group),
                latest=tuple(row[4] for row in islice(reversed(group), _LATEST)),
            )
            for key, group in sorted(groups.items())
        )
    )
