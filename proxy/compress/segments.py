"""Cut a text into the parts that are kept or left out as a whole: sentences, items, rows, blocks, hunks.

Exact: spans are in order, never overlap, and what is between them is white space. A span that begins
its line has the line's indentation, and no span has the line's end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proxy.compress.model import ContentType
from proxy.compress.text_document import document
from proxy.compress.text_sentences import MAX_SPAN
from proxy.compress.text_spans import Builder, Span, SpanKind
from proxy.compress.text_structured import code, diff, each_line, markup, rows

__all__ = ["Span", "SpanKind", "heading_path", "split"]


def split(
    text: str, content: ContentType, *, longest: int = MAX_SPAN, focus: Sequence[int] | None = None
) -> list[Span]:
    """The spans of ``text``, which is known to be ``content``. Linear; any text is taken.

    ``longest``: characters of a span at most. ``focus``: ascending positions; of paragraphs without any of
    them only the first sentence is cut off, which is much faster. ``None``: all sentences are.
    """
    cut = _SPLITTERS.get(content, document)
    builder = Builder(text, longest, focus)
    cut(builder)
    return builder.spans


def heading_path(text: str, spans: list[Span], index: int) -> tuple[str, ...]:
    """The headings over a span, outermost first, without their marks."""
    return tuple(
        text[spans[need].start : spans[need].end].strip("# \t=-\r\n")
        for need in spans[index].needs
        if spans[need].kind is SpanKind.HEADING and need < index
    )


_SPLITTERS: dict[ContentType, Callable[[Builder], None]] = {
    ContentType.CODE: code,
    ContentType.DIFF: diff,
    ContentType.TABLE: rows,
    ContentType.HTML: markup,
    ContentType.XML: markup,
    ContentType.LOG: each_line,
    ContentType.TRACE: each_line,
    ContentType.JSON_LINES: each_line,
}
