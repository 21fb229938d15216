"""What is counted about an upstream."""

from __future__ import annotations

from proxy.vitals import LATENCY_SAMPLES, Vitals


def test_before_the_first_call_there_is_no_latency() -> None:
    assert Vitals().p50_ms is None
    assert Vitals().p95_ms is None


def test_percentiles_are_over_the_latest_calls_only() -> None:
    vitals = Vitals()
    for _ in range(1000):
        vitals.count(9999.0, failed=True)
    for duration in range(1, LATENCY_SAMPLES + 1):
        vitals.count(float(duration), failed=False)

    assert vitals.calls == 1000 + LATENCY_SAMPLES
    assert vitals.errors == 1000
    assert vitals.p50_ms == (LATENCY_SAMPLES + 1) / 2
    assert vitals.p95_ms == LATENCY_SAMPLES * 0.95


def test_one_call_is_every_percentile() -> None:
    vitals = Vitals()
    vitals.count(7.0, failed=False)

    assert (vitals.p50_ms, vitals.p95_ms) == (7.0, 7.0)


def test_the_error_output_is_a_tail() -> None:
    vitals = Vitals()
    for number in range(100):
        vitals.print_line(f"{number} " + "x" * 4096)

    lines = list(vitals.stderr)
    assert lines[-1].startswith("99 ")
    assert sum(map(len, lines)) <= 64 * 1024
    assert vitals.last_words == lines[-1]
