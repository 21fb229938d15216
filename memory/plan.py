"""Forgetting plans: what would be archived, and why. Pure: the same rows in any order give the same hash.

Every active record may have one reason to go, the first of `Reason` that holds; a superseded one goes only
because it is superseded. A guard may keep it. What a plan promises:

- No record goes that is the survivor of another one in the same plan (`Guard.LAST_HOLDER`).
- A plan made right after a run of the previous one archives nothing, if `stale_ids` were noted and
  ``archived_lately`` is told. Nothing here depends on how often plans are made.
- Reading records changes no plan: only credited uses count, and `PlanRow.version` is not theirs.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from memory.model import (
    DAY,
    SECOND,
    Edge,
    Exemptions,
    ForgettingDecision,
    ForgettingPolicy,
    Guard,
    Instant,
    Kind,
    Plan,
    Reason,
    State,
)
from memory.plan_groups import Apart, PlanRow
from memory.plan_reasons import candidates

__all__ = [
    "ForgettingReport",
    "KindCounts",
    "PlanRow",
    "make_plan",
    "plan_hash",
    "report",
    "stale_ids",
]

ENGINE_VERSION = 1
"""Part of every hash: +1 whenever the rules or the constants of `memory.retention` change."""
LEAST_CAP = 10
"""Records that a run may archive, however few there are."""
CAP_WINDOW = DAY
"""What runs archived within this time counts against the caps of the next plan."""

_REASONS = {reason: place for place, reason in enumerate(Reason)}
_KINDS = {kind: place for place, kind in enumerate(Kind)}


def make_plan(
    rows: Sequence[PlanRow],
    edges: Iterable[Edge],
    policy: ForgettingPolicy,
    exemptions: Exemptions,
    *,
    space: str,
    position: int,
    now: Instant,
    archived_lately: int = 0,
    kept_apart: Iterable[tuple[str, str]] = (),
) -> Plan:
    """What forgetting would do with these records of one space.

    ``rows``: all its records; only active and superseded ones are looked at. ``edges``: between any of
    them. ``position``: the journal's last number. ``now`` is rounded down to the second. ``archived_lately``:
    how many records runs archived in the last `CAP_WINDOW`, less what was undone. ``kept_apart``: pairs of
    ids, in either order, that the person wants to keep both, though they may look like duplicates.
    """
    now -= now % SECOND
    exemptions = Exemptions(
        tuple(sorted(set(exemptions.keep))), tuple(sorted(set(exemptions.survivors)))
    )
    scanned = [row for row in rows if row.state is State.ACTIVE or row.state is State.SUPERSEDED]
    out_of_sight = (State.QUARANTINED, State.EXPUNGED)
    lost = frozenset(row.id for row in rows if row.state in out_of_sight)
    apart = Apart(kept_apart, rows)
    found = candidates(scanned, edges, policy, exemptions, now, lost, apart)
    allowed = _cap(sum(row.state is State.ACTIVE for row in scanned), policy) - archived_lately
    found = _capped(found, {row.id: row for row in scanned}, max(0, allowed))
    decisions = tuple(
        sorted(found, key=lambda one: (_REASONS[one.reason], _KINDS[one.kind], one.id))
    )
    pruned = Counter(one.kind for one in decisions if one.prune)
    kinds = Counter(row.kind for row in scanned)
    plan = Plan(
        "",
        space,
        position,
        now,
        policy,
        exemptions,
        len(scanned),
        len(scanned) - pruned.total(),
        tuple((kind, kinds[kind] - pruned[kind], pruned[kind]) for kind in Kind),
        decisions,
    )
    return replace(plan, hash=plan_hash(plan))


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical JSON of what a plan would do, and from what; `Plan.hash` is not part of it."""
    content = {
        "engine_version": ENGINE_VERSION,
        "policy": asdict(plan.policy),
        "exemptions": asdict(plan.exemptions),
        "position": plan.position,
        "now": plan.now,
        "space": plan.space,
        "decisions": [
            [
                one.id,
                one.version,
                one.prune,
                one.reason.value,
                one.survivor,
                None if one.guard is None else one.guard.value,
            ]
            for one in plan.decisions
        ],
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def stale_ids(plan: Plan) -> tuple[str, ...]:
    """All ids to note as found stale, for `PlanRow.stale_before`; an id that is not here loses its note.

    The last holder of something else that goes is not noted: it gets a plan of its own, later.
    """
    counts = (None, Guard.HYSTERESIS, Guard.CAP)
    return tuple(
        one.id for one in plan.decisions if one.reason is Reason.STALE and one.guard in counts
    )


@dataclass(frozen=True, slots=True)
class KindCounts:
    """What a plan does with one kind of memory."""

    kind: Kind
    keep: int
    fade: int
    """Always 0: forgetting never changes importance."""
    prune: int


@dataclass(frozen=True, slots=True)
class ForgettingReport:
    """A plan by the names of the original's report."""

    dry_run: bool
    scanned: int
    kept: int
    faded: int
    """Always 0."""
    pruned: int
    duplicates_flagged: int
    """Records that have a duplicate which survives; some of them may be guarded."""
    by_type: tuple[KindCounts, ...]
    decisions: tuple[ForgettingDecision, ...]


def report(plan: Plan, *, dry_run: bool = True) -> ForgettingReport:
    """The plan as a report, of a preview (``dry_run``) or of its run."""
    return ForgettingReport(
        dry_run,
        plan.scanned,
        plan.kept,
        0,
        plan.scanned - plan.kept,
        sum(one.reason is Reason.DUPLICATE for one in plan.decisions),
        tuple(KindCounts(kind, kept, 0, pruned) for kind, kept, pruned in plan.by_kind),
        plan.decisions,
    )


def _cap(active: int, policy: ForgettingPolicy) -> int:
    share = int(active * policy.max_share)
    return max(LEAST_CAP, min(share, policy.max_records))


def _capped(
    found: list[ForgettingDecision], rows: Mapping[str, PlanRow], allowed: int
) -> list[ForgettingDecision]:
    """At most so many records go; the most certain reasons first, then the clearest cases."""
    going = [one for one in found if one.prune]
    if len(going) <= allowed:
        return found

    def certainty(one: ForgettingDecision) -> tuple[int, float, str]:
        row = rows[one.id]
        clear = {
            Reason.SUPERSEDED: row.state_at,
            Reason.DUPLICATE: -2.0 if one.similarity is None else -one.similarity,
            Reason.EXPIRED: row.valid_to or 0,
            Reason.LOW_PERFORMANCE: one.terms.performance or 0.0,
            Reason.STALE: one.terms.need,
        }
        return _REASONS[one.reason], clear[one.reason], one.id

    late = {one.id for one in sorted(going, key=certainty)[allowed:]}
    return [replace(one, prune=False, guard=Guard.CAP) if one.id in late else one for one in found]
