"""Invariants over any sequence of operations, each named by its number in the design's list (I1 to I24)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from config.schema import Approval
from memory.api import (
    AddRecord,
    ArchiveRecord,
    CallTool,
    Decide,
    Decision,
    EditRecord,
    GetOverview,
    GetPosition,
    GetRecord,
    ListProposals,
    ListRecords,
    PreviewForgetting,
    RecordOutcome,
    Resolve,
    RestoreRecord,
    RunForgetting,
    Search,
    UndoRun,
)
from memory.errors import FaultCode, MemoryFault
from memory.model import TRUST, Kind, MemoryText, Origin, ProposalState, Record, State
from memory.store import check
from memory.tools.names import NAMES
from tests.memory.opening import AGENT, OTHER, OUTSIDE, PERSON, Opened
from tests.memory.opening import settings as memory_settings

ACTORS = st.sampled_from((AGENT, OTHER, OUTSIDE, PERSON))
SPACES = ("here", "there")
SUBJECTS = ("The parser", "Anna's editor", "The staging host")
FACTS = st.builds(
    "{} {} {}{}".format,
    st.sampled_from(SUBJECTS),
    st.sampled_from(("listens on port", "was moved on day", "does not use version")),
    st.integers(1, 3),
    st.sampled_from((".", "!", "")),
)
EVERY_STATE = tuple(State)


class MemoryMachine(RuleBasedStateMachine):
    """Anything anybody can do, in any order."""

    ids: Bundle[str] = Bundle("ids")
    procedures: Bundle[str] = Bundle("procedures")
    runs: Bundle[str] = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.memory = Opened(Path(self._folder.name) / "m", memory_settings(approval=Approval.AUTO))
        self.stored: set[str] = set()
        """Content hashes of everything that was ever stored here."""
        self.there = self.memory.fact("A canary sits in the other space.", space="there").record
        self.success: dict[str, tuple[int, int]] = {}

    def teardown(self) -> None:
        self.memory.service.close()
        self._folder.cleanup()

    def try_(self, request: Any, actor: Any = PERSON) -> Any:
        """The answer; a fault must have changed nothing (I18)."""
        before = self.memory.ask(GetPosition("here"))
        try:
            return self.memory.ask(request, actor)
        except MemoryFault as fault:
            if fault.code is FaultCode.INTERNAL:
                raise
            after = self.memory.ask(GetPosition("here"))
            # Only a proposal that turned out stale is noted as such.
            assert after.position <= before.position + 1
            return None

    def records(self, space: str = "here") -> tuple[Record, ...]:
        return self.memory.ask(ListRecords(space, states=EVERY_STATE, limit=500)).records

    # What can be done

    @rule(target=ids, text=FACTS, actor=ACTORS, importance=st.floats(0, 1))
    def store(self, text: str, actor: Any, importance: float) -> str:
        stored = self.memory.ask(
            AddRecord(Kind.SEMANTIC, MemoryText(text), "here", importance=importance), actor
        )
        self.stored.add(stored.record.content_hash)
        return stored.record.id

    @rule(target=procedures, name=st.sampled_from(("Release", "Roll back")))
    def store_procedure(self, name: str) -> str:
        stored = self.memory.ask(
            AddRecord(Kind.PROCEDURAL, MemoryText(f"{name} the parser", steps=("Do it.",)), "here")
        )
        self.stored.add(stored.record.content_hash)
        return stored.record.id

    @rule(id=procedures, success=st.booleans(), key=st.sampled_from(("", "a", "b")))
    def outcome(self, id: str, success: bool, key: str) -> None:
        before = self.memory.ask(GetRecord(id, "here")).record
        after = self.try_(RecordOutcome(id, success, "here", key=key), AGENT)
        if after is None:
            return
        counted = after.successes + after.failures - before.successes - before.failures
        assert counted in ((1,) if not key else (0, 1)), "I22: a key counts once"

    @rule(keep=ids, old=ids, actor=ACTORS)
    def resolve(self, keep: str, old: str, actor: Any) -> None:
        before = {one.id: one for one in self.records()}
        result = self.try_(Resolve(keep, old, "here"), actor)
        if (
            result is not None
            and result.status == "resolved"
            and actor.origin is not Origin.OPERATOR
        ):
            was = before[old]
            if was.state is not State.SUPERSEDED:
                assert before[keep].trust >= was.trust, "I13: lower trust never replaces higher"

    @rule(decision=st.sampled_from(Decision), place=st.integers(0, 5))
    def decide(self, decision: Decision, place: int) -> None:
        every = self.memory.ask(ListProposals("here", states=tuple(ProposalState))).items
        if every:
            self.try_(Decide(every[place % len(every)].proposal.id, decision, "here"))

    @rule(id=ids)
    def archive(self, id: str) -> None:
        self.try_(ArchiveRecord(id, "here"))

    @rule(id=ids)
    def restore(self, id: str) -> None:
        self.try_(RestoreRecord(id, "here"))

    @rule(id=ids, text=FACTS)
    def edit(self, id: str, text: str) -> None:
        version = self.memory.ask(GetRecord(id, "here")).record.version
        self.try_(EditRecord(id, version, "here", text=MemoryText(text)))

    @rule(id=ids, pinned=st.booleans())
    def pin(self, id: str, pinned: bool) -> None:
        version = self.memory.ask(GetRecord(id, "here")).record.version
        self.try_(EditRecord(id, version, "here", pinned=pinned))

    @rule(days=st.integers(1, 400))
    def time_passes(self, days: int) -> None:
        self.memory.wait(days)

    @rule(target=runs, reads=st.integers(0, 3))
    def forget(self, reads: int) -> Any:
        before = {one.id: one for one in self.records()}
        plan = self.memory.ask(PreviewForgetting("here", limit=500))
        for _ in range(reads):  # I6: reading changes neither a version nor what the plan does
            self.memory.ask(Search("parser port", "here"))
        done = self.memory.ask(RunForgetting(plan.plan.hash, "here"), AGENT)
        said = {item.decision.id for item in plan.items if item.decision.prune}
        after = {one.id: one for one in self.records()}
        gone = {id for id in before if after[id].state is not before[id].state}
        assert gone == said, "I4: a run does what its preview said"
        for item in plan.items:
            decision = item.decision
            if not decision.prune:
                continue
            assert not before[decision.id].pinned, "I19: what is pinned stays"
            assert before[decision.id].state is not State.QUARANTINED, "I19: so does what waits"
            if decision.survivor is not None:
                assert after[decision.survivor].state in (State.ACTIVE, State.ARCHIVED), "I9"
        again = self.memory.ask(PreviewForgetting("here", limit=500))
        assert not [one for one in again.items if one.decision.prune], "I7: again archives nothing"
        assert (done.run is None) == (not said), "what archived nothing is no run"
        return multiple() if done.run is None else done.run.id

    @rule(run=consumes(runs))
    def undo_at_once_or_later(self, run: str) -> None:
        before = {one.id: one for one in self.records()}
        undone = self.memory.ask(UndoRun(run, "here"), PERSON)
        after = {one.id: one for one in self.records()}
        for id in undone.restored:
            assert after[id].state in (State.ACTIVE, State.SUPERSEDED)
        for id in undone.conflicts:
            assert after[id] == before[id], "what changed since is left alone"

    @rule(query=st.sampled_from(("port", "staging host", "what does Anna use?")))
    def search(self, query: str) -> None:
        before = self.records()
        hits = self.memory.ask(Search(query, "here", top_k=20)).hits
        assert self.records() == before, "I6: a search changes nothing"
        for hit in hits:
            assert hit.record.state is State.ACTIVE, "I16: only what is active is found"
            assert 0 <= hit.parts.final_score <= 1.25, "I17: scores are finite"
            assert hit.record.space == "here", "I14"

    @rule()
    def open_again(self) -> None:
        before = self.records()
        self.memory.reopen()
        assert self.records() == before, "I16: what was committed is there"

    # What always holds

    @invariant()
    def nothing_stored_is_lost(self) -> None:
        """I1, for texts that nobody edited: the first text of every record stays in its history."""
        kept = {one.id for one in self.records()}
        assert len(kept) >= len({one.id for one in self.records() if one.version == 1})
        with self.memory.service._core.store.reading() as reading:
            known = {values.content_hash for values in check.projection(reading)}
            edited = any(entry.action == "edited" for entry in reading.whole_journal())
        assert edited or self.stored <= known

    @invariant()
    def the_journal_tells_the_records(self) -> None:
        """I2."""
        with self.memory.service._core.store.reading() as reading:
            assert check.verify(reading) == ()

    @invariant()
    def supersession_has_no_circles(self) -> None:
        """I8."""
        by_id = {one.id: one for one in self.records()}
        for start in by_id.values():
            seen, todo = {start.id}, list(start.superseded_by)
            while todo:
                id = todo.pop()
                assert id != start.id
                if id not in seen:
                    seen.add(id)
                    todo.extend(by_id[id].superseded_by)

    @invariant()
    def trust_is_that_of_the_channel(self) -> None:
        """I13."""
        for record in self.records():
            assert record.trust == TRUST[record.origin]

    @invariant()
    def the_other_space_is_untouched(self) -> None:
        """I14."""
        (canary,) = self.records("there")
        assert canary == self.there

    @invariant()
    def open_proposals_name_living_records(self) -> None:
        """I23: what can't be applied any more is not offered as if it could."""
        for item in self.memory.ask(ListProposals("here", limit=500)).items:
            for record in (*item.keep, *item.replace):
                assert record.state is not State.EXPUNGED


MemoryMachine.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAnySequence = MemoryMachine.TestCase


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    memory = Opened(tmp_path_factory.mktemp("fuzz") / "m", memory_settings())
    yield memory
    memory.service.close()


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    arguments=st.dictionaries(
        st.sampled_from(("content", "query", "task", "steps", "top_k", "n", "session_id", "x"))
        | st.text(max_size=8),
        JSON,
        max_size=4,
    ),
)
def test_i18_any_json_for_any_tool_is_an_answer_or_a_typed_mistake(
    fuzzed: Opened, name: str, arguments: dict[str, Any]
) -> None:
    before = fuzzed.ask(GetPosition()).position
    answer = fuzzed.ask(CallTool(name, json.dumps(arguments)))
    told = json.loads(answer.body)
    assert told["content"][0]["type"] == "text"
    if answer.is_error:
        assert told["isError"] is True
        assert "internal_error" not in answer.body
        assert fuzzed.ask(GetPosition()).position == before, "a mistake changes nothing"
    assert fuzzed.ask(GetOverview()).position >= before
