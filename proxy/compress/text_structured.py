"""Cut source code, diffs, CSV, HTML and XML into parts that are kept or left out as a whole."""

from __future__ import annotations

import re

from proxy.compress.text_spans import Builder, Span, SpanKind, code_groups, indent_of, lines_of

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


def code(builder: Builder) -> None:
    """Source code: signatures are spans of their own, and what is inside needs them."""
    text = builder.text
    lines = list(lines_of(text))
    begin = 0
    opened: list[tuple[int, int]] = []

    def close(until: int) -> None:
        for start, end in code_groups(lines[begin:until]):
            indent = indent_of(text, start, end)
            needs = tuple(index for depth, index in opened if depth < indent)
            builder.add(start, end, SpanKind.CODE, needs)
            builder.block += 1

    for number, (start, end) in enumerate(lines):
        if start == end or not _is_signature(text, start, end):
            continue
        close(number)
        begin = number + 1
        indent = indent_of(text, start, end)
        while opened and opened[-1][0] >= indent:
            opened.pop()
        needs = tuple(index for _, index in opened)
        opened.append((indent, builder.add(start, end, SpanKind.HEADING, needs)))
        builder.block += 1
    close(len(lines))


def diff(builder: Builder) -> None:
    """Hunks of a diff, in parts of some lines, under the file they belong to."""
    text = builder.text
    lines = list(lines_of(text))
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
            for a, b in code_groups(lines[at + 1 : stop]):
                builder.add(a, b, SpanKind.HUNK, (*file, head))
        else:
            while stop < len(lines) and lines[stop][1] > lines[stop][0]:
                if text.startswith(("@@", "diff "), lines[stop][0]) or stop - at >= 12:
                    break
                stop += 1
            builder.block += 1
            file = (builder.add(start, lines[stop - 1][1], SpanKind.TABLE_HEAD, ()),)
        at = stop


def rows(builder: Builder) -> None:
    """Rows of CSV or TSV; a quoted cell may have line ends."""
    text = builder.text
    if '"' not in text:
        _plain_rows(builder)
        return
    head: tuple[int, ...] = ()
    begin = -1
    pending = 0
    for start, end in lines_of(text):
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


def _plain_rows(builder: Builder) -> None:
    """Rows without quotes: one each line."""
    append, longest = builder.spans.append, builder.longest
    head: tuple[int, ...] = ()
    for start, end in lines_of(builder.text):
        if start == end:
            continue
        if not head:
            head = (builder.add(start, end, SpanKind.TABLE_HEAD, ()),)
        elif end - start <= longest:
            append(Span(start, end, SpanKind.ROW, 0, head))
        else:
            builder.add(start, end, SpanKind.ROW, head)


def markup(builder: Builder) -> None:
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


def each_line(builder: Builder) -> None:
    for start, end in lines_of(builder.text):
        if start < end:
            builder.add(start, end, SpanKind.LINE)
