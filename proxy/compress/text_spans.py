"""What a text is cut into, and the builder that collects it while a cutter walks through the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from operator import add
from typing import NamedTuple

from proxy.compress.text_lines import lines_and_texts
from proxy.compress.text_sentences import bounded, first_sentence, has_marks, is_wide, sentences


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
    of a diff's hunk; the signatures around a line of code. The last one needs all the others."""


_SENTENCE, _HEADING = SpanKind.SENTENCE, SpanKind.HEADING
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
        self._focus = iter(() if focus is None else [*focus, len(text)])
        """Ends with a place that no paragraph reaches."""
        self._focused = -1 if focus is None else next(self._focus)
        """The next place in focus, -1: all are."""
        self.wide = is_wide(text)
        self.marks = has_marks(text)
        self.spans: list[Span] = []
        self.block = 0
        self.headings: list[tuple[int, int]] = []
        """Level and span of the open headings, outermost first."""
        self.needs: tuple[int, ...] = ()
        """The spans of `headings`."""

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
        if self._focused >= end and end - start <= self.longest:
            middle, rest = first_sentence(self.text, start, end)
            block, needs = self.block, self.needs
            self.spans.append(new_span(Span, (start, middle, _SENTENCE, block, needs)))
            if rest < end:
                self.spans.append(new_span(Span, (rest, end, _SENTENCE, block, needs)))
        else:
            self.sentences(start, end, _SENTENCE)
        self.block += 1

    def sentences(self, start: int, end: int, kind: SpanKind) -> None:
        """The sentences from ``start`` to ``end``; where nothing is looked for, the first and the rest."""
        if not self._in_focus(start, end):
            middle, rest = first_sentence(self.text, start, end)
            self.add(start, middle, kind)
            if rest < end:
                self.add(rest, end, kind)
            return
        found = sentences(
            self.text, start, end, wide=self.wide, marks=self.marks, longest=self.longest
        )
        block, needs = self.block, self.needs
        self.spans += [new_span(Span, (a, b, kind, block, needs)) for a, b in found]

    def _in_focus(self, start: int, end: int) -> bool:
        """Whether something that is looked for stands there. Asked in the order of the text."""
        if self._focused < 0:
            return True
        while self._focused < start:
            self._focused = next(self._focus)
        return self._focused < end

    def heading(self, start: int, end: int, level: int) -> None:
        """A heading; closes the ones of its level and below."""
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.needs = self.needs[: len(self.headings)]
        index = self.add(start, end, _HEADING)
        self.headings.append((level, index))
        self.needs = (*self.needs, index)
        self.block += 1


Line = tuple[int, int]
"""First character, and one past the last that is not white space; equal for a blank line."""


def lines_of(text: str) -> list[Line]:
    starts, texts = lines_and_texts(text)
    return placed(starts, texts[:-1])


def placed(starts: list[int], texts: list[str]) -> list[Line]:
    """Lines by where they begin and what stands in them."""
    return list(zip(starts, map(add, starts, map(len, texts)), strict=True))


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


def code_parts(builder: Builder, starts: list[int], texts: list[str]) -> list[Line]:
    """`code_groups` of some lines, in parts where they are too long."""
    if not texts:
        return []
    end = starts[-1] + len(texts[-1])
    longest = builder.longest
    if len(texts) <= MAX_CODE_LINES and end - starts[0] <= min(MAX_CODE, longest) and all(texts):
        return [(starts[0], end)]
    parts: list[Line] = []
    for start, stop in code_groups(placed(starts, texts)):
        parts += bounded(builder.text, start, stop, longest)
    return parts


def indent_of(text: str, start: int, end: int) -> int:
    if text[start] not in " \t":
        return 0
    return end - start - len(text[start:end].lstrip())
