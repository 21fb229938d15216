"""Sums over calls: local days, minutes without gaps, parts that add up."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.model import Outcome, Totals
from proxy.sums import (
    KEPT_MINUTES,
    CallSums,
    add,
    local_day,
    totals_by_day,
    totals_by_minute,
    totals_of,
)
from tests.proxy.store.conftest import make_record

MIDNIGHT_NEW_YORK = 1_700_024_400.0
"""2023-11-15 00:00 in New York, 05:00 UTC."""


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_day_begins_at_local_midnight(new_york: None) -> None:
    assert local_day(MIDNIGHT_NEW_YORK - 1) == "2023-11-14"
    assert local_day(MIDNIGHT_NEW_YORK) == "2023-11-15"
    sums = CallSums()
    before = make_record(1, started_at=MIDNIGHT_NEW_YORK - 1)
    after = make_record(2, started_at=MIDNIGHT_NEW_YORK + 1)
    sums.include([before, after, after])
    assert sums.today(MIDNIGHT_NEW_YORK - 1).calls == 1
    assert sums.today(MIDNIGHT_NEW_YORK).calls == 2
    assert sums.today(MIDNIGHT_NEW_YORK + 86_400).calls == 0
    assert sums.all_time().calls == 3


def test_a_clock_that_goes_back_loses_no_day() -> None:
    sums = CallSums()
    sums.include([make_record(1, started_at=2e9), make_record(2, started_at=1e9)])
    assert sums.today(2e9).calls == sums.today(1e9).calls == 1
    assert sums.all_time().calls == 2


def test_only_faults_on_the_way_are_errors() -> None:
    errors = {outcome for outcome in Outcome if totals_of(make_record(1, outcome=outcome)).errors}
    assert errors == {Outcome.ERROR, Outcome.TIMEOUT, Outcome.UPSTREAM_LOST}


def test_minutes_have_no_gaps() -> None:
    sums = CallSums()
    sums.include([make_record(1, started_at=6_000.0), make_record(2, started_at=6_185.0)])
    minutes = sums.minutes(5, 6_199.0)
    assert [minute.start for minute in minutes] == [5_940, 6_000, 6_060, 6_120, 6_180]
    assert [minute.calls for minute in minutes] == [0, 1, 0, 0, 1]
    assert minutes[1].tokens_in == 4
    assert minutes[1].tokens_out == 38


def test_minutes_are_kept_for_a_day() -> None:
    sums = CallSums()
    sums.include(make_record(n, started_at=60.0 * n) for n in range(KEPT_MINUTES + 10))
    kept = sums.minutes(2 * KEPT_MINUTES, 60.0 * (KEPT_MINUTES + 9))
    assert sum(minute.calls for minute in kept) == KEPT_MINUTES


TIMES = st.floats(0, 4e9)


@given(st.lists(st.tuples(TIMES, st.sampled_from(Outcome)), max_size=20), TIMES)
def test_days_add_up_to_all_time(calls: list[tuple[float, Outcome]], now: float) -> None:
    records = [make_record(n, started_at=at, outcome=out) for n, (at, out) in enumerate(calls)]
    sums = CallSums()
    sums.include(records)
    total = Totals()
    for totals in sums.days().values():
        total = add(total, totals)
    assert total == sums.all_time()
    assert sums.days() == totals_by_day(totals_by_minute(records))
    restored = CallSums()
    restored.restore(sums.days(), {})
    assert restored.all_time() == sums.all_time()
    assert restored.today(now) == sums.today(now)
