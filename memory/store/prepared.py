"""Statements without the cost of their way through SQLAlchemy: compiled once, then straight to the driver.

Storing one memory takes some thirty small statements, and on each SQLAlchemy spends longer than SQLite.
What it makes of a statement for a set of parameters never changes, so it is kept; for a list (``IN``), one
text for each of a few lengths. Statements that need more than that (values in the text, defaults made in
Python) go the usual way, and so do those without parameters: they are rare, or made anew each time.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sqlalchemy import ClauseElement, Connection
from sqlalchemy.exc import DBAPIError, MultipleResultsFound, NoResultFound
from sqlalchemy.sql.dml import UpdateBase

_MOST = 1_000
"""Compiled statements that are kept; there are fewer."""
_LENGTHS = (1, 2, 4, 8, 12, 16, 24, 32, 40, 64, 100, 150, 250, 500)
"""A list in a statement is filled up to one of these lengths with its last value, which changes nothing."""

_Processor: TypeAlias = Callable[[Any], Any]
_Key: TypeAlias = "tuple[int, str, tuple[str, ...], tuple[int, ...]]"


@dataclass(slots=True)
class _Prepared:
    """A statement for one set of parameters."""

    sql: str
    order: tuple[str, ...] | None
    """Names by position; ``None``: the driver takes names."""
    fixed: Mapping[str, Any]
    """Values that the statement brings itself."""
    processors: Mapping[str, _Processor]
    """What a value must pass before the driver gets it."""
    lists: Mapping[str, tuple[str, ...]]
    """By parameter that is a list: the parameters that its values become."""
    columns: tuple[Any, ...]
    """SQLAlchemy's columns of the result; none for a write."""
    row: Callable[[Sequence[Any]], Any] = tuple
    after: tuple[tuple[int, _Processor], ...] | None = None
    """What values of the result must pass, by place; known when there was a result."""


_prepared: dict[_Key, tuple[ClauseElement, _Prepared | None]] = {}
"""By statement, dialect, names of the parameters, and lengths of those that are lists. The statement is kept,
so that its id stays its own."""


@dataclass(slots=True)
class PreparedResult:
    """What a statement answered, all of it."""

    found: list[Any]
    rowcount: int = -1

    def __iter__(self) -> Iterator[Any]:
        return iter(self.found)

    def all(self) -> list[Any]:
        """All rows; their values also have names."""
        return self.found

    def first(self) -> Any:
        """The first row, ``None`` without rows."""
        return self.found[0] if self.found else None

    def one_or_none(self) -> Any:
        """The only row, ``None`` without rows. Raises `MultipleResultsFound`."""
        if len(self.found) > 1:
            raise MultipleResultsFound("Several rows were found where one or none was expected.")
        return self.found[0] if self.found else None

    def one(self) -> Any:
        """The only row. Raises `NoResultFound` and `MultipleResultsFound`."""
        row = self.one_or_none()
        if row is None:
            raise NoResultFound("No row was found where one was expected.")
        return row

    def scalars(self) -> list[Any]:
        """The first value of every row."""
        return [row[0] for row in self.found]

    def scalar_one(self) -> Any:
        """The first value of the only row. Raises as `one`."""
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        """The first value of the only row, ``None`` without rows. Raises as `one_or_none`."""
        row = self.one_or_none()
        return None if row is None else row[0]


class PreparedConnection:
    """A `Connection` for one transaction. What it does not know itself the connection does."""

    def __init__(self, connection: Connection, *, writes: bool) -> None:
        """``writes``: the transaction may change something."""
        self._connection = connection
        self._driver = cast("Any", connection.connection.driver_connection)
        self._dialect = connection.dialect
        self.writes = writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """As `Connection.execute`, with a `PreparedResult` where there are parameters."""
        if not parameters:
            return self._connection.execute(statement, parameters)
        several = isinstance(parameters, list)
        rows = cast("Sequence[Mapping[str, Any]]", parameters if several else [parameters])
        prepared = self._prepare(statement, rows[0])
        if prepared is None:
            return self._connection.execute(statement, parameters)
        if several:
            return self._run(prepared.sql, [_values(prepared, row) for row in rows], several=True)
        return self._run(prepared.sql, _values(prepared, rows[0]), prepared)

    def exec_driver_sql(self, statement: str, parameters: Any = None) -> Any:
        """As `Connection.exec_driver_sql`."""
        return self._run(statement, parameters)

    def _run(
        self, sql: str, values: Any, prepared: _Prepared | None = None, *, several: bool = False
    ) -> PreparedResult:
        cursor = self._driver.cursor()
        try:
            if several:
                cursor.executemany(sql, values)
            elif values is None:
                cursor.execute(sql)
            else:
                cursor.execute(sql, values)
            some = cursor.description is not None and not several
            found: list[Any] = cursor.fetchall() if some else []
            if prepared is not None and prepared.columns:
                found = self._rows(prepared, found, cursor.description)
            return PreparedResult(found, cursor.rowcount)
        except self._dialect.loaded_dbapi.Error as error:
            raise DBAPIError.instance(
                sql,
                cast("Any", None),
                error,
                self._dialect.loaded_dbapi.Error,
                hide_parameters=True,
                dialect=self._dialect,
            ) from error
        finally:
            cursor.close()

    def _rows(self, prepared: _Prepared, found: list[Any], description: Any) -> list[Any]:
        if prepared.after is None:
            steps = (
                (place, column.type.dialect_impl(self._dialect))
                for place, column in enumerate(prepared.columns)
            )
            processors = (
                (place, type_.result_processor(self._dialect, description[place][1]))
                for place, type_ in steps
            )
            prepared.after = tuple((place, one) for place, one in processors if one is not None)
        if not prepared.after:
            return list(map(prepared.row, found))
        rows: list[Any] = []
        for row in found:
            values = list(row)
            for place, process in prepared.after:
                values[place] = process(values[place])
            rows.append(prepared.row(values))
        return rows

    def _prepare(self, statement: ClauseElement, row: Mapping[str, Any]) -> _Prepared | None:
        lengths = tuple(map(_length, filter(_is_list, row.values())))
        key = (id(statement), self._dialect.name, tuple(row), lengths)
        known = _prepared.get(key)
        if known is None:
            if len(_prepared) >= _MOST:
                _prepared.clear()
            known = _prepared[key] = (statement, self._compile(statement, row))
        return known[1]

    def _compile(self, statement: ClauseElement, row: Mapping[str, Any]) -> _Prepared | None:
        writes = isinstance(statement, UpdateBase)
        keys = list(row) if writes else None
        compiled = cast("Any", statement.compile(dialect=self._dialect, column_keys=keys))
        lists = {
            name: _filled(value)
            for name, value in row.items()
            if _is_list(value) and name in compiled.binds
        }
        needs_more = (
            compiled.literal_execute_params
            or (writes and (compiled.insert_prefetch or compiled.update_prefetch))
            or not all(lists.values())
        )
        if needs_more:
            return None
        fixed = {name: value for name, value in compiled.params.items() if name not in row}
        columns = tuple(compiled._result_columns)  # noqa: SLF001  # there is no public way to them
        processors = dict(compiled._bind_processors)  # noqa: SLF001
        sql, order = compiled.string, compiled.positiontup if compiled.positional else None
        expanded: dict[str, tuple[str, ...]] = {}
        if compiled.post_compile_params:
            state = compiled.construct_expanded_state({**fixed, **row, **lists})
            sql, order = state.statement, state.positiontup if compiled.positional else None
            expanded = {name: tuple(into) for name, into in state.parameter_expansion.items()}
            processors |= state.processors
            if set(expanded) != set(lists):
                return None
        processors = {
            name: process
            for name, process in processors.items()
            if name not in expanded and callable(process)
        }
        names = [str(column.keyname) for column in columns]
        return _Prepared(
            sql,
            None if order is None else tuple(order),
            fixed,
            processors,
            expanded,
            columns,
            cast("Any", collections).namedtuple("Row", names, rename=True)._make,
        )


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _length(values: list[Any]) -> int:
    """The length that a list is filled up to."""
    size = len(values)
    return next((length for length in _LENGTHS if length >= size), size) if size else 0


def _filled(values: list[Any]) -> list[Any]:
    return values + values[-1:] * (_length(values) - len(values))


def _values(prepared: _Prepared, row: Mapping[str, Any]) -> Any:
    values: dict[str, Any] = {**prepared.fixed, **row} if prepared.fixed else {**row}
    for name, into in prepared.lists.items():
        values.update(zip(into, _filled(values.pop(name)), strict=True))
    for name, process in prepared.processors.items():
        values[name] = process(values[name])
    if prepared.order is None:
        return values
    return [values[name] for name in prepared.order]
