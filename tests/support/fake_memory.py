"""A memory in memory, for screens: scripted records, proposals, a plan and runs at one fixed moment.

It does what is asked (approving, undoing, running and pinning change what is shown next), but by the
simplest rules that make a screen move; the real rules are tested with the real memory.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar, cast

from memory.api import (
    ArchiveRecord,
    Decide,
    Decision,
    DecisionView,
    EditRecord,
    ExpungeRecord,
    GetOverview,
    GetPlan,
    GetPosition,
    GetRecord,
    KindCount,
    ListProposals,
    ListRecords,
    ListRuns,
    Neighbour,
    Order,
    Outcome,
    OverviewResult,
    PlanView,
    PositionResult,
    PreviewForgetting,
    ProposalPage,
    ProposalView,
    Receipt,
    RecordDetail,
    RecordPage,
    Request,
    RestoreRecord,
    RunForgetting,
    RunPage,
    RunResult,
    Search,
    SearchResult,
    UndoResult,
    UndoRun,
)
from memory.errors import FaultCode, MemoryFault
from memory.model import (
    DAY,
    SECOND,
    Actor,
    Exemptions,
    ForgettingDecision,
    Guard,
    Hit,
    JournalEntry,
    Kind,
    Origin,
    PairClass,
    Plan,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    Record,
    Run,
    ScoreParts,
    State,
)
from tests.support import sample_memory as sample

_Result = TypeVar("_Result")


class FakeMemory:
    """See the module's text.

    ``fault``: set it and every request raises it. ``hold``: set it to an `asyncio.Event` and requests wait
    for it. ``asked``: every request that came in, in order, with who asked.
    """

    def __init__(self, *, hostile: Callable[[Any], Any] | None = None) -> None:
        def made(value: _Result) -> _Result:
            return value if hostile is None else cast("_Result", hostile(value))

        self.records: dict[str, Record] = {one.id: one for one in made(sample.RECORDS)}
        """By id, oldest first."""
        self.proposals: dict[str, Proposal] = {one.id: one for one in made(sample.PROPOSALS)}
        self.candidates: tuple[ForgettingDecision, ...] = made(sample.CANDIDATES)
        """What every plan would decide, but for exemptions."""
        self.outcomes: tuple[Outcome, ...] = made(sample.OUTCOMES)
        self.runs: list[Run] = list(made(sample.RUNS))
        """Newest first."""
        self.spaces: tuple[str, ...] = ("default",)
        self.archived_by: dict[str, tuple[str, ...]] = {}
        self.journal: list[JournalEntry] = list(made(sample.JOURNAL))
        """Oldest first."""
        self.index = made(sample.INDEX)
        self.plan: Plan | None = None
        self.degraded = ""
        self.fault: MemoryFault | None = None
        self.hold: asyncio.Event | None = None
        self.asked: list[tuple[Request[Any], Actor]] = []

    @classmethod
    def empty(cls) -> FakeMemory:
        """A memory at its first start."""
        memory = cls()
        memory.records, memory.proposals, memory.candidates = {}, {}, ()
        memory.runs, memory.journal = [], []
        memory.index = replace(memory.index, vectors=0, pending=0)
        return memory

    @property
    def position(self) -> int:
        """The journal's last number."""
        return self.journal[-1].seq if self.journal else 0

    def requests(self, kind: type[_Result]) -> list[_Result]:
        """The requests of one kind that came in."""
        return [one for one, _ in self.asked if isinstance(one, kind)]

    async def ask(self, request: Request[_Result], actor: Actor) -> _Result:
        self.asked.append((request, actor))
        if self.hold is not None:
            await self.hold.wait()
        if self.fault is not None:
            raise self.fault
        return cast("_Result", self._answer(request, actor))

    # -- requests -----------------------------------------------------------------------------

    def _answer(self, request: Any, actor: Actor) -> object:
        match request:
            case GetPosition():
                return PositionResult(self.position, len(self._open()))
            case GetOverview():
                return self._overview()
            case ListRecords():
                return self._list(request)
            case Search():
                return self._search(request)
            case GetRecord():
                return self._detail(request.id)
            case ListProposals():
                return self._queue(request)
            case Decide():
                return self._decide(request)
            case EditRecord():
                return self._edit(request)
            case ArchiveRecord(id, _, reason):
                return self._move(id, State.ARCHIVED, "archived", reason)
            case RestoreRecord(id):
                return self._move(id, State.ACTIVE, "restored", "")
            case ExpungeRecord():
                return self._expunge(request)
            case PreviewForgetting():
                return self._preview(request)
            case GetPlan():
                return self._plan_page(request)
            case RunForgetting():
                return self._run(request, actor)
            case ListRuns():
                return RunPage(tuple(self.runs))
            case UndoRun():
                return self._undo(request.id)
            case _:
                raise MemoryFault(FaultCode.INVALID, f"The fake does not know {request!r}.")

    def _open(self) -> list[Proposal]:
        return [one for one in self.proposals.values() if one.state is ProposalState.OPEN]

    def _overview(self) -> OverviewResult:
        counts: dict[tuple[Kind, State], int] = {}
        for record in self.records.values():
            counts[record.kind, record.state] = counts.get((record.kind, record.state), 0) + 1
        return OverviewResult(
            space="default",
            counts=tuple(KindCount(kind, state, n) for (kind, state), n in counts.items()),
            open_proposals=len(self._open()),
            sessions=(),
            events=tuple(reversed(self.journal[-10:])),
            last_run=self.runs[0] if self.runs else None,
            would_have_hit=sum(run.would_have_hit for run in self.runs),
            index=self.index,
            position=self.position,
            approval="operator",
            forgetting="agent",
            bytes_on_disk=1_912_832,
            spaces=self.spaces,
        )

    def _list(self, request: ListRecords) -> RecordPage:
        found = [
            one
            for one in self.records.values()
            if one.state in request.states and (not request.kinds or one.kind in request.kinds)
        ]
        found.sort(key=lambda one: one.recorded_at)
        if request.order is Order.NEWEST:
            found.reverse()
        elif request.order is Order.CHANGED:
            found.sort(key=lambda one: -one.changed_at)
        page, after = self._paged(found, request.limit, request.after)
        return RecordPage(tuple(page), after)

    def _paged(self, found: list[Any], limit: int, after: str) -> tuple[list[Any], str]:
        start = int(after or 0)
        end = start + limit
        return found[start:end], str(end) if end < len(found) else ""

    def _search(self, request: Search) -> SearchResult:
        wanted = set(request.query.lower().split())
        states = {State.ACTIVE}
        states |= {State.SUPERSEDED} if request.include_superseded else set()
        states |= {State.ARCHIVED} if request.include_archived else set()
        hits: list[Hit] = []
        for record in self.records.values():
            words = set(record.text.content.lower().replace(".", " ").split())
            share = len(wanted & words) / max(1, len(wanted))
            if not share or record.state not in states:
                continue
            if request.kinds and record.kind not in request.kinds:
                continue
            vector = 0.0 if self.degraded else 0.4 + share / 2
            final = 0.5 * share + 0.5 * vector
            parts = ScoreParts(
                vector, 0.62, record.importance, final, share, vector, (share + vector) / 2
            )
            warnings = ("disputed",) if record.id in self._disputed() else ()
            if record.state is not State.ACTIVE:
                warnings += (record.state.value,)
            hits.append(Hit(record, parts, warnings))
        hits.sort(key=lambda hit: (-hit.parts.final_score, hit.record.id))
        return SearchResult(tuple(hits[: request.top_k]), self.degraded, 1, "minilm", self.position)

    def _disputed(self) -> set[str]:
        kinds = (ProposalKind.SUPERSEDE,)
        return {
            record_id
            for one in self._open()
            if one.kind in kinds
            for record_id in (*one.keep, *one.replace)
        }

    def _record(self, record_id: str) -> Record:
        record = self.records.get(record_id)
        if record is None:
            raise MemoryFault(
                FaultCode.NOT_FOUND, f"There is no record {record_id}.", "Search for it again."
            )
        return record

    def _detail(self, record_id: str) -> RecordDetail:
        record = self._record(record_id)
        about = tuple(
            one
            for one in self.proposals.values()
            if record_id in (*one.keep, *one.replace)
            and one.evidence.klass is not PairClass.UNRELATED
        )
        neighbours = tuple(
            Neighbour(self.records[other], one.similarity, one.evidence)
            for one in about
            for other in (*one.keep, *one.replace)
            if other != record_id
        )
        history = [one for one in reversed(self.journal) if one.entity_id == record_id]
        chain = [
            self.records[one] for one in (*record.supersedes, record_id, *record.superseded_by)
        ]
        procedure = record.kind is Kind.PROCEDURAL
        return RecordDetail(
            record,
            tuple(history),
            self.outcomes if procedure else (),
            neighbours,
            about,
            tuple(chain),
        )

    def _queue(self, request: ListProposals) -> ProposalPage:
        found = [one for one in self.proposals.values() if one.state in request.states]
        page, after = self._paged(found, request.limit, request.after)
        return ProposalPage(tuple(self._view(one) for one in page), len(self._open()), after)

    def _view(self, one: Proposal) -> ProposalView:
        return ProposalView(
            one,
            tuple(self.records[record_id] for record_id in one.keep),
            tuple(self.records[record_id] for record_id in one.replace),
        )

    def _decide(self, request: Decide) -> ProposalView:
        one = self.proposals.get(request.id)
        if one is None:
            raise MemoryFault(FaultCode.NOT_FOUND, f"There is no proposal {request.id}.")
        undo = request.decision is Decision.UNDO
        if undo is (one.state is ProposalState.OPEN):
            raise MemoryFault(
                FaultCode.STALE, f"Proposal {one.id} is {one.state.value}.", "Reload the list."
            )
        if request.keep and request.keep not in one.keep:
            everybody = (*one.keep, *one.replace)
            others = tuple(record_id for record_id in everybody if record_id != request.keep)
            one = replace(one, keep=(request.keep,), replace=others)
        match request.decision:
            case Decision.APPROVE:
                state = ProposalState.APPLIED
                self._apply(one)
            case Decision.REJECT:
                state = ProposalState.REJECTED
            case Decision.KEEP_BOTH:
                state = ProposalState.KEPT_BOTH
            case Decision.UNDO:
                state = ProposalState.OPEN
                if one.state is ProposalState.APPLIED:
                    self._take_back(one)
        again = state is ProposalState.OPEN
        one = replace(
            one,
            state=state,
            decided_at=None if again else sample.AT,
            decided_by="" if again else "console",
        )
        self.proposals[one.id] = one
        self._note(f"{state.value}", "proposal", one.id, 1)
        return self._view(one)

    def _apply(self, one: Proposal) -> None:
        match one.kind:
            case ProposalKind.SUPERSEDE:
                for record_id in one.replace:
                    self._move(record_id, State.SUPERSEDED, "superseded", "")
            case ProposalKind.DUPLICATE:
                for record_id in one.replace:
                    self._move(record_id, State.ARCHIVED, "archived", "likely_duplicate")
            case ProposalKind.APPROVE:
                for record_id in one.keep:
                    self._move(record_id, State.ACTIVE, "approved", "")
            case ProposalKind.RUN:
                pass

    def _take_back(self, one: Proposal) -> None:
        for record_id in one.replace:
            self._move(record_id, State.ACTIVE, "restored", "")
        if one.kind is ProposalKind.APPROVE:
            for record_id in one.keep:
                self._move(record_id, State.QUARANTINED, "quarantined", "")

    def _change(self, record: Record, action: str, **fields: Any) -> Record:
        changed = replace(record, version=record.version + 1, changed_at=sample.AT, **fields)
        self.records[record.id] = changed
        self._note(action, "record", record.id, changed.version)
        return changed

    def _move(self, record_id: str, state: State, action: str, reason: str) -> Record:
        return self._change(
            self._record(record_id), action, state=state, state_reason=reason, state_at=sample.AT
        )

    def _edit(self, request: EditRecord) -> Record:
        record = self._record(request.id)
        if record.version != request.version:
            raise MemoryFault(
                FaultCode.STALE,
                f"{request.id} has changed since (version {record.version}).",
                "Look at it again, then decide.",
            )
        fields = {
            name: value
            for name in ("text", "importance", "pinned", "category", "valid_to")
            if (value := getattr(request, name)) is not None
        }
        return self._change(record, "edited", **fields)

    def _expunge(self, request: ExpungeRecord) -> Receipt:
        record = self._record(request.id)
        self._change(
            record, "expunged", state=State.EXPUNGED, text=replace(record.text, content="")
        )
        return Receipt(request.id, ("The text is overwritten.", "The vector is deleted."))

    def _note(self, action: str, entity: str, entity_id: str, version: int) -> None:
        seq = self.position + 1
        digest = hashlib.sha256(f"{seq}".encode()).hexdigest()
        self.journal.append(
            JournalEntry(
                seq,
                sample.AT,
                "default",
                action,
                entity,
                entity_id,
                version,
                "console",
                Origin.OPERATOR,
                "{}",
                digest,
            )
        )

    # -- forgetting ---------------------------------------------------------------------------

    def _preview(self, request: PreviewForgetting) -> PlanView:
        decisions = tuple(
            self._exempted(one, request.exemptions)
            for one in self.candidates
            if self.records[one.id].state is State.ACTIVE
            or (one.reason is Reason.SUPERSEDED and self.records[one.id].state is State.SUPERSEDED)
        )
        self.plan = _make_plan(decisions, request.exemptions, self.position, len(self.records))
        return self._plan_page(GetPlan(limit=request.limit))

    def _exempted(self, one: ForgettingDecision, wished: Exemptions) -> ForgettingDecision:
        if self.records[one.id].pinned:
            return replace(one, prune=False, guard=Guard.PINNED)
        if one.id in wished.keep:
            return replace(one, prune=False, guard=Guard.EXEMPT)
        if one.id in wished.survivors and one.survivor is not None:
            return replace(one, id=one.survivor, survivor=one.id)
        return one

    def _plan_page(self, request: GetPlan) -> PlanView:
        plan = self.plan
        if plan is None or not plan.hash.startswith(request.hash):
            raise MemoryFault(
                FaultCode.NOT_FOUND, "There is no plan.", "Make one with a preview first."
            )
        found = [
            one for one in plan.decisions if request.reason is None or one.reason is request.reason
        ]
        page, after = self._paged(found, request.limit, request.after)
        reasons = dict.fromkeys(one.reason for one in plan.decisions)
        counts = tuple(
            (
                reason,
                sum(one.prune for one in plan.decisions if one.reason is reason),
                sum(not one.prune for one in plan.decisions if one.reason is reason),
            )
            for reason in reasons
        )
        views = tuple(
            DecisionView(
                one, self.records[one.id], self.records[one.survivor] if one.survivor else None
            )
            for one in page
        )
        return PlanView(replace(plan, decisions=()), counts, views, after)

    def _run(self, request: RunForgetting, actor: Actor) -> RunResult:
        plan = self.plan
        if plan is None or plan.hash != request.plan_hash:
            raise MemoryFault(FaultCode.STALE, "Another plan was made since.", "Preview it again.")
        changed = tuple(
            one.id for one in plan.pruned if self.records[one.id].version != one.version
        )
        if changed and not request.skip_changed:
            raise MemoryFault(
                FaultCode.STALE,
                f"{len(changed)} records have changed since the preview.",
                "Preview it again.",
            )
        pruned = [one for one in plan.pruned if one.id not in changed]
        for one in pruned:
            self._move(one.id, State.ARCHIVED, "archived", one.reason.value)
        run = Run(
            id=f"01JH0RUN{len(self.runs):04d}",
            space="default",
            plan_hash=plan.hash,
            at=sample.AT,
            actor=actor.name,
            archived=len(pruned),
            by_reason=tuple(
                (reason, sum(one.reason is reason for one in pruned))
                for reason in dict.fromkeys(one.reason for one in pruned)
            ),
        )
        self.runs.insert(0, run)
        self.archived_by[run.id] = tuple(one.id for one in pruned)
        self.plan = None
        return RunResult(run, replace(plan, decisions=()), changed)

    def _undo(self, run_id: str) -> UndoResult:
        place = next((at for at, one in enumerate(self.runs) if one.id == run_id), None)
        if place is None:
            raise MemoryFault(FaultCode.NOT_FOUND, f"There is no run {run_id}.")
        run = self.runs[place]
        if run.undone_at is not None:
            raise MemoryFault(FaultCode.REFUSED, f"Run {run_id} was undone already.")
        restored = self.archived_by.get(run_id, ())
        for record_id in restored:
            self._move(record_id, State.ACTIVE, "restored", "")
        self.runs[place] = run = replace(run, undone_at=sample.AT)
        return UndoResult(run, restored, ())


def _make_plan(
    decisions: Iterable[ForgettingDecision], wished: Exemptions, position: int, scanned: int
) -> Plan:
    ordered = tuple(decisions)
    pruned = sum(one.prune for one in ordered)
    said = [(one.id, one.prune, one.survivor) for one in ordered]
    digest = hashlib.sha256(repr((said, position)).encode()).hexdigest()
    return Plan(
        hash=digest,
        space="default",
        position=position,
        now=sample.AT,
        policy=sample.POLICY,
        exemptions=wished,
        scanned=scanned,
        kept=scanned - pruned,
        by_kind=tuple(
            (kind, 0, sum(one.prune for one in ordered if one.kind is kind)) for kind in Kind
        ),
        decisions=ordered,
    )


__all__ = ["DAY", "SECOND", "FakeMemory"]
