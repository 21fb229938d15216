"""What the tools answer: records, hits and plans as JSON objects with the original's names of fields.

Memory texts appear in fields of their own and nowhere else, so that a reader can tell data from words of
ours. Scores have four digits after the point; times are ISO 8601 in UTC.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from memory.api import (
    Candidate,
    DecisionView,
    OverviewResult,
    PlanView,
    ProcedureHit,
    RunResult,
    SearchResult,
    ToolAnswer,
)
from memory.errors import MemoryFault
from memory.model import Hit, Instant, JournalEntry, Kind, Plan, Reason, Record, State
from memory.procedures import wilson_score

Json = dict[str, Any]
SHOWN_CHARACTERS = 200
"""Of a text in a forgetting decision."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def success(structured: Mapping[str, Any]) -> ToolAnswer:
    """An answer. The text block says the same, for hosts that hand nothing else to the model."""
    text = _encoded(structured)
    block = _encoded([{"type": "text", "text": text}])
    return ToolAnswer(f'{{"content":{block},"structuredContent":{text}}}', is_error=False)


def failure(fault: MemoryFault) -> ToolAnswer:
    """An answer that says what went wrong. It has no structured part: that must fit ``outputSchema``."""
    told = {"error": fault.message, "code": fault.code.value}
    if fault.hint:
        told["hint"] = fault.hint
    block = _encoded([{"type": "text", "text": _encoded(told)}])
    return ToolAnswer(f'{{"content":{block},"isError":true}}', is_error=True)


def record(one: Record) -> Json:
    """A record by the names that the original has, those of its kind."""
    found: Json = {
        "id": one.id,
        "content": one.text.content,
        "memory_type": one.kind.value,
        "importance": _rounded(one.importance),
        "created_at": iso(one.recorded_at),
        "state": one.state.value,
    }
    match one.kind:
        case Kind.SEMANTIC:
            found |= {
                "category": one.category,
                "domain": one.domain,
                "confidence": _rounded(one.confidence),
                "related_ids": list(one.related_ids),
            }
        case Kind.EPISODIC:
            found |= {
                "session_id": one.session_id,
                "turn_number": one.turn_number,
                "summary": one.text.summary or None,
            }
        case Kind.PROCEDURAL:
            found |= {
                "steps": list(one.text.steps),
                "preconditions": list(one.text.preconditions),
                "success_count": one.successes,
                "failure_count": one.failures,
                "wilson_score": _rounded(wilson_score(one.successes, one.failures)),
            }
    found |= {"supersedes": list(one.supersedes), "superseded_by": list(one.superseded_by)}
    if one.valid_from is not None:
        found["valid_from"] = iso(one.valid_from)
    if one.valid_to is not None:
        found["valid_to"] = iso(one.valid_to)
    if one.support > 1:
        found["times_stored"] = one.support
    if one.flags:
        found["flags"] = list(one.flags)
    return found


def candidate(one: Candidate) -> Json:
    """A stored record that a new one may contradict."""
    found: Json = {
        "record": record(one.record),
        "similarity": _rounded(one.similarity),
        "class": one.evidence.klass.value,
        "evidence": {
            "older_words": list(one.evidence.older_words),
            "newer_words": list(one.evidence.newer_words),
        },
        "score": _rounded(one.evidence.score),
    }
    if one.proposal_id:
        found["proposal_id"] = one.proposal_id
    return found


def search(result: SearchResult) -> Json:
    """Hits with the scores that put them in order."""
    found: Json = {"results": [_hit(one) for one in result.hits]}
    if result.repeats_left_out:
        found["repeats_left_out"] = result.repeats_left_out
    return found | _degraded(result.degraded)


def procedures(items: Sequence[ProcedureHit], degraded: str) -> Json:
    """Procedures with the scores that put them in order."""
    return {
        "results": [
            {
                "record": record(one.record),
                "similarity": _rounded(one.similarity),
                "wilson_score": _rounded(one.wilson_score),
                "combined_score": _rounded(one.combined_score),
                "lower": _rounded(one.lower),
                "upper": _rounded(one.upper),
                "explore": one.explore,
            }
            for one in items
        ]
    } | _degraded(degraded)


def preview(view: PlanView) -> Json:
    """A forgetting report of a plan that did not run."""
    pruned = {reason: count for reason, count, _ in view.by_reason}
    found = _report(view.plan, pruned, dry_run=True)
    found["decisions"] = [_decision(one) for one in view.items]
    if view.next:
        found["next_cursor"] = f"{view.plan.hash}:{view.next}"
    return found


def run(result: RunResult, decisions: Sequence[DecisionView], following: str) -> Json:
    """A forgetting report of a plan that ran, or that waits for the person. ``following``: next page."""
    if result.run is None and not result.proposal_id:
        return {
            "status": "nothing_to_archive",
            "dry_run": False,
            "plan_hash": result.plan.hash,
            "pruned": 0,
            "skipped": list(result.skipped),
        }
    if result.run is None:
        return {
            "status": "proposed",
            "proposal_id": result.proposal_id,
            "dry_run": True,
            "plan_hash": result.plan.hash,
            "next_steps": "Nothing was archived yet: the person decides. Do not repeat it.",
        }
    found: Json = {"status": "executed", "run_id": result.run.id}
    found |= _report(result.plan, dict(result.run.by_reason), dry_run=False)
    found["pruned"] = result.run.archived
    if result.skipped:
        found["skipped"] = list(result.skipped)
    # The texts were in the preview.
    short = ("record_id", "memory_type", "action", "reason", "guard", "survivor_id")
    found["decisions"] = [
        {name: value for name, value in _decision(one).items() if name in short}
        for one in decisions
    ]
    if following:
        found["next_cursor"] = f"{result.plan.hash}:{following}"
    return found


def overview(result: OverviewResult) -> Json:
    """A space at a glance."""
    counts: dict[Kind, dict[State, int]] = {kind: {} for kind in Kind}
    for one in result.counts:
        counts[one.kind][one.state] = one.count
    found: Json = {
        f"{kind.value}_count": states.get(State.ACTIVE, 0) for kind, states in counts.items()
    }
    found["not_active"] = {
        state.value: total
        for state in State
        if state is not State.ACTIVE
        and (total := sum(states.get(state, 0) for states in counts.values()))
    }
    found |= {
        "space": result.space,
        "pending_decisions": result.open_proposals,
        "recent_sessions": [
            {"session_id": one.session_id, "last_at": iso(one.last_at), "episodes": one.episodes}
            for one in result.sessions
        ],
        "latest_events": [_event(one) for one in result.events],
    }
    return found | _degraded(result.index.problem)


def iso(at: Instant) -> str:
    """``2026-03-01T12:00:00Z``, with a fraction where there is one. Total on any integer."""
    try:
        moment = _EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return f"{at} microseconds since 1970"
    return moment.isoformat().replace("+00:00", "Z")


def _hit(one: Hit) -> Json:
    found: Json = {
        "record": record(one.record),
        "raw_similarity": _rounded(one.parts.raw_similarity),
        "recency_score": _rounded(one.parts.recency_score),
        "importance_score": _rounded(one.parts.importance_score),
        "final_score": _rounded(one.parts.final_score),
        "words": _rounded(one.parts.words),
        "vectors": _rounded(one.parts.vectors),
    }
    if one.warnings:
        found["warnings"] = list(one.warnings)
    return found


def _report(plan: Plan, pruned: Mapping[Reason, int], *, dry_run: bool) -> Json:
    return {
        "dry_run": dry_run,
        "plan_hash": plan.hash,
        "scanned": plan.scanned,
        "kept": plan.kept,
        "faded": 0,
        "pruned": sum(pruned.values()),
        "duplicates_flagged": pruned.get(Reason.DUPLICATE, 0),
        "by_type": {
            kind.value: {"keep": kept, "fade": 0, "prune": gone}
            for kind, kept, gone in plan.by_kind
        },
        "by_reason": {reason.value: count for reason, count in pruned.items() if count},
    }


def _decision(one: DecisionView) -> Json:
    decision = one.decision
    found: Json = {
        "record_id": decision.id,
        "memory_type": decision.kind.value,
        "action": "prune" if decision.prune else "keep",
        "reason": decision.reason.value,
        "guard": None if decision.guard is None else decision.guard.value,
        "score": _rounded(decision.terms.need),
        "content": _shortened(one.record.text.content),
    }
    if decision.survivor is not None:
        found["survivor_id"] = decision.survivor
    if one.survivor is not None:
        found["survivor_content"] = _shortened(one.survivor.text.content)
    if decision.similarity is not None:
        found["similarity"] = _rounded(decision.similarity)
    return found


def _event(one: JournalEntry) -> Json:
    return {
        "at": iso(one.at),
        "action": one.action,
        "entity": one.entity,
        "id": one.entity_id,
        "actor": one.actor,
    }


def _degraded(why: str) -> Json:
    return {"degraded": why} if why else {}


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _rounded(value: float) -> float:
    return round(value, 4)


def _encoded(value: object) -> str:
    """JSON; lone surrogates are escaped."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
