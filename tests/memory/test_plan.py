from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.model import (
    DAY,
    SECOND,
    Edge,
    Exemptions,
    ForgettingPolicy,
    Guard,
    Instant,
    Kind,
    Origin,
    PairClass,
    Plan,
    Reason,
    State,
)
from memory.plan import LEAST_CAP, PlanRow, make_plan, plan_hash, report, stale_ids

NOW = 4000 * DAY
POLICY = ForgettingPolicy()
NONE = Exemptions()
NO_CAPS = ForgettingPolicy(max_share=1.0, max_records=10_000)


def row(num: int, **values: object) -> PlanRow:
    """A fact, 100 days old, that nothing speaks against."""
    usual = PlanRow(
        num,
        f"r{num:04d}",
        Kind.SEMANTIC,
        1,
        State.ACTIVE,
        f"content {num}",
        f"norm {num}",
        NOW - 100 * DAY,
        NOW - 100 * DAY,
        0.5,
        False,
        Origin.AGENT,
        2,
        1,
        0,
        None,
        None,
        0,
        0,
        None,
    )
    return replace(usual, **values)  # type: ignore[arg-type]


def same(num: int, text: str, **values: object) -> PlanRow:
    return row(num, content_hash=text, norm_hash=text, **values)


def stale(num: int, **values: object) -> PlanRow:
    return row(num, **{"recorded_at": NOW - 1000 * DAY, "stale_before": True, **values})


def edge(older: int, newer: int, klass: PairClass = PairClass.REWORDING) -> Edge:
    return Edge(older, newer, 0.95, klass, 0.9, "model")


def plan_of(
    rows: Sequence[PlanRow],
    edges: Sequence[Edge] = (),
    policy: ForgettingPolicy = POLICY,
    exemptions: Exemptions = NONE,
    now: Instant = NOW,
    archived_lately: int = 0,
    kept_apart: Sequence[tuple[str, str]] = (),
) -> Plan:
    return make_plan(
        rows,
        edges,
        policy,
        exemptions,
        space="default",
        position=7,
        now=now,
        archived_lately=archived_lately,
        kept_apart=kept_apart,
    )


def outcome(plan: Plan) -> dict[str, tuple[Reason, Guard | None, str | None]]:
    return {one.id: (one.reason, one.guard, one.survivor) for one in plan.decisions}


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


# the plan as a value


def test_decisions_are_ordered_by_reason_kind_and_id() -> None:
    rows = [stale(1), stale(3), stale(2, kind=Kind.EPISODIC), same(4, "x"), same(5, "x")]
    assert [one.id for one in plan_of(rows).decisions] == ["r0005", "r0001", "r0003", "r0002"]


def test_the_report_uses_the_names_of_the_original() -> None:
    rows = [stale(1), same(2, "x"), same(3, "x"), row(4, kind=Kind.EPISODIC)]
    plan = plan_of(rows)
    found = report(plan)
    assert (found.dry_run, found.scanned, found.kept, found.faded, found.pruned) == (
        True,
        4,
        2,
        0,
        2,
    )
    assert found.duplicates_flagged == 1
    assert found.decisions == plan.decisions
    assert [(one.kind, one.keep, one.fade, one.prune) for one in found.by_type] == [
        (Kind.SEMANTIC, 1, 0, 2),
        (Kind.EPISODIC, 1, 0, 0),
        (Kind.PROCEDURAL, 0, 0, 0),
    ]
    assert not report(plan, dry_run=False).dry_run


def test_the_time_of_a_plan_is_a_whole_second() -> None:
    a, b = plan_of([stale(1)]), plan_of([stale(1)], now=NOW + SECOND - 1)
    assert a == b
    assert a.now == NOW


def test_the_hash_covers_all_that_a_run_depends_on() -> None:
    base = plan_of([stale(1), row(2)])
    one = base.decisions[0]
    other = [
        replace(base, space="other"),
        replace(base, position=8),
        replace(base, now=NOW + SECOND),
        replace(base, policy=NO_CAPS),
        replace(base, exemptions=Exemptions(keep=("x",))),
        replace(base, decisions=()),
        *(
            replace(base, decisions=(replace(one, **change),))
            for change in (
                {"id": "x"},
                {"version": 2},
                {"prune": False},
                {"reason": Reason.EXPIRED},
                {"survivor": "r0002"},
                {"guard": Guard.CAP},
            )
        ),
    ]
    hashes = [plan_hash(plan) for plan in other]
    assert base.hash == plan_hash(base)
    assert len({base.hash, *hashes}) == len(hashes) + 1


def test_exemptions_count_as_a_set() -> None:
    a = plan_of([row(1)], exemptions=Exemptions(keep=("b", "a", "b"), survivors=("d", "c")))
    b = plan_of([row(1)], exemptions=Exemptions(keep=("a", "b"), survivors=("c", "d")))
    assert a == b


def test_the_hash_is_the_same_in_another_process_with_other_hash_seeds() -> None:
    program = (
        "from tests.memory.test_plan import crowd, plan_of;"
        "rows, edges = crowd(5, 60); print(plan_of(rows, edges).hash)"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert hashes == {plan_of(*crowd(5, 60)).hash}


# properties over whole memories


def crowd(seed: int, size: int) -> tuple[list[PlanRow], list[Edge]]:
    """A small random memory in which everything happens that may happen."""
    r = random.Random(seed)
    texts = size // 2 + 1
    rows: list[PlanRow] = []
    for num in range(1, size + 1):
        text = r.randrange(texts)
        age = r.choice([1, 5, 10, 50, 200, 600, 1500]) * DAY
        uses = r.choice([0, 0, 0, 2, 30])
        used = NOW - r.randrange(age) if uses else None
        state = r.choice([State.ACTIVE] * 5 + [State.SUPERSEDED, State.QUARANTINED])
        others = r.sample(range(1, size + 1), k=min(size, r.randrange(3)))
        rows.append(
            PlanRow(
                num,
                f"r{num:04d}",
                r.choice([Kind.SEMANTIC, Kind.SEMANTIC, Kind.EPISODIC, Kind.PROCEDURAL]),
                r.randrange(1, 4),
                state,
                f"{text} {r.randrange(2)}",
                f"{text}",
                NOW - age,
                NOW - r.randrange(age),
                r.choice([0.1, 0.5, 0.5, 0.9]),
                r.random() < 0.1,
                r.choice(list(Origin)),
                r.randrange(4),
                r.choice([1, 1, 4]),
                uses,
                used,
                used,
                r.choice([0, 0, 9]),
                r.choice([0, 30]),
                r.choice([None, None, NOW - DAY, NOW + DAY]),
                "",
                tuple(f"r{other:04d}" for other in others) if state is State.SUPERSEDED else (),
                r.random() < 0.1,
                r.random() < 0.6,
            )
        )
    edges = [
        Edge(
            r.randrange(1, size + 1),
            r.randrange(1, size + 1),
            r.choice([0.9, 0.95]),
            r.choice([PairClass.REWORDING] * 4 + [PairClass.VALUE, PairClass.DETAIL]),
            0.9,
            "model",
        )
        for _ in range(r.randrange(2 * size))
    ]
    return rows, edges


CROWDS = st.builds(crowd, st.integers(0, 10**9), st.integers(1, 24))
POLICIES = st.sampled_from([POLICY, NO_CAPS, replace(NO_CAPS, min_age_days=0.0)])


def after_run(plan: Plan, rows: Sequence[PlanRow]) -> list[PlanRow]:
    gone = {one.id for one in plan.pruned}
    noted = set(stale_ids(plan))
    return [
        replace(row, state=State.ARCHIVED, state_at=plan.now)
        if row.id in gone
        else replace(row, stale_before=row.stale_before and row.id in noted)
        for row in rows
    ]


@given(CROWDS, POLICIES, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_edges_does_not_count(
    memory: tuple[list[PlanRow], list[Edge]], policy: ForgettingPolicy, r: random.Random
) -> None:
    rows, edges = memory
    expected = plan_of(rows, edges, policy)
    rows, edges = list(rows), list(edges)
    r.shuffle(rows)
    r.shuffle(edges)
    assert plan_of(rows, edges, policy) == expected


PAIRS = st.lists(st.tuples(st.integers(1, 24), st.integers(1, 24)), max_size=6)


@settings(max_examples=200)
@given(CROWDS, POLICIES, st.lists(st.integers(1, 24), max_size=3), PAIRS)
def test_a_plan_right_after_a_run_archives_nothing(
    memory: tuple[list[PlanRow], list[Edge]],
    policy: ForgettingPolicy,
    chosen: list[int],
    pairs: list[tuple[int, int]],
) -> None:
    rows, edges = memory
    exemptions = Exemptions(survivors=tuple(f"r{num:04d}" for num in chosen))
    apart = [(f"r{a:04d}", f"r{b:04d}") for a, b in pairs if a != b]
    first = plan_of(rows, edges, policy, exemptions, kept_apart=apart)
    for one in first.decisions:
        assert (one.id, one.survivor) not in apart or one.klass is None
    second = plan_of(
        after_run(first, rows),
        edges,
        policy,
        exemptions,
        archived_lately=len(first.pruned),
        kept_apart=apart,
    )
    assert second.pruned == ()


@settings(max_examples=150)
@given(CROWDS, POLICIES)
def test_whatever_goes_for_another_one_has_a_holder_that_stays(
    memory: tuple[list[PlanRow], list[Edge]], policy: ForgettingPolicy
) -> None:
    rows, edges = memory
    plan = plan_of(rows, edges, policy)
    gone = {one.id for one in plan.pruned}
    by_id = {row.id: row for row in rows}
    for one in plan.decisions:
        assert not one.prune or one.survivor is None or one.survivor not in gone
        if one.reason is Reason.DUPLICATE:
            assert one.survivor is not None
            assert by_id[one.survivor].kind is one.kind
            assert by_id[one.survivor].state is State.ACTIVE
            assert by_id[one.survivor].trust >= by_id[one.id].trust


@settings(max_examples=150)
@given(CROWDS)
def test_every_pair_of_a_duplicate_group_says_the_same(
    memory: tuple[list[PlanRow], list[Edge]],
) -> None:
    rows, edges = memory
    by_id = {row.id: row for row in rows}
    text_of = {row.num: row.norm_hash for row in rows}
    alike: set[tuple[str, str]] = set()
    for one in edges:
        if one.klass is PairClass.REWORDING:
            a, b = text_of[one.older], text_of[one.newer]
            alike |= {(a, b), (b, a)}
    groups: dict[str, set[str]] = {}
    for one in plan_of(rows, edges, NO_CAPS).decisions:
        if one.reason is Reason.DUPLICATE:
            groups.setdefault(str(one.survivor), {str(one.survivor)}).add(one.id)
    for members in groups.values():
        texts = {by_id[id].norm_hash for id in members}
        for a in texts:
            for b in texts:
                assert a == b or (a, b) in alike


@given(CROWDS, POLICIES)
def test_guarded_records_do_not_go_and_the_counts_add_up(
    memory: tuple[list[PlanRow], list[Edge]], policy: ForgettingPolicy
) -> None:
    rows, edges = memory
    plan = plan_of(rows, edges, policy)
    by_id = {row.id: row for row in rows}
    for one in plan.decisions:
        found = by_id[one.id]
        assert one.prune is (one.guard is None)
        assert found.state in (State.ACTIVE, State.SUPERSEDED)
        if one.prune:
            assert not found.pinned
            assert not found.open_proposal
            assert found.recorded_at <= NOW - policy.min_age_days * DAY
            assert found.origin is not Origin.OPERATOR or found.importance < 0.8
    assert len({one.id for one in plan.decisions}) == len(plan.decisions)
    assert plan.kept + len(plan.pruned) == plan.scanned
    assert sum(pruned for _, _, pruned in plan.by_kind) == len(plan.pruned)
    assert sum(kept for _, kept, _ in plan.by_kind) == plan.kept
