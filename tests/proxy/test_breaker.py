"""The circuit breaker."""

from __future__ import annotations

from proxy.breaker import Breaker


def _after(failures: int, now: float = 100.0) -> Breaker:
    breaker = Breaker()
    for _ in range(failures):
        breaker = breaker.failed(now)
    return breaker


def test_it_opens_at_the_fifth_failure_in_a_row() -> None:
    assert _after(4).closed
    assert not _after(5).closed


def test_any_answer_starts_the_count_anew() -> None:
    breaker = _after(4).succeeded()

    assert breaker.failed(100.0).closed
    assert breaker.failures == 0


def test_it_wants_a_probe_after_five_seconds_and_waits_longer_after_each_failed_one() -> None:
    breaker = _after(5)
    assert not breaker.wants_probe(104.9)
    assert breaker.wants_probe(105.0)

    breaker = breaker.failed(105.0)
    assert not breaker.wants_probe(114.9)
    assert breaker.wants_probe(115.0)


def test_the_wait_is_never_longer_than_five_minutes() -> None:
    breaker = _after(5)
    for _ in range(20):
        breaker = breaker.failed(1000.0)

    assert breaker.wants_probe(1300.0)


def test_a_good_probe_closes_it() -> None:
    assert _after(5).succeeded() == Breaker()
