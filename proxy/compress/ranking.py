"""Which segments of a text answer a query: BM25 over the segments, counting the query's terms only.

BM25 as described by Robertson and Zaragoza ("The Probabilistic Relevance Framework", 2009), with the
text's own segments as the collection: a term that stands in few segments weighs much.

The text is never cut into words. Every term of a query is a prefix of the words it stands for
(`proxy.compress.words`), so the words are found with a literal search, about 1 ms per term and
megabyte, and only what was found is looked at.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from typing import NamedTuple

from proxy.compress.words import MAX_WORD, PUNCTUATION, compounds, fold, query_terms, stem

K1 = 1.2
"""How fast repeating a term stops to matter; 1.2 to 2 is usual."""
B = 0.5
"""How much long segments are held back, 0 to 1. Less than the usual 0.75: segments are much alike."""
MAX_TERMS = 48
"""Terms of a query that count; more are a document, not a question."""
MAX_QUERY = 4000
"""Characters of a query that are read."""

_SEPARATOR = "\x1e"
_PREFIX_CLITICS = re.compile(
    "(?:^|[" + PUNCTUATION + "])[\u0648\u0641]?[\u0628\u0643\u0644]?(?:\u0627\u0644|\u0644)?$"
)


class Hits(NamedTuple):
    """Where one term of the query stands. Two lists and not a list of pairs: there can be very many."""

    segments: Sequence[int]
    positions: Sequence[int]
    """Characters in the folded text; ascending, one for each of ``segments``."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Where the terms of a query stand."""

    lengths: tuple[int, ...]
    """Characters per segment, folded."""
    hits: tuple[Hits, ...]
    """One for each term, in the order of the query; then one for each of its names."""

    def __bool__(self) -> bool:
        return any(hits.segments for hits in self.hits)


def matches(query: str, segments: Sequence[str]) -> Matches:
    """Find the terms of ``query`` in ``segments``; takes time linear in both."""
    raw, text, lengths = _folded(segments)
    starts = [0, *accumulate(length + 1 for length in lengths)]
    return _matches(query, raw, text, starts, lengths)


def matches_in(query: str, text: str, lowered: str, places: Sequence[tuple[int, int]]) -> Matches:
    """`matches` of the segments at ``places`` (start and end, ascending) of an ASCII text.

    Between them is nothing but white space, so that the text need not be put together again.
    """
    starts = [start for start, _ in places]
    return _matches(query, text, lowered, starts, [end - start for start, end in places])


def _matches(
    query: str, raw: str, text: str, starts: Sequence[int], lengths: Sequence[int]
) -> Matches:
    query = query[:MAX_QUERY]
    if not lengths:
        return Matches((), ())
    found = [_occurrences(term, text, raw) for term in _searched(query_terms(query))]
    found += [_positions(name, text) for name in compounds(query)[:MAX_TERMS]]
    hits = [Hits([bisect_right(starts, at) - 1 for at in places], places) for places in found]
    return Matches(tuple(lengths), tuple(hits))


def scores(query: str, segments: Sequence[str], *, neighbours: float = 0.0) -> list[float]:
    """How well each segment answers ``query``; 0 where none of its terms stands.

    ``neighbours``: share of the scores of the segments before and after that is added to each.
    """
    found = bm25(matches(query, segments))
    return smooth(found, neighbours) if neighbours else found


def bm25(found: Matches, *, k1: float = K1, b: float = B) -> list[float]:
    """BM25 of every segment. Both parameters as in `K1` and `B`."""
    lengths = found.lengths
    count = len(lengths)
    result = [0.0] * count
    if not found:
        return result
    mean = sum(lengths) / count or 1.0
    for hits in found.hits:
        of_term = Counter(hits.segments)
        weight = idf(len(of_term), count)
        for segment, times in of_term.items():
            norm = k1 * (1 - b + b * lengths[segment] / mean)
            result[segment] += weight * times * (k1 + 1) / (times + norm)
    return result


def idf(having: int, count: int) -> float:
    """Weight of a term that stands in ``having`` of ``count`` segments; always above 0."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def smooth(values: Sequence[float], share: float) -> list[float]:
    """Add to each value ``share`` of the values before and after it."""
    if not values:
        return []
    result = list(values)
    last = len(values) - 1
    for index in compress(range(len(values)), values):  # most are 0
        added = share * values[index]
        if index:
            result[index - 1] += added
        if index < last:
            result[index + 1] += added
    return result


def mentions(query: str, lowered: str) -> list[int]:
    """About where the terms of ``query`` stand in a text in small letters, ascending.

    More than `matches` would find.
    """
    terms = _searched(query_terms(query[:MAX_QUERY]))
    return sorted(at for term in terms for at in _positions(term, lowered))


def _folded(segments: Sequence[str]) -> tuple[str, str, list[int]]:
    """The joined segments as they are (empty when lengths changed), folded, and the folded lengths."""
    joined = _SEPARATOR.join(segments)
    if joined.isascii():
        return joined, joined.lower(), list(map(len, segments))
    parts = [segment.lower() if segment.isascii() else fold(segment) for segment in segments]
    lengths = list(map(len, parts))
    same = lengths == list(map(len, segments))
    return joined if same else "", _SEPARATOR.join(parts), lengths


def _searched(terms: list[str]) -> list[str]:
    """Without single letters, which stand everywhere, if there is anything else."""
    longer = [term for term in terms if len(term) > 1 or not term.isascii() or term.isdigit()]
    return (longer or terms)[:MAX_TERMS]


_REST = re.compile(f"[^{PUNCTUATION}\x1e]*+")
_LETTER = re.compile(f"[^{PUNCTUATION}\x1e]")
_HUMP = re.compile("[A-Z]?[a-z]*")


def _positions(part: str, text: str) -> list[int]:
    """Where ``part`` stands in ``text``, overlapping ones included."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _occurrences(term: str, text: str, raw: str) -> list[int]:
    """Where words with this stem begin in the folded ``text``."""
    candidates = _positions(term, text)
    if not term.isascii() and _unspaced(term):
        return candidates
    positions: list[int] = []
    known: dict[str, bool] = {}
    arabic = "\u0600" <= term[0] <= "\u06ff"
    letter, rest = _LETTER.match, _REST.match
    for start in candidates:
        found = rest(text, start, start + MAX_WORD)
        word = found.group() if found else term
        if start and letter(text, start - 1):
            if raw and raw[start].isupper() and raw[start - 1].islower():
                word = fold(_hump(raw, start, word))
            elif not (arabic and _PREFIX_CLITICS.search(text[max(0, start - 5) : start])):
                continue
        same = known.get(word)
        if same is None:
            same = known[word] = stem(word) == term
        if not same and raw:
            hump = _hump(raw, start, word)
            same = len(hump) < len(word) and stem(hump.lower()) == term
        if same:
            positions.append(start)
    return positions


def _hump(raw: str, start: int, word: str) -> str:
    """The first part of a camelCase word; the whole when it is none."""
    found = _HUMP.match(raw, start, start + len(word))
    return found.group() if found and found.group() else word


def _unspaced(term: str) -> bool:
    first = term[0]
    return "\u0e00" <= first <= "\u0eff" or "\u1000" <= first <= "\u17ff" or first >= "\u3040"
