"""Delays before an upstream is tried again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.backoff import LAST_SECONDS, Backoff


def test_the_first_attempt_waits_for_nothing() -> None:
    assert Backoff().delay(0.9) == 0.0


def test_delays_double_up_to_a_minute() -> None:
    backoff = Backoff()
    most: list[float] = []
    for _ in range(10):
        backoff = backoff.after_failure(0.0)
        most.append(backoff.delay(1.0))

    assert most == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]


def test_a_minute_of_service_starts_the_delays_anew() -> None:
    worn = Backoff(failures=7)

    assert worn.after_failure(60.0).failures == 1
    assert worn.after_failure(59.9).failures == 8


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_a_delay_is_never_tight_and_never_longer_than_a_minute(
    failures: int, chance: float
) -> None:
    assert 0.05 <= Backoff(failures).delay(chance) <= LAST_SECONDS
