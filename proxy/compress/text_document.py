"""Cut Markdown, prose, and what is neither: headings, paragraphs, lists, tables, blocks of code."""

from __future__ import annotations

import re

from proxy.compress.text_spans import (
    Builder,
    Line,
    Span,
    SpanKind,
    code_groups,
    code_parts,
    indent_of,
    lines_and_texts,
    new_span,
)

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022]|[0-9]{1,4}[.)]|[a-zA-Z][.)])[ \t]+\S")
_ITEM_KIND = SpanKind.ITEM
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
    text = builder.text
    lines, texts = lines_and_texts(text)
    count = len(lines)
    texts.append("")
    short = min(_ONE_ITEM, builder.longest)
    at = 0
    while at < count:
        line = texts[at]
        if not line:
            at += 1
            continue
        start, end = lines[at]
        first = line[0]
        if not texts[at + 1] and first.isalpha() and line[1:2] not in _AFTER_LETTER:
            builder.prose(start, end)  # what most of a long text consists of
            at += 2
            continue
        if first in "-*+" and end - start <= short:
            following = texts[at + 1]
            alike = following[:2] == line[:2] or not following
            if alike and line[1:2] == " " and not line[2:3].isspace():
                builder.spans.append(
                    new_span(Span, (start, end, _ITEM_KIND, builder.block, builder.needs))
                )
                at += 1
                if not following:
                    builder.block += 1
                    at += 1
                continue
        if first in " \t":
            first = line.lstrip()[0]
        if first in "`~" and (fence := _FENCE.match(line)):
            at = _fenced(builder, lines, at, fence.group(1))
        elif first == "#" and (mark := _HEADING.match(line)):
            builder.heading(start, end, len(mark.group(1)))
            at += 1
        elif first == "|" or ("|" in text[start : start + 200] and _rule(text, lines, at + 1)):
            at = _table(builder, lines, at)
        elif _ITEM.match(line):
            at = _item(builder, lines, texts, at)
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


def _fenced(builder: Builder, lines: list[Line], at: int, mark: str) -> int:
    """A block of code; its spans need both fence lines."""
    text = builder.text
    end = at + 1
    while end < len(lines) and not text[lines[end][0] : lines[end][1]].strip().startswith(mark):
        end += 1
    builder.block += 1
    opening = builder.add(*lines[at], SpanKind.FENCE)
    closed = end < len(lines)
    groups = list(code_groups(lines[at + 1 : end]))
    closing = (opening + 1 + sum(1 for _ in code_parts(builder, groups)),) if closed else ()
    needs = (*builder.needs, opening, *closing)
    for start, stop in code_parts(builder, groups):
        builder.add(start, stop, SpanKind.CODE, needs)
    if closed:
        builder.add(*lines[end], SpanKind.FENCE, (*builder.needs, opening))
    builder.block += 1
    return end + 1


def _rule(text: str, lines: list[Line], at: int) -> bool:
    return (
        at < len(lines)
        and "-" in text[lines[at][0] : lines[at][0] + 8]
        and bool(_TABLE_RULE.match(text, *lines[at]))
    )


def _table(builder: Builder, lines: list[Line], at: int) -> int:
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


def _item(builder: Builder, lines: list[Line], texts: list[str], at: int) -> int:
    """A list's item with the lines that continue it."""
    text = builder.text
    start, end = lines[at]
    indent = indent_of(text, start, end)
    at += 1
    while (line := texts[at]) and line[0] in " \t":
        begin, stop = lines[at]
        if indent_of(text, begin, stop) <= indent or _ITEM.match(line) or _FENCE.match(line):
            break
        end = stop
        at += 1
    if end - start > _ONE_ITEM:
        builder.sentences(start, end, SpanKind.ITEM)
    else:
        builder.add(start, end, _ITEM_KIND)
    if at < len(lines) and not line:
        builder.block += 1
    return at


def _paragraph(builder: Builder, lines: list[Line], at: int) -> int:
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
    if at - begin == 1 or _wrapped(text, group):
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
    if at + 1 >= len(lines) or not text.startswith(("===", "---"), lines[at + 1][0]):
        return False
    return _underlined(text, lines, at)


def _wrapped(text: str, group: list[Line]) -> bool:
    """Whether the lines are one text that was broken at a column."""
    widths = [end - start for start, end in group[:-1]]
    longest = max(widths)
    if longest < 45:
        return False
    most = longest * 0.7
    full = len([width for width in widths if width > most])
    running = len([start for start, _ in group[1:] if text[start].islower()])
    return full >= len(widths) * 0.7 and running >= len(widths) * 0.35
