"""Which records have a word, and how often: kept for words that were searched for, ranked by BM25.

FTS5 takes 2 microseconds to rank a match, and again for each search. Here a word's records are read from its
index once, and a search adds up arrays. Scores are those of FTS5's ``bm25``. Loads numpy.
"""

from __future__ import annotations

import math
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Term: TypeAlias = "tuple[str, ...]"
"""The tokens of a term, in order. Several are a phrase."""

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Stems, without accents."""
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6
"""Of a word that most records have."""
_LEAST_ROOM = 8
_REMEMBERED = 20_000
"""Words whose stems are remembered, unless a text has more."""
_WORD = re.compile("[a-z0-9]+")
"""What a token is among ASCII characters."""


class Tokenizer:
    """Cuts texts as FTS5 does, by an index in memory that holds nothing afterwards. Any thread may call.

    That takes 100 microseconds for a text or for some words, so the stems of words are remembered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stems: dict[str, str] = {}
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        self._connection.execute(
            f"CREATE VIRTUAL TABLE cut USING fts5(body, content = '', tokenize = '{TOKENIZER}')"
        )
        self._connection.execute("CREATE VIRTUAL TABLE tokens USING fts5vocab(cut, instance)")

    def terms(self, texts: Sequence[str]) -> list[Term]:
        """The tokens of each."""
        with self._lock:
            words = [_WORD.findall(text.lower()) if text.isascii() else None for text in texts]
            self._learn([word for some in words if some for word in some])
            others = iter(
                self._cut([text for text, some in zip(texts, words, strict=True) if some is None])
            )
            return [
                next(others) if some is None else tuple(map(self._stems.__getitem__, some))
                for some in words
            ]

    def tokens(self, text: str) -> Term:
        """The tokens of one text."""
        return self.terms([text])[0]

    def forget(self) -> None:
        """Remember nothing."""
        with self._lock:
            self._stems.clear()

    def close(self) -> None:
        """Free the index."""
        self._connection.close()

    def _learn(self, words: Sequence[str]) -> None:
        """Remember the stems of words."""
        new = [word for word in dict.fromkeys(words) if word not in self._stems]
        if len(self._stems) + len(new) > _REMEMBERED:
            self._stems.clear()
            new = list(dict.fromkeys(words))
        for word, (stem,) in zip(new, self._cut(new), strict=True):
            self._stems[word] = stem

    def _cut(self, texts: Sequence[str]) -> list[Term]:
        if not texts:
            return []
        run = self._connection.execute
        run("BEGIN")
        try:
            self._connection.executemany(
                "INSERT INTO cut (rowid, body) VALUES (?, ?)", enumerate(texts)
            )
            rows: list[tuple[int, int, str]] = run(
                "SELECT doc, offset, term FROM tokens"
            ).fetchall()
        finally:
            run("ROLLBACK")
        found: list[list[str]] = [[] for _ in texts]
        for place, _, token in sorted(rows):
            found[place].append(token)
        return list(map(tuple, found))


class _Posting:
    """The records that have a term, in any order, with room for more.

    Grows by making larger arrays: one that is looked at somewhere could not be made larger itself.
    """

    __slots__ = ("_counts", "_nums", "size")

    def __init__(self, counts: Counter[int]) -> None:
        self.size = len(counts)
        self._nums: NDArray[np.int64] = np.fromiter(counts.keys(), dtype=np.int64, count=self.size)
        self._counts: NDArray[np.int32] = np.fromiter(
            counts.values(), dtype=np.int32, count=self.size
        )

    @property
    def nums(self) -> NDArray[np.int64]:
        return self._nums[: self.size]

    @property
    def counts(self) -> NDArray[np.int32]:
        return self._counts[: self.size]

    def add(self, num: int, count: int) -> None:
        if self.size == len(self._nums):
            self._nums, self._counts = _with_room(self._nums), _with_room(self._counts)
        self._nums[self.size], self._counts[self.size] = num, count
        self.size += 1

    def remove(self, num: int) -> None:
        (place,) = np.flatnonzero(self.nums == num)
        self.size -= 1
        self._nums[place], self._counts[place] = self._nums[self.size], self._counts[self.size]


class Postings:
    """What one index of words has, as far as it was read. One thread at a time.

    Whoever changes the index says so by `add` and `remove`.
    """

    def __init__(self, sizes: Iterable[tuple[int, int]]) -> None:
        """``sizes``: number and tokens of every record."""
        self._sizes: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        """Tokens by number; 0 where there is no record."""
        self._records = self._tokens = 0
        self._found: dict[Term, _Posting] = {}
        self._by_first: dict[str, list[Term]] = {}
        self.held = 0
        """Pairs of term and record that are kept; each takes 12 bytes."""
        for num, size in sizes:
            self._grow(num, size)

    def count(self, term: Term) -> int | None:
        """How many records have a term; ``None`` when it was not put yet."""
        posting = self._found.get(term)
        return None if posting is None else posting.size

    def put(self, term: Term, places: Sequence[Iterable[tuple[int, int]]]) -> None:
        """All places of each of the term's tokens: (number, how many tokens are before it)."""
        counts: Counter[int] = Counter()
        if len(term) == 1:
            counts.update(num for num, _ in places[0])
        elif term:
            rest = [set(some) for some in places[1:]]
            for num, at in places[0]:
                if all((num, at + n) in some for n, some in enumerate(rest, 1)):
                    counts[num] += 1
        self._found[term] = _Posting(counts)
        self.held += len(counts)
        if term:
            self._by_first.setdefault(term[0], []).append(term)

    def add(self, num: int, tokens: Term) -> None:
        """A record came into the index."""
        self._grow(num, len(tokens))
        for term, count in self._terms_in(tokens):
            self._found[term].add(num, count)
            self.held += 1

    def remove(self, num: int, tokens: Term) -> None:
        """A record with these tokens left the index."""
        self._records -= 1
        self._tokens -= len(tokens)
        self._sizes[num] = 0
        for term, _ in self._terms_in(tokens):
            self._found[term].remove(num)
            self.held -= 1

    def ranked(
        self, terms: Sequence[Term], limit: int, allowed: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        """The best that are allowed, by number: (number, BM25), best first, ties by number.

        All terms must have been put.
        """
        scores = self._scores(terms)
        if allowed is None:
            nums = np.flatnonzero(scores)
        else:
            nums = np.flatnonzero(scores[: len(allowed)])
            nums = nums[allowed[nums]]
        found = scores[nums]
        if len(nums) > limit:
            worst = np.partition(found, len(found) - limit)[len(found) - limit]
            good = found >= worst
            nums, found = nums[good], found[good]
        order = np.lexsort((nums, -found))[:limit]
        return list(zip(nums[order].tolist(), found[order].tolist(), strict=True))

    def _scores(self, terms: Sequence[Term]) -> NDArray[np.float64]:
        sizes = self._sizes
        scores = np.zeros(len(sizes))
        average = self._tokens / self._records if self._records else 1.0
        for term in terms:
            posting = self._found[term]
            having = posting.size
            if not having:
                continue
            idf = math.log((self._records - having + 0.5) / (having + 0.5))
            nums, counts = posting.nums, posting.counts
            length = 1 - _B + _B * sizes[nums] / average
            part = (counts * (_K1 + 1.0)) / (counts + _K1 * length)
            scores[nums] += (idf if idf > 0 else _LEAST_IDF) * part
        return scores

    def _terms_in(self, tokens: Term) -> Iterator[tuple[Term, int]]:
        """The terms that were put and are in a text, with how often."""
        counts: Counter[Term] = Counter()
        for at, token in enumerate(tokens):
            for term in self._by_first.get(token, ()):
                if len(term) == 1 or tokens[at : at + len(term)] == term:
                    counts[term] += 1
        yield from counts.items()

    def _grow(self, num: int, size: int) -> None:
        if num >= len(self._sizes):
            self._sizes = _with_room(self._sizes, num + 1)
        self._sizes[num] = size
        self._records += 1
        self._tokens += size


def _with_room(column: NDArray[Any], least: int = 0) -> NDArray[Any]:
    """A larger copy, filled up with zeros."""
    found: NDArray[Any] = np.zeros(max(least, 2 * len(column), _LEAST_ROOM), dtype=column.dtype)
    found[: len(column)] = column
    return found
