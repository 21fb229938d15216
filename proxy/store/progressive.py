"""Reads of progressive answers in a small file of their own, bounded.

A read is noted at once and written by a thread. Readers see it from the first moment.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from proxy.progressive_reads import ProgressiveRead
from proxy.store.calls import clean
from proxy.store.database import Migration, open_for_reading
from proxy.store.note_store import NoteStore

KEPT_SECONDS = 90 * 86_400.0
KEPT_READS = 50_000
MOST_WAITING = 2_000
"""Reads kept in memory while the file cannot be written; then the oldest are lost."""
_LONGEST_NAME = 256
_WHAT = "store of progressive reads"

MIGRATIONS = (
    Migration(
        "reads of progressive answers",
        (
            """CREATE TABLE progressive_reads (
                id INTEGER PRIMARY KEY,
                at REAL NOT NULL,
                key TEXT NOT NULL,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                first INTEGER NOT NULL,
                last INTEGER NOT NULL,
                total INTEGER NOT NULL,
                initial INTEGER
            )""",
            "CREATE INDEX progressive_reads_by_time ON progressive_reads (at)",
        ),
    ),
)
_COLUMNS = "at, key, upstream, tool, first, last, total, initial"


class ProgressiveStore(NoteStore[ProgressiveRead]):
    """Reads in one file, with what is not written yet in memory. Any thread may call any method."""

    def __init__(self, database: Path, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(
            database,
            MIGRATIONS,
            self._insert_reads,
            what=_WHAT,
            thread="mms-progressive",
            most_waiting=MOST_WAITING,
        )
        self._database = database
        self._clock = clock

    def reads(self) -> list[ProgressiveRead]:
        """All that are kept, oldest first. Blocking. Raises `StoreUnavailable`."""
        return self.with_waiting(lambda: read_progressive(self._database, now=self._clock()))

    def _insert_reads(
        self, connection: sqlite3.Connection, reads: Sequence[ProgressiveRead]
    ) -> None:
        connection.executemany(
            f"INSERT INTO progressive_reads ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    read.at,
                    read.key,
                    clean(read.upstream[:_LONGEST_NAME]),
                    clean(read.tool[:_LONGEST_NAME]),
                    read.offset,
                    read.end,
                    read.total,
                    read.initial,
                )
                for read in reads
            ],
        )
        connection.execute(
            "DELETE FROM progressive_reads WHERE at < ?", (self._clock() - KEPT_SECONDS,)
        )
        connection.execute(
            "DELETE FROM progressive_reads WHERE id <= (SELECT max(id) FROM progressive_reads) - ?",
            (KEPT_READS,),
        )


def read_progressive(database: Path, *, now: float) -> list[ProgressiveRead]:
    """All reads of the file, oldest first, without a station. Raises `StoreUnavailable`."""
    with open_for_reading(database, MIGRATIONS, what=_WHAT) as connection:
        if connection is None:
            return []
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM progressive_reads WHERE at >= ? ORDER BY id",
            (now - KEPT_SECONDS,),
        ).fetchall()
    return [
        ProgressiveRead(
            at, key, upstream, tool, first, last, total, None if initial is None else bool(initial)
        )
        for at, key, upstream, tool, first, last, total, initial in rows
    ]
