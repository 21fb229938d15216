"""A memory without a database: the same port, records in a dictionary, words instead of vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from config.schema import MemorySettings
from memory import api
from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import (
    Actor,
    Exemptions,
    ForgettingDecision,
    ForgettingPolicy,
    Hit,
    Instant,
    JournalEntry,
    Kind,
    MemoryText,
    Origin,
    PairClass,
    PairEvidence,
    Plan,
    Reason,
    Record,
    Run,
    ScoreParts,
    ScoreTerms,
    State,
)
from memory.text import content_hash, norm_hash
from memory.tools.calls import answer_tool

NOW = 1_772_366_400_000_000
"""2026-03-01T12:00:00Z."""
AGENT_NAME = "test-host"


def record_id(number: int) -> str:
    """The id that the fake gives to its ``number``-th record."""
    return f"01J{number:023d}"


def make_record(
    number: int, kind: Kind = Kind.SEMANTIC, content: str = "a fact", **more: Any
) -> Record:
    """A record with the usual values."""
    text = more.pop("text", MemoryText(content))
    values: dict[str, Any] = {
        "id": record_id(number),
        "num": number,
        "kind": kind,
        "space": "default",
        "version": 1,
        "state": State.ACTIVE,
        "text": text,
        "content_hash": content_hash(text),
        "norm_hash": norm_hash(text),
        "recorded_at": NOW,
        "changed_at": NOW,
        "origin": Origin.AGENT,
    }
    return Record(**(values | more))


class FakeService:
    """Answers requests from a dictionary. Two texts contradict when they differ in digits only."""

    def __init__(self, settings: MemorySettings | None = None) -> None:
        self.settings = settings or MemorySettings()
        self.records: dict[str, Record] = {}
        self.asked: list[Request[Any]] = []
        self.actors: list[Actor] = []
        self.runs: list[Run] = []
        self.closed = False

    def answer(self, request: Request[Any], actor: Actor, now: Instant) -> Any:
        self.asked.append(request)
        self.actors.append(actor)
        match request:
            case api.CallTool():
                return answer_tool(lambda inner, by: self.answer(inner, by, now), request, actor)
            case api.AddRecord():
                return self._add(request, actor, now)
            case api.GetRecord():
                return api.RecordDetail(self._record(request.id), (), (), (), (), ())
            case api.ListRecords():
                return self._list(request)
            case api.Search():
                return self._search(request)
            case api.BestProcedures():
                return self._procedures(request)
            case api.RecordOutcome():
                one = self._record(request.id)
                won = int(request.success)
                changed = replace(
                    one, successes=one.successes + won, failures=one.failures + 1 - won
                )
                self.records[one.id] = changed
                return changed
            case api.PreviewForgetting():
                return self._plan_view(request.limit, "")
            case api.GetPlan():
                if request.hash not in ("", self._plan().hash):
                    raise MemoryFault(FaultCode.NOT_FOUND, "There is no such plan.")
                return self._plan_view(request.limit, request.after)
            case api.RunForgetting():
                return self._run(actor, now)
            case api.Resolve():
                return self._resolve(request)
            case api.GetPosition():
                return api.PositionResult(len(self.records), 0)
            case api.GetOverview():
                return self._overview(request)
            case _:
                raise MemoryFault(FaultCode.INVALID, f"The fake knows no {type(request).__name__}.")

    def configure(self, settings: MemorySettings) -> None:
        self.settings = settings

    def close(self) -> None:
        self.closed = True

    def _record(self, id: str) -> Record:
        if id not in self.records:
            raise MemoryFault(FaultCode.NOT_FOUND, f"There is no record {id}.", "Query for it.")
        return self.records[id]

    def _add(self, request: api.AddRecord, actor: Actor, now: Instant) -> api.Stored:
        same = content_hash(request.text)
        for one in self.records.values():
            if one.content_hash == same and one.kind is request.kind:
                self.records[one.id] = again = replace(one, support=one.support + 1)
                return api.Stored(again, True)
        new = make_record(
            len(self.records) + 1,
            request.kind,
            text=request.text,
            origin=actor.origin,
            actor=actor.name,
            recorded_at=now,
            importance=request.importance,
            confidence=request.confidence,
            category=request.category,
            domain=request.domain,
            related_ids=request.related_ids,
            session_id=request.session_id,
            turn_number=request.turn_number,
            supersedes=(request.supersedes,) if request.supersedes else (),
        )
        contradictions = tuple(
            api.Candidate(
                one,
                0.93,
                PairEvidence(
                    PairClass.VALUE, 0.9, _digits(one.text.content), _digits(new.text.content)
                ),
                "01JPROPOSAL",
            )
            for one in self.records.values()
            if _without_digits(one) == _without_digits(new)
        )
        self.records[new.id] = new
        return api.Stored(new, False, contradictions)

    def _list(self, request: api.ListRecords) -> api.RecordPage:
        found = [
            one
            for one in self.records.values()
            if (not request.kinds or one.kind in request.kinds)
            and one.state in request.states
            and request.session_id in (None, one.session_id)
        ]
        if request.order is api.Order.TURN:
            found.sort(key=lambda one: (one.turn_number is None, one.turn_number, one.id))
        else:
            found.sort(key=lambda one: one.id, reverse=request.order is api.Order.NEWEST)
        start = int(request.after or 0)
        page = tuple(found[start : start + request.limit])
        more = start + request.limit < len(found)
        return api.RecordPage(page, str(start + request.limit) if more else "")

    def _search(self, request: api.Search) -> api.SearchResult:
        words = set(request.query.lower().split())
        found: list[Hit] = []
        for one in self.records.values():
            shared = words & set(one.text.content.lower().split())
            if shared and (not request.kinds or one.kind in request.kinds):
                share = len(shared) / len(words)
                parts = ScoreParts(share, 1.0, one.importance, share, share, share, share)
                found.append(Hit(one, parts, ("disputed",) if one.superseded_by else ()))
        found.sort(key=lambda hit: (-hit.parts.final_score, hit.record.id))
        return api.SearchResult(tuple(found[: request.top_k]), "There are no vectors.", 1)

    def _procedures(self, request: api.BestProcedures) -> api.RankedProcedures:
        found = [one for one in self.records.values() if one.kind is Kind.PROCEDURAL]
        found.sort(key=lambda one: (one.failures - one.successes, one.id))
        return api.RankedProcedures(
            tuple(
                api.ProcedureHit(one, 0.8, 0.1, 0.5, 0.1, 0.9, not one.successes + one.failures)
                for one in found[: request.top_k]
            )
        )

    def _plan(self) -> Plan:
        decisions = tuple(
            ForgettingDecision(
                one.id,
                one.version,
                one.kind,
                True,
                Reason.DUPLICATE,
                ScoreTerms(0.25, 1.0, one.importance, 1, 40.0),
                survivor=record_id(1),
                similarity=0.99,
                klass=PairClass.REWORDING,
            )
            for one in self.records.values()
            if one.text.content.startswith("again") and one.state is State.ACTIVE
        )
        total = len(self.records)
        return Plan(
            "ab" * 32,
            "default",
            total,
            NOW,
            ForgettingPolicy(),
            Exemptions(),
            total,
            total - len(decisions),
            ((Kind.SEMANTIC, total - len(decisions), len(decisions)),),
            decisions,
        )

    def _plan_view(self, limit: int, after: str) -> api.PlanView:
        plan = self._plan()
        start = int(after or 0)
        more = start + limit < len(plan.decisions)
        items = tuple(
            api.DecisionView(one, self.records[one.id], self.records.get(record_id(1)))
            for one in plan.decisions[start : start + limit]
        )
        return api.PlanView(
            replace(plan, decisions=()),
            ((Reason.DUPLICATE, len(plan.decisions), 0),),
            items,
            str(start + limit) if more else "",
        )

    def _run(self, actor: Actor, now: Instant) -> api.RunResult:
        plan = self._plan()
        if self.settings.forgetting.value == "operator" and not actor.is_operator:
            return api.RunResult(None, plan, (), "01JPROPOSAL")
        for one in plan.decisions:
            self.records[one.id] = replace(self.records[one.id], state=State.ARCHIVED)
        count = len(plan.decisions)
        by_reason = ((Reason.DUPLICATE, count),) if count else ()
        run = Run("01JRUN", "default", plan.hash, now, actor.name, count, by_reason)
        self.runs.append(run)
        return api.RunResult(run, plan)

    def _resolve(self, request: api.Resolve) -> api.ResolveResult:
        kept = self._record(request.keep_id)
        gone = self._record(request.supersede_id)
        if kept.id == gone.id:
            raise MemoryFault(FaultCode.REFUSED, "A record can't supersede itself.")
        if self.settings.approval.value == "operator":
            return api.ResolveResult(kept.id, gone.id, "proposed", "01JPROPOSAL")
        self.records[gone.id] = replace(
            gone, state=State.SUPERSEDED, superseded_by=(*gone.superseded_by, kept.id)
        )
        self.records[kept.id] = replace(kept, supersedes=(*kept.supersedes, gone.id))
        return api.ResolveResult(kept.id, gone.id, "resolved", "01JPROPOSAL")

    def _overview(self, request: api.GetOverview) -> api.OverviewResult:
        counts: dict[tuple[Kind, State], int] = {}
        for one in self.records.values():
            counts[one.kind, one.state] = counts.get((one.kind, one.state), 0) + 1
        events = tuple(
            JournalEntry(
                one.num,
                one.recorded_at,
                one.space,
                "stored",
                "record",
                one.id,
                1,
                one.actor,
                one.origin,
                "{}",
                "",
            )
            for one in list(self.records.values())[:-11:-1]
        )
        return api.OverviewResult(
            request.space,
            tuple(api.KindCount(kind, state, count) for (kind, state), count in counts.items()),
            2,
            (api.SessionSummary("s1", NOW, 3),),
            events,
            None,
            0,
            api.IndexStatus("", "brute", 0, 0),
            len(self.records),
            self.settings.approval.value,
            self.settings.forgetting.value,
            0,
            (request.space,),
        )


class FakeMemory:
    """`memory.api.MemoryPort` over a `FakeService`, in this process."""

    def __init__(self, service: FakeService | None = None) -> None:
        self.service = service or FakeService()

    async def ask(self, request: Request[api.R], actor: Actor) -> api.R:
        return self.service.answer(request, actor, NOW)


def _digits(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split() if any(letter.isdigit() for letter in word))


def _without_digits(one: Record) -> str:
    return "".join(letter for letter in one.text.content if not letter.isdigit())
