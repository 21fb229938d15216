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

import json
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from typing import Any, cast

import msgspec

from proxy.compress.json_nodes import Numbers, TooDeep, kind_of, written_number
from proxy.compress.json_shapes import LEGEND, Encoder

_JSON = msgspec.json.Encoder(enc_hook=written_number)
_OPENING = f'{{"{LEGEND}":'
_MARKS = ("@", "#")
_NOT_PLAIN = frozenset({str, list, dict})
FEW = 4
"""Rows or strings that are looked at one by one."""


class NotEncodable(ValueError):
    """The text is no strict JSON, too deep, or the encoded form is damaged."""


def parse(data: bytes, *, exact: bool = True) -> object:
    """A value whose numbers with fraction or exponent stay text (`json_nodes.Number`).

    Not ``exact``: they become floats, and may be spelled in another way when they are written.
    """
    try:
        if not exact:
            return msgspec.json.decode(data)
        return msgspec.json.Decoder(float_hook=Numbers().__getitem__).decode(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise NotEncodable("no strict JSON") from error


def canonical(value: object) -> bytes:
    """Compact JSON of a parsed value. Two values are the same when their bytes are."""
    return _JSON.encode(value)


def encode(value: object) -> bytes:
    """The shorter form of a parsed value. Raises `NotEncodable` when it is too deep."""
    try:
        return Encoder().encode(value)
    except TooDeep as error:
        raise NotEncodable("too deep") from error


def decode(text: str | bytes, *, exact: bool = True) -> bytes:
    """The JSON that `encode` was given, compact. Raises `NotEncodable` when ``text`` is damaged.

    Not ``exact`` is faster, and right when the outcome is what was expected (see `parse`).
    """
    whole = parse(text.encode() if isinstance(text, str) else text, exact=exact)
    if not isinstance(whole, dict) or "data" not in whole:
        raise NotEncodable("no data")
    top = cast("dict[str, Any]", whole)
    try:
        return canonical(_Decoder(top).whole())
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
    if not text.startswith(_OPENING):
        return ""
    try:
        found: object = json.JSONDecoder().raw_decode(text, len(_OPENING))[0]
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""


class _Shape:
    """The columns of ``shapes[n]``."""

    def __init__(self, definition: Sequence[Any]) -> None:
        self.names: list[str] = []
        self.hows: list[Any] = []
        """How each column is written; ``None`` for values that stand for themselves."""
        for column in definition:
            name, how = (column, None) if isinstance(column, str) else column
            self.names.append(name[1:] if name[:1] == "@" else name)
            self.hows.append(how)
        self.plain = not any(how is not None for how in self.hows)
        self.constants = [kind_of(how) is dict and "=" in how for how in self.hows]


class _Decoder:
    """Decodes one value. Many rows of a shape are decoded column by column."""

    def __init__(self, top: dict[str, Any]) -> None:
        shapes: list[list[Any]] = top.get("shapes", [])
        shapes: list[list[Any]] = top.get("shapes", [])
        self._shapes: list[_Shape] = [_Shape(shape) for shape in shapes]
        self._refs: list[Any] = top.get("refs", [])
        self._known: dict[int, Any] = {}
        self._open: set[int] = set()
        self._data = top["data"]

    def whole(self) -> Any:
        return self._value(self._data)

    def _value(self, value: Any) -> Any:
        kind = kind_of(value)
        if kind is str:
            return self._text(value) if value[:1] == "@" else value
        if kind is list:
            return self._list(value)
        if kind is not dict:
            return value
        if len(value) == 1:
            (key,) = value
            if key[:1] == "#":
                inner = value[key]
                if key == "#":
                    return self._list(inner)
                return self._row(self._shapes[int(key[1:])], inner)
        return {
            (key[1:] if key[:1] == "@" else key): self._value(part) for key, part in value.items()
        }

    def _text(self, text: str) -> Any:
        if text[1:2] in ("@", "#"):
            return text[1:]
        number = int(text[1:])
        if number not in self._known:
            if number in self._open:
                raise NotEncodable("a reference holds itself")
            self._open.add(number)
            self._known[number] = self._value(self._refs[number])
        return self._known[number]

    def _list(self, items: list[Any]) -> list[Any]:
        kinds = set(map(type, items))
        if list not in kinds and dict not in kinds and not _has_marks(items, kinds):
            return items
        shape: _Shape | None = None
        found: list[Any] = []
        rows: list[list[Any]] = []
        for item in items:
            if shape is not None and kind_of(item) is list:
                rows.append(item)
                continue
            if rows and shape is not None:
                found += self._rows(shape, rows)
                rows = []
            if type(item) is str and item[:1] == "#":
                shape = self._shapes[int(item[1:])]
            else:
                found.append(self._value(item))
        if rows and shape is not None:
            found += self._rows(shape, rows)
        return found

    def _rows(self, shape: _Shape, rows: Sequence[list[Any]]) -> list[Any]:
        """The objects of some rows; some of their columns are not in these."""
        if len(rows) < FEW:
            return [self._row(shape, row) for row in rows]
        written = iter(zip(*rows, strict=True))
        columns: list[Iterable[Any]] = []
        for how, constant in zip(shape.hows, shape.constants, strict=True):
            if constant:
                columns.append(repeat(self._value(how["="]), len(rows)))
            else:
                columns.append(self._column(how, next(written)))
        if next(written, None) is not None:
            raise NotEncodable("a row is too long")
        names = shape.names
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=False)]

    def _row(self, shape: _Shape, row: list[Any]) -> dict[str, Any]:
        if shape.plain:
            value = self._value
            return {
                name: value(cell) if type(cell) in _NOT_PLAIN else cell
                for name, cell in zip(shape.names, row, strict=True)
            }
        cells = iter(row)
        found = {
            name: self._value(how["="]) if constant else self._cell(how, next(cells))
            for name, how, constant in zip(shape.names, shape.hows, shape.constants, strict=True)
        }
        if next(cells, self) is not self:
            raise NotEncodable("a row is too long")
        return found

    def _cell(self, how: Any, cell: Any) -> Any:
        kind = kind_of(how)
        if how is None or (kind is not dict and kind_of(cell) is not list):
            return self._value(cell)
        if kind is dict:
            before, after = how["+"]
            return before + self._value(cell) + after
        if kind is int:
            return self._row(self._shape(how), cell)
        (inner,) = how
        return self._parts(self._shape(inner), cell)

    def _column(self, how: Any, cells: Sequence[Any]) -> Sequence[Any]:
        kinds = set(map(type, cells))
        if how is None:
            if list in kinds or dict in kinds:
                return self._nested(cells, kinds)
            return [self._value(cell) for cell in cells] if _has_marks(cells, kinds) else cells
        if kind_of(how) is dict:
            before, after = how["+"]
            if _has_marks(cells, kinds):
                cells = [self._value(cell) for cell in cells]
            return [before + cell + after for cell in cells]
        if kind_of(how) is int and list in kinds:
            if len(kinds) == 1:
                return self._rows(self._shape(how), cells)
            rows: list[list[Any]] = [cell for cell in cells if type(cell) is list]
            made = iter(self._rows(self._shape(how), rows))
            return [next(made) if type(cell) is list else self._value(cell) for cell in cells]
        return [self._cell(how, cell) for cell in cells]

    def _shape(self, number: int) -> _Shape:
        return self._shapes[number]

    def _parts(self, shape: _Shape, parts: list[Any]) -> list[Any]:
        """A list of rows, of which some may be references."""
        if len(parts) >= FEW and set(map(type, parts)) == {list}:
            return self._rows(shape, parts)
        return [
            self._row(shape, part) if kind_of(part) is list else self._value(part) for part in parts
        ]

    def _nested(self, cells: Sequence[Any], kinds: set[type]) -> Sequence[Any]:
        """Lists of scalars as they are, everything else one by one."""
        if kinds == {list}:
            parts = list(chain.from_iterable(cells))
            inner = set(map(type, parts))
            if list not in inner and dict not in inner and not _has_marks(parts, inner):
                return cells
        return [self._value(cell) for cell in cells]


def _has_marks(values: Sequence[Any], kinds: set[type]) -> bool:
    """Whether a string among these scalars may be more than itself. Sometimes true without need."""
    if str not in kinds:
        return False
    texts = values if len(kinds) == 1 else [value for value in values if type(value) is str]
    if len(texts) < FEW:
        return any(text[:1] in _MARKS for text in texts)
    # One search instead of a look at each: now and then it finds a line inside of a text.
    joined = "\n".join(texts)
    return joined[:1] in _MARKS or "\n@" in joined or "\n#" in joined
