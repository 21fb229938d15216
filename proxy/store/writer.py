"""The one writer of the call history: opens it, writes batches, deletes what is too old.

It never gives up: what cannot be written now waits in memory (bounded), and the next try comes by
itself. A full disk, a read-only directory, a damaged or deleted file cost at most rows, never a call.
Used by one thread; the properties may be read from any.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from config.schema import HistorySettings
from proxy.model import CallRecord, Totals
from proxy.store.calls import (
    MIGRATIONS,
    add_to_days,
    count_calls,
    delete_old,
    insert_calls,
    select_days,
)
from proxy.store.database import (
    StoreUnavailable,
    close_writer,
    is_damaged,
    open_for_writing,
    transaction,
    unavailable,
)
from proxy.sums import add, totals_by_day, totals_by_minute

BATCH = 512
"""Rows written in one transaction."""

MOST_WAITING = 10_000
"""Calls kept in memory (about 5 MB) while the file cannot be written; the oldest are dropped."""

_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 30.0
_RETENTION_SECONDS = 60.0
_DAY_SECONDS = 86_400.0


class CallWriter:
    """Writes finished calls and their totals per day into one file."""

    def __init__(
        self,
        file: Path,
        *,
        history: HistorySettings,
        known_days: Callable[[], Mapping[str, Totals]],
        on_opened: Callable[[Mapping[str, Totals]], None],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``known_days`` gives all totals per day: they are saved into the file that replaces a
        damaged one. ``on_opened`` gets the totals per day that the opened file holds, together with
        those that still wait to be written."""
        self._file = file
        self._history = history
        self._known_days = known_days
        self._on_opened = on_opened
        self._clock = clock
        self._monotonic = monotonic
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._rows = 0
        self._waiting: tuple[CallRecord, ...] = ()
        self._pending_days: dict[str, Totals] = {}
        self._lost = 0
        self._trouble = ""
        self._notice = ""
        self._retry_at = 0.0
        self._retry_seconds = _FIRST_RETRY_SECONDS
        self._retention_at = 0.0

    @property
    def problem(self) -> str:
        """Why calls are not written, or what became of a damaged file; empty if all is well."""
        return self._trouble or self._notice

    @property
    def unrecorded(self) -> int:
        """Calls that are lost to the history, and those that wait because of a problem."""
        return self._lost + (len(self._waiting) if self._trouble else 0)

    @property
    def waiting(self) -> tuple[CallRecord, ...]:
        """Calls that are not in the file yet, oldest first."""
        return self._waiting

    def open(self) -> bool:
        """Open the file now; False when that is not possible now (see `problem`)."""
        try:
            opened = open_for_writing(self._file, MIGRATIONS)
        except StoreUnavailable as error:
            self._fail(str(error))
            return False
        connection = self._connection = opened.connection
        try:
            if opened.damaged is not None:
                self._notice = opened.notice
                self._pending_days = dict(self._known_days())
            self._inode = self._file.stat().st_ino
            self._rows = count_calls(connection)
            days = select_days(connection)
        except (OSError, sqlite3.Error) as error:
            self._close()
            self._fail(str(unavailable(self._file, error)))
            return False
        for day, totals in self._pending_days.items():
            days[day] = add(days.get(day, Totals()), totals)
        self._on_opened(days)
        self._work_again()
        return True

    def write(self, records: tuple[CallRecord, ...]) -> None:
        """Take finished calls, oldest first, and write all that waits, if that is possible now."""
        for day, totals in totals_by_day(totals_by_minute(records)).items():
            self._pending_days[day] = add(self._pending_days.get(day, Totals()), totals)
        self._waiting += records
        if self._ready():
            self._flush()
        surplus = len(self._waiting) - MOST_WAITING
        if surplus > 0:
            self._waiting = self._waiting[surplus:]
            self._lost += surplus

    def tidy(self) -> bool:
        """Retry what waits; delete one slice of old calls. True when more is left to delete."""
        if not self._ready():
            return False
        if self._waiting or self._pending_days:
            self._flush()
        connection = self._connection
        surplus = self._rows - self._history.max_calls
        if connection is None or (self._monotonic() < self._retention_at and surplus < BATCH):
            return False
        before = self._clock() - self._history.max_days * _DAY_SECONDS
        try:
            with transaction(connection):
                deleted = delete_old(connection, before=before, surplus=surplus)
            if deleted:
                connection.execute("PRAGMA incremental_vacuum(64)").fetchall()
        except sqlite3.Error as error:
            if not self._replace(error):
                self._fail(str(unavailable(self._file, error)))
            return False
        self._rows -= deleted
        if not deleted:
            self._retention_at = self._monotonic() + _RETENTION_SECONDS
        return deleted > 0

    def retry_in(self) -> float | None:
        """Seconds until `tidy` has something to retry; ``None`` when nothing waits."""
        if not self._trouble:
            return None
        return max(0.0, self._retry_at - self._monotonic())

    def apply(self, history: HistorySettings) -> None:
        """New limits; the next `tidy` checks them. May be called from any thread."""
        self._history = history
        self._retention_at = 0.0

    def close(self) -> None:
        """Write what waits, whatever the last try said, and close the file."""
        if self._waiting or self._pending_days:
            self._retry_at = 0.0
            if self._ready():
                self._flush()
        self._lost += len(self._waiting)
        self._waiting = ()
        self._close()

    def _ready(self) -> bool:
        """The file is open and where it should be, or could be opened now."""
        if self._trouble and self._monotonic() < self._retry_at:
            return False
        if self._connection is not None and self._was_replaced():
            self._close()
        return self._connection is not None or self.open()

    def _flush(self) -> None:
        replaced = False
        while (self._waiting or self._pending_days) and self._connection is not None:
            batch = self._waiting[:BATCH]
            try:
                with transaction(self._connection):
                    added = insert_calls(self._connection, batch)
                    add_to_days(self._connection, self._pending_days)
            except sqlite3.Error as error:
                if replaced or not self._replace(error):
                    self._fail(str(unavailable(self._file, error)))
                    return
                replaced = True
                continue
            self._rows += added
            self._lost += len(batch) - added
            self._waiting = self._waiting[len(batch) :]
            self._pending_days = {}
            self._work_again()

    def _replace(self, error: sqlite3.Error) -> bool:
        """If ``error`` says that the file is damaged: True when another one took its place."""
        if not is_damaged(error):
            return False
        self._close(clean=False)
        return self.open()

    def _fail(self, reason: str) -> None:
        self._trouble = reason
        self._retry_at = self._monotonic() + self._retry_seconds
        self._retry_seconds = min(2 * self._retry_seconds, _LAST_RETRY_SECONDS)

    def _work_again(self) -> None:
        self._trouble = ""
        self._retry_seconds = _FIRST_RETRY_SECONDS

    def _was_replaced(self) -> bool:
        """Somebody deleted or exchanged the file under the open connection."""
        try:
            return self._file.stat().st_ino != self._inode
        except OSError:
            return True

    def _close(self, *, clean: bool = True) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            close_writer(self._file, connection, clean=clean)
