"""The order of search results: words and vectors fused, then small bounded factors.

    words   = BM25 / best BM25 of the candidates
    vectors = (cosine - least) / (best - least), over the candidates
    fused   = (1 - alpha) * words + alpha * vectors
    final   = fused * recency * importance * trust [* suspicion] / the most that the factors can be

A convex combination of scaled scores found more than reciprocal ranks, and than either side alone, on every
collection tried. The factors only decide between hits that fit about as well: recency and importance move a
score by at most a tenth each way.

What holds: scores are finite and from 0 to 1; the order of the candidates does not count; a record that is
at least as good in every part never comes after one that it beats. Adding a record changes no other score
as long as its BM25 and its cosine lie within those of the others. One with the least or the best cosine
stretches the scale of all cosines alike, so it can only reorder two records of which one has the better
words and the other the better vector.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp2, isfinite
from operator import itemgetter
from typing import NamedTuple, Protocol, TypeVar

from memory.model import DAY, Hit, Instant, Kind, Record, ScoreParts

HALF_LIFE_DAYS = {Kind.SEMANTIC: 365.0, Kind.EPISODIC: 30.0, Kind.PROCEDURAL: 180.0}
"""Age at which `recency_score` is .5. The original's values."""
FACTOR_SPAN = 0.1
"""Recency and importance multiply by 1 minus to 1 plus this much."""
TRUST_FACTORS = (0.9, 0.95, 1.0, 1.05)
"""By `Record.trust`, 0 to 3."""
SUSPICION_FACTOR = 0.8
"""For a text with flags, such as one that gives orders to its reader."""

_MOST = (1 + FACTOR_SPAN) ** 2 * TRUST_FACTORS[-1]
_DIGITS = 6


class Rankable(Protocol):
    """What of a record its place depends on."""

    @property
    def id(self) -> str: ...
    @property
    def num(self) -> int: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def norm_hash(self) -> str: ...
    @property
    def recorded_at(self) -> Instant: ...
    @property
    def importance(self) -> float: ...
    @property
    def trust(self) -> int: ...
    @property
    def flags(self) -> tuple[str, ...]: ...


Rank = TypeVar("Rank", bound=Rankable)


class Fused(NamedTuple):
    """How well a candidate fits the query; all from 0 to 1. See `ScoreParts` for the first two."""

    words: float
    vectors: float
    fused: float


def fuse(
    words: Mapping[int, float], cosines: Mapping[int, float], alpha: float
) -> dict[int, Fused]:
    """The fit of everything that either side found, by `Record.num`.

    ``words``: BM25, higher is better. ``cosines``: of every candidate that has a vector, also where only its
    words were found. ``alpha``: weight of the vectors, 0 to 1. A side that found nothing at all has no
    weight. Numbers that are not finite count as not found.
    """
    words = {num: max(0.0, score) for num, score in words.items() if isfinite(score)}
    cosines = {num: min(max(c, -1.0), 1.0) for num, c in cosines.items() if isfinite(c)}
    if not cosines:
        alpha = 0.0
    elif not words:
        alpha = 1.0
    most = max(words.values(), default=0.0)
    least, best = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    found: dict[int, Fused] = {}
    for num in words.keys() | cosines.keys():
        by_words = words.get(num, 0.0) / most if most > 0 else 0.0
        cosine = cosines.get(num, least)
        if best > least:
            by_vector = (cosine - least) / (best - least)
        else:  # nothing to scale by: then being alike at all is enough
            by_vector = 1.0 if num in cosines and cosine > 0 else 0.0
        found[num] = Fused(by_words, by_vector, (1 - alpha) * by_words + alpha * by_vector)
    return found


def recency_score(kind: Kind, since: Instant, now: Instant) -> float:
    """From 1 (now, or a time to come) down to 0, by half with every half-life."""
    return exp2(-max(0, now - since) / DAY / HALF_LIFE_DAYS[kind])


def final_score(
    fused: float,
    recency: float | None,
    importance: float,
    trust: int,
    suspicious: bool = False,
) -> float:
    """The score that hits are ordered by, 0 to 1.

    ``recency``: `recency_score`; ``None`` where age must not count. ``trust``: 0 to 3.
    """
    factor = _bounded(importance) * TRUST_FACTORS[min(max(trust, 0), 3)]
    if recency is not None:
        factor *= _bounded(recency)
    if suspicious:
        factor *= SUSPICION_FACTOR
    return fused * factor / _MOST


def order(
    some: Iterable[Rank], fused: Mapping[int, Fused], now: Instant, *, by_age: bool = True
) -> list[Rank]:
    """The records in the order of `rank`, at a fifth of the cost."""
    scored = [
        (-_final(one, fused[one.num], now, by_age), one.id, one) for one in some if one.num in fused
    ]
    scored.sort(key=itemgetter(0, 1))
    return [one for _, _, one in scored]


def rank(
    records: Iterable[Record],
    fused: Mapping[int, Fused],
    cosines: Mapping[int, float],
    now: Instant,
    *,
    by_age: bool = True,
) -> tuple[Hit, ...]:
    """The records as hits without warnings, best first; ties by id.

    ``fused``: of `fuse`; records that are not in it are left out. ``by_age``: False where the query asks for
    what held at some time, so that newer is not better.
    """
    hits = [
        Hit(record, _parts(record, fused[record.num], cosines.get(record.num, 0.0), now, by_age))
        for record in records
        if record.num in fused
    ]
    return tuple(sorted(hits, key=lambda hit: (-hit.parts.final_score, hit.record.id)))


def diverse(
    ordered: Sequence[Rank], duplicates: Callable[[Rank, Rank], bool], limit: int
) -> tuple[tuple[Rank, ...], int]:
    """The first ``limit`` records that do not repeat a better one, and how many repeats were left out.

    ``duplicates(better, worse)``: whether the two say the same. It is asked for every pair of kept record and
    new record, so it must be cheap.
    """
    kept: list[Rank] = []
    left_out = 0
    for one in ordered:
        if len(kept) >= limit:
            break
        if any(duplicates(better, one) for better in kept):
            left_out += 1
        else:
            kept.append(one)
    return tuple(kept), left_out


def _bounded(score: float) -> float:
    return 1 - FACTOR_SPAN + 2 * FACTOR_SPAN * min(max(score, 0.0), 1.0)


def _final(one: Rankable, fit: Fused, now: Instant, by_age: bool) -> float:
    recency = recency_score(one.kind, one.recorded_at, now) if by_age else None
    return _rounded(final_score(fit.fused, recency, one.importance, one.trust, bool(one.flags)))


def _parts(record: Record, fit: Fused, cosine: float, now: Instant, by_age: bool) -> ScoreParts:
    recency = recency_score(record.kind, record.recorded_at, now)
    return ScoreParts(
        raw_similarity=_rounded(cosine),
        recency_score=_rounded(recency),
        importance_score=_rounded(record.importance),
        final_score=_final(record, fit, now, by_age),
        words=_rounded(fit.words),
        vectors=_rounded(fit.vectors),
        fused=_rounded(fit.fused),
    )


def _rounded(score: float) -> float:
    return round(score, _DIGITS) if isfinite(score) else 0.0
