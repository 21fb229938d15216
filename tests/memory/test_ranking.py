from __future__ import annotations

import random
from dataclasses import astuple, replace
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.model import DAY, Hit, Kind, MemoryText, Origin, Record, State
from memory.ranking import FACTOR_SPAN, diverse, final_score, fuse, order, rank, recency_score

NOW = 4000 * DAY


def record(num: int, **values: object) -> Record:
    usual = Record(
        f"r{num:04d}",
        num,
        Kind.SEMANTIC,
        "default",
        1,
        State.ACTIVE,
        MemoryText(f"text {num}"),
        "",
        "",
        NOW - 10 * DAY,
        NOW,
        Origin.AGENT,
    )
    return replace(usual, **values)  # type: ignore[arg-type]


NUMS = st.integers(1, 12)
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)
WORDS = st.dictionaries(NUMS, st.floats(0, 40))
COSINES = st.dictionaries(NUMS, st.floats(-1, 1))
UNIT = st.floats(0, 1)
RECORDS = st.lists(
    st.builds(
        lambda num, kind, age, importance, trust, flags: record(
            num,
            kind=kind,
            recorded_at=NOW - age,
            importance=importance,
            trust=trust,
            flags=flags,
        ),
        NUMS,
        st.sampled_from(Kind),
        st.integers(-DAY, 4000 * DAY),
        UNIT,
        st.integers(0, 3),
        st.sampled_from([(), ("instruction_like",)]),
    ),
    unique_by=lambda one: one.num,
)


def search(
    records: list[Record], words: dict[int, float], cosines: dict[int, float], alpha: float = 0.5
) -> tuple[Hit, ...]:
    fused = fuse(words, cosines, alpha)
    hits = rank(records, fused, cosines, NOW)
    assert [hit.record for hit in hits] == order(records, fused, NOW)
    return hits


# fusing


def test_words_and_vectors_are_scaled_and_added_by_weight() -> None:
    found = fuse({1: 8.0, 2: 4.0}, {1: 0.2, 2: 0.6, 3: 0.4}, 0.25)
    assert tuple(found[1]) == pytest.approx((1.0, 0.0, 0.75))
    assert tuple(found[2]) == pytest.approx((0.5, 1.0, 0.625))
    assert tuple(found[3]) == pytest.approx((0.0, 0.5, 0.125))


def test_a_side_that_found_nothing_has_no_weight() -> None:
    assert fuse({1: 3.0}, {}, 0.5)[1].fused == 1.0
    assert fuse({}, {1: 0.5, 2: 0.3}, 0.5)[1].fused == 1.0
    assert fuse({}, {}, 0.5) == {}


def test_a_single_candidate_is_the_best_if_it_is_alike_at_all() -> None:
    assert fuse({}, {1: 0.4}, 0.5)[1].vectors == 1.0
    assert fuse({}, {1: -0.4}, 0.5)[1].vectors == 0.0


@given(st.dictionaries(NUMS, ANY_FLOAT), st.dictionaries(NUMS, ANY_FLOAT), UNIT)
def test_whatever_comes_in_scores_are_finite_and_from_0_to_1(
    words: dict[int, float], cosines: dict[int, float], alpha: float
) -> None:
    for one in fuse(words, cosines, alpha).values():
        assert all(0 <= score <= 1 for score in tuple(one))
    for hit in search([record(num) for num in range(1, 13)], words, cosines, alpha):
        parts = hit.parts
        assert all(isfinite(score) for score in astuple(parts))
        assert 0 <= parts.final_score <= 1


# the order


@settings(max_examples=60)
@given(RECORDS, WORDS, COSINES, UNIT, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_count(
    records: list[Record],
    words: dict[int, float],
    cosines: dict[int, float],
    alpha: float,
    r: random.Random,
) -> None:
    expected = search(records, words, cosines, alpha)

    def shuffled(values: dict[int, float]) -> dict[int, float]:
        items = list(values.items())
        r.shuffle(items)
        return dict(items)

    records = list(records)
    r.shuffle(records)
    assert search(records, shuffled(words), shuffled(cosines), alpha) == expected


@settings(max_examples=60)
@given(RECORDS, WORDS, COSINES, UNIT, UNIT, UNIT)
def test_a_record_between_the_others_changes_no_other_score(
    records: list[Record],
    words: dict[int, float],
    cosines: dict[int, float],
    alpha: float,
    by_words: float,
    by_vector: float,
) -> None:
    if not words or not cosines:
        return
    added = record(13)
    less = min(cosines.values()), max(cosines.values())
    more_words = {**words, 13: by_words * max(words.values())}
    cosine = min(max(less[0] + by_vector * (less[1] - less[0]), less[0]), less[1])
    with_it = search([*records, added], more_words, {**cosines, 13: cosine}, alpha)
    assert tuple(hit for hit in with_it if hit.record != added) == search(
        records, words, cosines, alpha
    )


@settings(max_examples=60)
@given(RECORDS, WORDS, COSINES, UNIT)
def test_who_is_no_worse_in_any_part_is_not_behind(
    records: list[Record], words: dict[int, float], cosines: dict[int, float], alpha: float
) -> None:
    hits = search(records, words, cosines, alpha)

    def parts(hit: Hit) -> tuple[float, ...]:
        found = hit.parts
        calm = float(not hit.record.flags)
        return (
            found.words,
            found.vectors,
            found.recency_score,
            found.importance_score,
            hit.record.trust,
            calm,
        )

    for place, hit in enumerate(hits):
        for later in hits[place + 1 :]:
            better = all(a <= b for a, b in zip(parts(hit), parts(later), strict=True))
            assert not better or later.parts.final_score <= hit.parts.final_score + 2e-6


def test_ties_go_to_the_smaller_id() -> None:
    hits = search([record(2), record(1)], {1: 2.0, 2: 2.0}, {})
    assert [hit.record.num for hit in hits] == [1, 2]


def test_records_that_neither_side_found_are_left_out() -> None:
    assert [hit.record.num for hit in search([record(1), record(2)], {2: 1.0}, {})] == [2]


# factors


def test_recency_is_absolute_and_halves_with_the_half_life() -> None:
    assert recency_score(Kind.SEMANTIC, NOW, NOW) == 1.0
    assert recency_score(Kind.SEMANTIC, NOW + DAY, NOW) == 1.0
    assert recency_score(Kind.SEMANTIC, NOW - 365 * DAY, NOW) == pytest.approx(0.5)
    assert recency_score(Kind.EPISODIC, NOW - 60 * DAY, NOW) == pytest.approx(0.25)
    assert recency_score(Kind.PROCEDURAL, NOW - 180 * DAY, NOW) == pytest.approx(0.5)


@given(UNIT, UNIT, UNIT, UNIT)
def test_recency_and_importance_move_a_score_by_a_tenth_each_way_at_most(
    recency: float, importance: float, other_recency: float, other_importance: float
) -> None:
    a = final_score(1.0, recency, importance, 2)
    b = final_score(1.0, other_recency, other_importance, 2)
    most = ((1 + FACTOR_SPAN) / (1 - FACTOR_SPAN)) ** 2
    assert a / b <= most * (1 + 1e-12)


def test_importance_out_of_range_buys_nothing() -> None:
    assert final_score(0.5, 1.0, 1e9, 2) == final_score(0.5, 1.0, 1.0, 2)
    assert final_score(0.5, 1.0, -5.0, 99) == final_score(0.5, 1.0, 0.0, 3)


def test_trust_and_suspicion_decide_between_texts_that_fit_alike() -> None:
    by_trust = [final_score(0.7, 0.5, 0.5, trust) for trust in range(4)]
    assert by_trust == sorted(set(by_trust))
    assert final_score(0.7, 0.5, 0.5, 3, suspicious=True) < by_trust[0]


def test_age_does_not_count_where_the_query_is_about_some_time() -> None:
    records = [record(1, recorded_at=0), record(2)]
    fused = fuse({1: 2.0, 2: 2.0}, {}, 0.5)
    assert [hit.record.num for hit in rank(records, fused, {}, NOW)] == [2, 1]
    assert [hit.record.num for hit in rank(records, fused, {}, NOW, by_age=False)] == [1, 2]


# diversity


def test_repeats_of_a_better_hit_are_left_out_and_counted() -> None:
    fused = fuse({num: 10.0 - num for num in range(1, 7)}, {}, 0.5)
    ordered = order([record(num) for num in range(1, 7)], fused, NOW)

    def alike(better: Record, worse: Record) -> bool:
        return better.num % 2 == worse.num % 2

    kept, left_out = diverse(ordered, alike, 5)
    assert ([one.num for one in kept], left_out) == ([1, 2], 4)
    kept, left_out = diverse(ordered, alike, 2)
    assert ([one.num for one in kept], left_out) == ([1, 2], 0)
    assert diverse((), alike, 3) == ((), 0)
