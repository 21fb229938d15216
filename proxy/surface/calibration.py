"""How probably a memory matters for a call, from what its search tells. Pure.

A search's own score ranks hits of one query; it says nothing about whether the best of them matters at all.
So the probability is a logistic function of what can be compared between queries: the cosine of query and
memory, the share of the query's words that the memory has (weighted by how rare such words are), and that
share times how many they are, since all of one word is less than all of four.

Where the constants come from (December 2026): the ten best hits of the questions of LoCoMo (snap-research,
evidence corrected by dial481/locomo-audit), whole or as one to four of their words, and of 500 queries on
the labelled facts of ``tests/bench/memory``, both sets with the same weight, besides 260 to 380 questions put
to a foreign conversation. Positive is a turn that the set names as evidence, or a fact about the thing asked
for. Such labels are incomplete: even of hits with four words in common and all alike, only .6 are labelled.
So unlabelled hits count as positive in part, with .6 for "labelled if it matters" (Elkan and Noto, 2008).

Measured on the same data, model of mms / words alone: area under the curve .81 / .81 (facts .93 / .92, LoCoMo
.76 / .77, where all hits are of one conversation). Reliability, predicted and observed: .04 .06, .26 .21, .50
.53, .72 .73, .84 1.0 / .04 .06, .23 .20, .50 .50, .64 .85, .80 1.0. From .5 on, 53 % / 46 % of the hits are
labelled in facts and 49 % / 44 % in LoCoMo, that is 72 % / 78 % and 16 % / 19 % of all labelled ones; from .3
on 41 % / 39 % and 39 % / 43 %, that is 77 % / 79 % and 24 % / 25 %. Of hits for foreign questions, none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum

from proxy.compress.words import MAX_WORD, PUNCTUATION, fold, is_stop_word, stem, terms

MOST_COMMON_WORDS = 3
LOOKED_AT = 4_000
"""Characters of a memory in which words are looked for; of a query, half as many."""
MOST_FOUND = 4
"""More common words than this make nothing surer."""
RRF_CEILING = 2 / 61
"""What reciprocal rank fusion gives to the first of two lists at once (k = 60)."""
_LONGEST = 10
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

    share: float
    """Of the query's words, weighted by rarity, 0 to 1."""
    found: int
    """How many different ones."""
    common: tuple[str, ...] = ()
    """The rarest of them as the query writes them, at most `MOST_COMMON_WORDS`."""


@dataclass(frozen=True, slots=True)
class _Logistic:
    constant: float
    cosine: float
    share: float
    words: float
    """Of share times the words found, at most `MOST_FOUND` of them."""


_WORDS_ALONE = _Logistic(-5.58, 0.0, 1.55, 1.36)
_FITTED = {
    Embedding.MINILM: _Logistic(-5.95, 1.57, 1.63, 1.2),
    Embedding.HASHING: _WORDS_ALONE,  # its cosine only repeats the words; fitted, it came out negative
    Embedding.NONE: _WORDS_ALONE,
    Embedding.OTHER: _WORDS_ALONE,  # models differ in what their cosines mean
}
_AGREEMENT = 1.0
"""Between one list and both: as much as lies between the cosines of a far and a near hit of our model."""
_RERANKED = frozenset(("rerank", "reranker"))


def overlap_of(query: str, text: str) -> Overlap:
    """Compare the words. Stop words of the query do not count, forms of a word are the same word."""
    wanted = _words_of(query[: LOOKED_AT // 2])
    if not wanted:
        return Overlap(0.0, 0)
    there = set(terms(text[:LOOKED_AT]))
    found = {term: shown for term, shown in wanted.items() if term in there}
    whole = sum(map(_weight, wanted))
    rarest = sorted(found, key=lambda term: -_weight(term))
    common = tuple(dict.fromkeys(found[term] for term in rarest))[:MOST_COMMON_WORDS]
    return Overlap(min(1.0, sum(map(_weight, found)) / whole), len(found), common)


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
    found = min(overlap.found, MOST_FOUND)
    return (
        fitted.constant
        + fitted.cosine * near
        + fitted.share * overlap.share
        + fitted.words * overlap.share * found
    )


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
