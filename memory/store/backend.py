"""Open a memory database, SQLite file or PostgreSQL; create it or bring it up to date; locks and faults.

Rules that both follow:

- One writer at a time, in the whole machine or server. Journal numbers are given under that lock, so they
  become visible in their order and a reader that asks for "all after n" misses nothing.
- Readers see one state of everything, however long they read, and never wait for a writer.
- A newer version's database is left alone; so is a database of another program.

Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, Engine, insert, make_url, select, update
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory.errors import FaultCode, MemoryFault
from memory.store.prepared import PreparedConnection
from memory.store.tables import meta, metadata
from memory.store.text_index import TextIndex

Step = Callable[[Connection], None]

STEPS: tuple[Step, ...] = ()
"""What brings an older database up to date, by version: the first one leads from version 1 to 2, and so on.

Never changed once released. A new database gets the tables as they are now.
"""
VERSION = len(STEPS) + 1


@dataclass(frozen=True, slots=True)
class Purged:
    """What became of clearing the files."""

    problems: tuple[str, ...] = ()
    """What is left elsewhere, a sentence each."""
    again: bool = False
    """Bytes are left in our own files; it has to be tried again."""


class Backend(Protocol):
    """What SQLite and PostgreSQL do differently."""

    engine: Engine
    words: TextIndex

    def begin_writing(self, connection: Connection) -> None:
        """Begin a transaction that excludes other writers. Waits as long as the store was opened for."""
        ...

    def begin_reading(self, connection: Connection) -> None:
        """Begin a transaction that sees one state of everything."""
        ...

    def before_create(self, connection: Connection) -> None:
        """Inside the transaction that makes the tables, before they are made."""
        ...

    def purge(self) -> Purged:
        """Write the files anew without what was erased."""
        ...

    def fault(self, error: DBAPIError) -> MemoryFault:
        """An error of the driver as a fault."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def close(self) -> None:
        """End all connections."""
        ...


def open_backend(url: str, busy_seconds: float) -> Backend:
    """The backend for a URL, with no connection made yet. Raises `MemoryFault` (INVALID)."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise _bad_url() from None
    if parsed.drivername == "sqlite" and parsed.database and parsed.database != ":memory:":
        from memory.store.sqlite import SqliteBackend

        return SqliteBackend(parsed.database, busy_seconds)
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        from memory.store.postgres import PostgresBackend

        return PostgresBackend(parsed.set(drivername="postgresql+psycopg"), busy_seconds)
    raise _bad_url()


def prepare(backend: Backend) -> str:
    """Create the tables or bring them up to date, all steps or none; the database's identity.

    Raises `MemoryFault` (UNAVAILABLE) for a newer version's database.
    """
    with writing(backend) as connection:
        backend.before_create(connection)
        found = set(backend.engine.dialect.get_table_names(connection))
        if "meta" not in found:
            metadata.create_all(connection)
            backend.words.create(connection)
            identity = secrets.token_hex(16)
            connection.execute(
                insert(meta),
                [
                    {"key": "identity", "value": identity},
                    {"key": "schema", "value": str(VERSION)},
                ],
            )
            return identity
        values = {
            row.key: row.value for row in connection.execute(select(meta.c.key, meta.c.value))
        }
        version = int(values["schema"])
        if version > VERSION:
            raise MemoryFault(
                FaultCode.UNAVAILABLE,
                f"A newer mms wrote this memory (schema {version}, this one knows {VERSION}).",
                "Update mms.",
            )
        for step in STEPS[version - 1 :]:
            step(connection)
        if version < VERSION:
            connection.execute(
                update(meta).where(meta.c.key == "schema").values(value=str(VERSION))
            )
        return values["identity"]


@contextmanager
def writing(backend: Backend, lock: WriteLock | None = None) -> Generator[Connection]:
    """One transaction that alone writes: all of it, or nothing. Raises `MemoryFault`."""
    with lock.held() if lock else _free(), faults(backend), backend.engine.connect() as connection:
        backend.begin_writing(connection)
        try:
            yield connection
            PreparedConnection(connection, writes=True).exec_driver_sql("COMMIT")
        except BaseException:
            connection.rollback()
            raise


@contextmanager
def reading(backend: Backend) -> Generator[Connection]:
    """One state of everything. Raises `MemoryFault`."""
    with faults(backend), backend.engine.connect() as connection:
        backend.begin_reading(connection)
        try:
            yield connection
        finally:
            connection.rollback()


class WriteLock:
    """Lets threads of this process write in turn, so that they do not poll the database's lock."""

    def __init__(self, busy_seconds: float) -> None:
        """``busy_seconds``: longest wait."""
        self._lock = threading.Lock()
        self._busy_seconds = busy_seconds

    @contextmanager
    def held(self) -> Generator[None]:
        """Inside, no other thread writes. Raises `MemoryFault` (BUSY)."""
        if not self._lock.acquire(timeout=self._busy_seconds):
            raise busy()
        try:
            yield
        finally:
            self._lock.release()


def busy() -> MemoryFault:
    """The fault when the lock could not be had in time."""
    return MemoryFault(FaultCode.BUSY, "Another writer is busy with the memory.", "Try again.")


def unstorable() -> MemoryFault:
    """The fault for a value that no database holds."""
    return MemoryFault(
        FaultCode.INVALID,
        "A value cannot be stored: a number of more than 64 bits, or a name with NUL or half a character.",
    )


def used_already() -> MemoryFault:
    """The fault for an id or key that has to be new."""
    return MemoryFault(FaultCode.INVALID, "An id or idempotency key is used already.")


@contextmanager
def _free() -> Generator[None]:
    yield


@contextmanager
def faults(backend: Backend) -> Generator[None]:
    """Errors of the database inside become `MemoryFault`."""
    try:
        yield
    except DBAPIError as error:
        raise backend.fault(error) from error
    except PoolTimeout as error:
        raise busy() from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise unstorable() from error


def _bad_url() -> MemoryFault:
    return MemoryFault(
        FaultCode.INVALID,
        "The memory's database is neither sqlite:///PATH nor postgresql://….",
        "Check memory.database in the settings.",
    )
