"""The one writer of the call history: opens it, writes batches, deletes what is too old.

It never gives up: what cannot be written now waits in memory (bounded), and the next try comes by
itself. A full disk, a read-only directory, a damaged or deleted file cost at most rows, never a call.
Used by one thread; the properties may be read from any.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from config.schema import HistorySettings
from proxy.ledger import Figures, Key, merge
from proxy.model import CallRecord, Totals
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import (
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
from proxy.store.savings import add_to_ledger, select_ledger, store_control_tools_tokens
from proxy.sums import add, totals_by_day, totals_by_minute

BATCH = 512
"""Rows written in one transaction."""

MOST_WAITING = 10_000
"""Calls kept in memory (about 5 MB) while the file cannot be written; the oldest are dropped."""

_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 30.0
_RETENTION_SECONDS = 60.0
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class KeptSums:
    """All sums that outlive the calls."""

    days: Mapping[str, Totals]
    ledger: Mapping[Key, Figures]


class CallWriter:
    """Writes finished calls and their sums per day into one file."""

    def __init__(
        self,
        file: Path,
        *,
        history: HistorySettings,
        known: Callable[[], KeptSums],
        on_opened: Callable[[KeptSums], None],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``known`` gives all sums: they are saved into the file that replaces a damaged one.
        ``on_opened`` gets the sums that the opened file holds, together with those that still wait
        to be written."""
        self._file = file
        self._history = history
        self._known = known
        self._on_opened = on_opened
        self._clock = clock
        self._monotonic = monotonic
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._rows = 0
        self._waiting: tuple[CallRecord, ...] = ()
        self._pending_days: dict[str, Totals] = {}
        self._pending_ledger: dict[Key, Figures] = {}
        self._pending_tokens: int | None = None
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
        """Open the file now, if it is not open; False when that is not possible (see `problem`)."""
        if self._connection is not None:
            return True
        try:
            opened = open_for_writing(self._file, MIGRATIONS)
        except StoreUnavailable as error:
            self._fail(str(error))
            return False
        connection = self._connection = opened.connection
        try:
            if opened.damaged is not None:
                self._notice = opened.notice
                known = self._known()
                self._pending_days = dict(known.days)
                self._pending_ledger = dict(known.ledger)
            self._inode = self._file.stat().st_ino
            self._rows = count_calls(connection)
            days = select_days(connection)
            ledger = dict(select_ledger(connection).sums)
        except (OSError, sqlite3.Error) as error:
            self._close(clean=not (isinstance(error, sqlite3.Error) and is_damaged(error)))
            self._fail(str(unavailable(self._file, error)))
            return False
        for day, totals in self._pending_days.items():
            days[day] = add(days.get(day, Totals()), totals)
        merge(ledger, self._pending_ledger)
        self._on_opened(KeptSums(days, ledger))
        self._work_again()
        return True

    def note_tool_list(self, ledger: Mapping[Key, Figures], tokens: int) -> None:
        """Take what our own tools cost in tool lists, and their tokens in one now; write it soon."""
        merge(self._pending_ledger, ledger)
        self._pending_tokens = tokens

    def write(self, records: tuple[CallRecord, ...], ledger: Mapping[Key, Figures]) -> None:
        """Take finished calls, oldest first, with what they come to in the ledger, and write all
        that waits, if that is possible now."""
        merge(self._pending_ledger, ledger)
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
        if self._has_work():
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
                # A script, since a single statement would be stepped once, which frees one page.
                connection.executescript("PRAGMA incremental_vacuum(64)")
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
        if self._has_work():
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

    def _has_work(self) -> bool:
        return bool(
            self._waiting
            or self._pending_days
            or self._pending_ledger
            or self._pending_tokens is not None
        )

    def _flush(self) -> None:
        replaced = False
        while self._has_work() and self._connection is not None:
            batch = self._waiting[:BATCH]
            try:
                with transaction(self._connection):
                    added = insert_calls(self._connection, batch)
                    add_to_days(self._connection, self._pending_days)
                    add_to_ledger(self._connection, self._pending_ledger)
                    if self._pending_tokens is not None:
                        store_control_tools_tokens(self._connection, self._pending_tokens)
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
            self._pending_ledger = {}
            self._pending_tokens = None
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
