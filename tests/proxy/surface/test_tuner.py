"""The tuner: small steps towards what the ratings ask for, bounded, and every one can be taken back."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema import TunerSettings
from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import Adjustment, RatedScore, Rater, Rating
from proxy.surface.record import ToolScores
from proxy.surface.tuner import (
    LONGEST_STEP,
    SHORTEST_STEP,
    best_threshold,
    last_step,
    loudest,
    next_step,
    revert,
    threshold_in_force,
    thresholds_in_force,
    tune_tool,
)
from tests.proxy.surface.samples import NOW, event, opportunity, shown

RULES = TunerSettings(min_ratings=5)
EVERYWHERE = tuple(number / 100 for number in range(100))
"""Best scores of searches at which the bound of silence never matters below 0.75."""


def rated(*pairs: tuple[float, float], at: float = NOW) -> tuple[RatedScore, ...]:
    return tuple(RatedScore(at + number, *pair) for number, pair in enumerate(pairs))


def step(before: float, after: float, at: float = NOW - 10, **changes: object) -> Adjustment:
    made = Adjustment(1, at, "files", "read", before, after, "", 5, configured=0.5)
    return replace(made, **changes)  # type: ignore[arg-type]  # names are checked at run time


def asked(
    ratings: Sequence[RatedScore],
    in_force: float = 0.5,
    *,
    offered: Sequence[float] = EVERYWHERE,
    steps: Sequence[Adjustment] = (),
    rules: TunerSettings = RULES,
    configured: float = 0.5,
) -> Adjustment | None:
    scores = ToolScores(tuple(ratings), tuple(offered), tuple(steps))
    return next_step(scores, in_force, configured, rules, NOW + 100)


def after(*arguments: object, **named: object) -> float | None:
    made = asked(*arguments, **named)  # type: ignore[arg-type]  # as `asked`
    return None if made is None else made.after


BAD_BELOW_SEVEN = rated((0.52, 0), (0.55, 0), (0.6, 0), (0.65, 0), (0.7, 1), (0.8, 1))


def test_bad_memories_just_above_the_threshold_raise_it_half_way() -> None:
    made = asked(BAD_BELOW_SEVEN)
    assert made is not None
    assert (made.before, made.after, made.ratings, made.configured) == (0.5, 0.6, 6, 0.5)
    assert made.reason == (
        "2 of 6 new ratings found the memory useful; 4 of 4 between 0.50 and 0.70 were useless."
    )
    assert after(BAD_BELOW_SEVEN, 0.54) == 0.62
    assert asked(BAD_BELOW_SEVEN, 0.57) is None  # two useless ones are chance


def test_useful_memories_lower_the_threshold_to_show_more() -> None:
    good = rated(*[(0.6, 1.0)] * 4, (0.9, 0.5))
    assert after(good) == 0.45
    made = asked(good)
    assert made is not None
    assert made.reason == "5 of 5 new ratings found the memory useful: more may be shown."
    assert after(good, 0.22) is None  # two hundredths above the least
    assert after(good, 0.24) == 0.2


def test_older_ratings_further_down_lower_it_too() -> None:
    mixed = (
        *rated((0.3, 1), (0.32, 1), (0.35, 1), (0.4, 1), at=NOW - 1_000),
        *rated((0.6, 1), (0.7, 0), (0.75, 1), (0.8, 1), (0.9, 0)),
    )
    last = step(0.7, 0.6)
    made = asked(mixed, 0.6, steps=[last])
    assert made is not None
    assert made.after == 0.5
    assert "by all 9 ratings 0.30 would serve best" in made.reason


def test_the_best_threshold_is_the_lowest_of_equals() -> None:
    ratings = rated((0.4, 0), (0.5, 1), (0.6, 0.5), (0.7, 1))
    assert best_threshold(ratings, 0.3) == (0.5, 1.0)
    assert best_threshold(ratings, 0.45) == (0.45, 1.0)
    assert best_threshold(rated((0.4, 0.5)), 0.3) == (0.3, 0.0)
    assert best_threshold(rated((0.4, 0), (0.9, 0)), 0.3, 0.95) == (0.95, 0.0)
    assert best_threshold((), 0.3) == (0.3, 0.0)


def test_it_waits_for_new_ratings_and_longer_before_it_turns_round() -> None:
    assert asked(BAD_BELOW_SEVEN[:4]) is None
    made = step(0.45, 0.5, at=NOW - 1)
    assert after(BAD_BELOW_SEVEN, steps=[made]) == 0.6
    assert asked(BAD_BELOW_SEVEN, steps=[replace(made, at=NOW + 1)]) is None
    turned = step(0.55, 0.5)
    assert asked(BAD_BELOW_SEVEN, steps=[turned]) is None
    twice = (*BAD_BELOW_SEVEN, *rated(*[(0.75, 1.0), (0.6, 0.0)] * 2, at=NOW + 20))
    assert after(twice, steps=[turned]) == 0.6
    # A step made under another setting has no direction any more.
    assert after(BAD_BELOW_SEVEN, steps=[replace(turned, configured=0.7)]) == 0.6


def test_a_reverted_step_is_not_repeated_before_new_ratings() -> None:
    back = step(0.6, 0.5, at=NOW + 50, reverts=1)
    undone = step(0.5, 0.6, reverted_at=NOW + 50)
    assert asked(BAD_BELOW_SEVEN, steps=[back, undone]) is None
    more = (*BAD_BELOW_SEVEN, *rated(*[(0.55, 0.0)] * 5, at=NOW + 60))
    assert after(more, steps=[back, undone]) == 0.6


def test_a_quarter_of_the_searches_still_shows_something() -> None:
    useless = rated(*[(0.6, 0.0)] * 10)
    assert after(useless, offered=[0.1, 0.2, 0.55, 0.56]) == 0.56
    assert asked(useless, offered=[0.1, 0.2, 0.3, 0.52]) is None
    # Without any known search, a quarter of what was rated.
    assert after(useless, offered=[]) == 0.6
    assert loudest([]) is None
    assert loudest([0.4]) == 0.4
    assert loudest([0.1, 0.9, 0.5, 0.3]) == 0.9
    assert loudest([0.1, 0.9, 0.5, 0.3, 0.7]) == 0.7


def test_a_tuned_threshold_comes_down_when_the_searches_no_longer_reach_it() -> None:
    weak = [0.55] * 30
    made = asked((), 0.75, offered=weak, steps=[step(0.7, 0.75)])
    assert made is not None
    assert made.after == 0.65
    assert made.reason == "Only 0 of the last 30 searches reached 0.75."
    assert after((), 0.6, offered=weak) == 0.55
    assert asked((), 0.75, offered=weak, configured=0.75) is None  # the person wants it so
    assert asked((), 0.75, offered=weak[:10]) is None


def test_settings_bound_it_or_switch_it_off() -> None:
    assert asked(BAD_BELOW_SEVEN, rules=replace(RULES, enabled=False)) is None
    assert after(BAD_BELOW_SEVEN, rules=replace(RULES, most_score=0.55)) == 0.55
    assert asked(BAD_BELOW_SEVEN, rules=replace(RULES, most_score=0.52)) is None
    assert asked(BAD_BELOW_SEVEN, rules=replace(RULES, least_score=0.9, most_score=0.1)) is None


def test_the_threshold_in_force_is_the_last_step_under_the_same_setting() -> None:
    assert threshold_in_force(None, 0.5) == 0.5
    assert threshold_in_force(step(0.5, 0.6), 0.5) == 0.6
    assert threshold_in_force(step(0.5, 0.6), 0.4) == 0.4
    assert last_step([step(0.6, 0.7, reverted_at=NOW), step(0.5, 0.6)]) == step(0.5, 0.6)


scores = st.floats(0, 1, allow_nan=False)
ratings_made = st.lists(
    st.builds(
        RatedScore, st.floats(NOW - 100, NOW + 100), scores, st.sampled_from([0.0, 0.5, 1.0])
    ),
    max_size=60,
)
past_steps = st.lists(
    st.builds(
        step,
        scores,
        scores,
        at=st.floats(NOW - 100, NOW + 100),
        reverted_at=st.sampled_from([None, NOW]),
        reverts=st.sampled_from([None, 1]),
    ),
    max_size=3,
)


@given(
    ratings_made,
    st.lists(scores, max_size=60),
    past_steps,
    scores,
    scores,
    st.tuples(scores, scores).map(sorted),
)
def test_every_step_is_bounded_long_enough_loud_enough_and_the_same_again(
    ratings: list[RatedScore],
    offered: list[float],
    steps: list[Adjustment],
    in_force: float,
    configured: float,
    bounds: list[float],
) -> None:
    rules = TunerSettings(min_ratings=5, least_score=bounds[0], most_score=bounds[1])
    known = ToolScores(tuple(ratings), tuple(offered), tuple(steps))
    made = next_step(known, in_force, configured, rules, NOW)
    assert made == next_step(known, in_force, configured, rules, NOW)
    if made is None:
        return
    assert made.before == in_force
    assert bounds[0] - 0.0005 <= made.after <= bounds[1] + 0.0005
    assert abs(made.after - in_force) >= SHORTEST_STEP - 1e-6
    if bounds[0] <= in_force <= bounds[1]:
        assert abs(made.after - in_force) <= LONGEST_STEP + 0.001
    if made.after > in_force and offered:
        assert sum(score >= made.after for score in offered) * 4 >= len(offered)
    if made.ratings:
        last = steps[0] if steps else None
        fresh = [one for one in ratings if last is None or one.at > last.at]
        assert len(fresh) == made.ratings >= 5
        if last and last.reverts is None and last.configured == configured:
            turned = (last.after - last.before) * (made.after - made.before) < 0
            assert not turned or len(fresh) >= 10


def simulated(start: float, true_threshold: float, seed: int) -> list[float]:
    """Thresholds over a stream: memories above the true threshold help, one in ten judged wrongly."""
    numbers = random.Random(seed)
    rules = TunerSettings()
    ratings: list[RatedScore] = []
    offered: list[float] = []
    steps: list[Adjustment] = []
    thresholds = [start]
    now = NOW
    for number in range(1_500):
        now += 60
        found = [numbers.random() ** 0.7 for _ in range(3)]
        offered.append(max(found))
        for score in found:
            if score >= thresholds[-1] and numbers.random() < 0.5:
                helps = (score >= true_threshold) != (numbers.random() < 0.1)
                ratings.append(RatedScore(now, score, float(helps)))
        if number % 25:
            continue
        known = ToolScores(tuple(ratings[-500:]), tuple(offered[-200:]), tuple(steps[::-1]))
        made = next_step(known, thresholds[-1], start, rules, now)
        if made is not None:
            steps.append(replace(made, id=len(steps) + 1))
            thresholds.append(made.after)
    return thresholds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("start", [0.2, 0.85])
def test_a_bad_threshold_converges(start: float, seed: int) -> None:
    thresholds = simulated(start, 0.6, seed)
    assert abs(thresholds[-1] - 0.6) <= 0.08
    assert all(abs(one - other) <= LONGEST_STEP + 0.001 for one, other in pairwise(thresholds))
    assert len(thresholds) <= 12, thresholds


def test_steps_are_kept_reverted_and_in_force(tmp_path: Path) -> None:
    store = SurfacingStore(tmp_path / "surfacing.sqlite3", clock=lambda: NOW)
    rules = TunerSettings(min_ratings=5)

    def rate(first: int, score: float, at: float) -> None:
        rating = Rating.NOT_RELEVANT
        for number in range(first, first + 6):
            store.note_event(event(f"{number:012x}", shown("m1", score)))
            store.note_opportunity(opportunity(best_score=0.9))
            assert store.rate(f"{number:012x}", "m1", rating, Rater.AGENT, at).ok

    try:
        assert tune_tool(store, "files", "read", 0.5, rules, NOW) is None
        rate(0, 0.55, NOW - 50)
        assert tune_tool(store, "files", "read", 0.5, replace(rules, enabled=False), NOW) is None
        first = tune_tool(store, "files", "read", 0.5, rules, NOW - 40)
        assert first is not None
        assert (first.id, first.upstream, first.tool, first.after) == (1, "files", "read", 0.6)
        assert thresholds_in_force(store) == {("files", "read"): first}
        assert tune_tool(store, "files", "read", 0.5, rules, NOW - 39) is None
        rate(10, 0.65, NOW - 30)
        second = tune_tool(store, "files", "read", 0.5, rules, NOW - 20)
        assert second is not None
        assert (second.before, second.after) == (0.6, 0.7)

        result = revert(store, first.id, NOW)
        assert result.ok
        assert "files/read shows memories from 0.50 on" in result.message
        in_force = thresholds_in_force(store)["files", "read"]
        assert (in_force.before, in_force.after, in_force.reverts) == (0.7, 0.5, first.id)
        assert threshold_in_force(in_force, 0.5) == 0.5
        for id, words in (
            (first.id, "was taken back before"),
            (second.id, "was taken back before"),
            (in_force.id, "took step 1 back"),
            (99, "no step 99"),
        ):
            refused = revert(store, id, NOW)
            assert not refused.ok
            assert words in refused.message
        assert tune_tool(store, "files", "read", 0.5, rules, NOW + 1) is None
        rate(20, 0.55, NOW + 2)
        third = tune_tool(store, "files", "read", 0.5, rules, NOW + 3)
        assert third is not None
        rate(30, 0.45, NOW + 4)
        fourth = tune_tool(store, "files", "read", 0.4, rules, NOW + 5)
        assert fourth is not None
        assert fourth.before == 0.4
        void = revert(store, third.id, NOW + 6)
        assert not void.ok
        assert "void since the setting changed" in void.message
    finally:
        assert store.stop(20)
