"""Cut a JSON string between its characters, not inside of an escape.

Everything works on a string's content as it stands between its quotes, escapes included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

HEAD_SHARE = 0.15
"""Share of an excerpt that is the beginning of the string."""
LONGEST_SEGMENT = 800
"""Bytes of a sentence; longer ones are cut at spaces."""
NEIGHBOURS = 0.35
"""Share of a sentence's score that the ones before and after it get."""
GAP = " \u2026 "
"""Between sentences of an excerpt that were not next to each other."""

_TORN = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_HALF = re.compile(r"(?<!\\)((?:\\\\)*+)\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_BREAK = re.compile(r"\s\S{0,40}\Z")
_SENTENCE = re.compile(
    rb"[.!?][\"')\]]{0,2}[ ]+|(?:(?<!\\)(?:\\\\)*+\\[nr])+[ ]*|\xe3\x80\x82|\xef\xbc\x9f|\xef\xbc\x81"
)


def prefix(content: str, length: int) -> str:
    """At most ``length`` characters of the content."""
    if length >= len(content):
        return content
    part = content[: max(0, length)]
    # An escape is at most 12 characters long, a pair; runs of backslashes are looked at as a whole.
    if "\\" in part[-12:]:
        start = len(part) - 12
        while start > 0 and part[start - 1] == "\\":
            start -= 1
        start = max(0, start)
        part = part[:start] + _HALF.sub(r"\1", _TORN.sub(r"\1", part[start:]))
    if part and "\ud800" <= part[-1] <= "\udbff":
        part = part[:-1]
    return part


def length(content: str) -> int:
    """Characters of the string that the content stands for."""
    if "\\" not in content:
        return len(content)
    try:
        value: object = json.loads(f'"{content}"', strict=False)
    except ValueError:
        return len(content)
    return len(value) if isinstance(value, str) else len(content)


def head(content: bytes, size: Callable[[str], int], room: int) -> str:
    """As much of the beginning as measures at most ``room``, whole words when possible."""
    # The longest tokens of text are about 12 bytes; runs of spaces are longer, and are tried shorter.
    end = min(len(content), room * 12 + 16)
    while 0 < end < len(content) and content[end] & 0xC0 == 0x80:
        end -= 1  # a character begins before
    text = content[:end].decode("utf-8", "surrogatepass")
    wanted = len(text)
    for _ in range(10):
        part = (
            at_word(prefix(text, wanted))
            if wanted < len(text) or len(text) < len(content)
            else text
        )
        measured = size(part)
        if measured <= room:
            return part
        wanted = min(len(part) - 1, int(len(part) * room / measured * 0.97))
        if wanted <= 0:
            return ""
    return ""


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a string, and which of them answer the query."""

    spans: Sequence[tuple[int, int]]
    """Positions in the document; they cover the string's content."""
    order: Sequence[int]
    """Those that score, the best first."""


def sentences(content: bytes, offset: int, score: Callable[[int, int], float]) -> Sentences:
    """The sentences of the content that stands at ``offset``. ``score`` is asked for spans."""
    spans = [(offset + start, offset + end) for start, end in _segments(content)]
    scores = [score(start, end) for start, end in spans]
    around = [
        value + NEIGHBOURS * (before + after)
        for before, value, after in zip([0.0, *scores], scores, [*scores[1:], 0.0], strict=False)
    ]
    order = sorted((i for i, value in enumerate(around) if value), key=lambda i: (-around[i], i))
    return Sentences(spans, order)


def excerpt(
    raw: bytes,
    found: Sentences,
    sizes: Callable[[Sequence[tuple[int, int]]], Sequence[int]],
    size: Callable[[str], int],
    room: int,
) -> str:
    """The best sentences and the beginning, in order, in at most about ``room``; may be empty."""
    # A sentence takes at least one unit, and so does the gap beside it.
    order = found.order[: max(1, room // 2)]
    spans = [found.spans[index] for index in order]
    first, last = found.spans[0][0], found.spans[-1][1]
    opening = head(raw[first:last], size, int(room * HEAD_SHARE))
    begun = first + len(opening.encode("utf-8", "surrogatepass"))
    free = room - size(opening)
    chosen: list[int] = []
    for index, (_, end), cost in zip(order, spans, sizes(spans), strict=True):
        if end > begun and cost + 2 <= free:
            free -= cost + 2
            chosen.append(index)
        elif free < 10:
            break
    if not chosen:
        return ""
    written = opening
    done = begun
    for index in sorted(chosen):
        start, end = found.spans[index]
        start = max(start, begun)
        part = raw[start:end].decode("utf-8", "surrogatepass")
        written += part if start == done else GAP + part
        done = end
    return written


def at_word(part: str) -> str:
    """``part`` without a torn last word, when that is short."""
    found = _BREAK.search(part, max(0, len(part) - 60))
    if found and found.start() >= len(part) // 2:
        return part[: found.start()]
    return part


def _segments(content: bytes) -> list[tuple[int, int]]:
    """Sentences and lines; they cover the content, and none is torn inside of an escape."""
    found: list[tuple[int, int]] = []
    begin = 0
    for end in (*(match.end() for match in _SENTENCE.finditer(content)), len(content)):
        while end - begin > LONGEST_SEGMENT:
            space = content.find(b" ", begin + LONGEST_SEGMENT // 2, end)
            if space < 0:
                break
            found.append((begin, space))
            begin = space
        if end > begin:
            found.append((begin, end))
        begin = end
    return found
