from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model import DAY, SECOND, ForgettingPolicy, Instant, Kind
from memory.retention import LIFETIME_DAYS, need, terms

STALE = ForgettingPolicy().stale_need
YEARS = 365 * DAY


@dataclass(frozen=True)
class Usage:
    kind: Kind = Kind.SEMANTIC
    recorded_at: Instant = 0
    importance: float = 0.5
    support: int = 1
    use_count: int = 0
    first_used: Instant | None = None
    last_used: Instant | None = None
    successes: int = 0
    failures: int = 0

    def used(self, at: Instant) -> Usage:
        """Used once more, as the store notes it."""
        first = at if self.first_used is None else self.first_used
        return replace(self, use_count=self.use_count + 1, first_used=first, last_used=at)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    uses = draw(st.one_of(st.just(0), st.integers(1, 1000)))
    recorded = draw(st.integers(0, 20 * YEARS))
    first = recorded + draw(st.integers(0, 10 * YEARS))
    last = first + (draw(st.integers(0, 10 * YEARS)) if uses > 1 else 0)
    return Usage(
        draw(st.sampled_from(Kind)),
        recorded,
        draw(st.floats(0, 1)),
        draw(st.integers(1, 50)),
        uses,
        first if uses else None,
        last if uses else None,
        draw(st.integers(0, 50)),
        draw(st.integers(0, 50)),
    )


def last_event(usage: Usage) -> Instant:
    return max(usage.recorded_at, usage.last_used or 0)


SPANS = st.integers(0, 20 * YEARS)


def days_until_stale(usage: Usage) -> float:
    """By halving: the need never rises by time alone."""
    low, high = 0, 200 * YEARS
    while high - low > SECOND:
        middle = (low + high) // 2
        low, high = (low, middle) if need(usage, middle) < STALE else (middle, high)
    return high / DAY


# monotone in everything


@given(usages(), SPANS, SPANS)
def test_a_later_use_never_lowers_the_need(usage: Usage, later: int, wait: int) -> None:
    at = last_event(usage) + later
    assert need(usage.used(at), at + wait) >= need(usage, at + wait)


@given(usages(), SPANS, SPANS)
def test_time_alone_never_raises_the_need(usage: Usage, first: int, wait: int) -> None:
    now = last_event(usage) + first
    assert need(usage, now + wait) <= need(usage, now)


@given(usages(), SPANS, st.floats(0, 1))
def test_importance_never_lowers_the_need(usage: Usage, wait: int, importance: float) -> None:
    now = last_event(usage) + wait
    low, high = sorted((usage.importance, importance))
    assert need(replace(usage, importance=low), now) <= need(replace(usage, importance=high), now)


@given(usages(), SPANS)
def test_being_stored_again_never_lowers_the_need(usage: Usage, wait: int) -> None:
    now = last_event(usage) + wait
    assert need(replace(usage, support=usage.support + 1), now) >= need(usage, now)


@given(usages(), st.integers(-30 * YEARS, 200 * YEARS))
def test_the_need_is_a_probability_at_any_time_even_before_the_record(
    usage: Usage, now: Instant
) -> None:
    found = terms(usage, now)
    assert 0 < found.need < 1
    assert found.age_days >= 0
    assert found.need == need(usage, now)


# what the numbers mean


@pytest.mark.parametrize(
    ("kind", "months"), [(Kind.SEMANTIC, 18), (Kind.EPISODIC, 4), (Kind.PROCEDURAL, 12)]
)
def test_what_nobody_uses_becomes_stale_after_the_lifetime_of_its_kind(
    kind: Kind, months: int
) -> None:
    days = days_until_stale(Usage(kind))
    assert days == pytest.approx(LIFETIME_DAYS[kind], rel=0.001)
    assert days == pytest.approx(months * 30.44, rel=0.02)


@pytest.mark.parametrize("kind", Kind)
def test_an_important_record_lasts_four_times_as_long(kind: Kind) -> None:
    usual, important = days_until_stale(Usage(kind)), days_until_stale(Usage(kind, importance=0.8))
    assert important / usual == pytest.approx(4, rel=0.01)
    assert days_until_stale(Usage(kind, importance=1.0)) > important


@given(st.sampled_from(Kind), st.floats(0, 1), st.integers(0, 2000), st.floats(0, 7))
def test_what_is_used_every_week_is_never_stale(
    kind: Kind, importance: float, weeks: int, days: float
) -> None:
    usage = Usage(kind, importance=importance, use_count=weeks, last_used=weeks * 7 * DAY or None)
    usage = replace(usage, first_used=7 * DAY if weeks else None)
    assert need(usage, (weeks * 7 * DAY) + round(days * DAY)) >= STALE


def test_uses_over_a_time_outlast_one_use_at_its_end() -> None:
    once = Usage().used(300 * DAY)
    often = once
    for day in (310, 320, 330, 340, 350):
        often = often.used(day * DAY)
    assert days_until_stale(often) > 2 * days_until_stale(once) > 4 * 300


def test_the_estimate_is_close_to_the_sum_over_every_use() -> None:
    # Petrov's means stand for uses spread evenly: 40 uses, one every nine days.
    usage = Usage()
    for use in range(1, 41):
        usage = usage.used(use * 9 * DAY)
    now = 400 * DAY
    exact = log(sum(((now - at * 9 * DAY) / DAY) ** -0.8 for at in range(41)))
    assert terms(usage, now).activation == pytest.approx(exact, abs=0.05)


def test_only_a_procedure_has_a_performance() -> None:
    assert terms(Usage(), DAY).performance is None
    assert terms(Usage(Kind.PROCEDURAL), DAY).performance == 1.0
    failing = terms(Usage(Kind.PROCEDURAL, failures=20, use_count=20), DAY)
    assert failing.performance == pytest.approx(0.1611, abs=1e-4)
    assert failing.uses == 21
