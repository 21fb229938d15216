"""Labelled facts through the memory: what storing finds, what a plan would do, and what all that costs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from config.schema import EmbedderKind
from memory.api import AddRecord, GetOverview, GetPlan, PreviewForgetting, Search, Stored
from memory.model import ForgettingDecision, ForgettingPolicy, Kind, MemoryText, Reason
from tests.bench.memory.corpus import Fact, FactKind, questions
from tests.bench.memory.opened import ModelTime, Stopwatch, bench_memory, note, peak_mb
from tests.memory.opening import Opened

NO_CAPS = ForgettingPolicy(max_share=1.0, max_records=1_000_000)
"""Nothing is kept only because a run may archive no more."""
_AFTER_DAYS = 8.0
"""Then no fact is too young to be forgotten, and none is stale."""
_LAST = 100
_PAGE = 500


@dataclass(slots=True)
class Labelled:
    """Measures at one size. Shares are from 0 to 1, times are medians of CPU time without the model's."""

    facts: int
    contradictions_found: float = 0.0
    """Share of the contradictions for which storing names a holder of the other value."""
    false_bases: float = 0.0
    """Share of the bases for which storing names any contradiction or duplicate."""
    flagged_twins: float = 0.0
    duplicates_found: float = 0.0
    """Share of the repeats that storing recognises."""
    groups_reduced: float = 0.0
    """Share of the groups of repeats of which a plan leaves exactly one, or all but one to a decision."""
    groups_guarded: float = 0.0
    """The part of it that is left to a decision."""
    values_lost: int = 0
    merged: int = 0
    """Contradiction pairs of which a plan archives one side."""
    pairs: int = 0
    hit_at_1: float = 0.0
    hit_at_5: float = 0.0
    store_ms: float = 0.0
    query_ms: float = 0.0
    overview_ms: float = 0.0
    preview_s: float = 0.0
    embedding_ms: float = 0.0
    peak_mb: float = 0.0


@dataclass(slots=True)
class _Loaded:
    """The records that facts became."""

    ids: dict[int, str] = field(default_factory=dict[int, str])
    contrary: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    same: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])

    def take(self, fact: Fact, stored: Stored) -> None:
        """Note what storing answered."""
        self.ids[fact.key] = stored.record.id
        self.contrary[fact.key] = frozenset(one.record.id for one in stored.contradictions)
        same = {one.record.id for one in stored.duplicates}
        self.same[fact.key] = frozenset(same | ({stored.record.id} if stored.repeated else set()))


def measure(facts: Sequence[Fact], embedder: EmbedderKind = EmbedderKind.MINILM) -> Labelled:
    """Store all facts one by one, ask, and preview."""
    result = Labelled(len(facts))
    model = ModelTime()
    with model.watched(), bench_memory(embedder) as memory:
        loaded, storing = _Loaded(), Stopwatch(memory, model)
        started = time.perf_counter()
        for fact in facts:
            stored = storing.ask(AddRecord(Kind.SEMANTIC, MemoryText(fact.text)))
            loaded.take(fact, stored)
            if len(loaded.ids) % 2_000 == 0:
                took = time.perf_counter() - started
                note(
                    f"{len(loaded.ids):,} facts in {took:.0f} s, {storing.median(_LAST):.1f} ms CPU"
                )
        result.store_ms = storing.median(_LAST)
        result.embedding_ms = model.seconds * 1000 / len(facts)
        _candidates(result, facts, loaded)
        _ask(result, facts, loaded, Stopwatch(memory, model))
        _plan(result, facts, loaded, Stopwatch(memory, model), memory)
    result.peak_mb = peak_mb()
    return result


def _groups(facts: Sequence[Fact]) -> Mapping[int, list[int]]:
    """By base, the keys of all facts that hold its value."""
    groups: dict[int, list[int]] = defaultdict(list)
    for fact in facts:
        if fact.kind is FactKind.BASE or fact.repeats:
            groups[fact.root].append(fact.key)
    return groups


def _candidates(result: Labelled, facts: Sequence[Fact], loaded: _Loaded) -> None:
    holders = {root: {loaded.ids[key] for key in keys} for root, keys in _groups(facts).items()}
    by_kind: dict[FactKind, list[bool]] = {kind: [] for kind in FactKind}
    for fact in facts:
        contrary, same = loaded.contrary[fact.key], loaded.same[fact.key]
        if fact.kind is FactKind.BASE:
            hit = bool(contrary or same)
        elif fact.repeats:
            hit = bool(same & holders[fact.root])
        elif fact.kind is FactKind.CONTRADICTION:
            hit = bool(contrary & holders[fact.root])
        else:
            hit = bool((contrary | same) & holders[fact.root])
        by_kind[fact.kind].append(hit)
    result.false_bases = _share(by_kind[FactKind.BASE])
    result.flagged_twins = _share(by_kind[FactKind.TWIN])
    result.contradictions_found = _share(by_kind[FactKind.CONTRADICTION])
    result.duplicates_found = _share(by_kind[FactKind.EXACT] + by_kind[FactKind.NEAR])


def _ask(result: Labelled, facts: Sequence[Fact], loaded: _Loaded, asking: Stopwatch) -> None:
    groups = _groups(facts)
    first: list[bool] = []
    fifth: list[bool] = []
    for text, key in questions(list(facts)):
        found = [hit.record.id for hit in asking.ask(Search(text)).hits]
        wanted = {loaded.ids[one] for one in groups[key]}
        first.append(bool(found) and found[0] in wanted)
        fifth.append(bool(wanted & set(found)))
    result.query_ms, result.hit_at_1, result.hit_at_5 = (
        asking.median(),
        _share(first),
        _share(fifth),
    )
    looking = Stopwatch(asking.memory, ModelTime())
    for _ in range(5):
        looking.ask(GetOverview())
    result.overview_ms = looking.median()


def _plan(
    result: Labelled,
    facts: Sequence[Fact],
    loaded: _Loaded,
    previewing: Stopwatch,
    memory: Opened,
) -> None:
    memory.wait(_AFTER_DAYS)
    page = previewing.ask(PreviewForgetting(policy=NO_CAPS, limit=_PAGE))
    result.preview_s = previewing.times[0] / 1000
    decisions: list[ForgettingDecision] = [item.decision for item in page.items]
    while page.next:
        page = memory.ask(GetPlan(page.plan.hash, limit=_PAGE, after=page.next))
        decisions += [item.decision for item in page.items]
    gone = {one.id for one in decisions if one.prune}
    guarded = {one.id for one in decisions if not one.prune and one.reason is Reason.DUPLICATE}
    reduced: list[bool] = []
    decided: list[bool] = []
    for keys in _groups(facts).values():
        ids = {loaded.ids[key] for key in keys}
        result.values_lost += ids <= gone
        if len(keys) > 1:
            reduced.append(len(ids - gone - guarded) == 1)
            decided.append(len(ids - gone) > 1 and reduced[-1])
    result.groups_reduced, result.groups_guarded = _share(reduced), _share(decided)
    contradictions = [fact for fact in facts if fact.kind is FactKind.CONTRADICTION]
    result.pairs = len(contradictions)
    for fact in contradictions:
        result.merged += loaded.ids[fact.key] in gone or loaded.ids[fact.root] in gone


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0
