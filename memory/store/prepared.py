"""Writes without the cost of their way through SQLAlchemy: compiled once, then straight to the driver.

Storing one memory takes some twenty small writes, and on each SQLAlchemy spends nearly as long as SQLite.
What it makes of a statement for a set of parameters never changes, so it is kept. Statements
that need more than that (expanding lists, defaults made in Python, ``RETURNING``) go the usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import UpdateBase

_MOST = 1_000
"""Compiled statements that are kept; there are fewer."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A statement for one set of parameters."""

    sql: str
    order: tuple[str, ...] | None
    """Names by position; ``None``: the driver takes names."""
    fixed: Mapping[str, Any]
    """Values that the statement brings itself."""
    processors: Mapping[str, Callable[[Any], Any]]
    """What a value must pass before the driver gets it."""


_prepared: dict[tuple[int, str, tuple[str, ...]], tuple[UpdateBase, _Prepared | None]] = {}
"""By statement, dialect and names of the parameters; the statement is kept, so that its id stays its own."""


class PreparedConnection:
    """A `Connection` for one transaction of writes. What it does not know itself the connection does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._driver = cast("Any", connection.connection.driver_connection)
        self._dialect = connection.dialect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """As `Connection.execute`. The result of a write has ``rowcount`` only."""
        if not isinstance(statement, UpdateBase) or not parameters:
            return self._connection.execute(statement, parameters)
        several = isinstance(parameters, list)
        rows = cast("Sequence[Mapping[str, Any]]", parameters if several else [parameters])
        prepared = self._prepare(statement, rows[0])
        if prepared is None:
            return self._connection.execute(statement, parameters)
        values = [_values(prepared, row) for row in rows]
        cursor = self._driver.cursor()
        try:
            if several:
                cursor.executemany(prepared.sql, values)
            else:
                cursor.execute(prepared.sql, values[0])
        except self._dialect.loaded_dbapi.Error as error:
            raise DBAPIError.instance(
                prepared.sql,
                cast("Any", None),
                error,
                self._dialect.loaded_dbapi.Error,
                hide_parameters=True,
                dialect=self._dialect,
            ) from error
        return cursor

    def _prepare(self, statement: UpdateBase, row: Mapping[str, Any]) -> _Prepared | None:
        names = tuple(sorted(row))
        key = (id(statement), self._dialect.name, names)
        known = _prepared.get(key)
        if known is None:
            if len(_prepared) >= _MOST:
                _prepared.clear()
            known = _prepared[key] = (statement, self._compile(statement, names))
        return known[1]

    def _compile(self, statement: UpdateBase, names: tuple[str, ...]) -> _Prepared | None:
        compiled = cast("Any", statement.compile(dialect=self._dialect, column_keys=list(names)))
        needs_more = (
            compiled.post_compile_params
            or compiled.literal_execute_params
            or compiled.insert_prefetch
            or compiled.update_prefetch
            or compiled.effective_returning
        )
        if needs_more:
            return None
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        order = tuple(compiled.positiontup) if compiled.positional else None
        processors = dict(compiled._bind_processors)  # noqa: SLF001  # there is no public way to them
        return _Prepared(compiled.string, order, fixed, processors)


def _values(prepared: _Prepared, row: Mapping[str, Any]) -> Any:
    values: dict[str, Any] = {**prepared.fixed, **row}
    for name, process in prepared.processors.items():
        values[name] = process(values[name])
    if prepared.order is None:
        return values
    return [values[name] for name in prepared.order]
