"""Noting proposals, dismissals, plans and runs. Imports SQLAlchemy: load lazily."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from memory.errors import FaultCode, MemoryFault
from memory.model import Instant, Plan, Proposal, Run
from memory.store.current import chunks
from memory.store.journal import DISMISSAL, PROPOSAL, RUN
from memory.store.recording import Recording
from memory.store.rows import dump, proposal_values
from memory.store.tables import (
    dismissals,
    plans,
    proposal_records,
    proposals,
    records,
    runs,
    stale_seen,
)

KEPT_PLANS = 50
"""Plans per space that are kept; the oldest goes first."""

_INSERT_PROPOSAL = insert(proposals)
_INSERT_MEMBER = insert(proposal_records)
_DROP_MEMBERS = delete(proposal_records).where(proposal_records.c.proposal_id == bindparam("b_id"))
_UPDATE_PROPOSAL = update(proposals).where(proposals.c.id == bindparam("b_id"))
_INSERT_DISMISSAL = insert(dismissals)
_DROP_DISMISSALS = delete(dismissals).where(
    dismissals.c.first_id == bindparam("b_first"), dismissals.c.second_id == bindparam("b_second")
)
_HASHES = select(records.c.id, records.c.content_hash, records.c.version).where(
    records.c.id.in_(bindparam("ids", expanding=True))
)
_DROP_PLAN = delete(plans).where(plans.c.hash == bindparam("b_hash"))
_INSERT_PLAN = insert(plans)
_LAST_SAVED = select(func.coalesce(func.max(plans.c.saved_seq), 0))
_OLD_PLANS = (
    select(plans.c.hash)
    .where(plans.c.space == bindparam("space"))
    .order_by(plans.c.saved_seq.desc())
    .offset(KEPT_PLANS)
)
_STALE = select(stale_seen.c.record_id).where(stale_seen.c.space == bindparam("space"))
_DROP_STALE = delete(stale_seen).where(stale_seen.c.record_id.in_(bindparam("ids", expanding=True)))
_INSERT_STALE = insert(stale_seen)
_INSERT_RUN = insert(runs)
_UNDO_RUN = update(runs).where(runs.c.id == bindparam("b_id"))
_HIT = (
    update(runs)
    .where(runs.c.id == bindparam("b_id"))
    .values(would_have_hit=runs.c.would_have_hit + 1)
)


class DecidedWriting(Recording):
    """Changes of proposals, dismissals, plans and runs."""

    def add_proposal(self, proposal: Proposal, action: str = "proposed") -> None:
        """File a proposal. Its evidence's words and its reason are not journaled."""
        values = proposal_values(proposal)
        self._connection.execute(_INSERT_PROPOSAL, values)
        self._members(proposal)
        self._journal(action, PROPOSAL, proposal.id, 0, _journaled(proposal))

    def change_proposal(self, id: str, **changes: Any) -> Proposal:
        """Set fields of a proposal, by the names of `Proposal`. Raises ``NOT_FOUND``."""
        before = self.proposal(id)
        if before is None or before.space != self.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND, f"There is no proposal {id!r} in space {self.space!r}."
            )
        after = replace(before, **changes)
        old, new = proposal_values(before), proposal_values(after)
        changed = {name: value for name, value in new.items() if value != old[name]}
        if not changed:
            return after
        self._connection.execute(_UPDATE_PROPOSAL, {**changed, "b_id": id})
        if "members" in changed:
            self._connection.execute(_DROP_MEMBERS, {"b_id": id})
            self._members(after)
        was = _journaled(before)
        patch = {name: value for name, value in _journaled(after).items() if value != was[name]}
        action = after.state.value if after.state is not before.state else "changed"
        self._journal(action, PROPOSAL, id, 0, patch)
        return after

    def dismiss(self, a_id: str, b_id: str) -> None:
        """Both records stay, and the pair is not proposed again as long as both have these texts."""
        first, second = sorted((a_id, b_id))
        found = {row.id: row for row in self.rows(_HASHES, {"ids": [first, second]})}
        if len(found) < 2:
            raise MemoryFault(FaultCode.NOT_FOUND, f"There is no pair {a_id!r}, {b_id!r}.")
        if self.dismissed(first, second):
            return
        self._connection.execute(
            _INSERT_DISMISSAL,
            {
                "first_id": first,
                "second_id": second,
                "first_hash": found[first].content_hash,
                "second_hash": found[second].content_hash,
                "at": self.at,
            },
        )
        patch = {
            "first": first,
            "second": second,
            "first_version": found[first].version,
            "second_version": found[second].version,
        }
        self._journal("dismissed", DISMISSAL, first, 0, patch)

    def undismiss(self, a_id: str, b_id: str) -> None:
        """Take all dismissals of the pair back."""
        first, second = sorted((a_id, b_id))
        values = {"b_first": first, "b_second": second}
        if self._connection.execute(_DROP_DISMISSALS, values).rowcount:
            self._journal("undismissed", DISMISSAL, first, 0, {"first": first, "second": second})

    def save_plan(self, plan: Plan) -> None:
        """Keep a plan; the newest `KEPT_PLANS` per space stay. Not journaled: a preview changes nothing."""
        self._connection.execute(_DROP_PLAN, {"b_hash": plan.hash})
        self._connection.execute(
            _INSERT_PLAN,
            {
                "hash": plan.hash,
                "space": plan.space,
                "saved_at": self.at,
                "saved_seq": int(self._connection.execute(_LAST_SAVED).scalar_one()) + 1,
                "body": dump(plan),
            },
        )
        for (hash_,) in self.rows(_OLD_PLANS, {"space": plan.space}):
            self._connection.execute(_DROP_PLAN, {"b_hash": hash_})

    def mark_stale(self, space: str, ids: Iterable[str]) -> None:
        """These records, and no others of the space, are stale now; those that were keep their first time."""
        now, before = set(ids), set(self._connection.execute(_STALE, {"space": space}).scalars())
        for some in chunks(sorted(before - now)):
            self._connection.execute(_DROP_STALE, {"ids": some})
        new = [
            {"record_id": id, "space": space, "first_at": self.at} for id in sorted(now - before)
        ]
        if new:
            self._connection.execute(_INSERT_STALE, new)

    def add_run(self, run: Run, action: str = "run") -> None:
        """Note a run. What it changed is noted by `change` with its id."""
        by_reason = {reason.value: count for reason, count in run.by_reason}
        self._connection.execute(
            _INSERT_RUN,
            {
                "id": run.id,
                "space": run.space,
                "plan_hash": run.plan_hash,
                "at": run.at,
                "actor": run.actor,
                "archived": run.archived,
                "by_reason": dump(run.by_reason),
                "undone_at": run.undone_at,
                "would_have_hit": run.would_have_hit,
            },
        )
        patch = {"plan_hash": run.plan_hash, "archived": run.archived, "by_reason": by_reason}
        self._journal(action, RUN, run.id, 0, patch)

    def undo_run(self, run_id: str, at: Instant | None = None) -> None:
        """Note that a run was undone. Raises ``NOT_FOUND``, and ``REFUSED`` when it was before."""
        run = self.run(run_id)
        if run is None or run.space != self.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND, f"There is no run {run_id!r} in space {self.space!r}."
            )
        if run.undone_at is not None:
            raise MemoryFault(FaultCode.REFUSED, f"The run {run_id} was undone before.")
        undone_at = self.at if at is None else at
        self._connection.execute(_UNDO_RUN, {"undone_at": undone_at, "b_id": run_id})
        self._journal("undone", RUN, run_id, 0, {"undone_at": undone_at})

    def redo_run(self, run_id: str) -> None:
        """Note that the undoing of a run was undone. Raises ``NOT_FOUND``."""
        run = self.run(run_id)
        if run is None or run.space != self.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND, f"There is no run {run_id!r} in space {self.space!r}."
            )
        self._connection.execute(_UNDO_RUN, {"undone_at": None, "b_id": run_id})
        self._journal("redone", RUN, run_id, 0, {"undone_at": None})

    def hit_archived(self, run_ids: Iterable[str]) -> None:
        """A query would have found a record that each of these runs archived: the regret meter."""
        for run_id in sorted(set(run_ids)):
            self._connection.execute(_HIT, {"b_id": run_id})

    def _members(self, proposal: Proposal) -> None:
        ids: Sequence[str] = sorted({*proposal.keep, *proposal.replace})
        if ids:
            rows = [{"record_id": id, "proposal_id": proposal.id} for id in ids]
            self._connection.execute(_INSERT_MEMBER, rows)


def _journaled(proposal: Proposal) -> dict[str, object]:
    """What the journal tells of a proposal: nothing that may quote a text."""
    return {
        "kind": proposal.kind.value,
        "state": proposal.state.value,
        "keep": list(proposal.keep),
        "replace": list(proposal.replace),
        "versions": [list(pair) for pair in proposal.versions],
        "klass": proposal.evidence.klass.value,
        "score": proposal.evidence.score,
        "similarity": proposal.similarity,
        "proposer": proposal.proposer,
        "agent_verdict": proposal.agent_verdict,
        "valid_to": proposal.valid_to,
        "plan_hash": proposal.plan_hash,
        "decided_at": proposal.decided_at,
        "decided_by": proposal.decided_by,
    }
