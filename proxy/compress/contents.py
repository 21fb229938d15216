"""Tables of contents of texts: one line per section with its id, size and title.

For plain texts and JSON Lines; `proxy.compress.contents_json` keeps the shape of a JSON value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from proxy.compress.json_spans import quoted
from proxy.compress.lines import lines_id
from proxy.compress.model import ContentType, Gauge, Section, Task
from proxy.compress.notices import MARK
from proxy.compress.ranking import scores
from proxy.compress.titles import one_line, slug

_PIECES = 512
"""Pieces in which a text is measured; sizes of parts are interpolated between them."""
_LEAST_PIECE = 64
"""Characters."""
_SHORT_TITLE = 44
_GROUPINGS = (24, 12, 6, 3, 1)
_HINTED = 3
_QUERIED_CHARACTERS = 2_000_000
"""Longer texts are not ranked: it would take longer than the answer is worth."""


class SizeMap:
    """How large the parts of a text are, about, from one measurement."""

    def __init__(self, text: str, gauge: Gauge) -> None:
        self._step = max(_LEAST_PIECE, -(-len(text) // _PIECES))
        starts = range(0, len(text), self._step)
        sizes = gauge.sizes([text[start : start + self._step] for start in starts])
        self._sums = [0, *accumulate(sizes)]
        self._length = len(text)

    @property
    def total(self) -> int:
        """The size of the whole text."""
        return self._sums[-1]

    def between(self, start: int, end: int) -> int:
        """The size of ``text[start:end]``, at least 1 unless it is empty."""
        if end <= start:
            return 0
        return max(1, round(self._before(end) - self._before(start)))

    def _before(self, at: int) -> float:
        piece, inside = divmod(at, self._step)
        if piece >= len(self._sums) - 1:
            return self._sums[-1]
        length = min(self._step, self._length - piece * self._step)
        return self._sums[piece] + (self._sums[piece + 1] - self._sums[piece]) * inside / length


@dataclass(frozen=True, slots=True)
class Table:
    """A table of contents as text."""

    lines: tuple[str, ...]
    inlined: int
    """Size of the parts that stand in it word for word."""


def tables(
    text: str, parts: Sequence[Section], sizes: SizeMap, task: Task, *, inline: int = 0
) -> Iterator[Table]:
    """Tables of the same parts, from the richest to the barest.

    ``inline``: leaves of at most this size stand in the first one word for word.
    """
    deepest = max((part.level for part in parts), default=1)
    outermost = min((part.level for part in parts), default=1)
    as_json = task.content is ContentType.JSON_LINES
    if inline and not as_json:
        yield _table(text, parts, sizes, task, inline=inline)
    for level in range(deepest, outermost - 1, -1):
        shown = [part for part in parts if part.level <= level]
        yield _table(text, shown, sizes, task)
    outer = [part for part in parts if part.level == outermost]
    yield _table(text, outer, sizes, task, longest=_SHORT_TITLE)
    for count in _GROUPINGS:
        if count < len(outer):
            yield _table(text, grouped(text, outer, count), sizes, task, longest=_SHORT_TITLE)
    yield _table(text, grouped(text, outer, 1), sizes, task, longest=0)


def _table(
    text: str,
    parts: Sequence[Section],
    sizes: SizeMap,
    task: Task,
    *,
    longest: int = 200,
    inline: int = 0,
) -> Table:
    lines: list[str] = []
    inlined = 0
    outermost = min((part.level for part in parts), default=1)
    as_json = task.content is ContentType.JSON_LINES
    for place, part in enumerate(parts):
        size = sizes.between(part.start, part.end)
        title = one_line(part.title, longest) if longest else ""
        leaf = place + 1 == len(parts) or parts[place + 1].start >= part.end
        indent = "  " * (part.level - outermost)
        if as_json:
            what = f"{title}, " if title else ""
            lines.append(quoted(f"{MARK} {what}{size:,} {task.gauge.unit}: {part.id}"))
        elif leaf and size <= inline:
            body = text[part.start : part.end].strip("\r\n")
            lines.append(f"{indent}{part.id} | {size:,} | whole:\n{body}")
            inlined += size
        else:
            told = slug(title) == part.id.rstrip("-0123456789") or slug(title) == part.id
            lines.append(
                f"{indent}{part.id} | {size:,}" + ("" if told or not title else f" | {title}")
            )
    return Table(tuple(lines), inlined)


def grouped(text: str, parts: Sequence[Section], count: int) -> list[Section]:
    """Neighbours together: about ``count`` groups of about the same size, with ids that fetch them."""
    if len(parts) <= count:
        return list(parts)
    target = (parts[-1].end - parts[0].start) / count
    groups: list[list[Section]] = []
    for part in parts:
        if not groups or (
            len(groups) < count and part.start - groups[-1][0].start >= target * 0.95
        ):
            groups.append([])
        groups[-1].append(part)
    found: list[Section] = []
    line, counted = 1, 0
    for group in groups:
        first, last = group[0], group[-1]
        line += text.count("\n", counted, first.start)
        counted = first.start
        if len(group) == 1:
            found.append(first)
            continue
        name = _joined_id(text, first, last, line)
        begins = first.title.partition(f" {MARK} ")[0]
        ends = last.title.rpartition(f" {MARK} ")[2]
        title = f"{one_line(begins, 20)} {MARK} {one_line(ends, 20)}"
        found.append(Section(name, title, first.start, last.end, first.level))
    return found


def _joined_id(text: str, first: Section, last: Section, line: int) -> str:
    """The id of everything from the first to the last part. ``line``: number of the first line."""
    start, end = first.start, last.end
    if first.id.startswith("xml:") and last.id.startswith("xml:"):
        return f"xml:{first.id[4:].partition('-')[0]}-{last.id.rpartition('-')[2].removeprefix('xml:')}"
    if (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end - 1] == "\n"):
        return lines_id(line, line + text.count("\n", start, end - 1))
    return f"chars:{start}-{end}"


def likely(text: str, parts: Sequence[Section], query: str) -> list[str]:
    """Ids of the leaves that fit the query best, in the order of the text; none without a query."""
    if not query or len(text) > _QUERIED_CHARACTERS:
        return []
    starts = [part.start for part in parts]
    leaves = [
        part
        for place, part in enumerate(parts)
        if bisect_right(starts, part.start) == place + 1
        and (place + 1 == len(parts) or parts[place + 1].start >= part.end)
    ]
    rated = scores(query, [text[part.start : part.end] for part in leaves])
    best = sorted(range(len(leaves)), key=lambda place: (-rated[place], place))[:_HINTED]
    return [leaves[place].id for place in sorted(best) if rated[place] > 0]
