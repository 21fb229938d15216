"""The store: one database, many readers, one writer at a time. Imports SQLAlchemy: load lazily."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, delete, insert, select

from memory.model import Actor, Instant
from memory.store import backend as backends
from memory.store.backend import Backend, WriteLock, prepare
from memory.store.expunge import PURGE_DUE, VECTORS_DUE
from memory.store.prepared import PreparedConnection
from memory.store.reading import Reading
from memory.store.sqlite import SqliteBackend, damaged_copies
from memory.store.tables import meta
from memory.store.writing import Writing


class Store:
    """A memory's database. Any thread may use it; raises `MemoryFault` and nothing else."""

    def __init__(self, backend: Backend, identity: str, busy_seconds: float) -> None:
        """Use `open`."""
        self.backend = backend
        """The engine below, for checks and repairs."""
        self._identity = identity
        self._lock = WriteLock(busy_seconds)

    @classmethod
    def open(cls, url: str, *, busy_seconds: float = 5.0) -> Store:
        """Open, create or bring up to date: ``sqlite:///PATH`` or ``postgresql://…``.

        ``busy_seconds``: the longest wait for other writers. Raises ``UNAVAILABLE`` when the database
        cannot be used; a damaged file is set aside first, and opening again then makes a new one.
        """
        backend = backends.open_backend(url, busy_seconds)
        try:
            store = cls(backend, prepare(backend), busy_seconds)
            if store.purge_due:
                store.purge_files()
        except BaseException:
            backend.close()
            raise
        return store

    def close(self) -> None:
        """End all connections. Transactions have to be over."""
        self.backend.close()

    @property
    def identity(self) -> str:
        """A random id of this database, made once: 32 hex digits."""
        return self._identity

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to it: this one alone owns a file."""
        return not isinstance(self.backend, SqliteBackend)

    @property
    def damaged_copies(self) -> tuple[Path, ...]:
        """Where damaged files of this memory were moved to, oldest first."""
        found = self.backend
        return damaged_copies(found.file) if isinstance(found, SqliteBackend) else ()

    @property
    def bytes_on_disk(self) -> int:
        """What the database takes."""
        return self.backend.size()

    @contextmanager
    def reading(self) -> Generator[Reading]:
        """One state of everything, for as long as the block lasts."""
        with backends.reading(self.backend) as connection:
            prepared = cast("Connection", PreparedConnection(connection, writes=False))
            yield Reading(prepared, self.backend.words, self._identity)

    @contextmanager
    def writing(self, actor: Actor, space: str, now: Instant) -> Generator[Writing]:
        """One transaction: all of the block, or nothing when it raises. Raises ``BUSY``."""
        words, position = self.backend.words, None
        with self._lock.held():
            try:
                with backends.writing(self.backend) as connection:
                    writing = Writing(connection, words, self._identity, actor, space, now)
                    yield writing
                position = writing.position
            finally:
                words.end(position)

    def put_meta(self, key: str, value: str) -> None:
        """Keep a small value for `Reading.meta`, in a transaction of its own."""
        key = f"user.{key}"
        with backends.writing(self.backend, self._lock) as connection:
            connection.execute(delete(meta).where(meta.c.key == key))
            connection.execute(insert(meta).values(key=key, value=value))

    @property
    def purge_due(self) -> bool:
        """Whether something was expunged whose bytes may still be in the files."""
        return self._has_mark(PURGE_DUE)

    @property
    def vectors_due(self) -> bool:
        """Whether something was expunged whose vector an index beside the database may still have."""
        return self._has_mark(VECTORS_DUE)

    def vectors_erased(self) -> None:
        """No index has vectors of what was expunged so far."""
        self._drop_mark(VECTORS_DUE)

    def purge_files(self) -> tuple[str, ...]:
        """Write the files anew without what was expunged. Problems, a sentence each.

        Takes about as long as copying the database; readers of this moment go on.
        """
        with self._lock.held(), backends.faults(self.backend):
            purged = self.backend.purge()
        if not purged.again:
            self._drop_mark(PURGE_DUE)
        return purged.problems

    def _has_mark(self, key: str) -> bool:
        query = select(meta.c.value).where(meta.c.key == key)
        with backends.reading(self.backend) as connection:
            return connection.execute(query).first() is not None

    def _drop_mark(self, key: str) -> None:
        with backends.writing(self.backend, self._lock) as connection:
            connection.execute(delete(meta).where(meta.c.key == key))
