"""Where the words of a query stand in a JSON document, and how much each place says.

A name or scalar value that stands in the query as a whole dominates everything else: who names a key
wants that key. The rest is weighed like BM25 does, by how rare a term is. Only occurrences are looked
at, found by literal searches in the bytes, about 0.2 ms per term and megabyte.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proxy.compress.json_tree import Document
from proxy.compress.words import compounds, fold, query_terms, stem

MAX_TERMS = 40
"""Terms of a query that are searched for."""
MAX_QUERY = 4000
"""Characters of a query that are read."""
MAX_PLACES = 1000
"""A term that stands in so many places says nothing, and is left out."""
MAX_SCALAR = 160
"""Bytes of a string that can be an exact match."""
MAX_EXACT = 500
"""A term that stands in more places is not looked at for exact matches."""
COMMON = 200
"""A term that stands in more places is dropped when another one says much more."""
WEAK = 0.3
"""Share of the best term's weight below which a common term is dropped."""
EXACT = 6.0
"""How many times more an exact match says than its rarity alone."""

_WORD_REST = re.compile(rb"[0-9A-Za-z\x80-\xff]*")
_LETTERS = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyz").union(range(0x80, 0x100))
"""Bytes of words in small letters."""
_NUMBER = re.compile(rb"-?\d[\d.eE+-]*")
_SPLIT = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Hits:
    """Places in document order."""

    positions: Sequence[int]
    terms: Sequence[int]
    weights: Sequence[float]
    exact: Sequence[float]
    """What an exact match adds, 0 for other places."""

    def count(self, start: int, end: int) -> int:
        """How many places lie within a span."""
        return bisect_left(self.positions, end) - bisect_left(self.positions, start)

    def within(self, start: int, end: int) -> Sequence[int]:
        """The places within a span."""
        return self.positions[bisect_left(self.positions, start) : bisect_left(self.positions, end)]

    def score(self, start: int, end: int) -> float:
        """What the places within a span say together; each term counts once."""
        first = bisect_left(self.positions, start)
        last = bisect_left(self.positions, end, first)
        if first == last:
            return 0.0
        best: dict[int, float] = {}
        exact: dict[int, float] = {}
        for index in range(first, last):
            term = self.terms[index]
            best[term] = self.weights[index]
            if self.exact[index] > exact.get(term, 0.0):
                exact[term] = self.exact[index]
        return sum(best.values()) + sum(exact.values())


NOTHING = Hits((), (), (), ())


def find(document: Document, query: str) -> Hits:
    """Where the terms of ``query`` stand; nothing when there is no query."""
    query = query[:MAX_QUERY]
    if not query.strip():
        return NOTHING
    low = document.raw.lower()
    asked = f" {' '.join(_SPLIT.split(fold(query)))} "
    escaped = b"\\u" in low
    # Terms are folded: words with accents are looked for as they are, too.
    accented = [word.lower() for word in _SPLIT.split(query) if not word.isascii()]
    wanted = list(dict.fromkeys([*compounds(query), *query_terms(query), *accented]))[:MAX_TERMS]
    found = {number: list(_positions(term, low, escaped)) for number, term in enumerate(wanted)}
    found = {number: sorted(at) for number, at in found.items() if 0 < len(at) < MAX_PLACES}
    if not found:
        return NOTHING
    size = max(len(low) / 60, 20.0)
    weights = {number: _rarity(size, len(at)) for number, at in found.items()}
    best = max(weights.values())
    places: list[tuple[int, int]] = []
    told = _Asked(asked)
    exact: dict[tuple[int, int], tuple[bool, bytes]] = {}
    for number, at in found.items():
        if len(at) > COMMON and weights[number] < WEAK * best:
            continue
        for position in at:
            places.append((position, number))
            whole = _whole(document.raw, low, position, told) if len(at) <= MAX_EXACT else None
            if whole:
                exact[position, number] = whole
    frequency = Counter(exact.values())
    # A value beside a name that is asked for, too, is more than one that is not.
    positions: list[int] = []
    terms: list[int] = []
    scores: list[float] = []
    bonus: list[float] = []
    for position, number in sorted(places):
        positions.append(position)
        terms.append(number)
        scores.append(weights[number])
        whole = exact.get((position, number))
        if whole is None:
            bonus.append(0.0)
            continue
        rarity = _rarity(size, frequency[whole])
        named = not whole[0] and _is_named(low, position, asked)
        bonus.append(
            EXACT * rarity * (1.5 if named else 1.0) * (0.5 + 0.5 * min(1.0, len(whole[1]) / 4))
        )
    return Hits(positions, terms, scores, bonus)


def _rarity(size: float, count: int) -> float:
    return math.log(1 + size / (count + 0.5))


def _positions(term: str, low: bytes, escaped: bool) -> Iterator[int]:
    """Where words with the stem ``term`` begin; terms with punctuation are found as they are."""
    plain = term.isascii()
    budget = MAX_PLACES
    known: dict[bytes, bool] = {}
    for form in _forms(term, escaped):
        begin = low.find(form)
        while begin >= 0 and budget:
            budget -= 1
            end = begin + len(form)
            if not plain or (_begins_word(low, begin) and _ends_stem(low, end, term, known)):
                yield begin
            begin = low.find(form, end)


def _begins_word(low: bytes, begin: int) -> bool:
    """No letter stands before, but for that of a line end's escape."""
    before = low[begin - 1] if begin else 0x20
    return before not in _LETTERS or (before == 0x6E and low[begin - 2 : begin - 1] == b"\\")


def _ends_stem(low: bytes, end: int, term: str, known: dict[bytes, bool]) -> bool:
    """What follows until the word's end is nothing, or an ending. ``known``: what was found for others."""
    if end == len(low) or low[end] not in _LETTERS:
        return True
    rest = _WORD_REST.match(low, end)
    tail = rest.group() if rest else b""
    if len(tail) >= 8:
        return False
    same = known.get(tail)
    if same is None:
        same = tail.isalpha() and tail.isascii() and stem(term + tail.decode()) == term
        known[tail] = same
    return same


def _forms(term: str, escaped: bool) -> list[bytes]:
    """How ``term`` may stand in JSON whose ASCII letters are lowered."""
    if term.isascii():
        return [json.dumps(term)[1:-1].encode()]
    spellings = dict.fromkeys((term, term.upper(), term.title()))
    forms = [spelling.encode("utf-8", "surrogatepass").lower() for spelling in spellings]
    if escaped:
        forms += [json.dumps(spelling)[1:-1].encode().lower() for spelling in spellings]
    return list(dict.fromkeys(forms))


class _Asked(dict[bytes, bool]):
    """Whether the query has all words of a text. Made for one query; many texts are asked for again."""

    def __init__(self, query: str) -> None:
        """``query``: folded, its words between single spaces."""
        super().__init__()
        self._query = query

    def __missing__(self, content: bytes) -> bool:
        words = " ".join(_SPLIT.split(fold(content.decode("utf-8", "replace")))).strip()
        found = self[content] = bool(words) and f" {words} " in self._query
        return found


def _whole(raw: bytes, low: bytes, position: int, asked: _Asked) -> tuple[bool, bytes] | None:
    """The key (true) or scalar value (false) at ``position`` when the query has all of it."""
    opening = raw.rfind(b'"', max(0, position - MAX_SCALAR), position)
    closing = raw.find(b'"', position, position + MAX_SCALAR)
    if (
        opening >= 0
        and closing > opening
        and raw[opening - 1 : opening] in (b":", b",", b"{", b"[")
    ):
        after = raw[closing + 1 : closing + 2]
        content = low[opening + 1 : closing]
        if after in (b":", b",", b"}", b"]", b""):
            return (after == b":", content) if asked[content] else None
    start = position - 1 if raw[position - 1 : position] == b"-" else position
    if raw[start - 1 : start] in (b":", b",", b"["):
        number = _NUMBER.match(raw, start)
        if number and raw[number.end() : number.end() + 1] in (b",", b"}", b"]"):
            digits = number.group()
            return (False, digits) if asked[digits] else None
    return None


def _is_named(low: bytes, position: int, asked: str) -> bool:
    """Whether the name before the value at ``position`` has a word of the query."""
    colon = low.rfind(b'":', max(0, position - MAX_SCALAR), position)
    if colon < 0:
        return False
    opening = low.rfind(b'"', max(0, colon - MAX_SCALAR), colon)
    name = low[opening + 1 : colon].decode("utf-8", "replace")
    return any(f" {word} " in asked for word in _SPLIT.split(name.replace("_", " ")) if word)
