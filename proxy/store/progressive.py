"""Reads of progressive answers in a small file of their own, bounded.

A read is noted at once and written by a thread. Readers see it from the first moment.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from proxy.progressive_reads import ProgressiveRead
from proxy.store.calls import clean
from proxy.store.database import Migration, open_for_reading, transaction
from proxy.store.writable import WritableFile
from proxy.store.writer_thread import WriterThread

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


class ProgressiveStore:
    """Reads in one file, with what is not written yet in memory. Any thread may call any method."""

    def __init__(self, database: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: deque[ProgressiveRead] = deque(maxlen=MOST_WAITING)
        self._file = WritableFile(database, MIGRATIONS, what=_WHAT, on_opened=_nothing)
        self._thread = WriterThread("mms-progressive", self._file, self._write)

    def start(self) -> None:
        """Start the thread, which opens the file."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Write what waits and end the thread. False when that took too long."""
        return self._thread.stop(timeout_seconds)

    @property
    def problem(self) -> str:
        """Why nothing is written, for a person; empty while all is well."""
        return self._thread.problem

    def note(self, read: ProgressiveRead) -> None:
        """Keep a read. Returns at once."""
        with self._lock:
            self._waiting.append(read)
        self._thread.wake()

    def reads(self) -> list[ProgressiveRead]:
        """All that are kept, oldest first. Blocking. Raises `StoreUnavailable`."""
        with self._lock:
            waiting = tuple(self._waiting)
        stored = read_progressive(self._database, now=self._clock())
        # A read that was written in between must not count twice.
        return list(dict.fromkeys((*stored, *waiting))) if waiting else stored

    def _write(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            reads = tuple(self._waiting)
        if not reads:
            return
        with transaction(connection):
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
                "DELETE FROM progressive_reads WHERE id <= "
                "(SELECT max(id) FROM progressive_reads) - ?",
                (KEPT_READS,),
            )
        with self._lock:
            for read in reads:
                if self._waiting and self._waiting[0] is read:
                    self._waiting.popleft()


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


def _nothing(_connection: sqlite3.Connection) -> None:
    """The file needs no reading when it is opened."""
