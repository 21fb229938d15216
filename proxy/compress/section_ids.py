"""Find a section of a held text by its id, exactly as it stands there.

Ids are places (``lines:40-80``, ``chars:0-4000``, ``json:/items/3-94``, ``xml:2``), searches
(``grep:TEXT``), or names from a table of contents. Whoever asks is a model that cannot see the text, so
an id that does not exist is answered with the ones that do.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import islice

from proxy.compress.json_spans import Child, NotJson, children, escaped, root, unescaped
from proxy.compress.lines import count_lines, start_of_line
from proxy.compress.matches import find_matches
from proxy.compress.model import ContentType
from proxy.compress.notices import plural
from proxy.compress.sections import sections
from proxy.compress.titles import one_line
from proxy.compress.xml_sections import xml_children

_LINES = re.compile(r"(\d{1,12})(-(\d{0,12}))?")
_RANGE = re.compile(r"(\d{1,12})-(\d{1,12})")
_INDEX = re.compile(r"0|[1-9]\d{0,11}")
_NAMED = 6
"""Ids that are named when one is unknown."""
_COMPARED = 400
"""Names that are looked at to find the nearest ones."""


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
    section = section.strip()
    kind, colon, rest = section.partition(":")
    if colon and kind in ("lines", "line"):
        return _lines(text, rest.strip())
    if colon and kind == "chars":
        return _characters(text, rest.strip())
    if colon and kind == "grep":
        return _search(text, rest)
    if colon and kind == "json":
        return _pointer(text, rest)
    if colon and kind == "xml":
        return _element(text, rest.strip())
    return _name(text, content, section)


def _lines(text: str, wanted: str) -> Spans | Unknown:
    """Whole lines with their line ends."""
    match = _LINES.fullmatch(wanted)
    if match is None:
        return Unknown(
            f"lines:{_quote(wanted)} is no range of lines; write lines:40-80, lines:40 or lines:40-."
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
            f"chars:{_quote(wanted)} is no range; write chars:0-4000 (the end is not included)."
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


def _pointer(text: str, pointer: str) -> Spans | Unknown:
    """A value by JSON Pointer, or a range of items or members at its end."""
    try:
        start, end = root(text)
        steps = pointer.removeprefix("/").split("/") if pointer else []
        if pointer == "/" and not any(child.key == "" for child in children(text, start)):
            steps = []  # strictly a member without a name; where there is none, the whole is meant
        done = "json:"
        for place, step in enumerate(steps):
            found = _step(text, start, step, done, is_last=place == len(steps) - 1)
            if isinstance(found, Unknown):
                return found
            start, end = found
            done += "/" + step
        return [(start, end)]
    except NotJson:
        return Unknown(
            "This text is no JSON, or breaks off; use lines:1-80, grep:TEXT or its sections' ids."
        )


def _step(
    text: str, start: int, step: str, done: str, *, is_last: bool
) -> tuple[int, int] | Unknown:
    """From a container to the value or range that one step names. ``done``: the id of the container."""
    opening = text[start]
    if opening == "[":
        return _item(text, start, step, done, is_last=is_last)
    if opening == "{":
        wanted = unescaped(step)
        for child in children(text, start):
            if child.key == wanted:
                return child.start, child.end
        base, mark, positions = step.rpartition("#")
        match = _RANGE.fullmatch(positions)
        if is_last and mark and match is not None:
            inner = start if not base else _step(text, start, base, done, is_last=False)
            if isinstance(inner, tuple):
                inner = inner[0]
            if isinstance(inner, int) and text[inner] in "[{":
                return _range(text, inner, match, f"{done}/{base}" if base else done)
        return _no_member(text, start, wanted, done)
    return Unknown(f"{done} is a plain value with nothing inside it; ask for {done} itself.")


def _item(
    text: str, start: int, step: str, done: str, *, is_last: bool
) -> tuple[int, int] | Unknown:
    match = _RANGE.fullmatch(step)
    if match is not None and is_last:
        return _range(text, start, match, done)
    if _INDEX.fullmatch(step):
        wanted = int(step)
        found = next(islice(children(text, start), wanted, None), None)
        if found is not None:
            return found.start, found.end
    count = sum(1 for _ in children(text, start))
    if not count:
        return Unknown(f"{done} has no items.")
    return Unknown(
        f"{done}/{_quote(step)} does not exist: {done} has {plural(count, 'item')}, "
        f"{done}/0 to {done}/{count - 1}, also as a range: {done}/0-{count - 1}."
    )


def _range(text: str, start: int, match: re.Match[str], done: str) -> tuple[int, int] | Unknown:
    """From the first to the last of some neighbours, as they stand, without the brackets around all."""
    first, last = int(match[1]), int(match[2])
    if last < first:
        return Unknown(f"The range {match[0]} ends before it begins; did you mean {last}-{first}?")
    begins: Child | None = None
    ends: Child | None = None
    count = 0
    for child in children(text, start):
        if count == first:
            begins = child
        if count >= first:
            ends = child
        count += 1
        if count > last:
            break
    if begins is None or ends is None:
        return Unknown(
            f"{done} has only {plural(count, 'entry')}, counted from 0; {first:,} is beyond them."
        )
    return begins.outer, ends.end


def _no_member(text: str, start: int, wanted: str, done: str) -> Unknown:
    names = [child.key for child in islice(children(text, start), _COMPARED)]
    if not names:
        return Unknown(f"{done} has no members.")
    shown = ", ".join(f"{done}/{_quote(escaped(name))}" for name in _nearest(wanted, names))
    return Unknown(f"{done} has no member {_quote(wanted)}; it has, for example: {shown}.")


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
            f"xml:{_quote(wanted)} does not exist; the outermost element has "
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
    shown = ", ".join(_nearest(section, tried)) or "none"
    return Unknown(
        f"There is no section {_quote(section)}; there are: {shown}. "
        "Also possible: lines:1-80, grep:TEXT, chars:0-4000."
    )


def _nearest(wanted: str, names: list[str]) -> list[str]:
    """Those that are spelled alike first, then the first ones."""
    names = names[:_COMPARED]
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], _NAMED, 0.5)
    rest = [name for name in names if name not in near]
    return (near + rest)[:_NAMED]


def _quote(text: str) -> str:
    return one_line(text, 60)
