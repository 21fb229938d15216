"""One SQLite file that a store writes: opened when it can be, retried when not, replaced when damaged.

For the owner of the file only. Its methods are not thread-safe: the owner's lock or thread guards them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from proxy.store.database import (
    Migration,
    StoreUnavailable,
    close_writer,
    is_damaged,
    open_for_writing,
    unavailable,
)

_FIRST_RETRY_SECONDS = 1.0
_LAST_RETRY_SECONDS = 30.0


class WritableFile:
    """A file with its connection, its troubles and the time of the next try."""

    def __init__(
        self,
        file: Path,
        migrations: Sequence[Migration],
        *,
        what: str,
        on_opened: Callable[[sqlite3.Connection], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``what`` is in the file, for messages. ``on_opened`` may read from the new connection."""
        self._file = file
        self._migrations = migrations
        self._what = what
        self._on_opened = on_opened
        self._monotonic = monotonic
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._trouble = ""
        self._notice = ""
        self._retry_at = 0.0
        self._retry_seconds = _FIRST_RETRY_SECONDS

    @property
    def problem(self) -> str:
        """Why nothing is written, or what became of a damaged file; empty if all is well."""
        return self._trouble or self._notice

    @property
    def in_trouble(self) -> bool:
        """Nothing can be written now."""
        return bool(self._trouble)

    def connection(self, *, at_once: bool = False) -> sqlite3.Connection | None:
        """The connection, opened if need be; ``None`` when the file cannot be used now.

        ``at_once``: do not wait for the time of the next try.
        """
        if self._trouble and not at_once and self._monotonic() < self._retry_at:
            return None
        if self._connection is not None and self._was_replaced():
            self.close()
        if self._connection is None:
            self._open()
        return self._connection

    def retry_in(self) -> float | None:
        """Seconds until the next try makes sense; ``None`` when there is no trouble."""
        return max(0.0, self._retry_at - self._monotonic()) if self._trouble else None

    def worked(self) -> None:
        """Something was written: the trouble is over."""
        self._trouble = ""
        self._retry_seconds = _FIRST_RETRY_SECONDS

    def failed(self, error: sqlite3.Error) -> None:
        """A statement failed. What waits is to be tried again when `connection` gives one."""
        if is_damaged(error):
            self.close(clean=False)  # the next opening checks the file and sets it aside
        self._fail(unavailable(self._file, error))

    def close(self, *, clean: bool = True) -> None:
        """Close the file. Never raises."""
        connection, self._connection = self._connection, None
        if connection is not None:
            close_writer(self._file, connection, clean=clean)

    def _open(self) -> None:
        try:
            opened = open_for_writing(self._file, self._migrations, what=self._what)
        except StoreUnavailable as error:
            self._fail(error)
            return
        self._connection = opened.connection
        try:
            self._inode = self._file.stat().st_ino
            self._on_opened(opened.connection)
        except (OSError, sqlite3.Error) as error:
            self.close(clean=not (isinstance(error, sqlite3.Error) and is_damaged(error)))
            self._fail(unavailable(self._file, error))
            return
        if opened.damaged is not None:
            self._notice = opened.notice

    def _fail(self, error: StoreUnavailable) -> None:
        self._trouble = str(error)
        self._retry_at = self._monotonic() + self._retry_seconds
        self._retry_seconds = min(2 * self._retry_seconds, _LAST_RETRY_SECONDS)

    def _was_replaced(self) -> bool:
        """Somebody deleted or exchanged the file under the open connection."""
        try:
            return self._file.stat().st_ino != self._inode
        except OSError:
            return True
