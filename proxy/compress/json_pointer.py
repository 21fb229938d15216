"""Find a value of a JSON text by JSON Pointer (RFC 6901), as a span of the source.

Beyond the standard: ``/items/3-94`` is a range of items and ``/names#60-119`` one of members by their
position (from 0, both ends included), as they stand in the text, without the brackets around all. Of a
name that occurs twice the first one is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from proxy.compress.json_spans import Child, NotJson, children, escaped, root, skip, unescaped
from proxy.compress.notices import plural
from proxy.compress.titles import nearest, quote

_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})")
_INDEX = re.compile(r"0|[1-9]\d{0,11}")
_SUGGESTED_FROM = 400
"""Members among which the nearest names are looked for."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A value on the way to the one that is wanted."""

    text: str
    start: int
    end: int
    id: str

    @property
    def opening(self) -> str:
        return self.text[self.start]

    def children(self) -> Iterable[Child]:
        return children(self.text, self.start, self.end)

    def at(self, child: Child, step: str) -> _Value:
        return _Value(self.text, child.start, child.end, f"{self.id}/{step}")


def find_value(text: str, pointer: str) -> tuple[int, int] | str:
    """Where the value or range stands; a text says what is wrong and what would be right.

    Without a ``/`` at its beginning the pointer is read as if it had one.
    """
    try:
        value = _Value(text, *root(text), "json:")
        if value.opening not in "[{" and skip(text, value.start) != value.end:
            raise NotJson
        steps = pointer.removeprefix("/").split("/") if pointer else []
        if pointer == "/" and not any(child.key == "" for child in _members(value)):
            steps = []  # strictly a member without a name; where there is none, the whole is meant
        for place, step in enumerate(steps):
            if place == len(steps) - 1:
                span = _range(value, step)
                if span is not None:
                    return span
            found = _step(value, step)
            if isinstance(found, str):
                return found
            value = found
        return value.start, value.end
    except NotJson:
        return (
            "This text is no JSON, or breaks off; use lines:1-80, grep:TEXT or its sections' ids."
        )


def _members(value: _Value) -> Iterable[Child]:
    return value.children() if value.opening == "{" else ()


def _step(value: _Value, step: str) -> _Value | str:
    """From a container to the value that one step names."""
    if value.opening == "[":
        if _INDEX.fullmatch(step):
            found = next(iter(islice(value.children(), int(step), None)), None)
            if found is not None:
                return value.at(found, step)
        return _no_item(value, step)
    if value.opening == "{":
        wanted = unescaped(step)
        for child in value.children():
            if child.key == wanted:
                return value.at(child, step)
        return _no_member(value, wanted)
    return f"{value.id} is a plain value with nothing inside it; ask for {value.id} itself."


def _range(value: _Value, step: str) -> tuple[int, int] | str | None:
    """A range of neighbours at the end of a pointer; ``None`` when the step is an ordinary one."""
    if value.opening == "[":
        match = _RANGE.fullmatch(step)
        if match is not None:
            return _neighbours(value, match)
    base, mark, positions = step.rpartition("#")
    match = _RANGE.fullmatch(positions) if mark else None
    if match is None or any(child.key == unescaped(step) for child in _members(value)):
        return None
    if base:
        inner = _step(value, base)
        if isinstance(inner, str):
            return inner
        value = inner
    return _neighbours(value, match)


def _neighbours(value: _Value, match: re.Match[str]) -> tuple[int, int] | str:
    first, last = int(match[1]), int(match[2])
    if last < first:
        return f"The range {match[0]} ends before it begins; did you mean {last}-{first}?"
    found = list(islice(value.children(), first, last + 1))
    if not found:
        count = sum(1 for _ in value.children())
        return f"{value.id} has only {plural(count, 'entry')}, counted from 0; {first:,} is beyond them."
    return found[0].outer, found[-1].end


def _no_item(value: _Value, step: str) -> str:
    count = sum(1 for _ in value.children())
    if not count:
        return f"{value.id} has no items."
    return (
        f"{value.id}/{quote(step)} does not exist: {value.id} has {plural(count, 'item')}, "
        f"{value.id}/0 to {value.id}/{count - 1}, also as a range: {value.id}/0-{count - 1}."
    )


def _no_member(value: _Value, wanted: str) -> str:
    names = [child.key for child in islice(value.children(), _SUGGESTED_FROM)]
    if not names:
        return f"{value.id} has no members."
    shown = ", ".join(f"{value.id}/{quote(escaped(name))}" for name in nearest(wanted, names))
    return f"{value.id} has no member {quote(wanted)}; it has, for example: {shown}."
