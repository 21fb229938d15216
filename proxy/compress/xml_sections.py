"""Parts of an XML text: the children of its outermost element, by position.

The whole is ``xml:``; ``xml:3`` is the third child, ``xml:3-40`` a range of them (from 1, both included).
Linear: one pass over the tags, which are not checked to be balanced by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proxy.compress.model import Section
from proxy.compress.notices import MARK, plural
from proxy.compress.titles import one_line

_MOST = 60
_GROUPS = 30
_TAG = re.compile(
    r"<(?:!--[\s\S]*?(?:-->|\Z)|!\[CDATA\[[\s\S]*?(?:\]\]>|\Z)|[?!][^>]*+>"
    r"|[A-Za-z_/][^<>\"']*+(?:(?:\"[^\"<]*+\"|'[^'<]*+')[^<>\"']*+)*+>)"
)


@dataclass(frozen=True, slots=True)
class XmlChild:
    """One element directly inside the outermost one."""

    title: str
    start: int
    end: int


def xml_children(text: str) -> list[XmlChild]:
    """The children of the outermost element, in order."""
    found: list[XmlChild] = []
    depth = 0
    begun = 0
    title = ""
    for tag in _TAG.finditer(text):
        start, end = tag.span()
        kind = text[start + 1]
        if kind == "/":
            depth -= 1
            if depth == 1:
                found.append(XmlChild(title, begun, end))
            elif depth <= 0:
                break
        elif kind not in "!?":
            empty = text[end - 2] == "/"
            if depth == 1:
                begun, title = start, one_line(text[start + 1 : min(end - 1, start + 120)], 60)
                if empty:
                    found.append(XmlChild(title.removesuffix("/").rstrip(), begun, end))
            if not empty:
                depth += 1
            elif depth == 0:
                break
    return found


def xml_sections(text: str) -> tuple[Section, ...]:
    """The whole and its children; none when there are fewer than two."""
    found = xml_children(text)
    if len(found) < 2:
        return ()
    parts = [Section("xml:", "the whole", 0, len(text), 1)]
    for first, last in _ranges(found):
        part = found[first]
        if first == last:
            name, title = f"xml:{first + 1}", part.title
        else:
            name = f"xml:{first + 1}-{last + 1}"
            title = (
                f"{plural(last - first + 1, 'element')}, {part.title} {MARK} {found[last].title}"
            )
        parts.append(Section(name, title, part.start, found[last].end, 2))
    return tuple(parts)


def _ranges(found: list[XmlChild]) -> list[tuple[int, int]]:
    if len(found) <= _MOST:
        return [(place, place) for place in range(len(found))]
    target = (found[-1].end - found[0].start) / _GROUPS
    most = -(-len(found) // _GROUPS) * 2
    ranges: list[tuple[int, int]] = []
    first = 0
    for place, part in enumerate(found):
        if part.end - found[first].start >= target or place - first + 1 >= most:
            ranges.append((first, place))
            first = place + 1
    if first < len(found):
        ranges.append((first, len(found) - 1))
    return ranges
