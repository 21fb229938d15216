"""Parts of a JSON text by pointer: members, items, and ranges of them when there are many.

The whole is ``json:``; inside of it ``json:/name`` is a member's value, ``json:/items/3-94`` a range of
items (from 0, both included), ``json:/names#60-119`` a range of members by their position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compress.json_spans import Child, children, escaped, root
from proxy.compress.model import Section
from proxy.compress.notices import MARK, plural
from proxy.compress.titles import one_line

MOST_AT_A_LEVEL = 60
LONGEST_POINTER = 900
"""Characters; a longer one would not fit into a section id that agents may send."""
_GROUPS = 30
"""Parts that more neighbours are grouped into, about."""
_DEEPEST = 3
"""The whole is level 1."""
_WORTH_OPENING = 0.04
"""A container with a smaller share of the whole text is not divided further."""
_LEAST_OPENED = 800
"""Characters."""


@dataclass(frozen=True, slots=True)
class _Container:
    pointer: str
    start: int
    end: int
    level: int


def json_sections(text: str) -> tuple[Section, ...]:
    """The parts of a JSON object or array; none of a scalar. Raises `NotJson`."""
    start, end = root(text)
    whole = _Container("", start, end, 1)
    inside = _inside(text, whole, list(children(text, start, end)))
    if not inside:
        return ()
    return (Section("json:", "the whole", 0, len(text), 1), *inside)


def _inside(text: str, container: _Container, found: list[Child]) -> list[Section]:
    """The parts of one container that holds ``found``; those of a large one with their own parts."""
    is_array = text[container.start] == "["
    level = container.level + 1
    parts: list[Section] = []
    if len(found) > MOST_AT_A_LEVEL:
        for first, last in _groups(found):
            separator = "/" if is_array else "#"
            name = f"json:{container.pointer}{separator}{first}-{last}"
            title = _range_title(text, found, first, last, is_array)
            parts.append(Section(name, title, found[first].outer, found[last].end, level))
        return parts
    least = max(_LEAST_OPENED, int(len(text) * _WORTH_OPENING))
    for place, child in enumerate(found):
        pointer = pointer_to(container.pointer, child.key, place, is_array)
        values = list(children(text, child.start, child.end))
        title = describe(text, child, values)
        start = child.outer if "#" in pointer else child.start
        parts.append(Section(f"json:{pointer}", title, start, child.end, level))
        if level < _DEEPEST and "#" not in pointer and child.end - child.start >= least:
            inside = _Container(pointer, child.start, child.end, level)
            parts += _inside(text, inside, values)
    return parts


def pointer_to(container: str, key: str, place: int, is_array: bool) -> str:
    """What names a value: its pointer, or its position where a name is too odd to be written by a model."""
    if is_array:
        return f"{container}/{place}"
    if len(container) + len(key) > LONGEST_POINTER or "#" in key or not key.isprintable():
        return f"{container}#{place}-{place}"
    return f"{container}/{escaped(key)}"


def _groups(found: list[Child]) -> list[tuple[int, int]]:
    """Ranges of neighbours (first and last position) of about the same size in characters."""
    target = (found[-1].end - found[0].outer) / _GROUPS
    most = -(-len(found) // _GROUPS) * 2
    groups: list[tuple[int, int]] = []
    first = 0
    for place, child in enumerate(found):
        if child.end - found[first].outer >= target or place - first + 1 >= most:
            groups.append((first, place))
            first = place + 1
    if first < len(found):
        groups.append((first, len(found) - 1))
    return groups


def _range_title(text: str, found: list[Child], first: int, last: int, is_array: bool) -> str:
    count = plural(last - first + 1, "item" if is_array else "member")
    if is_array:
        return f"{count}, first: {_preview(text, found[first])}"
    return f"{count}, {one_line(found[first].key, 24)} {MARK} {one_line(found[last].key, 24)}"


def describe(text: str, child: Child, values: Sequence[Child]) -> str:
    """What a value is, on one line: a scalar's beginning, a container's number of parts and the first.

    ``values``: what is directly inside of it.
    """
    opening = text[child.start]
    if opening == "{":
        if not values:
            return "no members"
        keys = ", ".join(one_line(member.key, 20) for member in values[:4])
        more = f", {MARK}" if len(values) > 4 else ""
        return f"{plural(len(values), 'member')}: {keys}{more}"
    if opening == "[":
        if not values:
            return "no items"
        return f"{plural(len(values), 'item')}, first: {_preview(text, values[0])}"
    return _preview(text, child)


def _preview(text: str, child: Child) -> str:
    return one_line(text[child.start : min(child.end, child.start + 200)], 48)
