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
from operator import sub
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


class Places:
    """Where parts of a query stand in one text. Each part is searched for once."""

    def __init__(self, text: str) -> None:
        """``text``: in small letters."""
        self.text = text
        self._known: dict[str, list[int]] = {}

    def of(self, part: str) -> list[int]:
        """All places, overlapping ones included, ascending."""
        found = self._known.get(part)
        if found is None:
            found = self._known[part] = _positions(part, self.text)
        return found

    def of_name(self, name: str) -> list[int]:
        """`of` for a text with known parts: it can stand only where the rarest of them stands."""
        inside = [part for part in self._known if part in name]
        if not inside:
            return _positions(name, self.text)
        rarest = min(inside, key=lambda part: len(self._known[part]))
        before = name.index(rarest)
        starts = (at - before for at in self._known[rarest] if at >= before)
        return [start for start in starts if self.text.startswith(name, start)]


def matches(query: str, segments: Sequence[str]) -> Matches:
    """Find the terms of ``query`` in ``segments``; takes time linear in both."""
    raw, text, lengths = _folded(segments)
    starts = [0, *accumulate(length + 1 for length in lengths)]
    return _matches(query, raw, Places(text), starts, lengths)


def matches_in(
    query: str, text: str, places: Places, starts: Sequence[int], ends: Sequence[int]
) -> Matches:
    """`matches` of the segments of an ASCII text that begin at ``starts`` (ascending) and end at ``ends``.

    ``places``: of the text in small letters. Between the segments is nothing but white space, so that the
    text need not be put together again.
    """
    return _matches(query, text, places, starts, list(map(sub, ends, starts)))


def _matches(
    query: str, raw: str, places: Places, starts: Sequence[int], lengths: Sequence[int]
) -> Matches:
    query = query[:MAX_QUERY]
    if not lengths:
        return Matches((), ())
    found = [_occurrences(term, places, raw) for term in _searched(query_terms(query))]
    found += [places.of_name(name) for name in compounds(query)[:MAX_TERMS]]
    hits = [Hits([bisect_right(starts, at) - 1 for at in each], each) for each in found]
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


def mentions(query: str, places: Places) -> list[int]:
    """About where the terms of ``query`` stand in a text in small letters, ascending.

    More than `matches` would find.
    """
    terms = _searched(query_terms(query[:MAX_QUERY]))
    return sorted(at for term in terms for at in places.of(term))


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
_ASCII_BETWEEN = frozenset(chr(code) for code in range(128) if not _LETTER.match(chr(code)))
"""What separates words, as far as it is ASCII: known faster than by a pattern."""
_HUMP = re.compile("[A-Z]?[a-z]*")


def _positions(part: str, text: str) -> list[int]:
    """Where ``part`` stands in ``text``, overlapping ones included."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _occurrences(term: str, places: Places, raw: str) -> list[int]:
    """Where words with this stem begin in the folded text."""
    text, candidates = places.text, places.of(term)
    if not term.isascii() and _unspaced(term):
        return candidates
    positions: list[int] = []
    known: dict[str, bool] = {}
    arabic = "\u0600" <= term[0] <= "\u06ff"
    length = len(term)
    between = _ASCII_BETWEEN if "\x1e" not in term else frozenset[str]()
    for start in candidates:
        if text[start + length : start + length + 1] in between:
            word = term
        else:
            found = _REST.match(text, start, start + MAX_WORD)
            word = found.group() if found else term
        if start and text[start - 1] not in between and _LETTER.match(text, start - 1):
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
