"""Write out the spans that were kept: the text as it was, and marks where something is missing.

Between two spans that stand next to each other the text is the upstream's, byte for byte. A gap gets a
full announcement (how much, and the section that fetches it) as long as these stay cheap; small gaps
get the short mark, and the footer says how to look at the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compress import notices
from proxy.compress.model import ContentType, Task
from proxy.compress.segments import Span, SpanKind
from proxy.compress.text_lines import lines_and_texts

SHORT = f"[{notices.MARK}]"
"""A small gap."""
_LONG = 4000
"""Characters of a gap inside of one line, from which on ``lines:`` is no help."""
_MARKUP = frozenset({ContentType.HTML, ContentType.XML})


@dataclass(frozen=True, slots=True)
class Rendered:
    """A shortened text without its footer."""

    text: str
    own: tuple[str, ...]
    """Our own words in it."""


_Gap = tuple[int, int]
"""First and last span left out."""


def render(task: Task, spans: Sequence[Span], kept: Sequence[int], announced: int) -> Rendered:
    """``kept``: ascending indexes. ``announced``: how many gaps, the largest ones, say what is missing."""
    text = task.text
    gaps = _gaps(len(spans), kept)
    told = _told(spans, gaps, announced)
    parts: list[str] = []
    own: list[str] = []
    lines = lines_and_texts(text)[0] if told else []
    last_span = len(spans) - 1
    shown_from = 0
    """Where the text that is shown next begins."""
    for number, (first, last) in enumerate(gaps):
        before = shown_from
        left, right = "", ""
        ends_lines = True
        start = spans[first][0]
        if first:
            before = spans[first - 1][1]
            parts.append(text[shown_from:before])
            left = "\n" if "\n" in text[before:start] else " "
        if last < last_span:
            shown_from = spans[last + 1][0]
            ends_lines = "\n" in text[spans[last][1] : shown_from]
            crosses = ends_lines or (left == " " and "\n" in text[before:shown_from])
            right = "\n" if crosses else " "
        mark = SHORT
        if number in told:
            numbers = bisect_right(lines, start), bisect_right(lines, spans[last][1])
            whole = left != " " and ends_lines
            mark = _announcement(task.content, spans, (first, last), numbers, whole=whole)
        parts += (left, mark, right)
        own.append(mark)
    if not gaps or gaps[-1][1] < last_span:
        parts.append(text[shown_from:])
    return Rendered("".join(parts), tuple(own))


def _gaps(count: int, kept: Sequence[int]) -> list[_Gap]:
    found: list[_Gap] = []
    expected = 0
    for index in kept:
        if index > expected:
            found.append((expected, index - 1))
        expected = index + 1
    if expected < count:
        found.append((expected, count - 1))
    return found


def _told(spans: Sequence[Span], gaps: Sequence[_Gap], announced: int) -> set[int]:
    """Numbers of the gaps that are announced in full: the largest ones, the first of alike ones."""
    sizes = [spans[last][1] - spans[first][0] for first, last in gaps]
    large = sorted(range(len(gaps)), key=sizes.__getitem__, reverse=True)[:announced]
    return {number for number in large if sizes[number] >= 120}


def _announcement(
    content: ContentType,
    spans: Sequence[Span],
    gap: _Gap,
    lines: tuple[int, int],
    *,
    whole: bool,
) -> str:
    """``lines``: the first and the last one of the gap. ``whole``: it begins and ends with its lines."""
    first, last = gap
    line, through = lines
    section = f"lines:{line}-{through}"
    if whole and through > line:
        return notices.gap(through - line + 1, "line", section)
    if through == line and spans[last].end - spans[first].start > _LONG:
        section = ""  # a line so long brings back far too much
    kind = spans[first].kind
    unit = kind.value if kind is SpanKind.SENTENCE and content not in _MARKUP else "part"
    return notices.gap(last - first + 1, unit, section)
