"""Why a record would be archived, and what keeps it nevertheless; the caps come later, in `memory.plan`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

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
    Origin,
    Reason,
    State,
)
from memory.plan_groups import Apart, Duplicate, PlanRow, Standing, duplicates
from memory.procedures import wilson_upper
from memory.retention import need, terms


def candidates(
    scanned: Sequence[PlanRow],
    edges: Iterable[Edge],
    policy: ForgettingPolicy,
    exemptions: Exemptions,
    now: Instant,
    lost: Set[str],
    apart: Apart,
) -> list[ForgettingDecision]:
    """A decision for each of these active and superseded records that has a reason to go; in no order.

    ``lost``: ids that are no successors any more, since they wait for approval or were expunged.
    """
    judge = _Judge(scanned, edges, policy, exemptions, now, lost, apart)
    superseded, due = judge.superseded(), judge.duplicates()
    held = {one.survivor for one in (*superseded, *due) if one.prune}
    return [*superseded, *due, *judge.others(held)]


class _Judge:
    def __init__(
        self,
        scanned: Sequence[PlanRow],
        edges: Iterable[Edge],
        policy: ForgettingPolicy,
        exemptions: Exemptions,
        now: Instant,
        lost: Set[str],
        apart: Apart,
    ) -> None:
        self._rows = {row.id: row for row in scanned}
        self._lost = lost
        self._policy = policy
        self._now = now
        self._chosen = frozenset(exemptions.survivors)
        self._exempt = self._chosen.union(exemptions.keep)
        self._young_from = _before(now, policy.min_age_days)
        self._superseded_to = _before(now, policy.superseded_after_days)
        active = [row for row in scanned if row.state is State.ACTIVE]
        self._own: dict[str, Reason] = {}
        for row in active:
            reason = self._own_reason(row)
            if reason is not None:
                self._own[row.id] = reason
        found = duplicates(active, edges, self._standing, self._stays, self._chosen, apart)
        self._duplicates: dict[str, Duplicate] = {one.row.id: one for one in found}

    # what goes

    def superseded(self) -> list[ForgettingDecision]:
        """Superseded for long enough, by something that is still there."""
        found: list[ForgettingDecision] = []
        for row in self._rows.values():
            if row.state is State.SUPERSEDED and row.state_at < self._superseded_to:
                heads = self._heads(row)
                if heads:
                    _, head = min(heads)
                    survivor = None if self._leaves(head) else self._survivor_of(head)
                    found.append(self._decision(row, Reason.SUPERSEDED, self._guard(row), survivor))
        return found

    def duplicates(self) -> list[ForgettingDecision]:
        """Superfluous because of another record."""
        found: list[ForgettingDecision] = []
        for one in self._duplicates.values():
            survivor = self._survivor_of(one.survivor.id)
            shown = one if survivor == one.survivor.id else self._duplicates[one.survivor.id]
            decision = self._decision(one.row, Reason.DUPLICATE, self._guard(one.row), survivor)
            found.append(replace(decision, similarity=shown.similarity, klass=shown.klass))
        return found

    def others(self, held: set[str | None]) -> list[ForgettingDecision]:
        """Expired, failing or stale on their own. ``held``: survivors of what goes."""
        found: list[ForgettingDecision] = []
        for id, reason in self._own.items():
            if id in self._duplicates:
                continue
            row = self._rows[id]
            guard = self._guard(row)
            if guard is None and reason is Reason.STALE:
                if not row.stale_before:
                    guard = Guard.HYSTERESIS
                elif id in held:
                    guard = Guard.LAST_HOLDER
            found.append(self._decision(row, reason, guard))
        return found

    def _decision(
        self, row: PlanRow, reason: Reason, guard: Guard | None, survivor: str | None = None
    ) -> ForgettingDecision:
        return ForgettingDecision(
            row.id,
            row.version,
            row.kind,
            guard is None,
            reason,
            terms(row, self._now),
            guard,
            survivor,
        )

    # of one record

    def _own_reason(self, row: PlanRow) -> Reason | None:
        """Why an active record would go if it had no duplicates."""
        if row.valid_to is not None and row.valid_to <= self._now and row.kind is not Kind.EPISODIC:
            return Reason.EXPIRED
        outcomes = row.successes + row.failures
        if (
            row.kind is Kind.PROCEDURAL
            and outcomes >= self._policy.failed_min_outcomes
            and wilson_upper(row.successes, row.failures) < self._policy.failed_upper_bound
        ):
            return Reason.LOW_PERFORMANCE
        return Reason.STALE if need(row, self._now) < self._policy.stale_need else None

    def _guard(self, row: PlanRow) -> Guard | None:
        if row.pinned:
            return Guard.PINNED
        if row.id in self._exempt:
            return Guard.EXEMPT
        if self._is_important(row):
            return Guard.OPERATOR
        if row.open_proposal:
            return Guard.OPEN_PROPOSAL
        return Guard.YOUNG if row.recorded_at > self._young_from else None

    def _is_important(self, row: PlanRow) -> bool:
        return row.origin is Origin.OPERATOR and row.importance >= self._policy.operator_importance

    def _stays(self, row: PlanRow) -> bool:
        return self._guard(row) is not None

    def _standing(self, row: PlanRow) -> Standing:
        reason = self._own.get(row.id)
        if reason is None or row.pinned or row.id in self._chosen or self._is_important(row):
            return Standing.FRESH
        return Standing.STALE if reason is Reason.STALE else Standing.LEAVING

    # who stays for it

    def _heads(self, row: PlanRow) -> set[tuple[int, str]]:
        """The ends of the chains of successors, the best one lowest. Empty for a circle."""
        heads: set[tuple[int, str]] = set()
        seen, todo = {row.id}, list(row.successors)
        while todo:
            id = todo.pop()
            if id in seen or id in self._lost:
                continue
            seen.add(id)
            found = self._rows.get(id)
            if found is None:
                heads.add((1, id))  # archived earlier
            elif found.state is State.ACTIVE:
                heads.add((2 if self._leaves(id) else 0, id))
            else:
                todo += found.successors
        return heads

    def _leaves(self, id: str) -> bool:
        """It goes, and not for the sake of another one; never a stale one, which is the last holder then."""
        reason = self._own.get(id)
        return (
            reason is not None
            and reason is not Reason.STALE
            and id not in self._duplicates
            and not self._stays(self._rows[id])
        )

    def _survivor_of(self, id: str) -> str:
        one = self._duplicates.get(id)
        while one is not None and not self._stays(one.row):
            id = one.survivor.id
            one = self._duplicates.get(id)
        return id


def _before(now: Instant, days: float) -> Instant:
    """So many days before the plan's time. No days: any time, also within the plan's own second."""
    return now - round(days * DAY) if days > 0 else now + SECOND
