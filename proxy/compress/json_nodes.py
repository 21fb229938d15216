"""A parsed JSON value with its equal parts made one, for `proxy.compress.json_shapes`.

Objects that stand in a list or under one key are read together, column by column, when they have the
same keys: most steps are then done by C code for all of them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

import msgspec

MAX_DEPTH = 100
"""Levels; deeper JSON is not encoded."""
SHORTEST_REF = 24
"""Characters, about, that a repeated value must have to become a reference."""
FEWEST_ROWS = 8
"""Objects with the same keys that are read as one table."""

kind_of: Callable[[object], type] = type
"""``type`` itself. Of a parsed value the type checker would not know what ``type`` gives."""

Keys: TypeAlias = tuple[str, ...] | None
"""Of an object or table; ``None`` for an array."""
Row: TypeAlias = tuple[Any, ...]
"""JSON as parsed is ``Any`` here: a cast for each node would take longer than what is done with it."""


class TooDeep(Exception):
    """The value has more than `MAX_DEPTH` levels."""


class Number:
    """A number with fraction or exponent, by its digits. One per text: identity is equality."""

    __slots__ = ("raw",)

    def __init__(self, raw: msgspec.Raw) -> None:
        self.raw = raw


class Numbers(dict[str, Number]):
    """The numbers of one text: ``numbers[digits]`` makes what is not there yet."""

    def __missing__(self, digits: str) -> Number:
        found = self[digits] = Number(msgspec.Raw(digits))
        return found


def written_number(value: object) -> msgspec.Raw:
    """For `msgspec.json.Encoder`: how a `Number` is written. Raises `TypeError` for anything else."""
    if type(value) is Number:
        return value.raw
    raise TypeError(type(value).__name__)


class Node:
    """An object, an array or a table; the same contents are the same node."""

    __slots__ = ("flat", "is_ref", "keys", "place", "rows", "size", "uses", "values")

    def __init__(self, keys: Keys, values: Row) -> None:
        self.keys = keys
        self.values = values
        """The columns of a table."""
        self.rows = 0
        """Of a table, an array of objects with these keys; 0 for everything else."""
        self.flat = False
        """Nothing in it is a node."""
        self.uses = 0
        """How many different nodes it stands in."""
        self.is_ref = False
        """Written once, and referred to elsewhere."""
        self.size = 0
        """Characters, about; 0 until somebody asked."""
        self.place = 0
        """Of its (first) row among the rows of its shape."""

    @property
    def is_object(self) -> bool:
        return bool(self.keys) and not self.rows


class Reader:
    """Reads one value."""

    def __init__(self) -> None:
        self.nodes: dict[Keys, dict[Row, Node]] = {}
        """By keys and contents, inner ones first."""
        self.texts: Counter[str] = Counter()
        """How many different nodes have each long string."""

    def read(self, value: object) -> object:
        """The value with equal parts made one: a `Node` for objects and arrays. Raises `TooDeep`."""
        found = self._read(value, 0)
        for nodes in self.nodes.values():
            for node in nodes.values():
                if node.uses > 1:
                    node.is_ref = _size(node) >= SHORTEST_REF
        return found

    def _read(self, value: Any, depth: int) -> Any:
        kind = kind_of(value)
        if kind is dict:
            return self._intern(tuple(value), list(value.values()), depth)
        if kind is not list:
            return value
        items: list[Any] = value
        if len(items) >= FEWEST_ROWS and type(items[0]) in (dict, list):
            kinds = set(map(type, items))
            if kinds == {dict}:
                table = self._read_table(items, depth)
                if table is not None:
                    return table
            elif kinds == {list}:
                return self._intern(None, list(self._read_column(items, kinds, depth + 1)), depth)
        return self._intern(None, items.copy(), depth)

    def _intern(self, keys: Keys, values: list[Any], depth: int) -> Node:
        """One object or array. Changes ``values``."""
        if depth > MAX_DEPTH:
            raise TooDeep
        flat = alike = True
        texts: list[str] = []
        for place, part in enumerate(values):
            kind = kind_of(part)
            if kind is str:
                if len(part) >= SHORTEST_REF:
                    texts.append(part)
            elif kind is dict or kind is list:
                values[place] = self._read(part, depth + 1)
                flat = False
            elif kind is Node:
                flat = False
            elif kind is bool:
                alike = False
        row = tuple(values)
        identity = row if alike else _identity(row)
        nodes = self.nodes.get(keys)
        if nodes is None:
            nodes = self.nodes[keys] = {}
        known = nodes.get(identity)
        if known is None:
            known = nodes[identity] = Node(keys, row)
            if flat:
                known.flat = True
            else:
                for part in row:
                    if type(part) is Node:
                        part.uses += 1
            for text in texts:
                self.texts[text] += 1
        return known

    def _read_table(self, items: Sequence[Any], depth: int) -> Node | None:
        """Many objects with the same keys; ``None`` for anything else."""
        keys = _same_keys(items)
        if not keys:
            return None
        columns, identity = self._read_columns(items, depth + 1)
        nodes = self.nodes.setdefault(keys, {})
        known = nodes.get(identity)
        if known is None:
            known = nodes[identity] = Node(keys, columns)
            known.rows = len(items)
            for column in columns:
                self._count(column)
        return known

    def _read_columns(self, items: Sequence[Any], depth: int) -> tuple[tuple[Row, ...], Row]:
        """The values of objects with the same keys by column, and what tells them from others."""
        if depth > MAX_DEPTH:
            raise TooDeep
        objects: Sequence[dict[str, Any]] = items
        columns: list[Row] = list(zip(*[row.values() for row in objects], strict=True))
        identity = columns.copy()
        for place, column in enumerate(columns):
            kinds = set(map(type, column))
            if dict in kinds or list in kinds:
                columns[place] = identity[place] = tuple(
                    self._read_column(column, kinds, depth + 1)
                )
            if bool in kinds:
                identity[place] = _identity(columns[place])
        return tuple(columns), tuple(identity)

    def _read_column(self, values: Sequence[Any], kinds: set[type], depth: int) -> Sequence[Any]:
        """Values of which some are objects or arrays, together when they are alike."""
        if depth > MAX_DEPTH:
            raise TooDeep
        if kinds == {dict}:
            keys = _same_keys(values)
            if keys:
                columns, identity = self._read_columns(values, depth)
                rows = list(zip(*columns, strict=True))
                same = rows if identity == columns else list(zip(*identity, strict=True))
                return self._intern_rows(keys, rows, same)
        elif kinds == {list}:
            lists: Sequence[list[Any]] = values
            items = list(chain.from_iterable(lists))
            inner = set(map(type, items))
            if dict not in inner and list not in inner:
                rows = list(map(tuple, lists))
                same = list(map(_identity, rows)) if bool in inner else rows
                return self._intern_rows(None, rows, same)
            if inner == {dict} and max(map(len, lists)) < FEWEST_ROWS:
                parts = iter(self._read_column(items, inner, depth + 1))
                rows = [tuple(islice(parts, len(part))) for part in lists]
                return self._intern_rows(None, rows, rows)
        return [self._read(value, depth) for value in values]

    def _intern_rows(
        self, keys: Keys, rows: Sequence[Row], identities: Sequence[Row]
    ) -> list[Node]:
        """Many objects with the same keys, or many arrays, whose parts are read."""
        nodes = self.nodes.setdefault(keys, {})
        found: list[Node] = []
        new: list[Node] = []
        for identity, row in zip(identities, rows, strict=True):
            node = nodes.get(identity)
            if node is None:
                node = nodes[identity] = Node(keys, row)
                new.append(node)
            found.append(node)
        flat = self._count(list(chain.from_iterable([node.values for node in new])))
        for node in new:
            node.flat = flat
        return found

    def _count(self, values: Sequence[Any]) -> bool:
        """Note that some different nodes have these parts. Whether none of them is a node."""
        kinds = set(map(type, values))
        if str in kinds:
            texts = values if len(kinds) == 1 else [part for part in values if type(part) is str]
            if max(map(len, texts)) >= SHORTEST_REF:
                self.texts.update([text for text in texts if len(text) >= SHORTEST_REF])
        if Node not in kinds:
            return True
        for part in values:
            if type(part) is Node:
                part.uses += 1
        return False


def _same_keys(items: Sequence[Any]) -> tuple[str, ...]:
    """The keys of all these objects; none when they differ."""
    objects: Sequence[dict[str, Any]] = items
    all_keys = list(map(tuple, objects))
    keys = all_keys[0]
    return keys if all_keys[-1] == keys and all_keys.count(keys) == len(all_keys) else ()


class _Flag:
    """Stands for a truth value where rows are compared, since ``True`` equals 1."""


_TRUE, _FALSE = _Flag(), _Flag()


def _identity(row: Row) -> Row:
    """What tells a row from others."""
    return tuple([_TRUE if part is True else _FALSE if part is False else part for part in row])


def _size(node: Node) -> int:
    """Characters, about."""
    if node.rows:
        return SHORTEST_REF  # that much, and more
    if not node.size:
        size = 2 + 3 * len(node.values)
        if node.keys:
            size += sum(map(len, node.keys)) + 3 * len(node.keys)
        for part in node.values:
            kind = kind_of(part)
            if kind is Node:
                size += _size(part)
            elif kind is str:
                size += len(part)
            else:
                size += 5 if kind is Number else 4
        node.size = size
    return node.size
