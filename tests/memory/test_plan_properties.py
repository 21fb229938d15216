from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.model import (
    DAY,
    SECOND,
    Edge,
    Exemptions,
    ForgettingPolicy,
    Guard,
    Kind,
    Origin,
    PairClass,
    Plan,
    Reason,
    State,
)
from memory.plan import PlanRow, plan_hash, report, stale_ids
from tests.memory.plan_rows import (
    NO_CAPS,
    NOW,
    POLICY,
    crowd,
    plan_of,
    row,
    same,
    stale,
)

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
        "from tests.memory.plan_rows import crowd, plan_of;"
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


@settings(max_examples=80)
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


@settings(max_examples=60)
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


@settings(max_examples=60)
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
