"""An agent may want the record to stay that the memory itself would replace."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from config.schema import Approval
from memory.api import (
    Decide,
    Decision,
    EditRecord,
    GetRecord,
    ListProposals,
    PreviewForgetting,
    Resolve,
)
from memory.model import ProposalKind, ProposalState, State
from tests.memory.opening import PERSON, Opened, opened, settings

OLD = "The staging database listens on port 5432."
NEW = "The staging database listens on port 6432."


@pytest.fixture
def memory(tmp_path: Path) -> Generator[Opened]:
    with opened(tmp_path) as found:
        yield found


def state(memory: Opened, id: str) -> State:
    return memory.ask(GetRecord(id)).record.state


def twins(memory: Opened) -> tuple[str, str]:
    """Ids of two duplicates; a preview has asked the person to archive the second one."""
    first = memory.fact("The deploy runs every Monday.").record.id
    second = memory.fact("The deploy runs every Monday!").record.id
    memory.wait(30)
    (item,) = memory.ask(PreviewForgetting()).items
    assert (item.decision.id, item.decision.survivor) == (second, first)
    (waiting,) = memory.ask(ListProposals()).items
    assert waiting.proposal.kind is ProposalKind.DUPLICATE
    return first, second


def test_agreeing_keeps_the_older_fact_if_that_is_what_the_agent_asked_for(memory: Opened) -> None:
    old, stored = memory.fact(OLD).record, memory.fact(NEW)
    (candidate,) = stored.contradictions
    wish = memory.ask(Resolve(old.id, stored.record.id))
    assert (wish.kept_id, wish.status) == (old.id, "proposed")
    assert wish.proposal_id != candidate.proposal_id
    (waiting,) = memory.ask(ListProposals()).items
    assert [one.id for one in waiting.keep] == [old.id]
    decided = memory.ask(Decide(wish.proposal_id, Decision.APPROVE), PERSON)
    assert decided.proposal.similarity > 0.5
    assert state(memory, old.id) is State.ACTIVE
    assert state(memory, stored.record.id) is State.SUPERSEDED
    (before,) = memory.ask(ListProposals(states=(ProposalState.WITHDRAWN,))).items
    assert before.proposal.id == candidate.proposal_id


def test_agreeing_keeps_the_duplicate_that_the_agent_chose(memory: Opened) -> None:
    first, second = twins(memory)
    wish = memory.ask(Resolve(second, first))
    memory.ask(Decide(wish.proposal_id, Decision.APPROVE), PERSON)
    assert (state(memory, first), state(memory, second)) == (State.SUPERSEDED, State.ACTIVE)
    assert memory.ask(ListProposals()).open == 0


def test_what_an_agent_chose_at_once_is_taken_back_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path, settings(approval=Approval.AUTO)) as memory:
        first, second = twins(memory)
        done = memory.ask(Resolve(second, first))
        assert done.status == "resolved"
        undone = memory.ask(Decide(done.proposal_id, Decision.UNDO), PERSON)
        assert [one.id for one in undone.replace] == [first]
        record = memory.ask(GetRecord(first)).record
        assert (record.state, record.superseded_by, record.valid_to) == (State.ACTIVE, (), None)
        assert state(memory, second) is State.ACTIVE


def test_a_wish_after_a_change_can_be_agreed_with(memory: Opened) -> None:
    old, new = memory.fact(OLD).record, memory.fact(NEW).record
    first = memory.ask(Resolve(new.id, old.id))
    memory.ask(EditRecord(old.id, old.version, importance=0.9), PERSON)
    again = memory.ask(Resolve(new.id, old.id))
    assert again.proposal_id != first.proposal_id
    memory.ask(Decide(again.proposal_id, Decision.APPROVE), PERSON)
    assert state(memory, old.id) is State.SUPERSEDED
