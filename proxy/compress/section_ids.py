"""Find a section of a held text by its id, exactly as it stands there.

Ids are places (``lines:40-80``, ``chars:0-4000``, ``json:/items/3-94``, ``xml:2``), searches
(``grep:TEXT``), or names from a table of contents. Whoever asks is a model that cannot see the text, so
an id that does not exist is answered with the ones that do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proxy.compress.json_pointer import find_value
from proxy.compress.lines import count_lines, start_of_line
from proxy.compress.matches import find_matches
from proxy.compress.model import ContentType
from proxy.compress.notices import plural
from proxy.compress.sections import sections
from proxy.compress.titles import nearest, quote
from proxy.compress.xml_sections import xml_children

_LINES = re.compile(r"(\d{1,12})(-(\d{0,12}))?")
_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})")


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no such section."""

    reason: str
    """What is wrong and what would be right, one sentence or two."""


Spans = list[tuple[int, int]]


def resolve(text: str, content: ContentType, section: str) -> Spans | Unknown:
    """Where the section stands (start and end offsets), or what would be right instead.

    Only a search has several spans, or none when nothing matches.
    """
    untrimmed = section.lstrip()
    section = section.strip()
    kind, colon, rest = section.partition(":")
    if colon and kind in ("lines", "line"):
        return _lines(text, rest.strip())
    if colon and kind == "chars":
        return _characters(text, rest.strip())
    if colon and kind == "grep":
        return _search(text, rest)
    if colon and kind == "json":
        found = find_value(text, untrimmed[5:])  # a name may end in a space
        if isinstance(found, str) and untrimmed != section:
            found = find_value(text, rest)
        return Unknown(found) if isinstance(found, str) else [found]
    if colon and kind == "xml":
        return _element(text, rest.strip())
    return _name(text, content, section)


def _lines(text: str, wanted: str) -> Spans | Unknown:
    """Whole lines with their line ends."""
    match = _LINES.fullmatch(wanted)
    if match is None:
        return Unknown(
            f"lines:{quote(wanted)} is no range of lines; write lines:40-80, lines:40 or lines:40-."
        )
    total = count_lines(text)
    first = int(match[1])
    last = total if match[2] == "-" else int(match[3]) if match[2] else first
    if first < 1:
        return Unknown(
            f"Lines are counted from 1; there are {total:,}: lines:1-{min(last, total) or total}."
        )
    if first > total:
        return Unknown(
            f"There is no line {first:,}; the text has {plural(total, 'line')}: lines:1-{total}."
        )
    if last < first:
        return Unknown(f"lines:{wanted} ends before it begins; did you mean lines:{last}-{first}?")
    start = start_of_line(text, first)
    if last >= total:
        return [(start, len(text))]
    return [(start, start_of_line(text, last - first + 2, start))]


def _characters(text: str, wanted: str) -> Spans | Unknown:
    match = _RANGE.fullmatch(wanted)
    total = len(text)
    if match is None:
        return Unknown(
            f"chars:{quote(wanted)} is no range; write chars:0-4000 (the end is not included)."
        )
    start, end = int(match[1]), min(int(match[2]), total)
    if start >= end:
        return Unknown(
            f"chars:{wanted} is empty; the text has {total:,} characters: chars:0-{total}."
        )
    return [(start, end)]


def _search(text: str, wanted: str) -> Spans | Unknown:
    if not wanted.strip():
        return Unknown("grep: needs a text to look for, for example grep:error.")
    return [(window.start, window.end) for window in find_matches(text, wanted).windows]


def _element(text: str, wanted: str) -> Spans | Unknown:
    match = _LINES.fullmatch(wanted)
    if not wanted:
        return [(0, len(text))]
    found = xml_children(text)
    if not found:
        return Unknown(
            "This text has no XML elements inside of an outermost one; use lines:1-80 or grep:TEXT."
        )
    if match is None or not 1 <= int(match[1]) <= len(found):
        return Unknown(
            f"xml:{quote(wanted)} does not exist; the outermost element has "
            f"{plural(len(found), 'child element')}: xml:1-{len(found)}, counted from 1."
        )
    first = int(match[1])
    last = len(found) if match[2] == "-" else int(match[3]) if match[2] else first
    if last < first:
        return Unknown(f"xml:{wanted} ends before it begins; did you mean xml:{last}-{first}?")
    return [(found[first - 1].start, found[min(last, len(found)) - 1].end)]


def _name(text: str, content: ContentType, section: str) -> Spans | Unknown:
    """A name from a table of contents; also when the text was taken for something else since."""
    tried: list[str] = []
    for kind in (content, ContentType.MARKDOWN, ContentType.HTML, ContentType.DIFF):
        parts = sections(text, kind)
        for part in parts:
            if part.id == section:
                return [(part.start, part.end)]
        if kind is content:
            tried = [part.id for part in parts]
            folded = [part for part in parts if part.id.casefold() == section.casefold()]
            if len(folded) == 1:
                return [(folded[0].start, folded[0].end)]
    shown = ", ".join(nearest(section, tried)) or "none"
    return Unknown(
        f"There is no section {quote(section)}; there are: {shown}. "
        "Also possible: lines:1-80, grep:TEXT, chars:0-4000."
    )
