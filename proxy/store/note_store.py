"""Notes that are taken at once and written by a thread: what small stores of their own have in common."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from proxy.store.database import Migration, transaction
from proxy.store.writable import WritableFile
from proxy.store.writer_thread import WriterThread

_Note = TypeVar("_Note")


class Backlog(Generic[_Note]):
    """What waits to be written, oldest first, bounded: then the oldest are lost. For any thread."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._notes: deque[_Note] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, note: _Note) -> None:
        """Let one more wait."""
        with self._lock:
            self._notes.append(note)

    def waiting(self) -> tuple[_Note, ...]:
        """All that waits now."""
        with self._lock:
            return tuple(self._notes)

    def remove(self, written: Iterable[_Note]) -> None:
        """Take what was written from the front; some of it may have been pushed out meanwhile."""
        with self._lock:
            for note in written:
                if self._notes and self._notes[0] is note:
                    self._notes.popleft()


class NoteStore(Generic[_Note]):
    """A file of notes. Any thread may call any method."""

    def __init__(
        self,
        database: Path,
        migrations: Sequence[Migration],
        insert: Callable[[sqlite3.Connection, Sequence[_Note]], None],
        *,
        what: str,
        thread: str,
        most_waiting: int,
    ) -> None:
        """``insert``: write notes, and drop old ones, within a transaction. ``what``: for messages."""
        self._insert = insert
        self._backlog: Backlog[_Note] = Backlog(most_waiting)
        self._file = WritableFile(database, migrations, what=what, on_opened=_nothing)
        self._thread = WriterThread(thread, self._file, self._write)

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

    def note(self, note: _Note) -> None:
        """Keep a note. Returns at once."""
        self._backlog.add(note)
        self._thread.wake()

    def with_waiting(self, read: Callable[[], list[_Note]]) -> list[_Note]:
        """What ``read`` finds in the file and what is not in it yet, oldest first; for hashable notes."""
        waiting = self._backlog.waiting()
        stored = read()
        # A note that was written in between must not count twice.
        return list(dict.fromkeys((*stored, *waiting))) if waiting else stored

    def _write(self, connection: sqlite3.Connection) -> None:
        notes = self._backlog.waiting()
        if notes:
            with transaction(connection):
                self._insert(connection, notes)
            self._backlog.remove(notes)


def _nothing(_connection: sqlite3.Connection) -> None:
    """The file needs no reading when it is opened."""
