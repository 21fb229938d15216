"""Search: words and meaning together, filtered before ranking, every part of the score told.

Reading changes nothing that a forgetting plan looks at. The regret meter is fed apart from the answer, by
`memory.upkeep`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory.api import Search, SearchResult
from memory.core import Core
from memory.embedding.port import Floats
from memory.errors import FaultCode, MemoryFault
from memory.model import TRUST, Hit, Instant, Origin, PairClass, Record, State
from memory.ranking import Fused, Rankable, diverse, fuse, order, rank
from memory.store.reading import Reading
from memory.store.selection import Selection
from memory.text import search_terms

CANDIDATES = 100
"""Of each list, words and vectors."""
MOST_HITS = 100
LONGEST_QUERY = 8_192
"""Characters; what follows is not searched for."""
_WORDS_ONLY_ALPHA = 0.0
_LEAST_SHARE = 0.5
"""A hit without a common word must be as near as this share of what makes a neighbour by the model."""


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates of one search before they are ranked."""

    fused: Mapping[int, Fused]
    cosines: Mapping[int, float]
    model: str


def search(core: Core, request: Search, now: Instant) -> SearchResult:
    """Answer one search. Raises ``INVALID``."""
    _check(request)
    selection = _selection(request, now)
    question = core.index.embed_query(request.query[:LONGEST_QUERY])
    with core.store.reading() as reading:
        found = candidates(core, reading, request.query, selection, question.vector)
        degraded = question.problem if question.vector is None else ""
        in_order = sorted((-fit.fused, num) for num, fit in found.fused.items())
        shortlist = [num for _, num in in_order[: max(4 * request.top_k, 40)]]
        by_age = request.as_of is None and request.as_known_at is None
        past = None if by_age else _past(reading, reading.by_nums(shortlist), request)
        some = reading.standings(shortlist) if past is None else past
        ordered = order(some.values(), found.fused, now, by_age=by_age)
        pairs = duplicate_pairs(reading, ordered)
        best, left_out = diverse(ordered, _among(pairs), request.top_k)
        nums = [one.num for one in best]
        records = reading.by_nums(nums) if past is None else {num: past[num] for num in nums}
        ranked = rank(records.values(), found.fused, found.cosines, now, by_age=by_age)
        kept = _within(ranked, request.max_tokens)
        disputed = reading.disputed(hit.record.id for hit in kept)
        hits = tuple(
            replace(hit, warnings=_warnings(hit.record, now, disputed=hit.record.id in disputed))
            for hit in kept
        )
        return SearchResult(hits, degraded, left_out, found.model, reading.position)


def candidates(
    core: Core,
    reading: Reading,
    text: str,
    selection: Selection,
    vector: Floats | None,
    limit: int = CANDIDATES,
) -> Found:
    """The best by words and by vector among those that ``selection`` lets through."""
    core.columns.refresh(reading)
    # Words alone have to be looked for more thoroughly.
    deep = limit if vector is not None else max(limit, CANDIDATES)
    mask = _mask(core, reading, selection)
    words = dict(reading.words(search_terms(text), selection, deep, mask)[:limit])
    if vector is None:
        return Found(fuse(words, {}, _WORDS_ONLY_ALPHA), {}, "")
    profile = core.index.searched_profile()
    cosines = dict(core.index.nearest(vector, limit, mask))
    missing = [num for num in words if num not in cosines]
    cosines |= core.index.cosines(vector, missing)
    least = _LEAST_SHARE * profile.neighbour_cosine if profile else 0.0
    cosines = {num: cosine for num, cosine in cosines.items() if num in words or cosine >= least}
    alpha = profile.fusion_alpha if profile else _WORDS_ONLY_ALPHA
    return Found(fuse(words, cosines, alpha), cosines, profile.id if profile else "")


def duplicate_pairs(reading: Reading, records: Sequence[Rankable]) -> frozenset[tuple[int, int]]:
    """Which of these say the same, as (smaller num, larger num)."""
    nums = {record.num for record in records}
    pairs: set[tuple[int, int]] = set()
    by_hash: dict[tuple[object, str], int] = {}
    for record in records:
        first = by_hash.setdefault((record.kind, record.norm_hash), record.num)
        if first != record.num:
            pairs.add((min(first, record.num), max(first, record.num)))
    for edge in reading.edges_among(sorted(nums)):
        if edge.klass in (PairClass.IDENTICAL, PairClass.REWORDING):
            pairs.add((min(edge.older, edge.newer), max(edge.older, edge.newer)))
    return frozenset(pairs)


def _check(request: Search) -> None:
    if not request.query.strip():
        raise MemoryFault(FaultCode.INVALID, "query is empty.", "Say what you look for.")
    if not 1 <= request.top_k <= MOST_HITS:
        raise MemoryFault(
            FaultCode.INVALID, f"top_k is {request.top_k}, but must be 1 to {MOST_HITS}."
        )
    if request.max_tokens is not None and request.max_tokens < 1:
        raise MemoryFault(FaultCode.INVALID, "max_tokens must be 1 or more.")


def _selection(request: Search, now: Instant) -> Selection:
    states = [State.ACTIVE]
    if request.include_superseded or request.as_of is not None:
        # What was superseded since may well have held then; its validity tells.
        states.append(State.SUPERSEDED)
    if request.include_archived:
        states.append(State.ARCHIVED)
    at = request.as_of
    if at is None and not request.include_superseded and not request.include_archived:
        at = request.as_known_at or now
    return Selection(
        space=request.space,
        kinds=request.kinds,
        states=tuple(states),
        valid_at=at,
        known_at=request.as_known_at,
    )


def _past(reading: Reading, records: Mapping[int, Record], request: Search) -> Mapping[int, Record]:
    """The records as the question about the past takes them."""
    if request.as_known_at is not None:
        records = _as_known(reading, records, request.as_known_at)
    if request.as_of is not None:
        records = _begun(reading, records, request.as_of)
    return records


def _as_known(reading: Reading, records: Mapping[int, Record], at: Instant) -> dict[int, Record]:
    """The records with the words and the state that they had then."""
    found = {num: reading.known_record(record.id, at) for num, record in records.items()}
    return {num: record for num, record in found.items() if record is not None}


def _begun(reading: Reading, records: Mapping[int, Record], at: Instant) -> dict[int, Record]:
    """The records without those that replaced one which still held then."""
    undated = [one for one in records.values() if one.valid_from is None and one.supersedes]
    replaced = {
        one.id: one
        for one in reading.records({id for record in undated for id in record.supersedes})
    }
    later = {
        record.num
        for record in undated
        for id in record.supersedes
        if id in replaced and at < (replaced[id].valid_to or at)
    }
    return {num: record for num, record in records.items() if num not in later}


def _mask(core: Core, reading: Reading, selection: Selection) -> NDArray[np.bool_]:
    if selection.known_at is None:
        return core.columns.mask(selection)
    known = reading.known_states(selection.space, selection.known_at)
    return core.columns.mask_known(selection, known)


def _among(pairs: frozenset[tuple[int, int]]) -> Callable[[Rankable, Rankable], bool]:
    return lambda one, other: (min(one.num, other.num), max(one.num, other.num)) in pairs


def _within(hits: Sequence[Hit], max_tokens: int | None) -> Sequence[Hit]:
    if max_tokens is None:
        return hits
    left = max_tokens
    kept: list[Hit] = []
    for hit in hits:
        left -= max(1, len(hit.record.text.content) // 4)
        if left < 0 and kept:
            break
        kept.append(hit)
    return kept


def _warnings(record: Record, now: Instant, *, disputed: bool) -> tuple[str, ...]:
    found = list(record.flags)
    if record.state in (State.SUPERSEDED, State.ARCHIVED):
        found.append(record.state.value)
    elif record.valid_to is not None and record.valid_to <= now:
        found.append("expired")
    if disputed:
        found.append("disputed")
    if record.trust < TRUST[Origin.AGENT]:
        found.append("unverified")
    return tuple(found)
