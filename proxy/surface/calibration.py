"""How probably a memory matters for a call, from what its search tells. Pure.

A search's own score ranks hits of one query; it says nothing about whether the best of them matters at all.
So the probability is a logistic function of what can be compared between queries: the cosine of query and
memory, and the *evidence* of their common words, each worth more the fewer of the query's other hits have
it too. A project's name, which every memory of the project has, is worth next to nothing; the name of one of
its parts is. What the query has and the memory has not does not count: paths and symbols are full of it.

Where the constants come from (December 2026): ``python -m tests.bench.surfacing.fit``. Three weeks of calls
on the projects of ``tests/bench/surfacing/tuning.toml`` with known relevance, and, with .03 of their weight
each, the ten best hits of the questions of LoCoMo (snap-research, evidence corrected by dial481/locomo-audit)
and of 500 queries on the labelled facts of ``tests/bench/memory``, besides questions put to a foreign
conversation. The labels of the last two are incomplete, so their unlabelled hits count as positive in part,
with .6 for "labelled if it matters" (Elkan and Noto, 2008).

Measured on the same data: area under the curve .94 in the weeks, .84 facts, .77 LoCoMo (the share of the
query's words in the place of the evidence: .76, .93, .76). Reliability in the weeks, predicted and observed:
.02 .02, .29 .37, .47 .30, .71 .81, .97 .93. On projects that the constants do not know:
``docs/surfacing-quality.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from proxy.compress.words import MAX_WORD, PUNCTUATION, fold, is_stop_word, stem, terms

MOST_COMMON_WORDS = 3
LOOKED_AT = 4_000
"""Characters of a memory in which words are looked for; of a query, half as many."""
MOST_EVIDENCE = 4.0
"""More makes nothing surer."""
OTHER_HITS = 10
"""Hits without a word that are assumed beside those that were found: of two memories that there are, one has
any word."""
ENOUGH_HITS = 22
"""Of so many, a word that only one has is worth 1."""
RRF_CEILING = 2 / 61
"""What reciprocal rank fusion gives to the first of two lists at once (k = 60)."""
_LONGEST = 10
_GENERIC_WORTH = 0.2
_KEPT_TEXTS = 512
"""Memories whose words are kept: the same ones are found again and again, and the engine waits for this."""
_WORD = re.compile(f"[^{PUNCTUATION}]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_GENERIC_WORDS = """
src lib bin app pkg main index init test spec file doc readme py js ts tsx jsx rs go java md rst txt json
yaml yml toml html css csv sh com org net http https www github home user tmp usr var etc get list read
"""
_GENERIC = frozenset(map(stem, _GENERIC_WORDS.split()))
"""Words of paths and tools that say little about a topic; folded."""


class Embedding(Enum):
    """What the cosine of a hit is worth."""

    MINILM = "minilm"
    """Of the model that mms brings along."""
    HASHING = "hashing"
    """Of vectors of words: it repeats what the common words say."""
    OTHER = "other"
    """Of a model about which nothing is known."""
    NONE = "none"
    """There is none: words alone were compared."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The words of a query that a memory has."""

    evidence: float
    """What they are worth together, 0 and more: about 1 for a word that no other hit has."""
    found: int
    """How many different ones."""
    common: tuple[str, ...] = ()
    """The rarest of them as the query writes them, at most `MOST_COMMON_WORDS`."""


@dataclass(frozen=True, slots=True)
class _Logistic:
    constant: float
    cosine: float
    evidence: float


_WORDS_ALONE = _Logistic(-5.75, 0.0, 5.4)
_FITTED = {
    Embedding.MINILM: _Logistic(-7.1, 3.7, 5.4),
    Embedding.HASHING: _WORDS_ALONE,  # its cosine only repeats the words
    Embedding.NONE: _WORDS_ALONE,
    Embedding.OTHER: _WORDS_ALONE,  # models differ in what their cosines mean
}
_AGREEMENT = 1.0
"""Between one list and both: as much as lies between the cosines of a far and a near hit of our model."""
_RERANKED = frozenset(("rerank", "reranker"))


def overlaps_of(query: str, texts: Sequence[str]) -> list[Overlap]:
    """Compare the words of a query with those of each of its hits.

    Stop words of the query do not count, forms of a word are the same word.
    """
    wanted = _words_of(query[: LOOKED_AT // 2])
    there = [_terms_of(text[:LOOKED_AT]) for text in texts]
    every = math.log((ENOUGH_HITS + OTHER_HITS) / 2)
    worth: dict[str, float] = {}
    for term in wanted:
        having = sum(term in words for words in there)
        rare = math.log((len(texts) + OTHER_HITS) / (having + 1)) / every
        worth[term] = rare * (_GENERIC_WORTH if term in _GENERIC else 1.0)
    return [_overlap(wanted, worth, words) for words in there]


def overlap_of(query: str, text: str) -> Overlap:
    """The same for a text that is the only hit."""
    return overlaps_of(query, (text,))[0]


@lru_cache(_KEPT_TEXTS)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _overlap(wanted: dict[str, str], worth: dict[str, float], there: frozenset[str]) -> Overlap:
    found = [term for term in wanted if term in there]
    rarest = sorted(found, key=lambda term: (-round(worth[term], 6), -_weight(term)))
    common = tuple(dict.fromkeys(wanted[term] for term in rarest))[:MOST_COMMON_WORDS]
    return Overlap(sum(worth[term] for term in found), len(found), common)


def probability(cosine: float, overlap: Overlap, embedding: Embedding) -> float:
    """Between 0 and 1, both excluded; never falls when the cosine or the overlap rises."""
    return _sigmoid(_logit(cosine, overlap, embedding))


def external_probability(score: float | None, scale: str, overlap: Overlap) -> float:
    """The same for a memory of an external source, by the name of its scores' scale.

    ``cosine`` and ``dense`` count as the cosine of our own model. ``probability`` is taken as it is,
    ``logit`` through the logistic function. Of rerankers (``rerank``) either may be meant: the lower reading
    counts. An ``rrf`` score comes from ranks, which even the best of nothing has; it only tells how much
    words and meaning agree, so the words in common decide. ``bm25``, ``none`` and unknown scales tell
    nothing that could be compared between queries: the words in common decide alone.
    """
    by_words = _logit(0.0, overlap, Embedding.NONE)
    name = scale.strip().lower()
    if score is None or not math.isfinite(score):
        return _sigmoid(by_words)
    if name in ("cosine", "dense"):
        return _sigmoid(_logit(score, overlap, Embedding.MINILM))
    if name == "probability":
        return _inside(score)
    if name == "logit":
        return _sigmoid(score)
    if name in _RERANKED:
        return _inside(min(score, _sigmoid(score)))
    if name == "rrf":
        agreement = min(max(score / RRF_CEILING, 0.0), 1.0)
        return _sigmoid(by_words + _AGREEMENT * (agreement - 0.5))
    return _sigmoid(by_words)


def _logit(cosine: float, overlap: Overlap, embedding: Embedding) -> float:
    fitted = _FITTED[embedding]
    near = min(max(cosine, 0.0), 1.0) if math.isfinite(cosine) else 0.0
    evidence = min(max(overlap.evidence, 0.0), MOST_EVIDENCE)
    return fitted.constant + fitted.cosine * near + fitted.evidence * evidence


def _words_of(query: str) -> dict[str, str]:
    """The terms of a query, each with the word that is shown for it; stop words if there is nothing else."""
    every: dict[str, str] = {}
    kept: dict[str, str] = {}
    for raw in _WORD.findall(query):
        folded = fold(raw)
        written = {stem(part.lower()): part.lower() for part in _PARTS.findall(raw[:MAX_WORD])}
        written[stem(folded[:MAX_WORD])] = raw[:MAX_WORD]
        shown = {term: written.get(term, term) for term in terms(raw)}
        every = shown | every
        if not is_stop_word(folded):
            kept = shown | kept
    return kept or every


def _weight(term: str) -> float:
    """How rare a term is, as far as its looks tell: long words are rarer, and so is what has digits."""
    if term in _GENERIC:
        return 1.0
    if any(map(str.isdigit, term)):
        return _LONGEST
    return min(len(term), _LONGEST)


def _sigmoid(value: float) -> float:
    return _inside(1 / (1 + math.exp(-min(max(value, -30.0), 30.0))))


def _inside(value: float) -> float:
    return min(max(value, 1e-6), 1 - 1e-6)
