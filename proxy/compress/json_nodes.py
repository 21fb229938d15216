"""A parsed JSON value with its equal parts made one, for `proxy.compress.json_shapes`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import eq
from typing import cast

import msgspec

MAX_DEPTH = 100
"""Levels; deeper JSON is not encoded."""
SHORTEST_REF = 24
"""Characters, about, that a repeated value must have to become a reference."""
FEWEST_ROWS = 8
"""Rows of scalars that are read as one table."""


class TooDeep(Exception):
    """The value has more than `MAX_DEPTH` levels."""


class Number:
    """A number with fraction or exponent, by its digits. One per text: identity is equality."""

    __slots__ = ("raw",)

    def __init__(self, raw: msgspec.Raw) -> None:
        self.raw = raw


class Node:
    """An object, an array or a table; the same contents are the same node."""

    __slots__ = ("count", "keys", "place", "size", "table", "uses", "values")

    def __init__(self, keys: tuple[str, ...] | None, values: tuple[object, ...], size: int) -> None:
        self.keys = keys
        """``None`` for an array."""
        self.values = values
        """The rows of a table."""
        self.table = False
        """An array of objects with these keys and scalar values."""
        self.size = size
        """Characters, about."""
        self.uses = 0
        """How many different nodes it stands in."""
        self.place = 0
        """Of its (first) row among the rows of its shape."""

    @property
    def is_object(self) -> bool:
        return bool(self.keys) and not self.table

    @property
    def is_ref(self) -> bool:
        return self.uses > 1 and self.size >= SHORTEST_REF


class Reader:
    """Reads one value."""

    def __init__(self) -> None:
        self.nodes: dict[object, Node] = {}
        """By contents, inner ones first."""
        self.texts: dict[str, int] = {}
        """How many different nodes have each long string."""
        self._numbers: dict[bytes, Number] = {}

    def read(self, value: object) -> object:
        """The value with equal parts made one. Raises `TooDeep`."""
        return self._read(value, 0)

    def _read(self, value: object, depth: int) -> object:
        """The value with equal parts made one; a `Node` for objects and arrays."""
        kind = type(value)
        if kind is dict:
            members = cast("dict[str, object]", value)
            return self._intern(tuple(members), list(members.values()), depth)
        if kind is list:
            items = cast("list[object]", value)
            if len(items) >= FEWEST_ROWS and type(items[0]) is dict:
                table = self._read_table(items)
                if table is not None:
                    return table
            return self._intern(None, items.copy(), depth)
        if kind is msgspec.Raw:
            return self._number(cast("msgspec.Raw", value))
        return value

    def _intern(self, keys: tuple[str, ...] | None, values: list[object], depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise TooDeep
        size = 2 + 3 * len(values)
        texts: list[str] = []
        for place, part in enumerate(values):
            kind = type(part)
            if kind is str:
                length = len(cast("str", part))
                size += length
                if length >= SHORTEST_REF:
                    texts.append(cast("str", part))
            elif kind is dict or kind is list:
                node = values[place] = cast("Node", self._read(part, depth + 1))
                size += node.size
            elif kind is msgspec.Raw:
                values[place] = self._number(cast("msgspec.Raw", part))
                size += 5
            else:
                size += 4
        row = tuple(values)
        # Types, too: true equals 1.
        identity = (keys, row, tuple(map(type, row)))
        known = self.nodes.get(identity)
        if known is None:
            if keys:
                size += sum(map(len, keys)) + 3 * len(keys)
            known = self.nodes[identity] = Node(keys, row, size)
            for part in row:
                if type(part) is Node:
                    part.uses += 1
            for text in texts:
                self.texts[text] = self.texts.get(text, 0) + 1
        return known

    def _read_table(self, items: Sequence[object]) -> Node | None:
        """Objects with the same keys and only scalars in them; ``None`` for anything else."""
        if set(map(type, items)) != {dict}:
            return None
        objects = cast("Sequence[dict[str, object]]", items)
        keys = tuple(objects[0])
        if not keys or not all(map(eq, map(tuple, objects), repeat(keys))):
            return None
        columns: list[Sequence[object]] = list(zip(*[row.values() for row in objects], strict=True))
        size = (sum(map(len, keys)) + 6 * len(keys)) * len(objects)
        kinds: list[tuple[type, ...]] = []
        for place, column in enumerate(columns):
            types = tuple(map(type, column))
            kinds.append(types)
            distinct = set(types)
            if dict in distinct or list in distinct:
                return None
            if msgspec.Raw in distinct:
                columns[place] = [
                    self._number(cast("msgspec.Raw", cell)) if kind is msgspec.Raw else cell
                    for cell, kind in zip(column, types, strict=True)
                ]
            elif distinct == {str}:
                size += sum(map(len, cast("Sequence[str]", column)))
        rows = tuple(zip(*columns, strict=True))
        identity = (keys, rows, tuple(kinds))
        known = self.nodes.get(identity)
        if known is None:
            known = self.nodes[identity] = Node(keys, rows, size)
            known.table = True
            for column, types in zip(columns, kinds, strict=True):
                if str in types:
                    for cell in column:
                        if type(cell) is str and len(cell) >= SHORTEST_REF:
                            self.texts[cell] = self.texts.get(cell, 0) + 1
        return known

    def _number(self, raw: msgspec.Raw) -> Number:
        text = bytes(raw)
        found = self._numbers.get(text)
        if found is None:
            # A copy: a slice would keep the whole text alive.
            found = self._numbers[text] = Number(msgspec.Raw(text))
        return found
