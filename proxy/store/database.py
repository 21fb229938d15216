"""Open a SQLite file safely: one writer, short-lived readers, ordered migrations.

The rules, each of which prevents damage that was seen in the field:

- Exactly one connection of the machine writes, and it alone moves the write-ahead log into the file
  (SQLite before 3.51.3 can lose data otherwise). The station's lock on its directory guarantees it.
- ``synchronous=FULL``: what was committed survives a power cut.
- A file that is damaged or not ours is moved away, never repaired or overwritten in place.
- A file that a newer version wrote is left alone.
- The files are never opened other than by SQLite: closing any other descriptor drops SQLite's locks.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from proxy.store.damaged import set_aside

APPLICATION_ID = 0x6D6D7331
"""Marks a SQLite file as ours (``mms1``)."""

CALL_HISTORY = "call history"

_BUSY_SECONDS = 5.0
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class StoreUnavailable(Exception):
    """The store cannot be used now. ``str()`` says why and what to do, for a person."""


class StoreTooOld(StoreUnavailable):
    """The file has to be opened for writing first, which brings it up to date."""


class StoreTooNew(StoreUnavailable):
    """A newer version of mms wrote the file; this one leaves it alone."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. Its number is its place in the list; never changed once released."""

    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A database ready for writing."""

    connection: sqlite3.Connection
    damaged: Path | None
    """Where an unusable file was moved to; the database is then a new, empty one."""
    notice: str
    """What a person should know about the opening; empty if all went well."""


def is_damaged(error: sqlite3.Error) -> bool:
    """The file's content is at fault: only another file helps."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED


def open_for_writing(
    file: Path, migrations: Sequence[Migration], *, what: str = CALL_HISTORY
) -> Opened:
    """Open, create or migrate the database of which this process is the one writer.

    ``what`` is in the file, for messages. Takes a full check of the file (0.3 s for 70 MB) when the
    last writer did not call `close_writer`. Raises `StoreUnavailable` when it cannot be written now
    (no space, read-only, locked) and `StoreTooNew` when it never can by this version.
    """
    try:
        _create_private(file)
        try:
            return Opened(_prepare(file, migrations, what), None, "")
        except _UnusableFile as unusable:
            directory = set_aside(file)
            _marker(file).unlink(missing_ok=True)
            _create_private(file)
            notice = (
                f"The {what} in {file.name} was unusable ({unusable}) and was moved to "
                f"{directory}. A new file was started; calls are not affected."
            )
            return Opened(_prepare(file, migrations, what), directory, notice)
    except (OSError, sqlite3.Error, _UnusableFile) as error:
        raise unavailable(file, error) from error


def close_writer(file: Path, connection: sqlite3.Connection, *, clean: bool = True) -> None:
    """Close; unless ``clean`` is false the next opening then needs no check. Never raises."""
    try:
        connection.close()
        if clean:
            _marker(file).unlink(missing_ok=True)
    except (OSError, sqlite3.Error):
        return  # the marker stays and the next opening checks the file


@contextmanager
def open_for_reading(
    file: Path, migrations: Sequence[Migration], *, what: str = CALL_HISTORY
) -> Generator[sqlite3.Connection | None]:
    """A read-only connection for a few short queries, closed at the end.

    Works beside a running writer and after one that was killed. Gives ``None`` when nothing was ever
    written. Raises `StoreUnavailable` when the file is unreadable, damaged or not ours, also for
    errors of the queries inside, `StoreTooOld` and `StoreTooNew`.
    """
    if not file.exists():
        yield None
        return
    connection = None
    try:
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
        )
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA trusted_schema=0")
        connection.execute("PRAGMA mmap_size=0")
        yield connection if _is_filled(connection, file, migrations, what) else None
    except (OSError, sqlite3.Error) as error:
        raise unavailable(file, error) from error
    finally:
        if connection is not None:
            connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Everything inside is written, or nothing. An error that SQLite rolled back itself is fine."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def unavailable(file: Path, error: Exception) -> StoreUnavailable:
    """``error`` as a sentence for a person."""
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return StoreUnavailable(f"{file} cannot be used: {reason}. Check the directory's mode.")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    advice = {
        sqlite3.SQLITE_FULL: "the disk is full. Free some space.",
        sqlite3.SQLITE_READONLY: "it is read-only. Check the mode of the file and its directory.",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Check that its directory exists and its mode.",
        sqlite3.SQLITE_PERM: "access is denied. Check the file's owner and mode.",
        sqlite3.SQLITE_BUSY: "another program holds a lock on it. End that program.",
        sqlite3.SQLITE_IOERR: "the disk reports an error. Check the disk and its free space.",
        sqlite3.SQLITE_CORRUPT: "it is damaged. It is replaced when a station starts.",
        sqlite3.SQLITE_NOTADB: "it is no database. It is replaced when a station starts.",
    }.get(code, f"{error}.")
    return StoreUnavailable(f"{file} cannot be used: {advice}")


class _UnusableFile(Exception):
    """Damaged or foreign; the text completes "was unusable (…)"."""


def _marker(file: Path) -> Path:
    """Exists while a writer has the database open: found at the start, the writer did not close."""
    return file.with_name(file.name + ".writing")


def _create_private(file: Path) -> None:
    """Make sure that file and directory exist and only the owner can read them.

    SQLite gives its companions the mode of the file. Must not be called while the file is open.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


def _prepare(file: Path, migrations: Sequence[Migration], what: str) -> sqlite3.Connection:
    marker = _marker(file)
    unclean = marker.exists()
    connection = sqlite3.connect(
        file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _configure(connection, file)
        if unclean:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            if answer != ("ok",):
                raise _UnusableFile(f"the check says: {answer[0] if answer else 'nothing'}")
        marker.touch(mode=0o600)
        _migrate(connection, file, migrations, what)
    except sqlite3.Error as error:
        connection.close()
        if is_damaged(error):
            raise _UnusableFile(str(error)) from error
        raise
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: sqlite3.Connection, file: Path) -> None:
    application, tables = _owner(connection)
    if application != APPLICATION_ID and (tables or application):
        raise _UnusableFile("it belongs to another program")
    if not tables:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    for pragma in (
        "trusted_schema=0",
        "cell_size_check=1",
        "foreign_keys=1",
        "mmap_size=0",
        "wal_autocheckpoint=1000",
        "journal_size_limit=16777216",
        "synchronous=FULL",
    ):
        connection.execute(f"PRAGMA {pragma}")
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        raise StoreUnavailable(
            f"{file} is on a file system without shared memory (a network mount?). "
            "Put the state directory on a local disk."
        )


def _owner(connection: sqlite3.Connection) -> tuple[int, int]:
    """The application id and the number of tables and indexes.

    In this order: a writer may fill the file in between, and a file with tables has its id.
    """
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    return int(application), int(tables)


def _is_filled(
    connection: sqlite3.Connection, file: Path, migrations: Sequence[Migration], what: str
) -> bool:
    """True when there is something to read, False when a writer has only just created the file."""
    application, tables = _owner(connection)
    if not application and not tables:
        return False
    if application != APPLICATION_ID:
        raise StoreUnavailable(f"{file} is no file of mms ({what}). Move it away.")
    version = _version(connection, file, migrations, what)
    if version < len(migrations):
        raise StoreTooOld(
            f"{file} was written by an older mms. Start a station (mms serve) to bring it up to date."
        )
    return True


def _version(
    connection: sqlite3.Connection, file: Path, migrations: Sequence[Migration], what: str
) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise StoreTooNew(
            f"{file} was written by a newer mms (schema {version}, this one knows "
            f"{len(migrations)}). Calls go on, but nothing is added to the {what}. Update mms, or move "
            "the file away."
        )
    return int(version)


def _migrate(
    connection: sqlite3.Connection, file: Path, migrations: Sequence[Migration], what: str
) -> None:
    """All missing steps or none, so that a reader never sees a file between two of them."""
    version = _version(connection, file, migrations, what)
    if version == len(migrations):
        return
    with transaction(connection):
        for migration in migrations[version:]:
            for statement in migration.statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={len(migrations)}")
