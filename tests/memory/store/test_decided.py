"""Proposals, dismissals, plans and runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory.errors import FaultCode, MemoryFault
from memory.model import (
    DAY,
    Edge,
    Exemptions,
    ForgettingDecision,
    ForgettingPolicy,
    Kind,
    PairClass,
    Plan,
    ProposalKind,
    ProposalState,
    Reason,
    Run,
    ScoreTerms,
    State,
)
from memory.store.database import Store
from memory.store.writing import RecordPatch
from tests.memory.store.making import AGENT, PERSON, SPACE, START, edit, proposal, put


def plan(name: str, space: str = SPACE) -> Plan:
    decision = ForgettingDecision(
        "01A", 1, Kind.SEMANTIC, True, Reason.STALE, ScoreTerms(0.01, -1.5, 0.5, 0, 9.25)
    )
    return Plan(
        hash=name,
        space=space,
        position=4,
        now=START,
        policy=ForgettingPolicy(stale_need=0.03),
        exemptions=Exemptions(keep=("01B",)),
        scanned=9,
        kept=8,
        by_kind=((Kind.SEMANTIC, 8, 1),),
        decisions=(decision,),
    )


def run(id: str, at: int = START, space: str = SPACE, archived: int = 2) -> Run:
    return Run(id, space, "hash", at, "me", archived, ((Reason.STALE, archived),))


def test_a_proposal_comes_back_and_is_found_by_its_records(store: Store) -> None:
    old, newer, third = put(store, "port 80", "port 81", "port 82")
    filed = proposal("p1", newer, old)
    with store.writing(AGENT, SPACE, START) as writing:
        writing.add_proposal(filed)
        writing.add_proposal(proposal("p2", third, old, created_at=START + 1))
    with store.reading() as reading:
        assert reading.proposal("p1") == filed
        assert reading.proposal("unknown") is None
        assert reading.open_pair((newer.id,), (old.id,)) == filed
        assert reading.open_pair((old.id,), (newer.id,)) == filed
        assert reading.open_pair((newer.id,), (third.id,)) is None
        assert [one.id for one in reading.proposals_of(old.id)] == ["p2", "p1"]
        assert [one.id for one in reading.proposals_of(newer.id)] == ["p1"]
        assert reading.open_count(SPACE) == 2
        assert reading.is_disputed(old.id)
        assert reading.disputed((old.id, newer.id, "x")) == {old.id, newer.id}


def test_a_decided_proposal_is_not_open_any_more(store: Store) -> None:
    old, newer, third = put(store, "port 80", "port 81", "port 82")
    with store.writing(PERSON, SPACE, START) as writing:
        writing.add_proposal(proposal("p1", newer, old))
        decided = writing.change_proposal(
            "p1", state=ProposalState.APPLIED, decided_at=START, decided_by="me", reason="so"
        )
        assert writing.proposal("p1") == decided
        assert writing.open_pair((newer.id,), (old.id,)) is None
        assert not writing.is_disputed(old.id)
        other = writing.change_proposal("p1", keep=(third.id,), replace=(old.id, newer.id))
        assert other.keep == (third.id,)
        assert [one.id for one in writing.proposals_of(third.id)] == ["p1"]
        before = writing.position
        writing.change_proposal("p1", reason="so")
        assert writing.position == before
        actions = [entry.action for entry in writing.history("p1")]
        assert actions == ["changed", "applied", "proposed"]
        assert "port" not in "".join(entry.patch for entry in writing.history("p1"))
    with pytest.raises(MemoryFault) as fault, store.writing(PERSON, "theirs", START) as writing:
        writing.change_proposal("p1", reason="no")
    assert fault.value.code is FaultCode.NOT_FOUND


def test_proposals_come_in_pages_oldest_first(store: Store) -> None:
    (record,) = put(store, "a fact")
    with store.writing(AGENT, SPACE, START) as writing:
        for place in range(5):
            kind = ProposalKind.APPROVE if place % 2 else ProposalKind.DUPLICATE
            at = START + place // 2
            writing.add_proposal(proposal(f"p{place}", record, kind=kind, created_at=at))
        writing.change_proposal("p4", state=ProposalState.REJECTED)
        found: list[str] = []
        after: str | None = None
        while True:
            page, after = writing.proposals(SPACE, limit=2, after=after)
            found += [one.id for one in page]
            if after is None:
                break
        assert found == ["p0", "p1", "p2", "p3"]
        approve, _ = writing.proposals(SPACE, (), (ProposalKind.APPROVE,))
        assert [one.id for one in approve] == ["p1", "p3"]
        assert len(writing.proposals(SPACE, ())[0]) == 5
        assert writing.proposals("theirs", ())[0] == ()
        for cursor in ("x", "WyJwcm9wb3NhbHMiLDFd", "W10"):
            with pytest.raises(MemoryFault):
                writing.proposals(SPACE, after=cursor)


def test_a_dismissal_holds_for_these_texts_only(store: Store) -> None:
    one, other = put(store, "port 80", "port 81")
    with store.writing(PERSON, SPACE, START) as writing:
        assert not writing.dismissed(one.id, other.id)
        writing.dismiss(other.id, one.id)
        writing.dismiss(one.id, other.id)
        assert writing.dismissed(one.id, other.id)
        assert writing.dismissed(other.id, one.id)
        writing.change(one.id, "pinned", RecordPatch(pinned=True))
        assert writing.dismissed(one.id, other.id)
    with store.writing(PERSON, SPACE, START) as writing:
        edited = edit(writing, writing.records([one.id])[0], "port 8080")
        assert not writing.dismissed(one.id, other.id)
        edit(writing, edited, "port 80")
        assert writing.dismissed(one.id, other.id)
        writing.undismiss(one.id, other.id)
        writing.undismiss(one.id, other.id)
        assert not writing.dismissed(one.id, other.id)
        with pytest.raises(MemoryFault):
            writing.dismiss(one.id, "unknown")
        actions = [entry.action for entry in writing.history(min(one.id, other.id))]
    assert actions.count("dismissed") == 1
    assert actions.count("undismissed") == 1


def test_a_plan_is_kept_for_a_day(store: Store) -> None:
    with store.writing(AGENT, SPACE, START) as writing:
        writing.save_plan(plan("a" * 64))
        writing.save_plan(plan("ab" * 32))
        writing.save_plan(plan("f" * 64, "theirs"))
    with store.reading() as reading:
        assert reading.plan("a" * 64) == plan("a" * 64)
        assert reading.plan("aaaaaaaa") == plan("a" * 64)
        assert reading.plan("a") is None
        assert reading.plan("") is None
        assert reading.plan("b") is None
        assert reading.last_plan(SPACE) == plan("ab" * 32)
        assert reading.last_plan("nobody's") is None
        assert reading.plan("a" * 64, START + DAY - 1) is not None
        assert reading.plan("a" * 64, START + DAY) is None
        assert reading.last_plan(SPACE, START + DAY) is None
        assert reading.position == 0
    with store.writing(AGENT, SPACE, START + DAY) as writing:
        writing.save_plan(plan("a" * 64))
        assert writing.last_plan(SPACE, START + DAY) == plan("a" * 64)


def test_the_newest_fifty_plans_are_kept(store: Store) -> None:
    with store.writing(AGENT, SPACE, START) as writing:
        writing.save_plan(plan("theirs", "theirs"))
        for place in range(52):
            writing.save_plan(plan(f"{place:03}"))
        kept = [place for place in range(52) if writing.plan(f"{place:03}") is not None]
        assert kept == list(range(2, 52))
        assert writing.plan("theirs") is not None


def test_plan_rows_tell_what_a_plan_needs(store: Store) -> None:
    old, newer, third = put(store, "port 80", "port 81", "port 82")
    put(store, "elsewhere", space="theirs")
    with store.writing(PERSON, SPACE, START) as writing:
        writing.change(old.id, "superseded", RecordPatch(state=State.SUPERSEDED))
        writing.link(old.id, newer.id)
        writing.link(old.id, third.id)
        writing.outcome(newer.id, True)
        writing.add_proposal(proposal("p", newer, kind=ProposalKind.APPROVE))
        writing.expunge(third.id, "asked")
        rows = writing.plan_rows(SPACE)
    assert [row.id for row in rows] == [old.id, newer.id]
    assert rows[0].successors == (newer.id,)
    assert rows[0].state is State.SUPERSEDED
    assert rows[0].version == 2
    assert (rows[1].open_proposal, rows[0].open_proposal) == (True, False)
    assert (rows[1].use_count, rows[1].successes) == (1, 1)
    assert rows[1].content_hash == newer.content_hash


def test_stale_records_were_stale_before_when_a_day_has_passed(store: Store) -> None:
    one, two, three = put(store, "one", "two", "three")

    def stale(at: int) -> list[str]:
        with store.reading() as reading:
            return [row.id for row in reading.plan_rows(SPACE, START + at) if row.stale_before]

    with store.writing(AGENT, SPACE, START) as writing:
        first = writing.at - START
        writing.mark_stale(SPACE, [one.id, two.id])
    assert stale(first + DAY - 1) == []
    assert stale(first + DAY) == [one.id, two.id]
    with store.writing(AGENT, SPACE, START + first + DAY // 2) as writing:
        writing.mark_stale(SPACE, [two.id, three.id])
        writing.mark_stale("theirs", [])
    assert stale(first + DAY) == [two.id]
    assert stale(first + 2 * DAY) == [two.id, three.id]


def test_a_run_knows_what_it_changed(store: Store) -> None:
    one, two, three = put(store, "one", "two", "three")
    with store.writing(PERSON, SPACE, START) as writing:
        for record in (one, two):
            patch = RecordPatch(state=State.ARCHIVED, state_reason="time_decay")
            writing.change(record.id, "archived", patch, record.version, run_id="r1")
        writing.add_run(run("r1"))
        assert writing.run("r1") == run("r1")
        assert writing.run_records("r1") == ((one.id, 2), (two.id, 2))
        assert writing.runs_of([one.id, three.id]) == {one.id: "r1"}
        assert writing.archived_since(SPACE, START) == 2
        assert writing.archived_since(SPACE, START + 1) == 0
        writing.hit_archived(["r1", "r1"])
        writing.hit_archived(["r1"])
        found = writing.run("r1")
        assert found is not None
        assert found.would_have_hit == 2
        writing.undo_run("r1", START + 5)
        found = writing.run("r1")
        assert found is not None
        assert found.undone_at == START + 5
        assert writing.runs_of([one.id]) == {}
        assert writing.archived_since(SPACE, START) == 0
        writing.redo_run("r1")
        assert writing.runs_of([one.id]) == {one.id: "r1"}
        assert [entry.action for entry in writing.history("r1")] == ["redone", "undone", "run"]
        assert writing.run("r2") is None
        with pytest.raises(MemoryFault):
            writing.redo_run("r2")


def test_a_run_is_undone_once_and_in_its_space(store: Store) -> None:
    with store.writing(PERSON, SPACE, START) as writing:
        writing.add_run(run("r1"))
        writing.undo_run("r1")

    def again(space: str, id: str) -> Callable[[], None]:
        def undo() -> None:
            with store.writing(PERSON, space, START) as writing:
                writing.undo_run(id)

        return undo

    for act, code in (
        (again(SPACE, "r1"), FaultCode.REFUSED),
        (again("theirs", "r1"), FaultCode.NOT_FOUND),
        (again(SPACE, "r2"), FaultCode.NOT_FOUND),
    ):
        with pytest.raises(MemoryFault) as fault:
            act()
        assert fault.value.code is code


def test_runs_are_listed_newest_first(store: Store) -> None:
    with store.writing(PERSON, SPACE, START) as writing:
        for place in range(3):
            writing.add_run(run(f"r{place}", START + place))
        writing.add_run(run("rx", space="theirs"))
        assert [one.id for one in writing.runs(SPACE)] == ["r2", "r1", "r0"]
        assert [one.id for one in writing.runs(SPACE, 1)] == ["r2"]


def test_edges_are_told_between_active_records(store: Store) -> None:
    one, two, three = put(store, "one", "two", "three")
    first = Edge(one.num, two.num, 0.9, PairClass.REWORDING, 0.8, "m")
    second = Edge(two.num, three.num, 0.5, PairClass.VALUE, 0.6, "m")
    with store.writing(AGENT, SPACE, START) as writing:
        writing.put_edges([])
        writing.put_edges([first, second, Edge(1, 2, 0.1, PairClass.UNRELATED, 0, "other")])
        better = Edge(1, 2, 0.2, PairClass.DETAIL, 0.3, "other")
        writing.put_edges([better])
        assert writing.edges(SPACE) == [first, better, second]
        assert writing.edges("theirs") == []
        assert writing.edges_of(three.num) == [second]
        assert writing.edges_among([2, 3]) == [second]
        assert writing.edges_among([]) == []
        writing.change(three.id, "archived", RecordPatch(state=State.ARCHIVED))
        assert writing.edges(SPACE) == [first, better]
        writing.drop_edges(one.num)
        assert writing.edges(SPACE) == []
        assert writing.edges_of(two.num) == [second]
        edit(writing, two, "two and a half")
        assert writing.edges_of(two.num) == []
