"""Write JSON with less repetition, so that it can be rebuilt exactly.

The outcome is JSON itself: an object with a legend, ``shapes`` (keys of objects that are written as
rows), ``refs`` (values that stand more than once) and ``data``. In it

- ``"#2"`` in a list: the rows that follow are objects with the keys of ``shapes[2]``, until the next
  such mark; ``{"#2": row}`` is one such object; ``{"#": list}`` is a list among rows;
- ``"@7"`` is a copy of ``refs[7]``;
- a string (or key) that begins with ``@`` or ``#`` by itself has one more ``@`` before it.

A shape is a list of columns: ``"key"``; ``["key", 2]`` for values that are rows of ``shapes[2]``;
``["key", [2]]`` for lists of such rows; ``["key", {"=": value}]`` for one value in all rows, which is
left out of them; ``["key", {"+": [before, after]}]`` for strings with the same beginning and end.
A value in such a column that is no list stands for itself.

Values are compared as JSON is written: numbers by their digits, keys in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from proxy.compress.json_nodes import FEWEST_ROWS, TooDeep
from proxy.compress.json_shapes import LEGEND, Encoder

_parser = msgspec.json.Decoder(float_hook=msgspec.Raw)


class NotEncodable(ValueError):
    """The text is no strict JSON, too deep, or the encoded form is damaged."""


def parse(data: bytes) -> object:
    """A value whose numbers with fraction or exponent stay text (`msgspec.Raw`)."""
    try:
        return _parser.decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NotEncodable("no strict JSON") from error


def canonical(value: object) -> bytes:
    """Compact JSON of a parsed value. Two values are the same when their bytes are."""
    return msgspec.json.encode(value)


def encode(value: object) -> bytes:
    """The shorter form of a parsed value. Raises `NotEncodable` when it is too deep."""
    try:
        return Encoder().encode(value)
    except TooDeep as error:
        raise NotEncodable("too deep") from error


def decode(text: str | bytes) -> bytes:
    """The JSON that `encode` was given, compact. Raises `NotEncodable` when ``text`` is damaged."""
    whole = parse(text.encode() if isinstance(text, str) else text)
    if not isinstance(whole, dict) or "data" not in whole:
        raise NotEncodable("no data")
    try:
        return canonical(_Decoder(cast("dict[str, object]", whole)).whole())
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        StopIteration,
    ) as error:
        raise NotEncodable("damaged") from error


def legend(text: str) -> str:
    """Our own words in an encoded form."""
    whole = parse(text.encode())
    found = cast("dict[str, object]", whole).get(LEGEND) if isinstance(whole, dict) else None
    return found if isinstance(found, str) else ""


class _Shape:
    """The columns of ``shapes[n]``."""

    def __init__(self, definition: Sequence[object]) -> None:
        self.names: list[str] = []
        self.hows: list[object] = []
        for column in definition:
            name, how = (
                (column, None) if isinstance(column, str) else cast("tuple[str, object]", column)
            )
            self.names.append(name[1:] if name[:1] == "@" else name)
            self.hows.append(how)
        self.plain = not any(how is not None for how in self.hows)
        self.simple = all(
            how is None or (isinstance(how, dict) and "+" in how) for how in self.hows
        )
        """Columns of scalars, none of which is left out."""


class _Decoder:
    def __init__(self, top: dict[str, object]) -> None:
        self._shapes = [
            _Shape(shape) for shape in cast("list[list[object]]", top.get("shapes", []))
        ]
        self._refs = cast("list[object]", top.get("refs", []))
        self._known: dict[int, object] = {}
        self._open: set[int] = set()
        self._data = top["data"]

    def whole(self) -> object:
        return self._value(self._data)

    def _value(self, value: object) -> object:
        if type(value) is str:
            return self._text(value) if value[:1] == "@" else value
        if type(value) is list:
            return self._list(cast("list[object]", value))
        if type(value) is not dict:
            return value
        members = cast("dict[str, object]", value)
        if len(members) == 1:
            (key,) = members
            if key[:1] == "#":
                inner = cast("list[object]", members[key])
                return (
                    self._list(inner)
                    if key == "#"
                    else self._row(self._shapes[int(key[1:])], inner)
                )
        return {
            (key[1:] if key[:1] == "@" else key): self._value(part) for key, part in members.items()
        }

    def _text(self, text: str) -> object:
        if text[1:2] in ("@", "#"):
            return text[1:]
        number = int(text[1:])
        if number not in self._known:
            if number in self._open:
                raise NotEncodable("a reference holds itself")
            self._open.add(number)
            self._known[number] = self._value(self._refs[number])
        return self._known[number]

    def _list(self, items: list[object]) -> list[object]:
        shape: _Shape | None = None
        found: list[object] = []
        rows: list[list[object]] = []
        for item in items:
            if shape is not None and isinstance(item, list):
                rows.append(cast("list[object]", item))
                continue
            if rows and shape is not None:
                found += self._rows(shape, rows)
                rows = []
            if isinstance(item, str) and item[:1] == "#":
                shape = self._shapes[int(item[1:])]
            else:
                found.append(self._value(item))
        if rows and shape is not None:
            found += self._rows(shape, rows)
        return found

    def _rows(self, shape: _Shape, rows: list[list[object]]) -> list[dict[str, object]]:
        """Many rows: by column, when these hold only scalars."""
        columns = list(zip(*rows, strict=True))
        if len(rows) < FEWEST_ROWS or len(columns) != len(shape.names) or not shape.simple:
            return [self._row(shape, row) for row in rows]
        for place, (column, how) in enumerate(zip(columns, shape.hows, strict=True)):
            kinds = set(map(type, column))
            if list in kinds or dict in kinds or (how is not None and kinds != {str}):
                return [self._row(shape, row) for row in rows]
            if str in kinds and any(type(cell) is str and cell[:1] == "@" for cell in column):
                column = tuple([self._value(cell) for cell in column])
            if how is not None:
                before, after = cast("dict[str, list[str]]", how)["+"]
                column = tuple([f"{before}{cell}{after}" for cell in column])
            columns[place] = column
        return [dict(zip(shape.names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _row(self, shape: _Shape, row: list[object]) -> dict[str, object]:
        if shape.plain:
            value = self._value
            return {
                name: cell if type(cell) is int else value(cell)
                for name, cell in zip(shape.names, row, strict=True)
            }
        cells = iter(row)
        found = {
            name: self._value(next(cells)) if how is None else self._cell(how, cells)
            for name, how in zip(shape.names, shape.hows, strict=True)
        }
        if next(cells, self) is not self:
            raise NotEncodable("a row is too long")
        return found

    def _cell(self, how: object, cells: Iterator[object]) -> object:
        if isinstance(how, dict):
            rule = cast("dict[str, object]", how)
            if "=" in rule:
                return self._value(rule["="])
            before, after = cast("list[str]", rule["+"])
            return f"{before}{cast('str', self._value(next(cells)))}{after}"
        value = next(cells)
        if type(value) is not list:
            return self._value(value)
        parts = cast("list[object]", value)
        if isinstance(how, int):
            return self._row(self._shapes[how], parts)
        (inner,) = cast("list[int]", how)
        shape = self._shapes[inner]
        return [
            self._row(shape, cast("list[object]", part))
            if type(part) is list
            else self._value(part)
            for part in parts
        ]
