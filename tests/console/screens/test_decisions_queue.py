"""The queue of decisions: pages, rows that stay where they were decided, rows that go."""

from __future__ import annotations

from dataclasses import replace

from console.screens.decisions_queue import STAY_SECONDS, DecisionQueue
from memory.api import ProposalPage, ProposalView
from memory.model import SECOND, ProposalState
from tests.support.sample_memory import PROPOSALS, RECORDS

BY_ID = {one.id: one for one in RECORDS}
VIEWS = tuple(
    ProposalView(
        one, tuple(BY_ID[name] for name in one.keep), tuple(BY_ID[name] for name in one.replace)
    )
    for one in PROPOSALS
)
FIRST, SECOND_ONE, THIRD = VIEWS[:3]


def page(*views: ProposalView, after: str = "") -> ProposalPage:
    return ProposalPage(views, len(views), after)


def decided(view: ProposalView, at_seconds: float = 1000.0) -> ProposalView:
    one = replace(view.proposal, state=ProposalState.APPLIED, decided_at=int(at_seconds * SECOND))
    return replace(view, proposal=one)


def names(queue: DecisionQueue) -> list[str]:
    return [view.proposal.id for view in queue.views or ()]


def test_pages_are_put_together_and_nothing_is_shown_twice() -> None:
    queue = DecisionQueue()
    queue.take(page(FIRST, SECOND_ONE, after="2"), more=False)
    assert queue.next == "2"
    queue.take(page(SECOND_ONE, THIRD), more=True)
    assert names(queue) == [view.proposal.id for view in (FIRST, SECOND_ONE, THIRD)]
    assert queue.next == ""


def test_a_decided_row_keeps_its_place_when_the_list_comes_without_it() -> None:
    queue = DecisionQueue()
    queue.take(page(FIRST, SECOND_ONE, THIRD), more=False)
    queue.put(decided(SECOND_ONE), decided=True)
    queue.take(page(THIRD, FIRST), more=False)
    assert names(queue) == [view.proposal.id for view in (THIRD, SECOND_ONE, FIRST)]
    queue.take(page(FIRST, SECOND_ONE, THIRD), more=False)
    assert (queue.views or [])[1].proposal.state is ProposalState.APPLIED


def test_a_decision_that_was_taken_back_is_an_ordinary_row_again() -> None:
    queue = DecisionQueue()
    queue.take(page(FIRST), more=False)
    queue.put(decided(FIRST), decided=True)
    queue.put(FIRST, decided=False)
    queue.take(page(), more=False)
    assert names(queue) == []


def test_old_decided_rows_go_except_the_one_under_the_cursor() -> None:
    queue = DecisionQueue()
    queue.take(page(FIRST, SECOND_ONE), more=False)
    queue.put(decided(FIRST), decided=True)
    queue.put(decided(SECOND_ONE, 1000 + STAY_SECONDS), decided=True)
    assert not queue.drop_old(1000 + STAY_SECONDS, "")
    assert not queue.drop_old(1001 + STAY_SECONDS, FIRST.proposal.id)
    assert queue.drop_old(1001 + STAY_SECONDS, SECOND_ONE.proposal.id)
    assert names(queue) == [SECOND_ONE.proposal.id]
    queue.let_go()
    queue.take(page(), more=False)
    assert names(queue) == []


def test_filter_words_are_looked_for_in_all_texts() -> None:
    queue = DecisionQueue()
    assert queue.matching(["x"]) == []
    queue.take(page(*VIEWS), more=False)
    assert len(queue.matching([])) == len(VIEWS)
    assert queue.matching(["8080", "argo"]) == [FIRST]
    assert queue.matching(["8080", "linter"]) == []
