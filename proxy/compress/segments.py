"""Cut a text into the parts that are kept or left out as a whole: sentences, items, rows, blocks, hunks.

Exact: spans are in order, never overlap, and what is between them is white space. A span that begins
its line has the line's indentation, and no span has the line's end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from proxy.compress.model import ContentType
from proxy.compress.text_sentences import MAX_SPAN, bounded, first_sentence, is_wide, sentences


class SpanKind(Enum):
    """What a span is."""

    HEADING = "heading"
    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    TABLE_HEAD = "table head"
    FENCE = "fence"
    """The line that opens or closes a block of code in Markdown."""
    CODE = "code"
    HUNK = "hunk"
    LINE = "line"


class Span(NamedTuple):
    """A part of a text. A tuple and not a dataclass: there are ten thousand of them in a megabyte."""

    start: int
    """First character."""
    end: int
    """One past its last character."""
    kind: SpanKind
    block: int
    """Number of the paragraph, list, table or section of code that it is in; never decreases."""
    needs: tuple[int, ...] = ()
    """Indexes of the earlier spans (for the end of a fence: a later one) without which this one means
    little: its headings, outermost first; the head of its table; the fences around it; the file's head
    of a diff's hunk; the signatures around a line of code."""


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|[0-9]{1,4}[.)]|[a-zA-Z][.)])[ \t]+\S")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})[ \t]*$")
_MODIFIERS_TEXT = """
    export default public private protected internal static final abstract override async pub
    unsafe extern virtual inline const sealed partial declare CREATE create OR or REPLACE
    replace TEMP
    """
_MODIFIERS = frozenset(_MODIFIERS_TEXT.split())
_DEFINES_TEXT = """
    def class function func fn impl struct interface trait enum namespace module mod type
    record object sub TABLE VIEW INDEX FUNCTION PROCEDURE TRIGGER table view index procedure
    trigger describe it test
    """
_DEFINES = frozenset(_DEFINES_TEXT.split())
_WORD = re.compile(r"[A-Za-z]+")
_BLOCK_TAG = re.compile(
    r"<(?:p|div|li|tr|h[1-6]|section|article|header|footer|nav|main|aside|ul|ol|table|thead|"
    r"tbody|pre|blockquote|"
    r"dt|dd|dl|title|head|body|script|style|form|option|figure)\b",
    re.IGNORECASE,
)
_HTML_HEADING = re.compile(r"<h([1-6])\b", re.IGNORECASE)
_BETWEEN_TAGS = re.compile(r"(?<=>)\s*(?=<[^/])")
MAX_CODE_LINES = 12
"""Lines of code that are kept or left out together."""
MAX_CODE = 800
"""Characters of them."""


def split(
    text: str, content: ContentType, *, longest: int = MAX_SPAN, focus: Sequence[int] | None = None
) -> list[Span]:
    """The spans of ``text``, which is known to be ``content``. Linear; any text is taken.

    ``longest``: characters of a span at most. ``focus``: ascending positions; of paragraphs without any of
    them only the first sentence is cut off, which is much faster. ``None``: all sentences are.
    """
    cut = _SPLITTERS.get(content, _document)
    builder = _Builder(text, longest, focus)
    cut(builder)
    return builder.spans


def heading_path(text: str, spans: list[Span], index: int) -> tuple[str, ...]:
    """The headings over a span, outermost first, without their marks."""
    return tuple(
        text[spans[need].start : spans[need].end].strip("# \t=-\r\n")
        for need in spans[index].needs
        if spans[need].kind is SpanKind.HEADING and need < index
    )


class _Builder:
    """Collects spans; knows the headings that are open."""

    def __init__(self, text: str, longest: int, focus: Sequence[int] | None) -> None:
        self.text = text
        self.longest = longest
        self.focus = focus
        self.wide = is_wide(text)
        self.spans: list[Span] = []
        self.block = 0
        self.headings: list[tuple[int, int]] = []
        """Level and span of the open headings, outermost first."""
        self.needs: tuple[int, ...] = ()

    def add(
        self, start: int, end: int, kind: SpanKind, needs: tuple[int, ...] | None = None
    ) -> int:
        """One span, in parts when it is too long; returns the first one's index."""
        first = len(self.spans)
        if needs is None:
            needs = self.needs
        if end - start <= self.longest:
            self.spans.append(Span(start, end, kind, self.block, needs))
        else:
            for a, b in bounded(self.text, start, end, self.longest):
                self.spans.append(Span(a, b, kind, self.block, needs))
        return first

    def prose(self, start: int, end: int) -> None:
        """A paragraph."""
        self.sentences(start, end, SpanKind.SENTENCE)
        self.block += 1

    def sentences(self, start: int, end: int, kind: SpanKind) -> None:
        """The sentences from ``start`` to ``end``; where nothing is looked for, the first and the rest."""
        focus = self.focus
        if focus is not None:
            first = bisect_left(focus, start)
            if first == len(focus) or focus[first] >= end:
                middle = first_sentence(self.text, start, end)
                self.add(start, middle[0], kind)
                if middle[1] < end:
                    self.add(middle[1], end, kind)
                return
        needs, block, append = self.needs, self.block, self.spans.append
        for a, b in sentences(self.text, start, end, wide=self.wide, longest=self.longest):
            append(Span(a, b, kind, block, needs))

    def heading(self, start: int, end: int, level: int) -> None:
        """A heading; closes the ones of its level and below."""
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.needs = tuple(index for _, index in self.headings)
        index = self.add(start, end, SpanKind.HEADING)
        self.headings.append((level, index))
        self.needs = (*self.needs, index)
        self.block += 1


Line = tuple[int, int]
"""First character, and one past the last that is not white space; equal for a blank line."""


def _lines(text: str) -> Iterator[Line]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line.rstrip())
        start += len(line) + 1


def _document(builder: _Builder) -> None:
    """Markdown, prose, and what is neither: paragraphs, headings, lists, tables, blocks of code."""
    text = builder.text
    lines = list(_lines(text))
    count = len(lines)
    at = 0
    while at < count:
        start, end = lines[at]
        if start == end:
            at += 1
            continue
        first = text[start]
        if first in " \t":
            bare = text[start:end].lstrip()
            first = bare[0]
        if first in "`~" and (fence := _FENCE.match(text, start, end)):
            at = _fenced(builder, lines, at, fence.group(1))
        elif first == "#" and (mark := _HEADING.match(text, start, end)):
            builder.heading(start, end, len(mark.group(1)))
            at += 1
        elif first == "|" or ("|" in text[start : start + 200] and _rule(text, lines, at + 1)):
            at = _table(builder, lines, at)
        elif _ITEM.match(text, start, end):
            at = _item(builder, lines, at)
        elif at + 1 < count and _underlined(text, lines, at):
            level = 1 if text[lines[at + 1][0]] == "=" else 2
            builder.heading(start, lines[at + 1][1], level)
            at += 2
        else:
            at = _paragraph(builder, lines, at)


def _underlined(text: str, lines: list[Line], at: int) -> bool:
    start, end = lines[at + 1]
    return (
        text.startswith(("===", "---"), start)
        and _UNDERLINE.match(text, start, end) is not None
        and lines[at][1] - lines[at][0] <= 100
    )


def _fenced(builder: _Builder, lines: list[Line], at: int, mark: str) -> int:
    """A block of code; its spans need both fence lines."""
    text = builder.text
    end = at + 1
    while end < len(lines) and not text[lines[end][0] : lines[end][1]].strip().startswith(mark):
        end += 1
    builder.block += 1
    opening = builder.add(*lines[at], SpanKind.FENCE)
    closed = end < len(lines)
    groups = list(_code_groups(lines[at + 1 : end]))
    closing = (opening + 1 + sum(1 for _ in _parts(builder, groups)),) if closed else ()
    needs = (*builder.needs, opening, *closing)
    for start, stop in _parts(builder, groups):
        builder.add(start, stop, SpanKind.CODE, needs)
    if closed:
        builder.add(*lines[end], SpanKind.FENCE, (*builder.needs, opening))
    builder.block += 1
    return end + 1


def _parts(builder: _Builder, groups: list[Line]) -> Iterator[Line]:
    for start, end in groups:
        yield from bounded(builder.text, start, end, builder.longest)


def _code_groups(lines: list[Line]) -> Iterator[Line]:
    """Lines of code that stand together: up to a blank line, not too many."""
    begin = end = -1
    many = 0
    for start, stop in lines:
        if begin >= 0 and (start == stop or many >= MAX_CODE_LINES or stop - begin > MAX_CODE):
            yield begin, end
            begin = -1
        if start == stop:
            continue
        if begin < 0:
            begin, many = start, 0
        end = stop
        many += 1
    if begin >= 0:
        yield begin, end


def _rule(text: str, lines: list[Line], at: int) -> bool:
    return (
        at < len(lines)
        and "-" in text[lines[at][0] : lines[at][0] + 8]
        and bool(_TABLE_RULE.match(text, *lines[at]))
    )


def _table(builder: _Builder, lines: list[Line], at: int) -> int:
    """Rows of a Markdown table; they need its head."""
    text = builder.text
    builder.block += 1
    needs = builder.needs
    if _rule(text, lines, at + 1):
        head = builder.add(lines[at][0], lines[at + 1][1], SpanKind.TABLE_HEAD)
        needs = (*needs, head)
        at += 2
    while at < len(lines) and "|" in text[lines[at][0] : lines[at][1]]:
        builder.add(*lines[at], SpanKind.ROW, needs)
        at += 1
    builder.block += 1
    return at


def _item(builder: _Builder, lines: list[Line], at: int) -> int:
    """A list's item with the lines that continue it."""
    text = builder.text
    start, end = lines[at]
    indent = _indent(text, start, end)
    at += 1
    while at < len(lines):
        begin, stop = lines[at]
        if begin == stop or _indent(text, begin, stop) <= indent or _ITEM.match(text, begin, stop):
            break
        if _FENCE.match(text, begin, stop):
            break
        end = stop
        at += 1
    if end - start > 400:
        builder.sentences(start, end, SpanKind.ITEM)
    else:
        builder.add(start, end, SpanKind.ITEM)
    if at < len(lines) and lines[at][0] == lines[at][1]:
        builder.block += 1
    return at


def _indent(text: str, start: int, end: int) -> int:
    if text[start] not in " \t":
        return 0
    return end - start - len(text[start:end].lstrip())


def _paragraph(builder: _Builder, lines: list[Line], at: int) -> int:
    """A line that is a paragraph, a paragraph of wrapped lines, or lines that only stand together."""
    text = builder.text
    begin = at
    while at < len(lines):
        start, end = lines[at]
        if start == end or (at > begin and _begins_something(text, lines, at)):
            break
        if end - start > 160 and at > begin:
            break
        at += 1
        if end - start > 160:
            break
    group = lines[begin:at]
    if len(group) == 1 or _wrapped(text, group):
        builder.prose(group[0][0], group[-1][1])
        return at
    for start, end in group:
        if end - start > 300:
            builder.prose(start, end)
        else:
            builder.add(start, end, SpanKind.LINE)
    builder.block += 1
    return at


def _begins_something(text: str, lines: list[Line], at: int) -> bool:
    start, end = lines[at]
    first = text[start]
    if first == "#":
        return _HEADING.match(text, start, end) is not None
    if first in "`~|":
        return True
    if first in "-*+\u2022" or first.isdigit():
        return _ITEM.match(text, start, end) is not None
    return at + 1 < len(lines) and _underlined(text, lines, at)


def _wrapped(text: str, group: list[Line]) -> bool:
    """Whether the lines are one text that was broken at a column."""
    widths = [end - start for start, end in group[:-1]]
    longest = max(widths)
    if longest < 45:
        return False
    full = sum(width > longest * 0.7 for width in widths)
    running = sum(text[start].islower() for start, _ in group[1:])
    return full >= len(widths) * 0.7 and running >= len(widths) * 0.35


def _is_signature(text: str, start: int, end: int) -> bool:
    """Whether a line of code names something that the lines below it belong to."""
    last = text[end - 1]
    if last in ";,":
        return False
    modified = False
    for word in text[start : min(end, start + 160)].split(None, 5)[:5]:
        if word in _DEFINES:
            return True
        if word not in _MODIFIERS:
            name = _WORD.match(word)
            if name is None or name.group() not in (
                "pub",
                "function",
                "func",
                "fn",
                "describe",
                "it",
                "test",
            ):
                break
            if name.group() != "pub":
                return True
        modified = True
    if modified:
        return last in "{:)"
    return last == "{" and text[start] not in " \t})"


def _code(builder: _Builder) -> None:
    """Source code: signatures are spans of their own, and what is inside needs them."""
    text = builder.text
    lines = list(_lines(text))
    begin = 0
    opened: list[tuple[int, int]] = []

    def close(until: int) -> None:
        for start, end in _code_groups(lines[begin:until]):
            indent = _indent(text, start, end)
            needs = tuple(index for depth, index in opened if depth < indent)
            builder.add(start, end, SpanKind.CODE, needs)
            builder.block += 1

    for number, (start, end) in enumerate(lines):
        if start == end or not _is_signature(text, start, end):
            continue
        close(number)
        begin = number + 1
        indent = _indent(text, start, end)
        while opened and opened[-1][0] >= indent:
            opened.pop()
        needs = tuple(index for _, index in opened)
        opened.append((indent, builder.add(start, end, SpanKind.HEADING, needs)))
        builder.block += 1
    close(len(lines))


def _diff(builder: _Builder) -> None:
    """Hunks of a diff, in parts of some lines, under the file they belong to."""
    text = builder.text
    lines = list(_lines(text))
    file: tuple[int, ...] = ()
    at = 0
    while at < len(lines):
        start, end = lines[at]
        if start == end:
            at += 1
            continue
        stop = at + 1
        if text.startswith("@@", start):
            builder.block += 1
            head = builder.add(start, end, SpanKind.HEADING, file)
            while stop < len(lines) and not text.startswith(
                ("@@", "diff ", "Index: "), lines[stop][0]
            ):
                if (
                    text.startswith("--- ", lines[stop][0])
                    and stop + 1 < len(lines)
                    and text.startswith("+++ ", lines[stop + 1][0])
                ):
                    break
                stop += 1
            for a, b in _code_groups(lines[at + 1 : stop]):
                builder.add(a, b, SpanKind.HUNK, (*file, head))
        else:
            while stop < len(lines) and lines[stop][1] > lines[stop][0]:
                if text.startswith(("@@", "diff "), lines[stop][0]) or stop - at >= 12:
                    break
                stop += 1
            builder.block += 1
            file = (builder.add(start, lines[stop - 1][1], SpanKind.TABLE_HEAD, ()),)
        at = stop


def _rows(builder: _Builder) -> None:
    """Rows of CSV or TSV; a quoted cell may have line ends."""
    text = builder.text
    if '"' not in text:
        _plain_rows(builder)
        return
    head: tuple[int, ...] = ()
    begin = -1
    pending = 0
    for start, end in _lines(text):
        if begin < 0:
            if start == end:
                continue
            begin, pending = start, 0
        pending += text.count('"', start, end)
        if pending % 2 and end - begin < 20_000:
            continue
        if head:
            builder.add(begin, end, SpanKind.ROW, head)
        else:
            head = (builder.add(begin, end, SpanKind.TABLE_HEAD, ()),)
        begin = -1
    if begin >= 0:
        stop = len(text.rstrip())
        builder.add(begin, max(stop, begin + 1), SpanKind.ROW, head)


def _plain_rows(builder: _Builder) -> None:
    """Rows without quotes: one each line."""
    append, longest = builder.spans.append, builder.longest
    head: tuple[int, ...] = ()
    for start, end in _lines(builder.text):
        if start == end:
            continue
        if not head:
            head = (builder.add(start, end, SpanKind.TABLE_HEAD, ()),)
        elif end - start <= longest:
            append(Span(start, end, SpanKind.ROW, 0, head))
        else:
            builder.add(start, end, SpanKind.ROW, head)


def _markup(builder: _Builder) -> None:
    """HTML and XML: cut before elements that begin a block, and at line ends."""
    text = builder.text
    pattern = _BLOCK_TAG if _BLOCK_TAG.search(text, 0, 20_000) else _BETWEEN_TAGS
    cuts = [found.start() for found in pattern.finditer(text)]
    cuts += [found.end() for found in re.finditer("\n", text)]
    start = 0
    for cut in [*sorted(cuts), len(text)]:
        small = cut - start < 60 and cut < len(text) and "\n" not in text[start:cut]
        if small and not _HTML_HEADING.match(text, cut):
            continue
        part = text[start:cut]
        bare = len(part.rstrip())
        if bare:
            heading = _HTML_HEADING.search(part[:80])
            if heading and bare <= 300:
                builder.heading(start, start + bare, int(heading.group(1)))
            else:
                builder.prose(start, start + bare)
        start = cut


def _each_line(builder: _Builder) -> None:
    for start, end in _lines(builder.text):
        if start < end:
            builder.add(start, end, SpanKind.LINE)


_SPLITTERS: dict[ContentType, Callable[[_Builder], None]] = {
    ContentType.CODE: _code,
    ContentType.DIFF: _diff,
    ContentType.TABLE: _rows,
    ContentType.HTML: _markup,
    ContentType.XML: _markup,
    ContentType.LOG: _each_line,
    ContentType.TRACE: _each_line,
    ContentType.JSON_LINES: _each_line,
}
