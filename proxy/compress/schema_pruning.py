"""The schema of a JSON text by example: arrays by their ends, strings by their beginnings.

The same rule for the whole text, tightened step by step until it fits: fewer items, shorter strings,
then fewer levels. Everything that is left out is announced where it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from config.schema import Compression
from proxy.compress import json_strings, json_text, notices
from proxy.compress.json_cut import mark_key
from proxy.compress.json_text import Source
from proxy.compress.json_tree import Pointer, quoted, section
from proxy.compress.model import Reduction, Task


@dataclass(frozen=True, slots=True)
class Rule:
    """How much of each value is shown."""

    first: int
    """Items at the beginning of an array."""
    last: int
    """Items at its end."""
    text: int
    """Characters of a string."""
    depth: int
    """Levels."""
    members: int = 1000
    """Members of an object."""


RULES = (
    Rule(2, 1, 1000, 40),
    Rule(2, 1, 300, 40),
    Rule(2, 1, 120, 40, 200),
    Rule(2, 1, 60, 8, 60),
    Rule(1, 1, 40, 5, 40),
    Rule(1, 0, 40, 4, 40),
    Rule(1, 0, 24, 3, 30),
    Rule(1, 0, 24, 2, 30),
    Rule(1, 0, 24, 2, 10),
    Rule(1, 0, 24, 1, 30),
    Rule(1, 0, 24, 1, 10),
)
"""From generous to tight."""
BYTES_PER_UNIT = 16
"""Text with more bytes than this per unit of the budget is not finished: it would not fit."""


class _TooLong(Exception):
    """What was written so far is already too long."""


def schema_pruning(task: Task) -> Reduction | None:
    """The text by the first rule that keeps to the budget."""
    source = json_text.read(task)
    if source is None:
        return None
    for rule in RULES:
        pruner = _Pruner(source, rule, task.budget * BYTES_PER_UNIT, ids=bool(task.key))
        try:
            body = pruner.root()
        except _TooLong:
            continue
        cut = json_text.Cut(body, pruner.notes, example=pruner.example)
        made = json_text.once(task, source, Compression.SCHEMA_PRUNING, cut)
        if made is not None:
            return made
    return None


class _Pruner:
    def __init__(self, source: Source, rule: Rule, most: int, *, ids: bool) -> None:
        self._document = source.document
        self._lines = source.lines
        self._rule = rule
        self._left = most
        self._ids = ids
        self.notes: list[str] = []
        self.example = ""

    def root(self) -> bytes:
        return self._value(0, len(self._document.raw), ())

    def _section(self, pointer: Pointer, last: str = "") -> str:
        if not self._ids:
            return ""
        if self._lines is not None:
            numbers = self._lines
            first, _, end = (pointer[0] if pointer else last).partition("-")
            return f"lines:{numbers[int(first)]}-{numbers[int(end or first)]}" if first else ""
        return section(pointer, last)

    def _value(self, start: int, end: int, pointer: Pointer) -> bytes:
        document = self._document
        if document.is_string(start) and not document.is_deep(start):
            return self._spent(self._string(start, end, pointer))
        if document.is_array(start) or document.is_object(start):
            children = document.children(start, end)
            object_ = document.is_object(start)
            count = len(children)
            if not count:
                return self._spent(document.raw[start:end])
            if len(pointer) >= self._rule.depth and pointer:
                return self._said(count, "member" if object_ else "item", self._section(pointer))
            parts: list[bytes] = []
            if object_:
                shown = min(count, self._rule.members)
                for i in range(shown):
                    key = document.raw[children.starts[i] : children.values[i]]
                    self._spent(key)
                    value = self._value(
                        children.values[i], children.ends[i], (*pointer, children.keys[i])
                    )
                    parts.append(key + value)
                if shown < count:
                    name = quoted(mark_key(children.keys)) + b":"
                    parts.append(name + self._said(count - shown, "member", self._section(pointer)))
                return b"{" + b",".join(parts) + b"}"
            head, tail = self._rule.first, self._rule.last
            if count <= head + tail + 1:
                head, tail = count, 0
            for i in (*range(head), *range(count - tail, count)):
                if i == count - tail and count > head + tail:
                    parts.append(self._gap(head, count - tail - 1, pointer))
                parts.append(self._value(children.starts[i], children.ends[i], (*pointer, str(i))))
            if not tail and count > head:
                parts.append(self._gap(head, count - 1, pointer))
            if self._lines is not None and not pointer:
                return b"\n".join(parts)
            return b"[" + b",".join(parts) + b"]"
        if document.is_deep(start):
            return self._said(end - start, "byte", self._section(pointer))
        return self._spent(document.raw[start:end])

    def _gap(self, first: int, last: int, pointer: Pointer) -> bytes:
        of_lines = self._lines is not None and not pointer
        where = self._section(pointer, f"{first}-{last}" if last > first else str(first))
        said = self._said(last - first + 1, "line" if of_lines else "item", where)
        return b'{"%s":%s}' % (notices.JSON_MARK.encode(), said) if of_lines else said

    def _string(self, start: int, end: int, pointer: Pointer) -> bytes:
        if end - start <= self._rule.text + 40:
            return self._document.raw[start:end]
        content = self._document.text(start + 1, end - 1)
        part = json_strings.at_word(json_strings.prefix(content, self._rule.text))
        missing = json_strings.length(content) - json_strings.length(part)
        note = notices.json_gap(missing, "character", self._section(pointer))
        if len(part) + len(note) >= len(content):
            return self._document.raw[start:end]
        self._remember(note, self._section(pointer))
        return b'"' + part.encode("utf-8", "surrogatepass") + quoted(note)[1:]

    def _said(self, count: int, unit: str, where: str) -> bytes:
        note = notices.json_gap(count, unit, where)
        self._remember(note, where)
        return self._spent(quoted(note))

    def _remember(self, note: str, where: str) -> None:
        self.notes.append(note)
        self.example = self.example or where

    def _spent(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise _TooLong
        return data
