"""What was proposed, decided, planned and run. Imports SQLAlchemy: load lazily."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import bindparam, func, select, tuple_

from memory.api import Outcome
from memory.model import (
    DAY,
    Instant,
    Kind,
    Origin,
    Plan,
    Proposal,
    ProposalKind,
    ProposalState,
    Run,
    State,
)
from memory.plan_groups import PlanRow
from memory.store.current import chunks
from memory.store.past import PastReading
from memory.store.rows import ids_of, members_of, plan_of, proposal_of, run_of
from memory.store.selection import bad_cursor, decode_cursor, encode_cursor
from memory.store.tables import (
    dismissals,
    outcomes,
    plans,
    proposal_records,
    proposals,
    records,
    run_records,
    runs,
    stale_seen,
)

PLAN_LIFE = DAY
"""How long a previewed plan can be run."""
STALE_AFTER = DAY
"""How long a record has to be stale before a plan may take it; see `Writing.mark_stale`."""

_PROPOSAL = select(proposals).where(proposals.c.id == bindparam("id"))
_OPEN_PAIR = (
    select(proposals)
    .where(
        proposals.c.members == bindparam("members"),
        proposals.c.state == ProposalState.OPEN.value,
    )
    .order_by(proposals.c.created_at, proposals.c.id)
    .limit(1)
)
_PROPOSALS_OF = (
    select(proposals)
    .join(proposal_records, proposal_records.c.proposal_id == proposals.c.id)
    .where(proposal_records.c.record_id == bindparam("id"))
    .order_by(proposals.c.created_at.desc(), proposals.c.id.desc())
    .limit(bindparam("limit"))
)
_OPEN_COUNT = (
    select(func.count())
    .select_from(proposals)
    .where(proposals.c.space == bindparam("space"), proposals.c.state == ProposalState.OPEN.value)
)
_WANTS_DECISION = (ProposalKind.SUPERSEDE.value, ProposalKind.APPROVE.value)
"""A duplicate group or a run that waits is about the plan itself: it keeps nothing out of the next one."""
_IN_OPEN = (
    select(proposal_records.c.record_id)
    .join(proposals, proposal_records.c.proposal_id == proposals.c.id)
    .where(proposals.c.state == ProposalState.OPEN.value)
)
_DISPUTED = _IN_OPEN.where(
    proposals.c.kind == ProposalKind.SUPERSEDE.value,
    proposal_records.c.record_id.in_(bindparam("ids", expanding=True)),
)
_first, _second = records.alias("first"), records.alias("second")
_DISMISSED = (
    select(dismissals.c.at)
    .join(_first, _first.c.id == dismissals.c.first_id)
    .join(_second, _second.c.id == dismissals.c.second_id)
    .where(
        dismissals.c.first_id == bindparam("a"),
        dismissals.c.second_id == bindparam("b"),
        dismissals.c.first_hash == _first.c.content_hash,
        dismissals.c.second_hash == _second.c.content_hash,
    )
    .limit(1)
)
_DISMISSED_PAIRS = (
    select(dismissals.c.first_id, dismissals.c.second_id)
    .join(_first, _first.c.id == dismissals.c.first_id)
    .join(_second, _second.c.id == dismissals.c.second_id)
    .where(
        _first.c.space == bindparam("space"),
        dismissals.c.first_hash == _first.c.content_hash,
        dismissals.c.second_hash == _second.c.content_hash,
    )
    .order_by(dismissals.c.first_id, dismissals.c.second_id)
)
_OUTCOMES = (
    select(outcomes.c.at, outcomes.c.success, outcomes.c.actor, outcomes.c.note)
    .where(outcomes.c.record_id == bindparam("id"))
    .order_by(outcomes.c.seq.desc())
    .limit(bindparam("limit"))
)
_PLAN = (
    select(plans.c.body, plans.c.saved_at)
    .where(plans.c.hash >= bindparam("low"), plans.c.hash < bindparam("high"))
    .order_by(plans.c.hash)
    .limit(2)
)
_LAST_PLAN = (
    select(plans.c.body, plans.c.saved_at)
    .where(plans.c.space == bindparam("space"))
    .order_by(plans.c.saved_seq.desc())
    .limit(1)
)
_RUN = select(runs).where(runs.c.id == bindparam("id"))
_RUNS = (
    select(runs)
    .where(runs.c.space == bindparam("space"))
    .order_by(runs.c.at.desc(), runs.c.id.desc())
    .limit(bindparam("limit"))
)
_RUN_RECORDS = (
    select(run_records.c.record_id, run_records.c.version)
    .where(run_records.c.run_id == bindparam("id"))
    .order_by(run_records.c.record_id)
)
_ARCHIVED_SINCE = select(func.coalesce(func.sum(runs.c.archived), 0)).where(
    runs.c.space == bindparam("space"),
    runs.c.at >= bindparam("since"),
    runs.c.undone_at.is_(None),
)
_RUNS_OF = (
    select(run_records.c.record_id, run_records.c.run_id)
    .join(runs, runs.c.id == run_records.c.run_id)
    .where(
        run_records.c.record_id.in_(bindparam("ids", expanding=True)), runs.c.undone_at.is_(None)
    )
    .order_by(runs.c.at, runs.c.id)
)
_PLAN_ROWS = (
    select(
        *(
            records.c[name]
            for name in (
                "num", "id", "kind", "version", "state", "content_hash", "norm_hash", "recorded_at",
                "state_at", "importance", "pinned", "origin", "trust", "support", "use_count",
                "first_used", "last_used", "successes", "failures", "valid_to", "state_reason",
                "superseded_by",
            )
        ),
        stale_seen.c.first_at,
    )
    .select_from(records.outerjoin(stale_seen, stale_seen.c.record_id == records.c.id))
    .where(records.c.space == bindparam("space"), records.c.state != State.EXPUNGED.value)
    .order_by(records.c.num)
)  # fmt: skip
_KINDS = {kind.value: kind for kind in Kind}
_STATES = {state.value: state for state in State}
_ORIGINS = {origin.value: origin for origin in Origin}


class DecidedReading(PastReading):
    """Proposals, dismissals, outcomes, plans and runs."""

    def proposal(self, id: str) -> Proposal | None:
        """One proposal."""
        row = self._connection.execute(_PROPOSAL, {"id": id}).one_or_none()
        return None if row is None else proposal_of(row)

    def proposals(
        self,
        space: str,
        states: Sequence[ProposalState] = (ProposalState.OPEN,),
        kinds: Sequence[ProposalKind] = (),
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[tuple[Proposal, ...], str | None]:
        """A page of proposals, oldest first, and the cursor of the next page.

        Empty ``states`` or ``kinds``: all. Raises `MemoryFault` (INVALID) for another list's cursor.
        """
        query = select(proposals).where(proposals.c.space == space)
        if states:
            query = query.where(proposals.c.state.in_([state.value for state in states]))
        if kinds:
            query = query.where(proposals.c.kind.in_([kind.value for kind in kinds]))
        if after:
            match decode_cursor(after):
                case ["proposals", int(at), str(id)] if abs(at) < 1 << 63:
                    place = tuple_(proposals.c.created_at, proposals.c.id)
                    query = query.where(place > (at, id))
                case _:
                    raise bad_cursor()
        query = query.order_by(proposals.c.created_at, proposals.c.id).limit(limit + 1)
        found = tuple(map(proposal_of, self.rows(query)))
        page = found[:limit]
        if len(found) <= limit or not page:
            return page, None
        return page, encode_cursor(["proposals", page[-1].created_at, page[-1].id])

    def proposals_of(self, record_id: str, limit: int = 50) -> tuple[Proposal, ...]:
        """Proposals in any state about a record, newest first."""
        values = {"id": record_id, "limit": limit}
        return tuple(map(proposal_of, self.rows(_PROPOSALS_OF, values)))

    def open_count(self, space: str) -> int:
        """How many proposals wait for a decision."""
        return int(self._connection.execute(_OPEN_COUNT, {"space": space}).scalar_one())

    def open_pair(self, keep_ids: Iterable[str], replace_ids: Iterable[str]) -> Proposal | None:
        """The oldest open proposal about exactly these records, whichever of them it would keep."""
        members = members_of((*keep_ids, *replace_ids))
        row = self._connection.execute(_OPEN_PAIR, {"members": members}).one_or_none()
        return None if row is None else proposal_of(row)

    def disputed(self, ids: Iterable[str]) -> frozenset[str]:
        """Those of the records that an open proposal would supersede, or keep instead of another."""
        found: set[str] = set()
        for some in chunks(list(ids)):
            found.update(self._connection.execute(_DISPUTED, {"ids": some}).scalars())
        return frozenset(found)

    def is_disputed(self, id: str) -> bool:
        """`disputed` for one record."""
        return bool(self.disputed((id,)))

    def dismissed(self, a_id: str, b_id: str) -> bool:
        """Whether the person keeps both, with the texts that they have now."""
        first, second = sorted((a_id, b_id))
        return self._connection.execute(_DISMISSED, {"a": first, "b": second}).first() is not None

    def dismissed_pairs(self, space: str) -> list[tuple[str, str]]:
        """All pairs of a space that the person keeps both of, with the texts that they have now."""
        return [(first, second) for first, second in self.rows(_DISMISSED_PAIRS, {"space": space})]

    def outcomes(self, record_id: str, limit: int = 100) -> tuple[Outcome, ...]:
        """Uses of a procedure, newest first."""
        return tuple(
            Outcome(at, bool(success), actor, note)
            for at, success, actor, note in self.rows(_OUTCOMES, {"id": record_id, "limit": limit})
        )

    def plan(self, hash: str, now: Instant | None = None) -> Plan | None:
        """A kept plan by its hash or a unique prefix of it; with ``now``: only if it can still be run."""
        if not hash:
            return None
        found = self.rows(_PLAN, {"low": hash, "high": hash + "\U0010ffff"})
        return _living(found[0], now) if len(found) == 1 else None

    def last_plan(self, space: str, now: Instant | None = None) -> Plan | None:
        """The plan of the space that was saved last; with ``now``: only if it can still be run."""
        found = self.rows(_LAST_PLAN, {"space": space})
        return _living(found[0], now) if found else None

    def plan_rows(self, space: str, now: Instant | None = None) -> list[PlanRow]:
        """All records of a space that are not expunged, as a plan wants them, by number.

        ``now`` is what `PlanRow.stale_before` is measured against; ``None``: the time of the last entry.
        """
        rows = self.rows(_PLAN_ROWS, {"space": space})
        in_open = set(
            self._connection.execute(
                _IN_OPEN.where(proposals.c.space == space, proposals.c.kind.in_(_WANTS_DECISION))
            ).scalars()
        )
        known = {row[1] for row in rows}
        day_ago = (self._head().at if now is None else now) - STALE_AFTER
        return [
            PlanRow(
                num, id, _KINDS[kind], version, _STATES[state], content_hash, norm_hash, recorded_at,
                state_at, importance, pinned, _ORIGINS[origin], trust, support, use_count, first_used,
                last_used, successes, failures, valid_to, state_reason,
                tuple(one for one in ids_of(successors) if one in known),
                id in in_open,
                first_stale is not None and first_stale <= day_ago,
            )
            for (
                num, id, kind, version, state, content_hash, norm_hash, recorded_at, state_at,
                importance, pinned, origin, trust, support, use_count, first_used, last_used,
                successes, failures, valid_to, state_reason, successors, first_stale,
            ) in rows
        ]  # fmt: skip

    def run(self, id: str) -> Run | None:
        """One run."""
        row = self._connection.execute(_RUN, {"id": id}).one_or_none()
        return None if row is None else run_of(row)

    def runs(self, space: str, limit: int = 50) -> tuple[Run, ...]:
        """The runs of a space, newest first."""
        return tuple(map(run_of, self.rows(_RUNS, {"space": space, "limit": limit})))

    def run_records(self, run_id: str) -> tuple[tuple[str, int], ...]:
        """What a run changed: (id, version that the record got by it), by id."""
        rows = self.rows(_RUN_RECORDS, {"id": run_id})
        return tuple((record_id, version) for record_id, version in rows)

    def runs_of(self, record_ids: Iterable[str]) -> dict[str, str]:
        """The last run, if it is not undone, that archived each of the records; others are missing."""
        found: dict[str, str] = {}
        for some in chunks(list(record_ids)):
            for record_id, run_id in self.rows(_RUNS_OF, {"ids": some}):
                found[record_id] = run_id
        return found

    def archived_since(self, space: str, since: Instant) -> int:
        """How many records runs archived from a time on, without the runs that were undone."""
        values = {"space": space, "since": since}
        return int(self._connection.execute(_ARCHIVED_SINCE, values).scalar_one())


def _living(row: Sequence[object], now: Instant | None) -> Plan | None:
    body, saved_at = row
    if now is not None and isinstance(saved_at, int) and now >= saved_at + PLAN_LIFE:
        return None
    return plan_of(str(body))
