"""Write out the spans that were kept: the text as it was, and marks where something is missing.

Between two spans that stand next to each other the text is the upstream's, byte for byte. A gap gets a
full announcement (how much, and the section that fetches it) as long as these stay cheap; small gaps
get the short mark, and the footer says how to look at the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proxy.compress import notices
from proxy.compress.model import ContentType, Task
from proxy.compress.segments import Span, SpanKind

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


@dataclass(frozen=True, slots=True)
class _Gap:
    first: int
    """First span left out."""
    last: int
    """Last span left out."""


def render(task: Task, spans: Sequence[Span], kept: Sequence[int], announced: int) -> Rendered:
    """``kept``: ascending indexes. ``announced``: how many gaps, the largest ones, say what is missing."""
    text = task.text
    gaps = list(_gaps(len(spans), kept))
    sizes = {gap.first: spans[gap.last].end - spans[gap.first].start for gap in gaps}
    large = sorted(gaps, key=lambda gap: (-sizes[gap.first], gap.first))[:announced]
    told = {gap.first for gap in large if sizes[gap.first] >= 120}
    parts: list[str] = []
    own: list[str] = []
    line, counted = 1, 0
    previous = -1
    for gap in gaps:
        before, after = gap.first - 1, gap.last + 1
        if previous < before:
            parts.append(_run(text, spans, previous, before))
        mark = SHORT
        if gap.first in told:
            line += text.count("\n", counted, spans[gap.first].start)
            counted = spans[gap.first].start
            through = line + text.count("\n", counted, spans[gap.last].end)
            mark = _announcement(text, task.content, spans, gap, line, through)
        parts.append(_placed(text, spans, before, after, mark))
        own.append(mark)
        previous = gap.last
    if previous < len(spans) - 1:
        parts.append(_run(text, spans, previous, len(spans) - 1))
    return Rendered("".join(parts), tuple(own))


def _gaps(count: int, kept: Sequence[int]) -> list[_Gap]:
    found: list[_Gap] = []
    expected = 0
    for index in kept:
        if index > expected:
            found.append(_Gap(expected, index - 1))
        expected = index + 1
    if expected < count:
        found.append(_Gap(expected, count - 1))
    return found


def _run(text: str, spans: Sequence[Span], previous: int, last: int) -> str:
    """The text of the spans after ``previous`` up to ``last``, exactly; with the text's own edges."""
    start = spans[previous + 1].start if previous >= 0 else 0
    end = spans[last].end if last < len(spans) - 1 else len(text)
    return text[start:end]


def _placed(text: str, spans: Sequence[Span], before: int, after: int, mark: str) -> str:
    """The mark with the white space that keeps lines lines and paragraphs paragraphs."""
    left = right = ""
    if before >= 0:
        left = "\n" if _ends_line(text, spans, before) else " "
    if after < len(spans):
        right = "\n" if _begins_line(text, spans, after) else " "
    if left == " " and right == " " and _crosses_line(text, spans, before, after):
        right = "\n"
    return f"{left}{mark}{right}"


def _crosses_line(text: str, spans: Sequence[Span], before: int, after: int) -> bool:
    return text.find("\n", spans[before].end, spans[after].start) >= 0


def _ends_line(text: str, spans: Sequence[Span], index: int) -> bool:
    return "\n" in text[spans[index].end : spans[index + 1].start]


def _begins_line(text: str, spans: Sequence[Span], index: int) -> bool:
    return index == 0 or "\n" in text[spans[index - 1].end : spans[index].start]


def _announcement(
    text: str, content: ContentType, spans: Sequence[Span], gap: _Gap, line: int, through: int
) -> str:
    whole = _begins_line(text, spans, gap.first) and (
        gap.last == len(spans) - 1 or _ends_line(text, spans, gap.last)
    )
    section = f"lines:{line}-{through}"
    if whole and through > line:
        return notices.gap(through - line + 1, "line", section)
    if through == line and spans[gap.last].end - spans[gap.first].start > _LONG:
        section = ""  # a line so long brings back far too much
    kind = spans[gap.first].kind
    unit = kind.value if kind is SpanKind.SENTENCE and content not in _MARKUP else "part"
    return notices.gap(gap.last - gap.first + 1, unit, section)
