"""What a call of a tool does: its arguments become a request, and the request's result an answer.

Runs where the memory runs (`memory.service` calls it for `memory.api.CallTool`); pure but for ``ask``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from memory import api
from memory.api import CallTool, Request, ToolAnswer
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Kind, MemoryText, State
from memory.tools import answers, names
from memory.tools.answers import Json
from memory.tools.arguments import Arguments, mistake, nearest
from memory.tools.definitions import MOST_EPISODES, MOST_RESULTS, TOOLS

SESSION_EPISODES = 200
"""Episodes of a session in one answer."""
DECISIONS = 50
"""Decisions of a plan in one answer."""
MOST_TURNS = 1_000_000_000
R = TypeVar("R")


class Ask(Protocol):
    """Answers requests at once."""

    def __call__(self, request: Request[R], actor: Actor, /) -> R:
        """The result. Raises `MemoryFault`."""
        ...


@dataclass(frozen=True, slots=True)
class _Call:
    """One call with what it may use."""

    service: Ask
    actor: Actor
    space: str
    arguments: Arguments

    def ask(self, request: Request[R]) -> R:
        return self.service(request, self.actor)


def answer_tool(ask: Ask, call: CallTool, actor: Actor) -> ToolAnswer:
    """The answer of a tool. Never raises `MemoryFault`: that is an answer with ``is_error``."""
    try:
        tool = _TOOLS.get(call.name)
        if tool is None:
            close = nearest(call.name, names.NAMES)
            meant = f"Did you mean {close}?" if close else f"There are: {', '.join(names.NAMES)}."
            raise MemoryFault(FaultCode.NOT_FOUND, f"There is no tool {call.name[:80]!r}.", meant)
        arguments = Arguments(call.arguments, _PARAMETERS[call.name])
        return answers.success(tool(_Call(ask, actor, call.space, arguments)))
    except MemoryFault as fault:
        return answers.failure(fault)


# Storing


def _store_semantic(call: _Call) -> Json:
    given = call.arguments
    request = api.AddRecord(
        Kind.SEMANTIC,
        MemoryText(given.text("content")),
        call.space,
        importance=given.share("importance", 0.5),
        confidence=given.share("confidence", 1.0),
        category=given.text("category", "general"),
        domain=given.optional_text("domain"),
        related_ids=given.texts("related_ids"),
        supersedes=given.optional_text("supersedes"),
    )
    stored = call.ask(request)
    found = _stored(stored)
    found["potential_contradictions"] = [answers.candidate(one) for one in stored.contradictions]
    steps = _next_steps(stored, request.supersedes)
    return found | ({"next_steps": steps} if steps else {})


def _store_episodic(call: _Call) -> Json:
    given = call.arguments
    turn = given.integer("turn_number", 0, 0, MOST_TURNS) if given.has("turn_number") else None
    request = api.AddRecord(
        Kind.EPISODIC,
        MemoryText(given.text("text"), given.optional_text("summary") or ""),
        call.space,
        importance=given.share("importance", 0.5),
        session_id=given.text("session_id"),
        turn_number=turn,
    )
    stored = call.ask(request)
    steps = _next_steps(stored, None)
    return _stored(stored) | ({"next_steps": steps} if steps else {})


def _store_procedural(call: _Call) -> Json:
    given = call.arguments
    text = MemoryText(
        given.text("content"),
        steps=given.texts("steps", required=True),
        preconditions=given.texts("preconditions"),
    )
    stored = call.ask(api.AddRecord(Kind.PROCEDURAL, text, call.space))
    steps = _next_steps(stored, None) or (
        "After each use report with memory_record_outcome whether it worked."
    )
    return _stored(stored) | {"next_steps": steps}


def _stored(stored: api.Stored) -> Json:
    found: Json = {"record": answers.record(stored.record)}
    if stored.repeated:
        found["deduplicated_of"] = stored.record.id
    if stored.duplicates:
        found["possible_duplicates"] = [answers.candidate(one) for one in stored.duplicates]
    if stored.redacted:
        found["secrets_replaced"] = stored.redacted
    if stored.degraded:
        found["degraded"] = stored.degraded
    return found


def _next_steps(stored: api.Stored, supersedes: str | None) -> str:
    steps: list[str] = []
    if stored.repeated:
        steps.append("This text was stored before; nothing was added.")
    if stored.record.state is State.QUARANTINED:
        steps.append("It is not found by queries until the person lets it in.")
    if supersedes and not any(one.startswith(supersedes) for one in stored.record.supersedes):
        steps.append(f"Whether it replaces {supersedes} is for the person to decide.")
    if stored.contradictions:
        steps.append(
            "Judge each of potential_contradictions: only where both cannot hold, call "
            f"memory_resolve_supersession with keep_id {stored.record.id}."
        )
    return " ".join(steps)


# Reading


def _query(call: _Call) -> Json:
    given = call.arguments
    request = api.Search(
        given.text("query"),
        call.space,
        given.integer("top_k", 5, 1, MOST_RESULTS),
        given.choices("memory_types", Kind),
    )
    return answers.search(call.ask(request))


def _best_procedures(call: _Call) -> Json:
    given = call.arguments
    top_k = given.integer("top_k", 3, 1, MOST_RESULTS)
    ranked = call.ask(api.BestProcedures(given.text("task"), call.space, top_k))
    return answers.procedures(ranked.items, ranked.degraded)


def _recent_episodes(call: _Call) -> Json:
    request = api.ListRecords(
        call.space,
        (Kind.EPISODIC,),
        order=api.Order.NEWEST,
        limit=call.arguments.integer("n", 5, 1, MOST_EPISODES),
    )
    return {"records": [answers.record(one) for one in call.ask(request).records]}


def _session_episodes(call: _Call) -> Json:
    given = call.arguments
    session = given.text("session_id")
    page = call.ask(
        api.ListRecords(
            call.space,
            (Kind.EPISODIC,),
            order=api.Order.TURN,
            session_id=session,
            limit=SESSION_EPISODES,
            after=given.optional_text("cursor") or "",
        )
    )
    found: Json = {
        "session_id": session,
        "records": [answers.record(one) for one in page.records],
    }
    if page.next:
        found |= {
            "next_cursor": page.next,
            "next_steps": "There are more: call again with cursor = next_cursor.",
        }
    return found


def _overview(call: _Call) -> Json:
    return answers.overview(call.ask(api.GetOverview(call.space)))


# Feedback and forgetting


def _record_outcome(call: _Call) -> Json:
    given = call.arguments
    request = api.RecordOutcome(given.text("record_id"), given.boolean("success"), call.space)
    return {"record": answers.record(call.ask(request))}


def _forgetting_preview(call: _Call) -> Json:
    cursor = call.arguments.optional_text("cursor")
    if cursor is None:
        return answers.preview(call.ask(api.PreviewForgetting(call.space, limit=DECISIONS)))
    plan_hash, colon, after = cursor.partition(":")
    if not (plan_hash and colon and after):
        raise mistake("cursor must be the next_cursor of the page before, as it was given.")
    view = call.ask(api.GetPlan(plan_hash, call.space, limit=DECISIONS, after=after))
    return answers.preview(view)


def _forgetting_run(call: _Call) -> Json:
    plan_hash = call.arguments.optional_text("plan_hash") or ""
    result = call.ask(api.RunForgetting(plan_hash, call.space))
    if result.run is None:
        return answers.run(result, (), "")
    try:
        view = call.ask(api.GetPlan(result.plan.hash, call.space, limit=DECISIONS))
    except MemoryFault:  # the run is done and must be told, with its decisions or without
        return answers.run(result, (), "")
    return answers.run(result, view.items, view.next)


def _resolve_supersession(call: _Call) -> Json:
    given = call.arguments
    request = api.Resolve(given.text("keep_id"), given.text("supersede_id"), call.space)
    resolved = call.ask(request)
    return {
        "superseded_id": resolved.superseded_id,
        "kept_id": resolved.kept_id,
        "status": resolved.status,
        "proposal_id": resolved.proposal_id,
    }


_TOOLS: Mapping[str, Callable[[_Call], Json]] = {
    names.STORE_SEMANTIC: _store_semantic,
    names.STORE_EPISODIC: _store_episodic,
    names.STORE_PROCEDURAL: _store_procedural,
    names.QUERY: _query,
    names.BEST_PROCEDURES: _best_procedures,
    names.RECENT_EPISODES: _recent_episodes,
    names.SESSION_EPISODES: _session_episodes,
    names.RECORD_OUTCOME: _record_outcome,
    names.FORGETTING_PREVIEW: _forgetting_preview,
    names.FORGETTING_RUN: _forgetting_run,
    names.RESOLVE_SUPERSESSION: _resolve_supersession,
    names.OVERVIEW: _overview,
}


class _Inputs(msgspec.Struct):
    properties: dict[str, Any]


class _Definition(msgspec.Struct):
    name: str
    input: _Inputs = msgspec.field(name="inputSchema")


def _parameters() -> dict[str, tuple[str, ...]]:
    """The names of parameters, from the definitions themselves, so that the two never differ."""
    found = (msgspec.json.decode(tool, type=_Definition) for tool in TOOLS)
    return {one.name: tuple(one.input.properties) for one in found}


_PARAMETERS = _parameters()
