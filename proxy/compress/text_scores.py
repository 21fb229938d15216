"""How much each span of a text matters, with and without a query."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress, pairwise

from proxy.compress.ranking import (
    Hits,
    Matches,
    Places,
    bm25,
    idf,
    matches,
    matches_in,
    smooth,
)
from proxy.compress.segments import Span, SpanKind

NEIGHBOURS = 0.3
"""Share of the scores of the spans before and after, since an answer often stands beside its question's
words. From 0.2 to 0.4 nothing measurable changes; none costs 1 in 100 answers."""
BLOCK = 0.6
"""Share of the score of the whole paragraph: tells the passage on the subject from chance words."""
PAIR = 0.5
"""Credit for two terms of the query close together, in weights of the rarer one."""
HINT = 0.15
"""Credit for what an answer would look like: a date for a "when", a number for a "how many"."""
BLOCK_B = 0.5
SPAN_B = 0.5
"""How much long paragraphs and spans are held back; see `ranking.B`."""


def by_query(query: str, spans: Sequence[Span], text: str, places: Places) -> list[float]:
    """Relevance of each span of ``text``; 0 for one that has nothing to do with the query.

    ``places``: of the text in small letters.
    """
    starts, ends, _, block_of, _ = zip(*spans, strict=True)
    if text.isascii():
        found = matches_in(query, text, places, starts, ends)
    else:
        found = matches(query, [text[start:end] for start, end in zip(starts, ends, strict=True)])
    if not found:
        return [0.0] * len(spans)
    own = bm25(found, b=SPAN_B)
    for segment, credit in _pairs(found).items():
        own[segment] += PAIR * credit
    hint = _hint(query)
    if hint is not None:
        for index in compress(range(len(own)), own):
            if hint.search(text[starts[index] : ends[index]]):
                own[index] *= 1 + HINT
    total = smooth(own, NEIGHBOURS)
    if block_of[0] != block_of[-1]:
        _add_blocks(total, found, block_of)
    return total


def _add_blocks(total: list[float], found: Matches, block_of: Sequence[int]) -> None:
    """Add BM25 of whole paragraphs to what their spans have. ``block_of``: the block of each span."""
    lengths = [0] * (block_of[-1] + 1)
    for block, length in zip(block_of, found.lengths, strict=True):
        lengths[block] += length
    hits = [
        Hits(list(map(block_of.__getitem__, segments)), positions)
        for segments, positions in found.hits
    ]
    blocks = bm25(Matches(tuple(lengths), tuple(hits)), b=BLOCK_B)
    index = 0
    for block in compress(range(len(blocks)), blocks):  # in most nothing is found
        index = bisect_left(block_of, block, index)
        while index < len(total) and block_of[index] == block:
            total[index] += BLOCK * blocks[block]
            index += 1


def _pairs(found: Matches) -> dict[int, float]:
    """Credit for terms that follow each other in the query standing close together in a span.

    Terms that stand in many spans are left out: they say little and cost much.
    """
    count = len(found.lengths)
    result: dict[int, float] = {}
    having = [len(set(hits.segments)) for hits in found.hits]
    for number, (first, second) in enumerate(pairwise(found.hits)):
        fewest = min(having[number], having[number + 1])
        if not fewest or 8 * fewest > count + 64:
            continue
        weight = min(idf(having[number], count), idf(having[number + 1], count))
        following = _by_segment(second)
        for segment, positions in _by_segment(first).items():
            near = following.get(segment, ())
            if any(0 < b - a <= 30 for a in positions for b in near):
                result[segment] = result.get(segment, 0.0) + weight
    return result


def _by_segment(hits: Hits) -> dict[int, list[int]]:
    """The first positions in each segment."""
    found: dict[int, list[int]] = {}
    for segment, at in zip(hits.segments, hits.positions, strict=True):
        positions = found.setdefault(segment, [])
        if len(positions) < 8:
            positions.append(at)
    return found


_YEAR_OR_DATE = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\d(?:th|st|nd|rd)? (?:century|January|February|March|April|May|"
    r"June|July|August)"
)
_DIGITS = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|"
    r"billion|half)\b"
)
_NAME = re.compile(r"[^\s.!?]\s+[A-Z]\w+")
_HINTS = (
    (
        re.compile(
            r"\b(?:when|what (?:year|date|day|century)|which year|wann|cu[a\u00e1]ndo|"
            r"qu[e\u00e9] a[n\u00f1]o|quand)\b",
            re.I,
        ),
        _YEAR_OR_DATE,
    ),
    (
        re.compile(
            r"\b(?:how (?:many|much|long|old|far|large|big|tall|high|often)|what (?:percent\w*|number|"
            r"proportion|share)|wie ?viele?|cu[a\u00e1]nt[oa]s?|combien)\b",
            re.I,
        ),
        _DIGITS,
    ),
    (
        re.compile(
            r"\b(?:who|whom|whose|wer|wen|wem|qui[e\u00e9]n(?:es)?|qui|where|wo|d[o\u00f3]nde)\b",
            re.I,
        ),
        _NAME,
    ),
)


def _hint(query: str) -> re.Pattern[str] | None:
    """What an answer would look like: a date, a number, a name."""
    for asked, answer in _HINTS:
        if asked.search(query[:400]):
            return answer
    return None


def by_ends(count: int) -> list[float]:
    """For errors: the beginning and the end, one as much as the other, then towards the middle."""
    return [1.0 / (1 + min(index, count - 1 - index)) for index in range(count)]


_OTHER_DIGIT = re.compile("[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]")
"""Arabic, Persian, Hindi and wide ones."""
_DIGIT_MARKS = bytes(48 <= code <= 57 for code in range(256))
_DEEP = 200
"""Spans of one block that are looked at."""
_BEGINNING = 200
"""Characters of a span in which a number counts."""


def _digit_marks(text: str) -> bytes | bytearray:
    """A byte for each character, 1 for a digit: found much faster than by a pattern."""
    if text.isascii():
        return text.encode().translate(_DIGIT_MARKS)
    marks = bytearray(text.encode("ascii", "replace").translate(_DIGIT_MARKS))
    for found in _OTHER_DIGIT.finditer(text):
        marks[found.start()] = 1
    return marks


def by_place(spans: Sequence[Span], text: str) -> list[float]:
    """Without a query: headings with what follows them, the beginning, numbers, the end."""
    count = len(spans)
    result: list[float] = []
    append = result.append
    blocks = spans[-1].block + 1 if spans else 0
    heading, find_digit = SpanKind.HEADING, _digit_marks(text).find
    digit = find_digit(1)
    last = -1
    first = 0
    below = 0.0
    """What a span has from a heading right above."""
    early = 0.0
    for index, (start, end, kind, block, needs) in enumerate(spans):
        place = 0.6 / (1 + index) + 0.4 / (count - index)
        if block != last:
            last, first = block, index
            early = 0.1 * (1 - block / blocks)
            if kind is not heading:
                append(place + (1.0 + below + early))
                below = 0.0
                continue
        elif index - first > _DEEP:
            append(place)  # all that could be added is less than what tells the others apart
            continue
        if kind is heading:
            append(place + (1.6 - 0.15 * len(needs) + early))
            below = 0.5
            continue
        score = 1.0 / (1 + index - first) + below
        below = 0.0
        if 0 <= digit < start:
            digit = find_digit(1, start)
        if start <= digit < end and digit < start + _BEGINNING:
            score += 0.15
        append(place + (score + early))
    return result
