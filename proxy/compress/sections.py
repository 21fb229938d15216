"""Parts of a text that can be fetched by id: what a table of contents is made of.

A pure function of the text, so that an id handed out today still names the same part when the text is
read back years later. Every character is inside of a section of the outermost level; sections inside of
another one stand after it, one level deeper. Their number is bounded: neighbours are grouped.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from proxy.compress.cuts import safe_start
from proxy.compress.json_sections import json_sections
from proxy.compress.json_spans import NotJson
from proxy.compress.lines import lines_id
from proxy.compress.model import JSON_TYPES, ContentType, Section
from proxy.compress.notices import MARK
from proxy.compress.titles import one_line, slug, unique
from proxy.compress.xml_sections import xml_sections

MOST_AT_A_LEVEL = 60
"""More neighbours than this are grouped."""
_LEAST_PART = 1_200
"""Characters below which a text without headings is not divided further."""
_PARTS = 40
"""Parts of a large text without headings, about."""
_LONG_LINE = 4
"""A line that is so many times longer than a part should be is cut inside."""

_RECORDS = frozenset({ContentType.LOG, ContentType.TABLE, ContentType.JSON_LINES})

_HEADING = re.compile(
    r"\n {0,3}(?:(?P<fence>`{3,}|~{3,})|(?P<marks>\#{1,6})(?:[ \t]+(?P<title>[^\n]*))?(?=\n|\Z)"
    r"|(?P<under>=+|-{2,})[ \t]*(?=\n|\Z))"
)
_HTML_HEADING = re.compile(r"<[hH](?P<depth>[1-6])(?:\s[^<>]{0,1000})?>")
_HTML_HEADING_END = re.compile(r"</[hH][1-6]")
_LONGEST_HEADING = 600
"""Characters of HTML."""
_TAG = re.compile(r"<[^<>]{0,1000}>")
_DIFF_FILE = re.compile(r"\n(?:diff --git |Index: |--- (?=[^\n]*\n\+\+\+ ))(?P<name>[^\n]*)")
_DEFINITION = re.compile(
    r"\n(?=(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |internal |static |final "
    r"|abstract |async |unsafe |override |inline |extern )*"
    r"(?:def|class|func|fn|function|interface|struct|enum|trait|impl|type|module|namespace|package|object"
    r"|CREATE|create|ALTER|INSERT)\b)"
)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a headed part begins."""

    at: int
    depth: int
    title: str
    id: str


def sections(text: str, content: ContentType) -> tuple[Section, ...]:
    """The parts of ``text``, outer ones before those inside them, in the order of the text."""
    if not text:
        return ()
    found: tuple[Section, ...] = ()
    if content in JSON_TYPES and content is not ContentType.JSON_LINES:
        try:
            found = json_sections(text)
        except NotJson:
            found = ()
    elif content is ContentType.XML:
        found = xml_sections(text)
    else:
        finder = _FINDERS.get(content)
        if finder is not None:
            found = _headed(text, finder(text))
    return found or _divided(text, content)


def _markdown(text: str) -> list[_Start]:
    """Headings outside of fenced code."""
    found: list[_Start] = []
    fence = ""
    padded = "\n" + text
    for match in _HEADING.finditer(padded):
        kind = match.lastgroup
        mark = match["fence"]
        if mark is not None:
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif fence:
            continue
        elif kind == "under":
            heading = _underlined(padded, match.start())
            if heading is not None:
                at, title = heading
                found.append(
                    _Start(at - 1, 1 if match["under"][0] == "=" else 2, title, slug(title))
                )
        else:
            title = (match["title"] or "").rstrip(" \t\r#")
            at = match.start()
            found.append(_Start(at, len(match["marks"]), title, slug(title)))
    return found


def _underlined(padded: str, end: int) -> tuple[int, str] | None:
    """The one-line heading before an underline whose line feed is at ``end``: where, and its text."""
    start = padded.rfind("\n", max(0, end - 200), end) + 1
    if start == 0:
        return None
    title = padded[start:end].strip()
    alone = (
        padded[max(0, start - 2) : start] in ("\n\n", "\n") or padded[start - 2 : start - 1] == "\r"
    )
    if not title or not alone or title[0] in "-=|>#*+`~<:" or title.endswith("|"):
        return None
    return start, title


def _html(text: str) -> list[_Start]:
    found: list[_Start] = []
    for match in _HTML_HEADING.finditer(text):
        begun = match.end()
        end = _HTML_HEADING_END.search(text, begun, begun + _LONGEST_HEADING)
        if end is None:
            continue
        title = _TAG.sub(" ", text[begun : end.start()])
        found.append(_Start(match.start(), int(match["depth"]), title, slug(title)))
    return found


def _diff(text: str) -> list[_Start]:
    found: list[_Start] = []
    padded = "\n" + text
    commands = "\ndiff --git " in padded or "\nIndex: " in padded
    for match in _DIFF_FILE.finditer(padded):
        at = match.start()  # the added line feed makes up for the one that is not counted
        name = match["name"]
        if text.startswith("--- ", at):
            if commands:
                continue  # belongs to the file's own line before it, or is a line of the diff
            after = text.index("\n+++ ", at) + 5
            new_name = text[after : (text.find("\n", after) + 1 or len(text) + 1) - 1]
            if not new_name.startswith("/dev/null"):
                name = new_name
        else:
            name = name.rpartition(" b/")[2] or name
        path = name.partition("\t")[0].strip().removeprefix("b/").removeprefix("a/")
        found.append(_Start(at, 1, path, path.replace(" ", "-")))
    return found


_FINDERS: dict[ContentType, Callable[[str], list[_Start]]] = {
    ContentType.MARKDOWN: _markdown,
    ContentType.HTML: _html,
    ContentType.DIFF: _diff,
}


def _headed(text: str, starts: list[_Start]) -> tuple[Section, ...]:
    """Sections from where headings stand: each reaches to the next one that is not inside of it."""
    if not starts:
        return ()
    taken: dict[str, int] = {}
    found: list[Section] = []
    if starts[0].at > 0:
        front = text[: min(starts[0].at, 400)]
        name = unique("preamble", taken)
        found.append(Section(name, one_line(front) or "before the first heading", 0, starts[0].at))
    ends = [len(text)] * len(starts)
    levels = [1] * len(starts)
    open_ones: list[int] = []
    for place, start in enumerate(starts):
        while open_ones and starts[open_ones[-1]].depth >= start.depth:
            ends[open_ones.pop()] = start.at
        levels[place] = len(open_ones) + 1
        open_ones.append(place)
    for place, start in enumerate(starts):
        name = unique(start.id or "section", taken)
        title = one_line(start.title) or name
        found.append(Section(name, title, start.at, ends[place], levels[place]))
    return _grouped(text, found)


def _grouped(text: str, found: list[Section]) -> tuple[Section, ...]:
    """The same, bounded: deep levels are left out of crowded parts, neighbours become line ranges."""
    kept: list[Section] = []
    room = 4 * MOST_AT_A_LEVEL
    for level in range(1, 7):
        here = [part for part in found if part.level == level]
        if not here or len(kept) + min(len(here), MOST_AT_A_LEVEL) > room:
            break
        if len(here) <= MOST_AT_A_LEVEL:
            kept += here
            continue
        if level == 1:
            kept += _line_groups(text, here)
        break
    return tuple(sorted(kept, key=lambda part: (part.start, part.level)))


def _line_groups(text: str, parts: Sequence[Section]) -> list[Section]:
    """Neighbours together, as ranges of lines of about the same size."""
    target = len(text) / _PARTS
    groups: list[list[Section]] = []
    begun = 0
    for part in parts:
        if not groups or part.end - begun > target:
            groups.append([])
            begun = part.start
        groups[-1].append(part)
    found: list[Section] = []
    line, counted = 1, 0
    for group in groups:
        start, end = group[0].start, group[-1].end
        line += text.count("\n", counted, start)
        counted = start
        if len(group) == 1:
            found.append(group[0])
            continue
        last = line + text.count("\n", start, max(start, end - 1))
        title = f"{group[0].title} {MARK} {group[-1].title}"
        found.append(Section(lines_id(line, last), title, start, end))
    return found


def _divided(text: str, content: ContentType) -> tuple[Section, ...]:
    """Parts of about the same size, at natural places: definitions, blank lines, lines."""
    target = max(_LEAST_PART, len(text) // _PARTS)
    bounds = _bounds(text, target, content)
    found: list[Section] = []
    line = 1
    for start, end in itertools.pairwise(bounds):
        inside = text.count("\n", start, end)
        begins = start == 0 or text[start - 1] == "\n"
        ends = end == len(text) or text[end - 1] == "\n"
        if begins and ends:
            last = line + text.count("\n", start, end - 1)
            name = lines_id(line, last)
        else:
            name = f"chars:{start}-{end}"
        found.append(Section(name, _title(text, start, end, content), start, end))
        line += inside
    return tuple(found)


def _bounds(text: str, target: int, content: ContentType) -> list[int]:
    """Where parts begin, and the end of the last one."""
    places: list[int] | None = None
    if content is ContentType.CODE:
        places = [match.end() for match in _DEFINITION.finditer(text)]
    bounds = [0]
    total = len(text)
    following: Iterable[int] = iter(places or ())
    place = next(iter(following), total) if places else total
    while total - bounds[-1] > target * 1.3:
        begun = bounds[-1]
        wanted = begun + target
        if places:
            while place < wanted - target // 2 and place < total:
                place = next(iter(following), total)
            if place <= wanted + target // 2 and place < total:
                bounds.append(place)
                continue
        bounds.append(_boundary(text, begun, wanted, target))
    if bounds[-1] < total:
        bounds.append(total)
    return bounds


def _boundary(text: str, begun: int, wanted: int, target: int) -> int:
    """The best end near ``wanted`` of a part that began at ``begun``."""
    blank = text.rfind("\n\n", wanted - target // 4, wanted + target // 8)
    if blank >= 0:
        return blank + 2
    line = text.rfind("\n", begun + target // 4, wanted) + 1
    if line == 0:
        line = text.find("\n", wanted, begun + target * _LONG_LINE) + 1
    if line > 0:
        return line
    space = text.rfind(" ", wanted - target // 8, wanted) + 1
    return space or max(begun + 1, safe_start(text, wanted))


def _title(text: str, start: int, end: int, content: ContentType) -> str:
    """The first words of a part, of a part made of records the first record."""
    first = text[start : min(end, start + 400)].lstrip()
    if content in _RECORDS:
        first = first.partition("\n")[0]
    return one_line(first)
