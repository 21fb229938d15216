"""The encoder behind `proxy.compress.lossless_json`: equal parts once, objects of a kind as rows.

Three passes over a parsed value. Reading makes equal objects and arrays one node. Between, the nodes
with the same keys become a shape, and each column of it is looked at, and mostly written, as a whole.
Writing turns nodes into rows, references and marks. Column by column a row costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec

from proxy.compress.json_nodes import SHORTEST_REF, Keys, Node, Reader, Row, written_number

FEWEST_TEXTS = 3
"""Times that a long string must stand to become a reference."""
SHORTEST_AFFIX = 4
"""Characters that the strings of a column must have in common, at both ends together."""
LONGEST_AFTER = 120
"""Characters at the end of strings that are compared."""
LEGEND = "_mms"
_SPECIAL = ("@", "#")
_JSON = msgspec.json.Encoder(enc_hook=written_number)


class _Column:
    """How the values of one key are written."""

    __slots__ = ("after", "before", "constant", "kinds", "many", "shape", "values", "written")

    def __init__(self, values: Row) -> None:
        self.values = values
        self.kinds: set[type] = set(map(type, values))
        self.shape: _Shape | None = None
        """Its objects are rows of this shape,"""
        self.many = False
        """or its lists are lists of such rows."""
        self.constant = False
        self.before = ""
        """What is left off at the beginning of each string,"""
        self.after = ""
        """and at its end."""
        self.written: Sequence[Any] | None = None
        """All values as written."""


class _Shape:
    """Objects with the same keys."""

    __slots__ = ("columns", "count", "definition", "keys", "nodes", "number", "rows")

    def __init__(self, keys: tuple[str, ...], nodes: Sequence[Node], count: int) -> None:
        self.keys = keys
        self.nodes = nodes
        """Objects and tables."""
        self.count = count
        """Rows."""
        self.number = -1
        """Place in ``shapes``, once it is used."""
        self.columns: list[_Column] = []
        self.rows: list[Row] | None = None
        """All rows as written, when no shape is inside of itself."""
        self.definition: list[object] = []

    def values(self) -> list[Row]:
        """By column, the values of all rows."""
        if len(self.nodes) == 1 and self.nodes[0].rows:
            return list(self.nodes[0].values)
        rows = chain.from_iterable(
            [zip(*node.values, strict=True) if node.rows else (node.values,) for node in self.nodes]
        )
        return list(zip(*rows, strict=True))


class Encoder:
    """Writes one value. Not to be used twice."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._texts = self._reader.texts
        self._often: set[str] = set()
        """Strings that are written once and referred to elsewhere."""
        self._shapes: dict[Keys, _Shape] = {}
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
        return _JSON.encode(whole)

    # -- shapes ----------------------------------------------------------------------------------

    def _find_shapes(self) -> None:
        for keys, nodes in self._reader.nodes.items():
            if not keys:
                continue
            count = 0
            tables = False
            for node in nodes.values():
                node.place = count
                if node.rows:
                    tables = True
                    count += node.rows
                else:
                    count += 1
            if count > 1 and (tables or count * len(keys) >= 5):
                self._shapes[keys] = _Shape(keys, list(nodes.values()), count)
        shapes = self._shapes.values()
        for shape in shapes:
            shape.columns = [self._column(values) for values in shape.values()]
        # Strings that became constants are counted by now.
        self._often = {text for text, times in self._texts.items() if times >= FEWEST_TEXTS}
        for shape in shapes:
            for column in shape.columns:
                if not column.constant and Node not in column.kinds:
                    self._write_scalars(column)
        for shape in shapes:  # inner ones first
            for column in shape.columns:
                if not column.constant and Node in column.kinds:
                    self._write_nodes(column)
            flat = [column.written for column in shape.columns if not column.constant]
            columns = [written for written in flat if written is not None]
            if len(columns) == len(flat):
                shape.rows = list(zip(*columns, strict=True)) if columns else [()] * shape.count

    def _column(self, values: Row) -> _Column:
        column = _Column(values)
        kinds = column.kinds
        first = values[0]
        if (
            len(kinds) == 1
            and len(values) > 2
            and first == values[-1]
            and values.count(first) == len(values)
        ):
            if first in self._texts:
                self._texts[first] -= len(values)
            column.constant = True
        elif Node in kinds:
            self._find_inner(column)
        elif kinds == {str} and len(values) > 3:
            column.before, column.after = _affixes(values)
        return column

    def _find_inner(self, column: _Column) -> None:
        """The shape of the objects in the column, when there is one for all."""
        nodes: list[Node] = [value for value in column.values if type(value) is Node]
        keys: set[Keys] = {node.keys for node in nodes}
        if () in keys:
            return  # an empty object would be taken for an empty list
        arrays = [node for node in nodes if node.keys is None or node.rows]
        if len(arrays) == len(nodes):
            column.many = True
            keys.discard(None)
            for node in arrays:
                if node.flat and not node.rows:
                    if node.values:
                        return
                elif not node.rows:
                    keys.update(
                        [
                            part.keys if type(part) is Node and part.is_object else None
                            for part in node.values
                        ]
                    )
        elif arrays:
            return
        if len(keys) == 1:
            column.shape = self._shapes.get(keys.pop())

    def _write_scalars(self, column: _Column) -> None:
        values = column.values
        if str in column.kinds:
            start, end = len(column.before), len(column.after)
            if start or end:
                values = tuple([text[start : len(text) - end] for text in values])
            if not self._are_plain(values, column.kinds):
                values = tuple([self._value(value) for value in values])
        column.written = values

    def _are_plain(self, values: Sequence[Any], kinds: set[type]) -> bool:
        """Whether all of these scalars are written as they are."""
        if str not in kinds:
            return True
        texts = values if len(kinds) == 1 else [value for value in values if type(value) is str]
        if not self._often.isdisjoint(texts):
            return False
        # One search instead of a look at each: now and then it finds a line inside of a text.
        joined = "\n".join(texts)
        return joined[:1] not in _SPECIAL and "\n@" not in joined and "\n#" not in joined

    def _write_nodes(self, column: _Column) -> None:
        """All values of the column, unless a shape is inside of itself."""
        values = column.values
        if column.shape is not None:
            if column.shape.rows is not None:
                rows = column.shape.rows
                column.written = [
                    self._inner(column, value)
                    if column.many or type(value) is not Node or value.is_ref
                    else rows[value.place]
                    for value in values
                ]
            return
        if len(column.kinds) == 1:
            nodes: Sequence[Node] = values
            if all(node.flat and node.keys is None and not node.is_ref for node in nodes):
                parts = list(chain.from_iterable([node.values for node in nodes]))
                if self._are_plain(parts, set(map(type, parts))):
                    column.written = [node.values for node in nodes]
                    return
        column.written = [self._value(value) for value in values]

    def _inner(self, column: _Column, value: Any) -> object:
        """A value of a column whose objects have a shape."""
        shape = column.shape
        if type(value) is not Node or value.is_ref or shape is None:
            return self._value(value)
        if not column.many:
            return self._row(shape, value)
        if value.rows:
            return self._table_rows(shape, value)
        return [
            self._value(part) if part.is_ref else self._row(shape, part) for part in value.values
        ]

    # -- writing ---------------------------------------------------------------------------------

    def _value(self, value: object) -> object:
        if type(value) is str:
            return self._text(value)
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
        if len(text) >= SHORTEST_REF and text in self._often:
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
        if node.keys is None or node.rows:
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
        if node.rows:
            shape = self._shapes[node.keys]
            return [f"#{self._number_of(shape)}", *self._table_rows(shape, node)]
        if node.flat:
            return [self._value(part) for part in node.values]
        written: list[object] = []
        current: _Shape | None = None
        marked = False
        for part in node.values:
            if type(part) is not Node or part.is_ref:
                written.append(self._value(part))
            elif part.keys is None or part.rows:
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
        places = range(node.place, node.place + node.rows)
        if shape.rows is not None:
            return shape.rows[places.start : places.stop]
        rows = zip(*node.values, strict=True)
        return [self._mixed_row(shape, place, row) for place, row in zip(places, rows, strict=True)]

    def _row(self, shape: _Shape, node: Node) -> Sequence[object]:
        if shape.rows is not None:
            return shape.rows[node.place]
        return self._mixed_row(shape, node.place, node.values)

    def _mixed_row(self, shape: _Shape, place: int, values: Row) -> list[object]:
        """A row of a shape that is inside of itself."""
        return [
            self._inner(column, value) if column.written is None else column.written[place]
            for column, value in zip(shape.columns, values, strict=True)
            if not column.constant
        ]

    def _number_of(self, shape: _Shape) -> int:
        """The shape's place. When it is first asked for, its columns are written."""
        if shape.number >= 0:
            return shape.number
        shape.number = len(self._used_shapes)
        self._used_shapes.append(shape)
        for key, column in zip(shape.keys, shape.columns, strict=True):
            name = self._protected(key)
            how: object = None
            if column.constant:
                how = {"=": self._value(column.values[0])}
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
    before = _common(low, high)
    while before and before[-1].isalnum():
        before = before[:-1]
    after = ""
    if (
        len(before) + len(_common(low[:-LONGEST_AFTER:-1], high[:-LONGEST_AFTER:-1]))
        < SHORTEST_AFFIX
    ):
        return "", ""  # not even the first and the last one have so much in common
    if low[-1:] == high[-1:]:
        shortest = min(map(len, texts)) - len(before)
        ends = [text[-LONGEST_AFTER:][::-1] for text in texts]
        after = _common(min(ends), max(ends))[: max(0, shortest)][::-1]
        while after and after[0].isalnum():
            after = after[1:]
    if len(before) + len(after) < SHORTEST_AFFIX:
        return "", ""
    return before, after


def _common(one: str, other: str) -> str:
    """What both begin with."""
    length = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        length += 1
    return one[:length]
