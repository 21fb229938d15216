"""Cut Markdown, prose, and what is neither: headings, paragraphs, lists, tables, blocks of code."""

from __future__ import annotations

import re

from proxy.compress.text_lines import Lines, lines_and_texts
from proxy.compress.text_spans import Builder, Span, SpanKind, code_parts, new_span

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|[0-9]{1,4}[.)]|[a-zA-Z][.)])[ \t]+\S")
_ITEM_KIND = SpanKind.ITEM
_BULLETS = frozenset(("- ", "* ", "+ "))
_ONE_ITEM = 400
"""Characters; longer items are cut into sentences."""
_AFTER_LETTER = (".", ")")
"""What follows the letter of a list's item."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_TABLE_RULE = re.compile(
    r"[ \t]*+\|?+[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?+[ \t]*+$"
)
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})[ \t]*$")


def document(builder: Builder) -> None:
    """Markdown, prose, and what is neither: paragraphs, headings, lists, tables, blocks of code."""
    lines = lines_and_texts(builder.text)
    starts, texts = lines
    count = len(starts)
    prose = builder.prose
    at = 0
    while at < count:
        line = texts[at]
        if not line:
            at += 1
            continue
        if line[0].isalpha() and not texts[at + 1] and line[1:2] not in _AFTER_LETTER:
            start = starts[at]
            prose(start, start + len(line))  # what most of a long text consists of
            at += 2
            continue
        if line[:2] in _BULLETS:
            behind = _plain_items(builder, lines, at)
            if behind > at:
                at = behind
                continue
        at = _other(builder, lines, at)


def _plain_items(builder: Builder, lines: Lines, at: int) -> int:
    """Items of one line each; returns the line behind them."""
    starts, texts = lines
    block, needs, append = builder.block, builder.needs, builder.spans.append
    longest = min(_ONE_ITEM, builder.longest)
    line = texts[at]
    bullet = line[:2]
    while len(line) <= longest and not line[2].isspace():
        following = texts[at + 1]
        if following and following[:2] != bullet:
            break
        start = starts[at]
        append(new_span(Span, (start, start + len(line), _ITEM_KIND, block, needs)))
        at += 1
        if not following:
            builder.block += 1
            return at + 1
        line = following
    return at


def _other(builder: Builder, lines: Lines, at: int) -> int:
    """Whatever begins at a line; returns the line behind it."""
    starts, texts = lines
    line = texts[at]
    start = starts[at]
    first = line[0]
    if first in " \t":
        first = line.lstrip()[0]
    if first == "#" and (mark := _HEADING.match(line)):
        builder.heading(start, start + len(line), len(mark.group(1)))
        return at + 1
    if first in "`~" and (fence := _FENCE.match(line)):
        return _fenced(builder, lines, at, fence.group(1))
    if first == "|" or ("|" in builder.text[start : start + 200] and _rule(texts, at + 1)):
        return _table(builder, lines, at)
    if _ITEM.match(line):
        return _item(builder, lines, at)
    if _underlined(texts, at):
        level = 1 if texts[at + 1][0] == "=" else 2
        builder.heading(start, starts[at + 1] + len(texts[at + 1]), level)
        return at + 2
    return _paragraph(builder, lines, at)


def _underlined(texts: list[str], at: int) -> bool:
    below = texts[at + 1]
    return (
        below.startswith(("===", "---"))
        and _UNDERLINE.match(below) is not None
        and len(texts[at]) <= 100
    )


def _fenced(builder: Builder, lines: Lines, at: int, mark: str) -> int:
    """A block of code; its spans need both fence lines."""
    starts, texts = lines
    count = len(starts)
    stop = at + 1
    while stop < count and not texts[stop].lstrip().startswith(mark):
        stop += 1
    builder.block += 1
    opening = builder.add(starts[at], starts[at] + len(texts[at]), SpanKind.FENCE)
    inside = slice(at + 1, stop)
    parts = code_parts(builder, starts[inside], texts[inside])
    needs = (*builder.needs, opening)
    if stop < count:
        needs = (*needs, len(builder.spans) + len(parts))
    for start, end in parts:
        builder.add(start, end, SpanKind.CODE, needs)
    if stop < count:
        end = starts[stop] + len(texts[stop])
        builder.add(starts[stop], end, SpanKind.FENCE, (*builder.needs, opening))
    builder.block += 1
    return stop + 1


def _rule(texts: list[str], at: int) -> bool:
    return "-" in texts[at][:8] and _TABLE_RULE.match(texts[at]) is not None


def _table(builder: Builder, lines: Lines, at: int) -> int:
    """Rows of a Markdown table; they need its head."""
    starts, texts = lines
    builder.block += 1
    needs = builder.needs
    if _rule(texts, at + 1):
        end = starts[at + 1] + len(texts[at + 1])
        needs = (*needs, builder.add(starts[at], end, SpanKind.TABLE_HEAD))
        at += 2
    while "|" in texts[at]:
        builder.add(starts[at], starts[at] + len(texts[at]), SpanKind.ROW, needs)
        at += 1
    builder.block += 1
    return at


def _item(builder: Builder, lines: Lines, at: int) -> int:
    """A list's item with the lines that continue it."""
    starts, texts = lines
    start, first = starts[at], texts[at]
    end = start + len(first)
    indent = _indent(first)
    at += 1
    while (line := texts[at]) and line[0] in " \t":
        if _indent(line) <= indent or _ITEM.match(line) or _FENCE.match(line):
            break
        end = starts[at] + len(line)
        at += 1
    if end - start > _ONE_ITEM:
        builder.sentences(start, end, SpanKind.ITEM)
    else:
        builder.add(start, end, _ITEM_KIND)
    if at < len(starts) and not line:
        builder.block += 1
    return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line[0] in " \t" else 0


def _paragraph(builder: Builder, lines: Lines, at: int) -> int:
    """A line that is a paragraph, a paragraph of wrapped lines, or lines that only stand together."""
    starts, texts = lines
    begin = at
    while line := texts[at]:
        if at > begin and (len(line) > 160 or _begins_something(texts, at)):
            break
        at += 1
        if len(line) > 160:
            break
    group = texts[begin:at]
    if len(group) == 1 or _wrapped(group):
        builder.prose(starts[begin], starts[at - 1] + len(group[-1]))
        return at
    for start, line in zip(starts[begin:at], group, strict=True):
        if len(line) > 300:
            builder.prose(start, start + len(line))
        else:
            builder.add(start, start + len(line), SpanKind.LINE)
    builder.block += 1
    return at


def _begins_something(texts: list[str], at: int) -> bool:
    line = texts[at]
    first = line[0]
    if first == "#":
        return _HEADING.match(line) is not None
    if first in "`~|":
        return True
    if first in "-*+\u2022" or first.isdigit():
        return _ITEM.match(line) is not None
    return _underlined(texts, at)


def _wrapped(group: list[str]) -> bool:
    """Whether the lines are one text that was broken at a column."""
    widths = list(map(len, group[:-1]))
    longest = max(widths)
    if longest < 45:
        return False
    most = longest * 0.7
    full = len([width for width in widths if width > most])
    running = len([line for line in group[1:] if line[0].islower()])
    return full >= len(widths) * 0.7 and running >= len(widths) * 0.35
