"""One memory takes another's place: wishes, proposals, decisions, and taking them back.

Approving checks that nothing changed since the proposal was made, keeps the graph free of cycles, and is
one transaction. Every decision can be undone.
"""

from __future__ import annotations

import json
from dataclasses import replace as with_changes
from typing import Any, cast

from config.schema import Approval
from memory.api import Decide, Decision, ProposalView, Resolve, ResolveResult
from memory.compare import compare
from memory.core import Core, fresh_id, need_operator, need_record
from memory.errors import FaultCode, MemoryFault
from memory.forget import run_plan_within
from memory.model import (
    Actor,
    Instant,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    Record,
    State,
)
from memory.store.reading import Reading
from memory.store.writing import RecordPatch, Writing

_LONGEST_CHAIN = 1_000


def resolve(core: Core, request: Resolve, actor: Actor, now: Instant) -> ResolveResult:
    """Replace at once or file a proposal, by the approval policy and who asks.

    Raises ``NOT_FOUND`` and ``REFUSED``.
    """
    with core.store.writing(actor, request.space, now) as writing:
        return resolve_within(core, writing, request, actor, now)


def resolve_within(
    core: Core, writing: Writing, request: Resolve, actor: Actor, now: Instant
) -> ResolveResult:
    """`resolve` as a part of a larger transaction."""
    keep = need_record(writing, request.keep_id, request.space, "keep_id")
    old = need_record(writing, request.supersede_id, request.space, "supersede_id")
    if old.state is State.SUPERSEDED and keep.id in old.superseded_by:
        return ResolveResult(keep.id, old.id, "resolved", "")
    check_pair(writing, keep, old)
    before = writing.open_pair((keep.id,), (old.id,))
    fresh = _new_proposal(keep, old, actor, now)
    if before is not None and not _says_the_same(writing, before, fresh):
        # The other one would stay, or would be archived: to agree with that is not to agree with this.
        fresh = with_changes(fresh, similarity=before.similarity)
        _close(writing, before, ProposalState.WITHDRAWN, actor, now, "another wish took its place")
        before = None
    at_once = actor.is_operator or (
        core.settings.approval is Approval.AUTO
        and keep.trust >= old.trust
        and not old.pinned
        and keep.state is State.ACTIVE
    )
    if at_once:
        proposal = before or fresh
        if before is None:
            writing.add_proposal(proposal)
        _supersede(writing, keep, old, proposal.valid_to or keep.valid_from or now, now)
        _close(writing, proposal, ProposalState.APPLIED, actor, now, "")
        return ResolveResult(keep.id, old.id, "resolved", proposal.id)
    if before is not None:
        if not before.agent_verdict:
            writing.change_proposal(before.id, agent_verdict="supersede")
        return ResolveResult(keep.id, old.id, "proposed", before.id)
    writing.add_proposal(with_changes(fresh, agent_verdict="supersede"))
    return ResolveResult(keep.id, old.id, "proposed", fresh.id)


def _says_the_same(reading: Reading, one: Proposal, other: Proposal) -> bool:
    """Whether applying the first does what the second asks for, and it can be applied."""
    same = (one.kind, one.keep, one.replace) == (other.kind, other.keep, other.replace)
    return same and not _changed(reading, one)


def check_pair(reading: Reading, keep: Record, old: Record) -> None:
    """Raises ``REFUSED`` if ``keep`` must not replace ``old``."""
    if keep.id == old.id:
        raise MemoryFault(
            FaultCode.REFUSED,
            "A memory can't supersede itself: keep_id and supersede_id are the same.",
        )
    for record, name in ((keep, "keep_id"), (old, "supersede_id")):
        if record.state is State.EXPUNGED:
            raise MemoryFault(FaultCode.REFUSED, f"{name} {record.id} was erased.")
    if keep.state is State.SUPERSEDED:
        head = ", ".join(keep.superseded_by) or "another memory"
        raise MemoryFault(
            FaultCode.REFUSED,
            f"keep_id {keep.id} is itself superseded by {head}.",
            "Keep that one instead.",
        )
    if keep.state is State.ARCHIVED:
        raise MemoryFault(FaultCode.REFUSED, f"keep_id {keep.id} is archived.", "Restore it first.")
    if keep.kind is not old.kind:
        raise MemoryFault(
            FaultCode.REFUSED,
            f"keep_id is {keep.kind.value}, supersede_id is {old.kind.value}: only memories of one "
            "kind replace each other.",
        )
    if _reaches(reading, keep, old.id):
        raise MemoryFault(
            FaultCode.REFUSED,
            f"{old.id} already supersedes {keep.id}; both ways would leave neither.",
        )


def decide(core: Core, request: Decide, actor: Actor, now: Instant) -> ProposalView:
    """Decide a proposal. Raises ``NEEDS_OPERATOR``, ``NOT_FOUND``, ``STALE`` or ``REFUSED``."""
    need_operator(actor, "decide proposals")
    with core.store.writing(actor, request.space, now) as writing:
        proposal = writing.proposal(request.id)
        if proposal is None or proposal.space != request.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND,
                f"There is no proposal {request.id!r} in space {request.space!r}.",
                "Its list may be old: load it again.",
            )
        if request.decision is Decision.UNDO:
            _undo(writing, proposal, now)
        elif proposal.state is ProposalState.APPLIED and request.decision is Decision.APPROVE:
            pass  # approving twice applies once
        elif proposal.state is not ProposalState.OPEN:
            raise MemoryFault(
                FaultCode.REFUSED,
                f"This proposal is already {proposal.state.value.replace('_', ' ')}.",
                "Undo that first.",
            )
        elif request.decision is Decision.APPROVE:
            stale = _changed(writing, proposal)
            if stale:
                _close(writing, proposal, ProposalState.STALE, actor, now, "changed since")
            else:
                _apply(writing, proposal, request, actor, now)
        elif request.decision is Decision.REJECT:
            _reject(writing, proposal, actor, now, request.reason)
        else:
            for keep in proposal.keep:
                for other in proposal.replace:
                    writing.dismiss(keep, other)
            _close(writing, proposal, ProposalState.KEPT_BOTH, actor, now, request.reason)
        decided = view(writing, writing.proposal(proposal.id) or proposal)
    if decided.proposal.state is ProposalState.STALE and request.decision is Decision.APPROVE:
        raise MemoryFault(
            FaultCode.STALE,
            "A memory of this proposal changed since it was made; nothing was applied.",
            "Look at both again; a new proposal comes when they still disagree.",
        )
    return decided


def view(reading: Reading, proposal: Proposal) -> ProposalView:
    """The proposal with its records."""
    return ProposalView(proposal, reading.records(proposal.keep), reading.records(proposal.replace))


def state_before(reading: Reading, id: str) -> State:
    """The last state that a record had before the one it has; active when there was none."""
    now: State | None = None
    for entry in reading.history(id, limit=200):
        found = cast("dict[str, Any]", json.loads(entry.patch)).get("state")
        if found is None:
            continue
        if now is None:
            now = State(found)
        elif State(found) is not now:
            return State(found)
    return State.ACTIVE


def _apply(
    writing: Writing, proposal: Proposal, request: Decide, actor: Actor, now: Instant
) -> None:
    if proposal.kind is ProposalKind.RUN:
        run_plan_within(writing, proposal.plan_hash, actor, now, skip_changed=False)
    elif proposal.kind is ProposalKind.APPROVE:
        for id in proposal.keep:
            writing.change(
                id,
                "approved",
                RecordPatch(state=State.ACTIVE, state_reason="", state_at=now),
                expected_version=None,
            )
    else:
        keep, replaced = _chosen(proposal, request.keep)
        survivor = need_record(writing, keep, proposal.space)
        for id in replaced:
            old = need_record(writing, id, proposal.space)
            if proposal.kind is ProposalKind.SUPERSEDE:
                check_pair(writing, survivor, old)
                end = request.valid_to or proposal.valid_to or survivor.valid_from or now
                _supersede(writing, survivor, old, end, now)
            else:
                writing.change(
                    id,
                    "archived",
                    RecordPatch(
                        state=State.ARCHIVED, state_reason=Reason.DUPLICATE.value, state_at=now
                    ),
                    expected_version=None,
                )
        if keep not in proposal.keep:
            writing.change_proposal(proposal.id, keep=(keep,), replace=replaced)
    _close(writing, proposal, ProposalState.APPLIED, actor, now, request.reason)


def _chosen(proposal: Proposal, keep: str) -> tuple[str, tuple[str, ...]]:
    """Who stays and who goes. Raises ``INVALID``."""
    everyone = (*proposal.keep, *proposal.replace)
    if not keep:
        return proposal.keep[0], proposal.replace
    if keep not in everyone:
        raise MemoryFault(FaultCode.INVALID, f"{keep!r} is no memory of this proposal.")
    return keep, tuple(id for id in everyone if id != keep)


def _supersede(writing: Writing, keep: Record, old: Record, end: Instant, now: Instant) -> None:
    if old.valid_from is not None and end <= old.valid_from:
        end = old.valid_from + 1  # validity is half-open and never empty
    writing.change(
        old.id,
        "superseded",
        RecordPatch(
            state=State.SUPERSEDED,
            state_reason=f"superseded by {keep.id}",
            state_at=now,
            valid_to=end if old.valid_to is None else min(end, old.valid_to),
        ),
        expected_version=old.version,
    )
    writing.link(old.id, keep.id, "supersedes")


def _reject(writing: Writing, proposal: Proposal, actor: Actor, now: Instant, reason: str) -> None:
    if proposal.kind is ProposalKind.APPROVE:
        for id in proposal.keep:
            writing.change(
                id,
                "rejected",
                RecordPatch(state=State.ARCHIVED, state_reason="rejected", state_at=now),
                expected_version=None,
            )
    else:
        # The same pair of texts is not proposed again; other versions of them may be.
        for keep in proposal.keep:
            for other in proposal.replace:
                writing.dismiss(keep, other)
    _close(writing, proposal, ProposalState.REJECTED, actor, now, reason)


def _undo(writing: Writing, proposal: Proposal, now: Instant) -> None:
    if proposal.state in (ProposalState.REJECTED, ProposalState.KEPT_BOTH):
        for keep in proposal.keep:
            for other in proposal.replace:
                writing.undismiss(keep, other)
        if proposal.kind is ProposalKind.APPROVE:
            for id in proposal.keep:
                writing.change(
                    id,
                    "quarantined",
                    RecordPatch(
                        state=State.QUARANTINED, state_reason="waits for review", state_at=now
                    ),
                    expected_version=None,
                )
        _reopen(writing, proposal)
        return
    if proposal.state is not ProposalState.APPLIED:
        raise MemoryFault(
            FaultCode.REFUSED, f"There is nothing to undo: it is {proposal.state.value}."
        )
    if proposal.kind is ProposalKind.RUN:
        raise MemoryFault(
            FaultCode.REFUSED, "This was a forgetting run.", "Undo it on the Forgetting screen."
        )
    if proposal.kind is ProposalKind.APPROVE:
        for id in proposal.keep:
            writing.change(
                id,
                "quarantined",
                RecordPatch(state=State.QUARANTINED, state_reason="waits for review", state_at=now),
                expected_version=None,
            )
    for id in proposal.replace:
        record = writing.record(id)
        if record is None or record.state not in (State.SUPERSEDED, State.ARCHIVED):
            raise MemoryFault(
                FaultCode.STALE,
                f"{id} changed since it was replaced; it was left alone.",
                "Look at its history on the Memory screen.",
            )
        if proposal.kind is ProposalKind.SUPERSEDE:
            take_back(writing, record, now)
        else:
            restore(writing, record, now, "decision undone")
    _reopen(writing, proposal)


def _reopen(writing: Writing, proposal: Proposal) -> None:
    """The decision waits again, about the records as they are now."""
    writing.change_proposal(
        proposal.id,
        state=ProposalState.OPEN,
        versions=tuple((one.id, one.version) for one in writing.records(_ids(proposal))),
        decided_at=None,
        decided_by="",
        reason="",
    )


def take_back(writing: Writing, record: Record, now: Instant) -> None:
    """A superseded record holds again, with the validity it had before."""
    for successor in record.superseded_by:
        writing.unlink(record.id, successor, "supersedes")
    writing.change(
        record.id,
        "restored",
        RecordPatch(
            state=State.ACTIVE,
            state_reason="",
            state_at=now,
            valid_to=_valid_to_before(writing, record.id),
        ),
        expected_version=None,
    )


def restore(writing: Writing, record: Record, now: Instant, reason: str) -> None:
    """An archived record comes back into the state it had before."""
    before = state_before(writing, record.id)
    state = before if before in (State.SUPERSEDED, State.QUARANTINED) else State.ACTIVE
    writing.change(
        record.id,
        "restored",
        RecordPatch(state=state, state_reason=reason, state_at=now),
        expected_version=None,
    )


def _valid_to_before(reading: Reading, id: str) -> Instant | None:
    """The end of validity that a record had before it was superseded."""
    skipped = False
    for entry in reading.history(id, limit=200):
        patch = cast("dict[str, Any]", json.loads(entry.patch))
        if entry.action == "superseded" and not skipped:
            skipped = True
            continue
        if skipped and "valid_to" in patch:
            return cast("int | None", patch["valid_to"])
    return None


def _changed(reading: Reading, proposal: Proposal) -> tuple[str, ...]:
    """Ids of the proposal's records that are not as they were."""
    records = {one.id: one for one in reading.records(_ids(proposal))}
    return tuple(
        id
        for id, version in proposal.versions
        if id not in records or records[id].version != version
    )


def _ids(proposal: Proposal) -> tuple[str, ...]:
    return (*proposal.keep, *proposal.replace)


def _close(
    writing: Writing,
    proposal: Proposal,
    state: ProposalState,
    actor: Actor,
    now: Instant,
    reason: str,
) -> None:
    writing.change_proposal(
        proposal.id,
        state=state,
        decided_at=now,
        decided_by=actor.name or actor.origin.value,
        reason=reason,
    )


def _new_proposal(keep: Record, old: Record, actor: Actor, now: Instant) -> Proposal:
    evidence = compare(old.text.content, keep.text.content, None)
    return Proposal(
        id=fresh_id(now),
        kind=ProposalKind.SUPERSEDE,
        state=ProposalState.OPEN,
        space=keep.space,
        keep=(keep.id,),
        replace=(old.id,),
        versions=((keep.id, keep.version), (old.id, old.version)),
        evidence=evidence,
        similarity=0.0,
        proposer=actor.name or actor.origin.value,
        created_at=now,
        valid_to=keep.valid_from,
    )


def _reaches(reading: Reading, start: Record, goal: str) -> bool:
    """Whether ``goal`` is among those that ``start`` was superseded by, however far away."""
    todo, seen = [start], {start.id}
    while todo and len(seen) < _LONGEST_CHAIN:
        record = todo.pop()
        for id in record.superseded_by:
            if id == goal:
                return True
            if id not in seen:
                seen.add(id)
                todo.extend(reading.records((id,)))
    return False
