from __future__ import annotations

from dataclasses import replace
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.procedures import (
    ProcedureMatch,
    beta_quantile,
    exploration_index,
    rank,
    wilson_score,
    wilson_upper,
)
from tests.bench.procedures import CHOOSERS, simulate

COUNTS = st.integers(0, 60)
MATCHES = st.lists(
    st.builds(
        ProcedureMatch,
        st.text("abcdef", min_size=1, max_size=6),
        st.sampled_from([0.4, 0.7, 0.75, 0.8, 0.9, 0.95]),
        COUNTS,
        COUNTS,
    ),
    max_size=8,
    unique_by=lambda one: one.id,
)


def places(candidates: list[ProcedureMatch]) -> list[str]:
    return [one.id for one in rank(candidates)]


# what an outcome does


@given(MATCHES, st.data())
def test_a_success_never_lowers_and_a_failure_never_raises_against_the_same_procedure(
    others: list[ProcedureMatch], data: st.DataObject
) -> None:
    one = ProcedureMatch(
        data.draw(st.sampled_from(["A", "Z"])), 0.9, data.draw(COUNTS), data.draw(COUNTS)
    )
    twin = replace(one, id="M")
    better = places([*others, replace(one, successes=one.successes + 1), twin])
    assert better.index(one.id) < better.index("M")
    worse = places([*others, replace(one, failures=one.failures + 1), twin])
    assert worse.index(one.id) > worse.index("M")


@pytest.mark.parametrize("outcomes", [1, 3, 10, 20, 50, 1000])
def test_a_procedure_that_always_worked_stands_before_one_never_tried(outcomes: int) -> None:
    proven, new = ProcedureMatch("proven", 0.9, outcomes, 0), ProcedureMatch("new", 0.9, 0, 0)
    assert places([new, proven]) == ["proven", "new"]


@pytest.mark.parametrize("outcomes", [1, 3, 10, 50])
def test_a_procedure_that_always_failed_stands_behind_one_never_tried(outcomes: int) -> None:
    failed, new = ProcedureMatch("failed", 0.9, 0, outcomes), ProcedureMatch("new", 0.9, 0, 0)
    assert places([failed, new]) == ["new", "failed"]


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 10_000))
def test_the_index_rises_with_successes_and_falls_with_failures(s: int, f: int, rest: int) -> None:
    trials = s + f + rest
    index = exploration_index(s, f, trials)
    assert exploration_index(s + 1, f, trials) >= index >= exploration_index(s, f + 1, trials)
    assert 0 < index <= 1


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 1000), st.integers(0, 10_000))
def test_what_others_were_tried_makes_the_unknown_more_attractive(
    s: int, f: int, rest: int, more: int
) -> None:
    assert exploration_index(s, f, s + f + rest + more) >= exploration_index(s, f, s + f + rest)


# the order


@given(MATCHES, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_count(
    candidates: list[ProcedureMatch], random: Random
) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert rank(shuffled) == rank(candidates)


@given(MATCHES)
def test_the_combined_score_is_what_the_order_follows(candidates: list[ProcedureMatch]) -> None:
    scores = [one.combined_score for one in rank(candidates)]
    assert scores == sorted(scores, reverse=True)


@given(MATCHES)
def test_every_rate_lies_between_its_bounds(candidates: list[ProcedureMatch]) -> None:
    for one in rank(candidates):
        assert 0 <= one.lower == one.wilson_score <= one.upper <= 1
        assert 0 < one.mean < 1


def test_similarity_opens_the_gate_and_does_not_count_after_it() -> None:
    near, far = ProcedureMatch("near", 0.8, 0, 3), ProcedureMatch("far", 0.61, 3, 0)
    assert places([near, far]) == ["far", "near"]
    assert places([near, replace(far, similarity=0.59)]) == ["near"]
    assert [one.id for one in rank([near, replace(far, similarity=0.59)], floor=0.5)] == [
        "far",
        "near",
    ]


def test_of_equals_the_more_similar_stands_first_and_then_the_smaller_id() -> None:
    a, b = ProcedureMatch("a", 0.8, 2, 1), ProcedureMatch("b", 0.8, 2, 1)
    assert places([b, a]) == ["a", "b"]
    assert places([a, replace(b, similarity=0.81)]) == ["b", "a"]


def test_without_likeness_or_candidates_nothing_breaks() -> None:
    assert rank([]) == ()
    opposite = [ProcedureMatch("a", -0.2, 0, 0), ProcedureMatch("b", 0.0, 0, 0)]
    assert places(opposite) == ["b"]


def test_exploring_says_when_little_is_known_rather_than_much_good() -> None:
    good, tried_once = ProcedureMatch("good", 0.9, 45, 15), ProcedureMatch("once", 0.9, 2, 1)
    first, second = rank([good, tried_once])
    assert (first.id, first.explore) == ("once", True)
    assert (second.id, second.explore) == ("good", False)
    assert rank([ProcedureMatch("new", 0.9, 0, 0)])[0].explore


# the numbers


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.001, 0.999))
def test_the_quantile_turns_the_distribution_around(a: int, b: int, level: float) -> None:
    x = beta_quantile(a, b, level)
    n = a + b - 1
    below = sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
    assert below == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1, 100_001), (100_001, 1), (50_000, 50_000), (3, 200_000)])
def test_the_quantile_is_found_for_large_counts(a: int, b: int) -> None:
    low, middle, high = (beta_quantile(a, b, level) for level in (0.05, 0.5, 0.95))
    assert 0 < low < middle < high < 1
    assert middle == pytest.approx(a / (a + b), rel=0.35)


def test_the_bounds_are_those_of_wilson() -> None:
    assert (wilson_score(0, 0), wilson_upper(0, 0)) == (0.0, 1.0)
    assert wilson_score(8, 2) == pytest.approx(0.4902, abs=1e-4)
    assert wilson_upper(8, 2) == pytest.approx(0.9433, abs=1e-4)
    assert wilson_upper(0, 16) < 0.2 < wilson_upper(0, 15)


def test_the_order_wastes_fewer_uses_than_the_alternatives() -> None:
    ours = simulate(CHOOSERS["this order"], 3, runs=15, seed=7)
    wilson = simulate(CHOOSERS["Wilson's lower bound"], 3, runs=15, seed=7)
    assert ours.after_200 < 6.5 < wilson.after_200
