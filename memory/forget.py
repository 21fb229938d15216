"""Forgetting: a plan is previewed, kept, run as it was previewed or not at all, and can be undone.

Pruned means archived. A run is one transaction; what changed since the preview stops it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace as with_changes
from typing import cast

from config.schema import ForgettingBy
from memory.api import (
    DecisionView,
    GetPlan,
    PlanView,
    PreviewForgetting,
    RunForgetting,
    RunResult,
    UndoResult,
    UndoRun,
)
from memory.core import Core, fresh_id, need_operator, page_limit
from memory.errors import FaultCode, MemoryFault
from memory.model import (
    DAY,
    Actor,
    ForgettingDecision,
    Instant,
    PairClass,
    PairEvidence,
    Plan,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    Record,
    Run,
    State,
)
from memory.plan import make_plan, stale_ids
from memory.store.decided import PLAN_LIFE
from memory.store.reading import Reading
from memory.store.writing import RecordPatch, Writing

_MOST_GROUPS = 100
"""Duplicate groups of one preview that become proposals."""
_NO_EVIDENCE = PairEvidence(PairClass.IDENTICAL, 1.0)


def preview(core: Core, request: PreviewForgetting, actor: Actor, now: Instant) -> PlanView:
    """Make a plan and keep it. Raises ``INVALID``."""
    page_limit(request.limit)
    at = request.at if request.at is not None else now
    if at < now - DAY:
        raise MemoryFault(FaultCode.INVALID, "at lies in the past; a plan is for now or later.")
    with core.store.reading() as reading:
        plan = make_plan(
            reading.plan_rows(request.space, at),
            reading.edges(request.space),
            request.policy or core.policy(),
            request.exemptions,
            space=request.space,
            position=reading.record_position(request.space),
            now=at,
            archived_lately=reading.archived_since(request.space, at - DAY),
            kept_apart=reading.dismissed_pairs(request.space),
        )
        kept = reading.plan(plan.hash) is not None
        view = _view(reading, plan, plan.decisions, request.limit, "")
    if request.at is None and not kept:
        with core.store.writing(actor, request.space, now) as writing:
            writing.save_plan(plan)
            writing.mark_stale(request.space, stale_ids(plan))
            _propose_groups(writing, plan, now)
    return view


def get_plan(core: Core, request: GetPlan, now: Instant) -> PlanView:
    """A page of a kept plan. Raises ``NOT_FOUND``."""
    page_limit(request.limit)
    with core.store.reading() as reading:
        plan = _kept(reading, request.hash, request.space, now)
        chosen = tuple(
            one for one in plan.decisions if request.reason is None or one.reason is request.reason
        )
        return _view(reading, plan, chosen, request.limit, request.after)


def run(core: Core, request: RunForgetting, actor: Actor, now: Instant) -> RunResult:
    """Run a previewed plan, or propose to. Raises ``NOT_FOUND`` or ``STALE``."""
    with core.store.writing(actor, request.space, now) as writing:
        plan = _kept(writing, request.plan_hash, request.space, now)
        if not actor.is_operator and core.settings.forgetting is ForgettingBy.OPERATOR:
            if not request.skip_changed:
                _need_unchanged(plan, _changed(writing, plan.pruned))
            if not plan.pruned:  # there is nothing to decide
                return RunResult(None, _bare(plan), (), "")
            return RunResult(None, _bare(plan), (), _propose_run(writing, plan, actor, now))
        return run_plan_within(writing, plan.hash, actor, now, skip_changed=request.skip_changed)


def run_plan_within(
    writing: Writing, plan_hash: str, actor: Actor, now: Instant, *, skip_changed: bool
) -> RunResult:
    """`run` as a part of a larger transaction."""
    plan = writing.plan(plan_hash)
    if plan is None:
        raise MemoryFault(
            FaultCode.NOT_FOUND,
            f"The plan {plan_hash[:12]} is not kept any more.",
            "Preview again.",
        )
    pruned = plan.pruned
    changed = _changed(writing, pruned)
    if not skip_changed:
        _need_unchanged(plan, changed)
    left_out = frozenset(changed)
    todo = [one for one in pruned if one.id not in left_out]
    run_id = fresh_id(now)
    if not todo:
        # Nothing happened, so nothing is noted: the plan was empty, or all of it is archived by now.
        return RunResult(None, _bare(plan), changed, "")
    for one in todo:
        writing.change(
            one.id,
            "archived",
            RecordPatch(state=State.ARCHIVED, state_reason=one.reason.value, state_at=now),
            expected_version=one.version,
            run_id=run_id,
        )
    counts = Counter(one.reason for one in todo)
    done = Run(
        id=run_id,
        space=plan.space,
        plan_hash=plan.hash,
        at=now,
        actor=actor.name or actor.origin.value,
        archived=len(todo),
        by_reason=tuple((reason, counts[reason]) for reason in Reason if counts[reason]),
    )
    writing.add_run(done)
    _close_groups(writing, todo, now)
    return RunResult(done, _bare(plan), changed, "")


def _need_unchanged(plan: Plan, changed: Sequence[str]) -> None:
    """Raises ``STALE`` if ids of the plan's records are in ``changed``."""
    if changed:
        shown = ", ".join(changed[:5]) + (" …" if len(changed) > 5 else "")
        raise MemoryFault(
            FaultCode.STALE,
            f"{len(changed)} of {len(plan.pruned)} memories of plan {plan.hash[:12]} changed since it was "
            f"previewed ({shown}); nothing was archived.",
            "Preview again.",
        )


def undo_run(core: Core, request: UndoRun, actor: Actor, now: Instant) -> UndoResult:
    """Restore what a run archived; undoing that again archives it again.

    What changed since is left alone and told. Raises ``NEEDS_OPERATOR`` or ``NOT_FOUND``.
    """
    need_operator(actor, "undo a run")
    with core.store.writing(actor, request.space, now) as writing:
        before = writing.run(request.id)
        if before is None or before.space != request.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND,
                f"There is no run {request.id!r} in space {request.space!r}.",
                "mms memory stats and the Forgetting screen list the runs.",
            )
        again = before.undone_at is not None
        done: list[str] = []
        conflicts: list[str] = []
        for id, version in writing.run_records(before.id):
            record = writing.record(id)
            if record is None or record.version != version:
                conflicts.append(id)
                continue
            if again:
                patch = RecordPatch(
                    state=State.ARCHIVED, state_reason=_archived_for(writing, id), state_at=now
                )
            else:
                superseded = record.state_reason == Reason.SUPERSEDED.value
                patch = RecordPatch(
                    state=State.SUPERSEDED if superseded else State.ACTIVE,
                    state_reason="run undone",
                    state_at=now,
                )
            action = "archived" if again else "restored"
            writing.change(id, action, patch, expected_version=None, run_id=before.id)
            done.append(id)
        if again:
            writing.redo_run(before.id)
        else:
            writing.undo_run(before.id, now)
        after = writing.run(before.id) or before
        return UndoResult(after, tuple(done), tuple(conflicts))


def _archived_for(reading: Reading, id: str) -> str:
    """Why a record was archived the last time."""
    for entry in reading.history(id):
        if entry.action == "archived":
            patch = cast("dict[str, object]", json.loads(entry.patch))
            return str(patch.get("state_reason", ""))
    return ""


def _kept(reading: Reading, hash: str, space: str, now: Instant) -> Plan:
    plan = reading.plan(hash) if hash else reading.last_plan(space)
    if plan is None or plan.space != space:
        which = f"There is no previewed plan {hash[:12]}" if hash else "Nothing was previewed yet"
        raise MemoryFault(
            FaultCode.NOT_FOUND,
            f"{which} in space {space!r}.",
            "Preview first: memory_forgetting_preview, or the Forgetting screen.",
        )
    if now - plan.now > PLAN_LIFE:
        raise MemoryFault(
            FaultCode.NOT_FOUND,
            f"The plan {plan.hash[:12]} is older than a day.",
            "Preview again.",
        )
    return plan


def _changed(reading: Reading, decisions: Sequence[ForgettingDecision]) -> tuple[str, ...]:
    """Ids that are not as they were: the record itself, or who should stay in its place."""
    ids = {one.id for one in decisions} | {one.survivor for one in decisions if one.survivor}
    records = {one.id: one for one in reading.records(sorted(ids))}
    changed: list[str] = []
    for one in decisions:
        record = records.get(one.id)
        survivor = records.get(one.survivor) if one.survivor else None
        gone = one.survivor is not None and (
            survivor is None
            or (one.reason is Reason.DUPLICATE and survivor.state is not State.ACTIVE)
            or survivor.state is State.EXPUNGED
        )
        if record is None or record.version != one.version or gone:
            changed.append(one.id)
    return tuple(changed)


def _view(
    reading: Reading,
    plan: Plan,
    decisions: Sequence[ForgettingDecision],
    limit: int,
    after: str,
) -> PlanView:
    start = 0
    if after:
        places = {one.id: place for place, one in enumerate(decisions)}
        if after not in places:
            raise MemoryFault(
                FaultCode.INVALID, "after is no cursor of this plan.", "Begin without it."
            )
        start = places[after] + 1
    page = decisions[start : start + limit]
    ids = {one.id for one in page} | {one.survivor for one in page if one.survivor}
    records = {one.id: one for one in reading.records(sorted(ids))}
    items = tuple(
        DecisionView(one, records[one.id], records.get(one.survivor or ""))
        for one in page
        if one.id in records
    )
    pruned = Counter(one.reason for one in plan.decisions if one.prune)
    guarded = Counter(one.reason for one in plan.decisions if not one.prune)
    return PlanView(
        plan=_bare(plan),
        by_reason=tuple(
            (reason, pruned[reason], guarded[reason])
            for reason in Reason
            if pruned[reason] or guarded[reason]
        ),
        items=items,
        next=page[-1].id if page and start + limit < len(decisions) else "",
    )


def _bare(plan: Plan) -> Plan:
    return with_changes(plan, decisions=())


def _propose_groups(writing: Writing, plan: Plan, now: Instant) -> None:
    """Duplicate groups become decisions for the person, too; a run settles those it archives."""
    groups: dict[str, list[ForgettingDecision]] = defaultdict(list)
    for one in plan.decisions:
        if one.reason is Reason.DUPLICATE and one.survivor:
            groups[one.survivor].append(one)
    for survivor, members in sorted(groups.items())[:_MOST_GROUPS]:
        ids = tuple(sorted(one.id for one in members))
        if writing.open_pair((survivor,), ids) is not None:
            continue
        records: dict[str, Record] = {one.id: one for one in writing.records((survivor, *ids))}
        if any(writing.dismissed(survivor, id) for id in ids):
            continue
        writing.add_proposal(
            Proposal(
                id=fresh_id(now),
                kind=ProposalKind.DUPLICATE,
                state=ProposalState.OPEN,
                space=plan.space,
                keep=(survivor,),
                replace=ids,
                versions=tuple((one.id, one.version) for one in records.values()),
                evidence=with_changes(_NO_EVIDENCE, klass=members[0].klass or PairClass.IDENTICAL),
                similarity=members[0].similarity or 1.0,
                proposer="engine",
                created_at=now,
                plan_hash=plan.hash,
            )
        )


def _close_groups(writing: Writing, archived: Sequence[ForgettingDecision], now: Instant) -> None:
    """Open proposals about records that a run archived have nothing left to decide."""
    for one in archived:
        for proposal in writing.proposals_of(one.id):
            if proposal.state is ProposalState.OPEN:
                writing.change_proposal(
                    proposal.id,
                    state=ProposalState.WITHDRAWN,
                    decided_at=now,
                    decided_by="forgetting run",
                    reason="archived by a run",
                )


def _propose_run(writing: Writing, plan: Plan, actor: Actor, now: Instant) -> str:
    before, _ = writing.proposals(plan.space, (ProposalState.OPEN,), (ProposalKind.RUN,), limit=100)
    for open_one in before:
        if open_one.plan_hash == plan.hash:
            return open_one.id
    proposal = Proposal(
        id=fresh_id(now),
        kind=ProposalKind.RUN,
        state=ProposalState.OPEN,
        space=plan.space,
        keep=(),
        replace=(),
        versions=(),
        evidence=PairEvidence(PairClass.UNRELATED, 0.0),
        similarity=0.0,
        proposer=actor.name or actor.origin.value,
        created_at=now,
        plan_hash=plan.hash,
    )
    writing.add_proposal(proposal)
    return proposal.id
