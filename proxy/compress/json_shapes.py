"""The encoder behind `proxy.compress.lossless_json`: equal parts once, objects of a kind as rows.

Three passes over a parsed value. Reading makes equal objects and arrays one node. Between, the nodes
with the same keys become a shape, and each column of it is looked at as a whole. Writing turns nodes
into rows, references and marks. Tables of scalars stay together through all of it, since column by
column a row costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from operator import eq
from typing import cast

import msgspec

from proxy.compress.json_nodes import SHORTEST_REF, Node, Number, Reader

FEWEST_TEXTS = 3
"""Times that a long string must stand to become a reference."""
SHORTEST_AFFIX = 4
"""Characters that the strings of a column must have in common, at both ends together."""
LEGEND = "_mms"
_SPECIAL = ("@", "#")


@dataclass(slots=True)
class _Column:
    """How the values of one key are written."""

    shape: _Shape | None = None
    """Its objects are rows of this shape,"""
    many: bool = False
    """or its lists are lists of such rows."""
    constant: bool = False
    before: str = ""
    """What is left off at the beginning of each string,"""
    after: str = ""
    """and at its end."""
    written: Sequence[object] | None = None
    """All values as written, when none of them is a node."""


@dataclass(slots=True)
class _Shape:
    """Objects with the same keys."""

    keys: tuple[str, ...]
    nodes: list[Node] = field(default_factory=list[Node])
    """Objects and tables."""
    count: int = 0
    """Rows."""
    number: int = -1
    """Place in ``shapes``, once it is used."""
    columns: list[_Column] = field(default_factory=list[_Column])
    rows: list[tuple[object, ...]] | None = None
    """All rows as written, when there are no nodes in them."""
    definition: list[object] = field(default_factory=list[object])


class Encoder:
    """Writes one value. Not to be used twice."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._texts = self._reader.texts
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._used_shapes: list[_Shape] = []
        self._refs: list[object] = []
        self._ref_of: dict[object, str] = {}
        self._escaped = False

    def encode(self, value: object) -> bytes:
        """``value`` as parsed by `lossless_json.parse`. Raises `TooDeep`."""
        root = self._reader.read(value)
        self._find_shapes()
        data = self._value(root)
        whole: dict[str, object] = {LEGEND: self._legend()}
        if self._used_shapes:
            whole["shapes"] = [shape.definition for shape in self._used_shapes]
        if self._refs:
            whole["refs"] = self._refs
        whole["data"] = data
        return msgspec.json.encode(whole)

    # -- reading ---------------------------------------------------------------------------------

    # -- shapes ----------------------------------------------------------------------------------

    def _find_shapes(self) -> None:
        for node in self._reader.nodes.values():
            if node.keys:
                shape = self._shapes.get(node.keys)
                if shape is None:
                    shape = self._shapes[node.keys] = _Shape(node.keys)
                node.place = shape.count
                shape.count += len(node.values) if node.table else 1
                shape.nodes.append(node)
        self._shapes = {
            keys: shape
            for keys, shape in self._shapes.items()
            if shape.count > 1
            and (shape.count * len(keys) >= 5 or any(node.table for node in shape.nodes))
        }
        for shape in self._shapes.values():
            rows = list(
                chain.from_iterable(
                    cast("tuple[tuple[object, ...]]", node.values) if node.table else (node.values,)
                    for node in shape.nodes
                )
            )
            shape.columns = [self._column(values) for values in zip(*rows, strict=True)]
        # Strings that became constants are counted by now, so these can be written.
        for shape in self._shapes.values():
            self._write_columns(shape)

    def _column(self, values: Sequence[object]) -> _Column:
        kinds = set(map(type, values))
        if len(values) > 2 and len(kinds) == 1 and all(map(eq, values, repeat(values[0]))):
            if kinds == {str} and values[0] in self._texts:
                self._texts[cast("str", values[0])] -= len(values)
            return _Column(constant=True, written=values)
        if Node in kinds:
            return self._column_of_nodes([value for value in values if type(value) is Node])
        before = after = ""
        if kinds == {str} and len(values) > 3:
            before, after = _affixes(cast("Sequence[str]", values))
        return _Column(before=before, after=after, written=values)

    def _column_of_nodes(self, nodes: Sequence[Node]) -> _Column:
        if any(node.keys == () for node in nodes):
            return _Column()  # an empty object would be taken for an empty list
        if all(node.is_object for node in nodes):
            keys = {node.keys for node in nodes}
            many = False
        elif not any(node.is_object for node in nodes):
            keys: set[tuple[str, ...] | None] = set()
            for node in nodes:
                if node.table:
                    keys.add(node.keys)
                    continue
                for part in node.values:
                    keys.add(part.keys if type(part) is Node and part.is_object else None)
            many = True
        else:
            return _Column()
        if len(keys) != 1 or None in keys:
            return _Column()
        shape = self._shapes.get(cast("tuple[str, ...]", keys.pop()))
        return _Column(shape=shape, many=many and shape is not None)

    def _write_columns(self, shape: _Shape) -> None:
        for column in shape.columns:
            if column.constant or column.written is None:
                continue
            values = column.written
            if str not in set(map(type, values)):
                if Number in set(map(type, values)):
                    column.written = [
                        value.raw if type(value) is Number else value for value in values
                    ]
                continue
            start, end = len(column.before), len(column.after)
            if start or end:
                values = [text[start : len(text) - end] for text in cast("Sequence[str]", values)]
            plain = not any(
                type(value) is str and (value[:1] in _SPECIAL or len(value) >= SHORTEST_REF)
                for value in values
            )
            if not plain or Number in set(map(type, values)):
                values = [self._value(value) for value in values]
            column.written = values
        flat = [column.written for column in shape.columns if not column.constant]
        if all(values is not None for values in flat):
            columns = cast("list[Sequence[object]]", flat)
            shape.rows = list(zip(*columns, strict=True)) if columns else [()] * shape.count

    # -- writing ---------------------------------------------------------------------------------

    def _value(self, value: object) -> object:
        if type(value) is str:
            return self._text(value)
        if type(value) is Number:
            return value.raw
        if type(value) is not Node:
            return value
        if not value.is_ref:
            return self._plain(value)
        known = self._ref_of.get(value)
        if known is None:
            written = self._plain(value)
            known = self._ref_of[value] = f"@{len(self._refs)}"
            self._refs.append(written)
        return known

    def _text(self, text: str) -> str:
        if len(text) >= SHORTEST_REF and self._texts.get(text, 0) >= FEWEST_TEXTS:
            known = self._ref_of.get(text)
            if known is None:
                known = self._ref_of[text] = f"@{len(self._refs)}"
                self._refs.append(self._protected(text))
            return known
        return self._protected(text)

    def _protected(self, text: str) -> str:
        if text[:1] in _SPECIAL:
            self._escaped = True
            return "@" + text
        return text

    def _plain(self, node: Node) -> object:
        if node.keys is None or node.table:
            return self._list(node)
        shape = self._shapes.get(node.keys)
        if shape is not None:
            return {f"#{self._number_of(shape)}": self._row(shape, node)}
        return {
            self._protected(key): self._value(value)
            for key, value in zip(node.keys, node.values, strict=True)
        }

    def _list(self, node: Node) -> list[object]:
        """Items; objects that have a shape as rows after its mark."""
        if node.table:
            shape = self._shapes[cast("tuple[str, ...]", node.keys)]
            return [f"#{self._number_of(shape)}", *self._table_rows(shape, node)]
        written: list[object] = []
        current: _Shape | None = None
        marked = False
        for part in node.values:
            if type(part) is not Node or part.is_ref:
                written.append(self._value(part))
            elif part.keys is None or part.table:
                # Among rows a list would be taken for one.
                inner = self._plain(part)
                written.append({"#": inner} if marked else inner)
            else:
                shape = self._shapes.get(part.keys) if part.keys else None
                if shape is None:
                    written.append(self._plain(part))
                    continue
                if shape is not current:
                    current = shape
                    marked = True
                    written.append(f"#{self._number_of(shape)}")
                written.append(self._row(shape, part))
        return written

    def _table_rows(self, shape: _Shape, node: Node) -> Sequence[object]:
        places = range(node.place, node.place + len(node.values))
        if shape.rows is not None:
            return shape.rows[places.start : places.stop]
        rows = cast("tuple[tuple[object, ...]]", node.values)
        return [self._mixed_row(shape, place, row) for place, row in zip(places, rows, strict=True)]

    def _row(self, shape: _Shape, node: Node) -> Sequence[object]:
        if shape.rows is not None:
            return shape.rows[node.place]
        return self._mixed_row(shape, node.place, node.values)

    def _mixed_row(self, shape: _Shape, place: int, values: Sequence[object]) -> list[object]:
        row: list[object] = []
        for column, value in zip(shape.columns, values, strict=True):
            if column.constant:
                continue
            if column.written is not None:
                row.append(column.written[place])
            elif column.shape is None or type(value) is not Node or value.is_ref:
                row.append(self._value(value))
            elif not column.many:
                row.append(self._row(column.shape, value))
            elif value.table:
                row.append(self._table_rows(column.shape, value))
            else:
                inner = column.shape
                row.append(
                    [
                        self._value(part)
                        if cast("Node", part).is_ref
                        else self._row(inner, cast("Node", part))
                        for part in value.values
                    ]
                )
        return row

    def _number_of(self, shape: _Shape) -> int:
        """The shape's place. When it is first asked for, its columns are written."""
        if shape.number >= 0:
            return shape.number
        shape.number = len(self._used_shapes)
        self._used_shapes.append(shape)
        first = shape.nodes[0]
        values = cast("tuple[object, ...]", first.values[0]) if first.table else first.values
        for key, column, value in zip(shape.keys, shape.columns, values, strict=True):
            name = self._protected(key)
            how: object = None
            if column.constant:
                how = {"=": self._value(value)}
            elif column.shape is not None:
                number = self._number_of(column.shape)
                how = [number] if column.many else number
            elif column.before or column.after:
                how = {"+": [column.before, column.after]}
            shape.definition.append(name if how is None else [name, how])
        return shape.number

    def _legend(self) -> str:
        """One line for a model, about what is used only."""
        parts: list[str] = []
        if self._used_shapes:
            columns = [column for shape in self._used_shapes for column in shape.columns]
            parts.append(
                "Same JSON, shorter: after #n come rows, objects with the keys in shapes[n]"
            )
            if any(column.shape for column in columns):
                parts.append("[key,n] holds a row of shapes[n], [key,[n]] a list of rows")
            if any(column.constant for column in columns):
                parts.append('[key,{"=":v}] is v in every row')
            if any(column.before or column.after for column in columns):
                parts.append('{"+":[a,b]}: a and b go around the value')
        if self._refs:
            parts.append("@n stands for refs[n]")
        if self._escaped:
            parts.append("a leading @ protects @ and #")
        return "; ".join(parts) + "."


def _affixes(texts: Sequence[str]) -> tuple[str, str]:
    """What all strings begin and end with, up to a boundary between words and not overlapping."""
    low, high = min(texts), max(texts)
    if low[:1] != high[:1] and low[-1:] != high[-1:]:
        return "", ""
    length = 0
    for one, other in zip(low, high, strict=False):
        if one != other:
            break
        length += 1
    before = low[:length]
    while before and before[-1].isalnum():
        before = before[:-1]
    shortest = min(map(len, texts))
    after = low[len(before) :][-120:]
    while after and not all(text.endswith(after) for text in texts):
        after = after[1:]
    after = after[max(0, len(before) + len(after) - shortest) :]
    while after and after[0].isalnum():
        after = after[1:]
    if len(before) + len(after) < SHORTEST_AFFIX:
        return "", ""
    return before, after
