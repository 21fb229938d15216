"""Looking: lists, one record in full, the queue, the overview. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory.api import (
    GetOverview,
    GetPosition,
    GetRecord,
    IndexStatus,
    ListProposals,
    ListRecords,
    ListRuns,
    Neighbour,
    OverviewResult,
    PositionResult,
    ProposalPage,
    RecordDetail,
    RecordPage,
    RunPage,
    VerifyResult,
)
from memory.compare import compare
from memory.core import Core, page_limit
from memory.errors import FaultCode, MemoryFault
from memory.model import DAY, TRUST, Instant, Origin, Proposal, ProposalState, Record
from memory.store import check
from memory.store.reading import Reading
from memory.store.selection import Selection
from memory.supersede import view

_HISTORY = 200
_OUTCOMES = 100
_NEIGHBOURS = 10
_SESSIONS = 5
_EVENTS = 10
_SHORTEST_PREFIX = 6
_LONGEST_CHAIN = 50
_MOST_PROPOSALS = 5_000
"""More are not ordered by impact: the oldest come first."""
REGRET_DAYS = 30


def list_records(core: Core, request: ListRecords) -> RecordPage:
    """One page. Raises ``INVALID``."""
    limit = page_limit(request.limit)
    selection = Selection(
        space=request.space,
        kinds=request.kinds,
        states=request.states,
        session_id=request.session_id,
        actor=request.actor,
    )
    with core.store.reading() as reading:
        records, after = reading.find(
            selection, order=request.order, limit=limit, after=request.after or None
        )
        return RecordPage(records, after or "")


def get_record(core: Core, request: GetRecord) -> RecordDetail:
    """One record with all that is known of it. Raises ``NOT_FOUND`` or ``INVALID``."""
    with core.store.reading() as reading:
        record = _find(reading, request.id, request.space)
        neighbours: list[Neighbour] = []
        edges = reading.edges_of(record.num)[:_NEIGHBOURS]
        others = reading.by_nums(
            [one.older if one.newer == record.num else one.newer for one in edges]
        )
        for edge in edges:
            other = others.get(edge.older if edge.newer == record.num else edge.newer)
            if other is None:
                continue
            first, second = (other, record) if other.num < record.num else (record, other)
            evidence = compare(first.text.content, second.text.content, edge.similarity or None)
            neighbours.append(Neighbour(other, edge.similarity, evidence))
        return RecordDetail(
            record=record,
            history=reading.history(record.id, limit=_HISTORY),
            outcomes=reading.outcomes(record.id, limit=_OUTCOMES),
            neighbours=tuple(neighbours),
            proposals=reading.proposals_of(record.id),
            chain=_chain(reading, record),
        )


def list_proposals(core: Core, request: ListProposals) -> ProposalPage:
    """A page of the queue: by impact while open, else the newest first. Raises ``INVALID``."""
    limit = page_limit(request.limit)
    with core.store.reading() as reading:
        found, _ = reading.proposals(
            request.space, request.states, request.kinds, limit=_MOST_PROPOSALS
        )
        everything = list(found)
        if request.states == (ProposalState.OPEN,):
            ids = {id for proposal in everything for id in proposal.replace}
            records = {one.id: one for one in reading.records(ids)}
            everything.sort(key=lambda one: _impact(one, records))
        else:
            everything.sort(key=lambda one: (-(one.decided_at or one.created_at), one.id))
        start = 0
        if request.after:
            places = {one.id: place for place, one in enumerate(everything)}
            start = places.get(request.after, -1) + 1
        page = everything[start : start + limit]
        return ProposalPage(
            items=tuple(view(reading, one) for one in page),
            open=reading.open_count(request.space),
            next=page[-1].id if page and start + limit < len(everything) else "",
        )


def overview(core: Core, request: GetOverview, now: Instant) -> OverviewResult:
    """The space at a glance."""
    with core.store.reading() as reading:
        runs = reading.runs(request.space, limit=500)
        return OverviewResult(
            space=request.space,
            counts=reading.count(request.space),
            open_proposals=reading.open_count(request.space),
            sessions=reading.sessions(request.space, limit=_SESSIONS),
            events=reading.last_entries(request.space, limit=_EVENTS),
            last_run=runs[0] if runs else None,
            would_have_hit=sum(
                run.would_have_hit for run in runs if run.at >= now - REGRET_DAYS * DAY
            ),
            index=_status(core),
            position=reading.position,
            approval=core.settings.approval.value,
            forgetting=core.settings.forgetting.value,
            bytes_on_disk=_bytes_below(core),
            spaces=reading.spaces(),
        )


def position(core: Core, request: GetPosition) -> PositionResult:
    """Whether anything changed."""
    with core.store.reading() as reading:
        return PositionResult(reading.position, reading.open_count(request.space))


def list_runs(core: Core, request: ListRuns) -> RunPage:
    """Runs, newest first. Raises ``INVALID``."""
    with core.store.reading() as reading:
        return RunPage(reading.runs(request.space, limit=page_limit(request.limit)))


def verify(core: Core) -> VerifyResult:
    """Check chain, records and the index of words."""
    with core.store.reading() as reading:
        return VerifyResult(reading.position, check.verify(reading))


def _find(reading: Reading, id: str, space: str) -> Record:
    record = reading.record(id)
    if record is not None and record.space == space:
        return record
    if len(id) >= _SHORTEST_PREFIX:
        found = reading.by_prefix(space, id.upper(), limit=2)
        if len(found) == 1:
            return found[0]
        if found:
            raise MemoryFault(
                FaultCode.INVALID, f"Several memories begin with {id!r}.", "Write more of the id."
            )
    raise MemoryFault(
        FaultCode.NOT_FOUND,
        f"There is no memory {id!r} in space {space!r}.",
        "mms memory list shows the ids.",
    )


def _chain(reading: Reading, record: Record) -> tuple[Record, ...]:
    found = {record.id: record}
    todo = [record]
    while todo and len(found) < _LONGEST_CHAIN:
        here = todo.pop()
        for other in reading.records((*here.supersedes, *here.superseded_by)):
            if other.id not in found:
                found[other.id] = other
                todo.append(other)
    return tuple(sorted(found.values(), key=lambda one: one.num))


def _impact(proposal: Proposal, known: Mapping[str, Record]) -> tuple[float, Instant, str]:
    """Order of the queue: what agents asked for, then what is used and sure, then the oldest."""
    records = [known[id] for id in proposal.replace if id in known]
    uses = sum(1 + one.use_count for one in records) or 1
    trust_gap = 1.0 if all(one.trust <= TRUST[Origin.AGENT] for one in records) else 0.5
    asked = 2.0 if proposal.agent_verdict else 1.0
    return (
        -uses * max(proposal.evidence.score, 0.1) * trust_gap * asked,
        proposal.created_at,
        proposal.id,
    )


def _status(core: Core) -> IndexStatus:
    """How the indexes are, or that a damaged database lies aside: nobody may overlook that."""
    status = core.index.status()
    damaged = core.store.damaged_copies
    if not damaged:
        return status
    return replace(
        status,
        problem=f"A damaged database was set aside as {damaged[-1]}; what follows is a new one. "
        f"{status.problem}".strip(),
    )


def _bytes_below(core: Core) -> int:
    return sum(file.stat().st_size for file in core.directory.rglob("*") if file.is_file())
