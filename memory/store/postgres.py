"""A memory in a PostgreSQL database, for a team. Its tables are in the schema ``mms``.

Writers take an advisory lock for their transaction; it is given back after the commit can be seen. Imports
SQLAlchemy, and psycopg with the first connection.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DataError, DBAPIError

from memory.errors import FaultCode, MemoryFault
from memory.store.backend import Purged, busy, unstorable, used_already
from memory.store.tables import metadata
from memory.store.text_index import PostgresIndex, TextIndex

SCHEMA = "mms"
_LOCK = 0x6D6D732D6D656D
"""Of writers. The number is arbitrary and the same in every version."""


class PostgresBackend:
    """See `memory.store.backend.Backend`."""

    def __init__(self, url: URL, busy_seconds: float) -> None:
        """``busy_seconds``: the longest wait for another writer and for a connection."""
        self.words: TextIndex = PostgresIndex()
        self._milliseconds = max(1, round(busy_seconds * 1_000))
        self.engine = create_engine(
            url,
            pool_size=6,
            max_overflow=26,
            pool_timeout=busy_seconds,
            pool_pre_ping=True,
            connect_args={"connect_timeout": max(1, round(busy_seconds))},
        )
        event.listen(self.engine, "connect", _configure)

    def begin_writing(self, connection: Connection) -> None:
        """Take the lock; what is read after that is what the writer before left."""
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL READ COMMITTED")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {self._milliseconds}")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")

    def begin_reading(self, connection: Connection) -> None:
        """Begin, and read once: the state is that of the first read."""
        connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.exec_driver_sql("SELECT 1")

    def before_create(self, connection: Connection) -> None:
        """Make our schema."""
        found = connection.exec_driver_sql(f"SELECT to_regnamespace('{SCHEMA}')").scalar_one()
        if found is None:  # else it may not be ours to make
            connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")

    def purge(self) -> Purged:
        """Write the tables anew that held the text or parts of it."""
        names = [
            name
            for name in (*metadata.tables, "words")
            if name in ("texts", "words", "records", "outcomes", "proposals", "vectors", "edges")
        ]
        with self.engine.connect() as connection:
            for name in names:
                connection.exec_driver_sql(f"VACUUM FULL {SCHEMA}.{name}")
        problem = (
            "Backups, replicas and the write-ahead log of the PostgreSQL server are the server's own: what "
            "they hold is not erased here."
        )
        return Purged((problem,))

    def fault(self, error: DBAPIError) -> MemoryFault:
        """An error of the driver as a fault."""
        state = getattr(error.orig, "sqlstate", None)
        if state in ("55P03", "57014", "40001", "40P01"):
            return busy()
        if isinstance(error, DataError):
            return unstorable()
        if state == "23505":
            return used_already()
        said = str(error.orig).strip().partition("\n")[0]
        if (
            error.connection_invalidated
            or state is None
            or state[:2] in ("08", "28", "3D", "53", "57")
        ):
            return MemoryFault(
                FaultCode.UNAVAILABLE,
                f"The PostgreSQL server cannot be used: {said}.",
                "Check memory.database and the server.",
            )
        if state == "42501":
            return MemoryFault(
                FaultCode.UNAVAILABLE,
                f"The PostgreSQL server refuses it: {said}.",
                f"The user needs a schema {SCHEMA} of its own.",
            )
        return MemoryFault(FaultCode.INTERNAL, f"PostgreSQL: {said}.")

    def size(self) -> int:
        """Bytes of the whole database."""
        with self.engine.connect() as connection:
            query = "SELECT pg_database_size(current_database())"
            return int(connection.exec_driver_sql(query).scalar_one())

    def close(self) -> None:
        """End all connections."""
        self.engine.dispose()


def _configure(connection: Any, _record: object) -> None:
    # Transactions begin and end by our own words, so that they are of the kind that we want.
    connection.autocommit = True
    connection.execute(f"SET search_path TO {SCHEMA}")
