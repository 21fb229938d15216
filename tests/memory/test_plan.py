from __future__ import annotations

from dataclasses import replace

import pytest

from memory.model import (
    DAY,
    SECOND,
    Exemptions,
    ForgettingPolicy,
    Guard,
    Kind,
    Origin,
    PairClass,
    Reason,
    State,
)
from memory.plan import LEAST_CAP, PlanRow, stale_ids
from tests.memory.plan_rows import (
    NOW,
    edge,
    outcome,
    plan_of,
    row,
    same,
    stale,
)

# reasons


def test_what_nothing_speaks_against_is_in_no_decision() -> None:
    plan = plan_of([row(1), row(2, kind=Kind.PROCEDURAL), row(3, kind=Kind.EPISODIC)])
    assert plan.decisions == ()
    assert (plan.scanned, plan.kept) == (3, 3)


def test_a_superseded_record_goes_after_its_time_with_its_successor_named() -> None:
    old = row(1, state=State.SUPERSEDED, state_at=NOW - 31 * DAY, successors=("r0002",))
    assert outcome(plan_of([old, row(2)])) == {"r0001": (Reason.SUPERSEDED, None, "r0002")}
    fresh = replace(old, state_at=NOW - 29 * DAY)
    assert outcome(plan_of([fresh, row(2)])) == {}


def test_a_superseded_record_without_a_successor_stays() -> None:
    alone = row(1, state=State.SUPERSEDED, state_at=0)
    assert outcome(plan_of([alone])) == {}
    assert outcome(plan_of([replace(alone, successors=("archived",))])) == {
        "r0001": (Reason.SUPERSEDED, None, "archived")
    }


def test_a_superseded_record_stays_while_its_successor_waits_for_approval() -> None:
    old = row(1, state=State.SUPERSEDED, state_at=0, successors=("r0002",))
    assert outcome(plan_of([old, row(2, state=State.QUARANTINED)])) == {}
    assert len(plan_of([old, row(2, state=State.ARCHIVED)]).pruned) == 1


def test_records_that_supersede_each_other_both_stay() -> None:
    a = row(1, state=State.SUPERSEDED, state_at=0, successors=("r0002",))
    b = row(2, state=State.SUPERSEDED, state_at=0, successors=("r0001",))
    assert outcome(plan_of([a, b])) == {}


def test_a_chain_of_successors_is_followed_to_the_record_that_stays() -> None:
    a = row(1, state=State.SUPERSEDED, state_at=0, successors=("r0002",))
    b = row(2, state=State.SUPERSEDED, state_at=0, successors=("r0003",))
    assert outcome(plan_of([a, b, same(3, "x"), same(4, "x", importance=0.7)])) == {
        "r0001": (Reason.SUPERSEDED, None, "r0004"),
        "r0002": (Reason.SUPERSEDED, None, "r0004"),
        "r0003": (Reason.DUPLICATE, None, "r0004"),
    }


def test_a_superseded_record_goes_for_no_other_reason() -> None:
    recent = stale(1, state=State.SUPERSEDED, state_at=NOW - DAY, valid_to=1, successors=("r0002",))
    assert outcome(plan_of([recent, row(2)])) == {}


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"trust": 3}, {"pinned": False, "importance": 1.0, "use_count": 9}),
        ({"importance": 0.7}, {"use_count": 9}),
        ({"use_count": 1}, {"recorded_at": NOW - 200 * DAY}),
        ({"support": 2}, {"recorded_at": NOW - 200 * DAY}),
        ({"recorded_at": NOW - 200 * DAY}, {"id": "r0000"}),
    ],
)
def test_the_survivor_of_the_same_text_is_the_one_that_counts_most(
    better: dict[str, object], worse: dict[str, object]
) -> None:
    assert outcome(plan_of([same(2, "x", **worse), same(1, "x", **better)])) == {
        str(worse.get("id", "r0002")): (Reason.DUPLICATE, None, "r0001")
    }


def test_of_equal_duplicates_the_smallest_id_survives() -> None:
    assert outcome(plan_of([same(2, "x"), same(1, "x"), same(3, "x")])) == {
        "r0002": (Reason.DUPLICATE, None, "r0001"),
        "r0003": (Reason.DUPLICATE, None, "r0001"),
    }


def test_the_person_may_choose_another_survivor() -> None:
    rows = [same(1, "x"), same(2, "x"), same(3, "x")]
    chosen = Exemptions(survivors=("r0003",))
    assert outcome(plan_of(rows, exemptions=chosen)) == {
        "r0001": (Reason.DUPLICATE, None, "r0003"),
        "r0002": (Reason.DUPLICATE, None, "r0003"),
    }
    rows, edges = [row(1), row(2)], [edge(1, 2)]
    assert outcome(plan_of(rows, edges, exemptions=Exemptions(survivors=("r0002",)))) == {
        "r0001": (Reason.DUPLICATE, None, "r0002")
    }


def test_kinds_are_never_duplicates_of_each_other() -> None:
    rows = [same(1, "x"), same(2, "x", kind=Kind.PROCEDURAL), row(3), row(4, kind=Kind.EPISODIC)]
    assert outcome(plan_of(rows, [edge(3, 4)])) == {}


def test_a_rewording_is_a_duplicate_and_says_how_it_was_found() -> None:
    (one,) = plan_of([row(1), row(2)], [edge(1, 2)]).decisions
    assert (one.reason, one.survivor) == (Reason.DUPLICATE, "r0001")
    assert (one.klass, one.similarity) == (PairClass.REWORDING, 0.95)


@pytest.mark.parametrize(
    "klass", [PairClass.VALUE, PairClass.POLARITY, PairClass.DETAIL, PairClass.UNRELATED]
)
def test_pairs_that_differ_in_what_they_say_are_never_duplicates(klass: PairClass) -> None:
    assert outcome(plan_of([row(1), row(2)], [edge(1, 2, klass)])) == {}
    # Two opinions about one pair: the careful one counts, in whichever order they come.
    for edges in ([edge(1, 2, klass), edge(2, 1)], [edge(1, 2), edge(2, 1, klass)]):
        assert outcome(plan_of([row(1), row(2)], edges)) == {}


def test_likeness_is_not_passed_on() -> None:
    rows = [row(1), row(2, importance=0.9), row(3)]
    assert outcome(plan_of(rows, [edge(1, 2), edge(2, 3)])) == {}
    assert outcome(plan_of(rows, [edge(1, 2), edge(2, 3), edge(1, 3)])) == {
        "r0001": (Reason.DUPLICATE, None, "r0002"),
        "r0003": (Reason.DUPLICATE, None, "r0002"),
    }


def test_copies_of_a_reworded_text_go_for_the_sake_of_the_last_one_that_stays() -> None:
    rows = [same(1, "x"), same(2, "x"), row(3, importance=0.7)]
    assert outcome(plan_of(rows, [edge(1, 3)])) == {
        "r0001": (Reason.DUPLICATE, None, "r0003"),
        "r0002": (Reason.DUPLICATE, None, "r0003"),
    }


def test_what_the_person_keeps_apart_is_no_duplicate() -> None:
    rows, edges = [row(1), row(2)], [edge(1, 2)]
    assert outcome(plan_of(rows, edges, kept_apart=[("r0002", "r0001")])) == {}
    rows = [same(1, "x"), same(2, "x"), same(3, "x")]
    assert outcome(plan_of(rows, kept_apart=[("r0001", "r0002")])) == {
        "r0003": (Reason.DUPLICATE, None, "r0001")
    }
    assert outcome(plan_of(rows, kept_apart=[("r0001", "r0002"), ("r0003", "r0001")])) == {
        "r0003": (Reason.DUPLICATE, None, "r0002")
    }
    chosen = Exemptions(survivors=("r0003",))
    copies = [same(1, "x"), same(2, "x"), row(3, importance=0.7)]
    assert outcome(plan_of(copies, [edge(1, 3)], kept_apart=[("r0002", "r0003")])) == {
        "r0002": (Reason.DUPLICATE, None, "r0001")
    }
    assert outcome(plan_of(rows, exemptions=chosen, kept_apart=[("r0001", "r0003")])) == {
        "r0002": (Reason.DUPLICATE, None, "r0003")
    }


def test_a_great_many_guarded_copies_do_no_harm() -> None:
    rows = [same(num, "x", recorded_at=NOW - DAY) for num in range(3000)]
    plan = plan_of([*rows, row(5000)], [edge(0, 5000)])
    assert {(one.survivor, one.guard) for one in plan.decisions} == {("r0000", Guard.YOUNG)}
    assert len(plan.decisions) == 2999


def test_what_is_no_longer_valid_goes_unless_it_is_history() -> None:
    over = {"valid_to": NOW, "content_hash": "x"}
    rows = [row(1, **over), row(2, kind=Kind.EPISODIC, **over), row(3, valid_to=NOW + SECOND)]
    assert outcome(plan_of(rows)) == {"r0001": (Reason.EXPIRED, None, None)}


def test_an_expired_record_is_not_what_a_valid_one_goes_for() -> None:
    rows = [same(1, "x", valid_to=NOW - DAY, importance=0.7), same(2, "x")]
    assert outcome(plan_of(rows)) == {"r0001": (Reason.DUPLICATE, None, "r0002")}
    rows = [same(1, "x", valid_to=NOW - DAY), same(2, "x", valid_to=NOW - DAY)]
    assert {one[0] for one in outcome(plan_of(rows)).values()} == {Reason.EXPIRED}


def test_a_procedure_goes_when_even_at_best_it_fails_too_often() -> None:
    def procedure(successes: int, failures: int) -> PlanRow:
        uses = {"successes": successes, "failures": failures, "use_count": successes + failures}
        return row(1, kind=Kind.PROCEDURAL, last_used=NOW - DAY, **uses)

    assert outcome(plan_of([procedure(0, 16)])) == {"r0001": (Reason.LOW_PERFORMANCE, None, None)}
    assert outcome(plan_of([procedure(0, 15)])) == {}
    assert outcome(plan_of([procedure(1, 16)])) == {}
    lenient = ForgettingPolicy(failed_upper_bound=0.9)
    assert outcome(plan_of([procedure(0, 9)], policy=lenient)) == {}
    assert len(plan_of([procedure(0, 10)], policy=lenient).pruned) == 1


def test_a_stale_record_goes_only_if_an_earlier_plan_found_it_stale_as_well() -> None:
    first = plan_of([stale(1, stale_before=False)])
    assert outcome(first) == {"r0001": (Reason.STALE, Guard.HYSTERESIS, None)}
    assert stale_ids(first) == ("r0001",)
    assert outcome(plan_of([stale(1)])) == {"r0001": (Reason.STALE, None, None)}


def test_a_fresh_record_does_not_go_for_a_stale_one() -> None:
    old = same(1, "x", recorded_at=NOW - 1000 * DAY)
    assert outcome(plan_of([old, same(2, "x")])) == {"r0001": (Reason.DUPLICATE, None, "r0002")}
    # One of higher trust goes for its own sake only, if at all.
    assert outcome(plan_of([replace(old, trust=3), same(2, "x")])) == {
        "r0001": (Reason.STALE, Guard.HYSTERESIS, None)
    }


# guards


@pytest.mark.parametrize(
    ("values", "guard"),
    [
        ({"pinned": True}, Guard.PINNED),
        ({"origin": Origin.OPERATOR, "importance": 0.8, "recorded_at": 0}, Guard.OPERATOR),
        ({"open_proposal": True}, Guard.OPEN_PROPOSAL),
    ],
)
def test_a_guard_keeps_what_would_go(values: dict[str, object], guard: Guard) -> None:
    assert outcome(plan_of([stale(1, **values)])) == {"r0001": (Reason.STALE, guard, None)}


def test_the_person_may_take_a_record_out_of_the_plan() -> None:
    plan = plan_of([stale(1)], exemptions=Exemptions(keep=("r0001", "unknown")))
    assert outcome(plan) == {"r0001": (Reason.STALE, Guard.EXEMPT, None)}


def test_young_records_stay_even_as_exact_copies() -> None:
    rows = [same(1, "x"), same(2, "x", recorded_at=NOW - 6 * DAY)]
    assert outcome(plan_of(rows)) == {"r0002": (Reason.DUPLICATE, Guard.YOUNG, "r0001")}


def test_a_record_from_the_future_is_young() -> None:
    rows = [same(1, "x"), same(2, "x", recorded_at=NOW + DAY)]
    plan = plan_of(rows)
    assert outcome(plan) == {"r0002": (Reason.DUPLICATE, Guard.YOUNG, "r0001")}
    assert plan.decisions[0].terms.age_days == 0


def test_the_last_holder_of_a_text_stays_and_is_not_noted_as_stale() -> None:
    values = {"content_hash": "x", "norm_hash": "x"}
    plan = plan_of([stale(1, **values), stale(2, **values)])
    assert outcome(plan) == {
        "r0001": (Reason.STALE, Guard.LAST_HOLDER, None),
        "r0002": (Reason.DUPLICATE, None, "r0001"),
    }
    assert stale_ids(plan) == ()


def test_the_successor_of_what_goes_stays() -> None:
    old = row(1, state=State.SUPERSEDED, state_at=0, successors=("r0002",))
    assert outcome(plan_of([old, stale(2)])) == {
        "r0001": (Reason.SUPERSEDED, None, "r0002"),
        "r0002": (Reason.STALE, Guard.LAST_HOLDER, None),
    }


@pytest.mark.parametrize("state", [State.QUARANTINED, State.ARCHIVED, State.EXPUNGED])
def test_only_active_and_superseded_records_are_looked_at(state: State) -> None:
    plan = plan_of([stale(1, state=state), same(2, "x", state=state), same(3, "x")])
    assert (plan.decisions, plan.scanned) == ((), 1)


def test_a_run_archives_a_tenth_and_never_less_than_ten() -> None:
    some = [same(num, "x") for num in range(60)]
    plan = plan_of(some)
    assert len(plan.pruned) == LEAST_CAP
    assert {one.guard for one in plan.decisions} == {None, Guard.CAP}
    many = [row(num) for num in range(1000)] + [stale(num) for num in range(1000, 1500)]
    assert len(plan_of(many).pruned) == 150
    assert len(plan_of(many, policy=ForgettingPolicy(max_records=20)).pruned) == 20


def test_what_was_archived_lately_counts_against_the_cap() -> None:
    rows = [same(num, "x") for num in range(60)]
    assert len(plan_of(rows, archived_lately=7).pruned) == 3
    assert len(plan_of(rows, archived_lately=99).pruned) == 0


def test_under_a_cap_the_surest_go_first() -> None:
    gone = [
        row(1, state=State.SUPERSEDED, state_at=0, successors=("r0500",)),
        same(2, "x"),
        row(3),
        row(4, valid_to=NOW - DAY),
        row(5, kind=Kind.PROCEDURAL, failures=40, use_count=40, last_used=NOW),
        stale(6, recorded_at=NOW - 2000 * DAY),
        stale(7),
    ]
    rows = [*gone, same(500, "x", importance=0.6), row(501, importance=0.6)]
    for most in range(len(gone) + 1):
        plan = plan_of(rows, [edge(3, 501)], archived_lately=LEAST_CAP - most)
        assert {one.id for one in plan.pruned} == {one.id for one in gone[:most]}
