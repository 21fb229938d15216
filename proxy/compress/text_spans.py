"""What a text is cut into, and the builder that collects it while a cutter walks through the text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import accumulate
from operator import add
from typing import NamedTuple

from proxy.compress.text_sentences import bounded, first_sentence, is_wide, sentences


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


_SENTENCE = SpanKind.SENTENCE
_Fields = tuple[int, int, SpanKind, int, tuple[int, ...]]
# Its stub says nothing of the items' types.
new_span: Callable[[type[Span], _Fields], Span] = tuple.__new__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
"""Makes a span in half the time of calling its class."""

MAX_CODE_LINES = 12
"""Lines of code that are kept or left out together."""
MAX_CODE = 800
"""Characters of them."""


class Builder:
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
            self.spans.append(new_span(Span, (start, end, kind, self.block, needs)))
        else:
            for a, b in bounded(self.text, start, end, self.longest):
                self.spans.append(Span(a, b, kind, self.block, needs))
        return first

    def prose(self, start: int, end: int) -> None:
        """A paragraph."""
        self.sentences(start, end, _SENTENCE)
        self.block += 1

    def sentences(self, start: int, end: int, kind: SpanKind) -> None:
        """The sentences from ``start`` to ``end``; where nothing is looked for, the first and the rest."""
        needs, block, append, text = self.needs, self.block, self.spans.append, self.text
        focus = self.focus
        if focus is not None:
            first = bisect_left(focus, start)
            if first == len(focus) or focus[first] >= end:
                middle, rest = first_sentence(text, start, end)
                if end - start > self.longest:
                    self.add(start, middle, kind)
                    if rest < end:
                        self.add(rest, end, kind)
                    return
                append(new_span(Span, (start, middle, kind, block, needs)))
                if rest < end:
                    append(new_span(Span, (rest, end, kind, block, needs)))
                return
        for a, b in sentences(text, start, end, wide=self.wide, longest=self.longest):
            append(new_span(Span, (a, b, kind, block, needs)))

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


def lines_of(text: str) -> list[Line]:
    return _placed(text.split("\n"))[0]


def lines_and_texts(text: str) -> tuple[list[Line], list[str]]:
    """The lines, and what stands in each without the white space at its end."""
    return _placed(text.split("\n"))


def _placed(raw: list[str]) -> tuple[list[Line], list[str]]:
    lengths = accumulate(map(len, raw), initial=0)
    starts = list(map(add, lengths, range(len(raw))))  # each line before has an end, too
    texts = list(map(str.rstrip, raw))
    return list(zip(starts, map(add, starts, map(len, texts)), strict=True)), texts


def code_groups(lines: list[Line]) -> Iterator[Line]:
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


def code_parts(builder: Builder, groups: list[Line]) -> Iterator[Line]:
    for start, end in groups:
        yield from bounded(builder.text, start, end, builder.longest)


def indent_of(text: str, start: int, end: int) -> int:
    if text[start] not in " \t":
        return 0
    return end - start - len(text[start:end].lstrip())
