"""A memory in a SQLite file.

``synchronous=FULL`` in WAL mode: what was committed survives a power cut. ``secure_delete``: what is
deleted is overwritten with zeros. A damaged file is moved away with its companions, and opening fails
once with a text that says where it is: a memory never starts empty without a word. Imports SQLAlchemy.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from memory.errors import FaultCode, MemoryFault
from memory.store.backend import Purged, busy, used_already
from memory.store.fts5 import Fts5Index
from memory.store.prepared import PreparedConnection
from memory.store.text_index import TextIndex

APPLICATION_ID = 0x6D6D7332
"""Marks a SQLite file as a memory (``mms2``)."""

_COMPANIONS = ("-wal", "-shm", "-journal")
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRAGMAS = (
    "trusted_schema=0",
    "cell_size_check=1",
    "foreign_keys=1",
    "mmap_size=0",
    "secure_delete=1",
    "synchronous=FULL",
    "cache_size=-16384",
    "wal_autocheckpoint=1000",
    "journal_size_limit=16777216",
)


class SqliteBackend:
    """See `memory.store.backend.Backend`."""

    def __init__(self, file: str, busy_seconds: float) -> None:
        """Check the file, which is created if there is none. Raises `MemoryFault` (UNAVAILABLE)."""
        self.file = Path(file).absolute()
        self.words: TextIndex = Fts5Index()
        self._busy_seconds = busy_seconds
        self._suspicion = self.file.with_name(self.file.name + ".damaged")
        self._check()
        self.engine = create_engine(
            URL.create("sqlite", database=str(self.file)),
            poolclass=QueuePool,
            pool_size=6,
            max_overflow=26,
            pool_timeout=busy_seconds,
            connect_args={
                "timeout": busy_seconds,
                "isolation_level": None,
                "check_same_thread": False,
            },
        )
        event.listen(self.engine, "connect", _configure)

    def begin_writing(self, connection: Connection) -> None:
        """Take SQLite's one write lock."""
        PreparedConnection(connection, writes=True).exec_driver_sql("BEGIN IMMEDIATE")

    def begin_reading(self, connection: Connection) -> None:
        """Begin, and read once: the state is that of the first read."""
        # SQLAlchemy does not learn of the transaction, whose end its pool sees to, and takes less time.
        prepared = PreparedConnection(connection, writes=False)
        prepared.exec_driver_sql("BEGIN")
        prepared.exec_driver_sql("SELECT 1 FROM sqlite_schema LIMIT 1")

    def before_create(self, connection: Connection) -> None:
        """Put our mark on the file."""
        connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")

    def purge(self) -> Purged:
        """Write the index of words, the file and the write-ahead log anew."""
        with self.engine.connect() as connection:
            self.begin_writing(connection)
            self.words.scrub(connection)
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("VACUUM")
            blocked, _, _ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            connection.rollback()
        if blocked:
            problem = (
                f"{self.file.name}-wal could not be emptied, since somebody reads the memory right now. "
                "It is tried again when the memory is opened."
            )
            return Purged((problem,), again=True)
        return Purged()

    def fault(self, error: DBAPIError) -> MemoryFault:
        """An error of the driver as a fault. After damage, the next opening checks the whole file."""
        if _is_damage(error.orig):
            with suppress(OSError):
                self._suspicion.touch(mode=0o600)
        return fault_of(self.file, error.orig)

    def size(self) -> int:
        """Bytes of the file and its write-ahead log."""
        paths = (self.file, self.file.with_name(self.file.name + "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def close(self) -> None:
        """End all connections; the last one moves the write-ahead log into the file."""
        self.engine.dispose()

    def _check(self) -> None:
        """Make sure that the file is ours, whole, and in WAL mode; create it if there is none."""
        try:
            _create_private(self.file)
            log = self.file.with_name(self.file.name + "-wal")
            unclean = _holds_bytes(log) or self._suspicion.exists()
            connection = sqlite3.connect(
                self.file, timeout=self._busy_seconds, isolation_level=None
            )
            try:
                self._inspect(connection, unclean)
            finally:
                connection.close()
            self._suspicion.unlink(missing_ok=True)
        except _Damaged as damaged:
            raise self._set_aside(str(damaged)) from damaged
        except sqlite3.Error as error:
            if _is_damage(error):
                raise self._set_aside(str(error)) from error
            raise fault_of(self.file, error) from error
        except OSError as error:
            raise fault_of(self.file, error) from error

    def _inspect(self, connection: sqlite3.Connection, unclean: bool) -> None:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID and (tables or application):
            raise MemoryFault(
                FaultCode.UNAVAILABLE,
                f"{self.file} is no memory: it belongs to another program.",
                "Name another file in the settings.",
            )
        if unclean:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            if answer != ("ok",):
                raise _Damaged(str(answer[0]))
        (mode,) = self._wal(connection)
        if mode != "wal":
            raise MemoryFault(
                FaultCode.UNAVAILABLE,
                f"{self.file} is on a file system without shared memory (a network mount?).",
                "Put the memory on a local disk.",
            )

    def _wal(self, connection: sqlite3.Connection) -> tuple[str]:
        # SQLite does not wait by itself here when two programs create the file at the same moment.
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                mode: tuple[str] = connection.execute("PRAGMA journal_mode=WAL").fetchone()
                return mode
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or (
                    time.monotonic() > deadline
                ):
                    raise
                time.sleep(0.01)

    def _set_aside(self, why: str) -> MemoryFault:
        try:
            directory = _set_aside(self.file)
            self._suspicion.unlink(missing_ok=True)
        except OSError as error:
            return MemoryFault(
                FaultCode.UNAVAILABLE,
                f"{self.file} is damaged ({why}) and cannot be moved away: {error.strerror}.",
                "Move it away and restore a copy.",
            )
        return MemoryFault(
            FaultCode.UNAVAILABLE,
            f"The memory in {self.file} was damaged ({why}). It was moved to {directory}, unchanged.",
            "Restore a copy of it, or start again with an empty memory.",
        )


class _Damaged(Exception):
    """The check found a fault in the file."""


def _is_damage(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def damaged_copies(file: Path) -> tuple[Path, ...]:
    """Files that were set aside beside ``file``, oldest first."""
    return tuple(sorted(file.parent.glob(f"damaged-*/{file.name}")))


def fault_of(file: Path, error: BaseException | None) -> MemoryFault:
    """An error of SQLite or of the file system as a fault."""
    if isinstance(error, OSError):
        why = error.strerror or str(error)
        return MemoryFault(FaultCode.UNAVAILABLE, f"{file} cannot be used: {why}.")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy()
    advice = {
        sqlite3.SQLITE_FULL: ("the disk is full", "Free some space."),
        sqlite3.SQLITE_READONLY: (
            "it is read-only",
            "Check the mode of the file and its directory.",
        ),
        sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check its directory and its mode."),
        sqlite3.SQLITE_PERM: ("access is denied", "Check the file's owner and mode."),
        sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check the disk and its free space."),
        sqlite3.SQLITE_CORRUPT: ("it is damaged", "Restart the memory, which sets it aside."),
        sqlite3.SQLITE_NOTADB: ("it is no database", "Restart the memory, which sets it aside."),
    }.get(code)
    if code == sqlite3.SQLITE_CONSTRAINT:
        return used_already()
    if advice is None:
        return MemoryFault(FaultCode.INTERNAL, f"{file.name}: {error}.")
    return MemoryFault(FaultCode.UNAVAILABLE, f"{file} cannot be used: {advice[0]}.", advice[1])


def _configure(connection: Any, _record: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _create_private(file: Path) -> None:
    """Make sure that file and directory exist; the owner alone can read what is created here.

    SQLite gives its companions the mode of the file. Must not be called while the file is open.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _holds_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _set_aside(file: Path) -> Path:
    """Move the file and its companions into a new directory beside it, and name that."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number = 1
    while True:
        name = f"damaged-{stamp}" if number == 1 else f"damaged-{stamp}-{number}"
        try:
            (file.parent / name).mkdir(mode=0o700)
        except FileExistsError:
            number += 1
        else:
            break
    for path in (file, *(file.with_name(file.name + suffix) for suffix in _COMPANIONS)):
        if path.exists():
            path.rename(file.parent / name / path.name)
    return file.parent / name
