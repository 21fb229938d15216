"""Searching a held text: where, how often, and with which neighbours."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.matches import MOST_MATCHES, find_matches, lowered
from proxy.compress.model import ContentType
from proxy.compress.section_ids import resolve
from tests.proxy.compress.gauges import TEXTS


@given(TEXTS, st.text(min_size=1, max_size=3), st.integers(1, 5))
def test_windows_are_in_order_hold_their_matches_and_are_found_again_by_id(
    text: str, wanted: str, most: int
) -> None:
    found = find_matches(text, wanted, most)
    assert found.total == lowered(text).count(lowered(wanted))
    assert len(found.windows) <= most
    place = number = 0
    for window in found.windows:
        assert place <= window.start < window.end <= len(text)
        assert window.first == number + 1
        assert lowered(wanted) in lowered(text[window.start : window.end])
        assert resolve(text, ContentType.MIXED, window.id) == [(window.start, window.end)]
        place, number = window.end, window.last
    assert found.shown <= found.total
    assert (found.shown == 0) == (found.total == 0)


def test_neighbouring_matches_share_one_window() -> None:
    text = "".join(
        f"{'hit' if number in (10, 13, 30) else 'row'} {number}\n" for number in range(1, 50)
    )
    found = find_matches(text, "HIT")
    assert [(window.id, window.first, window.last, window.line) for window in found.windows] == [
        ("lines:8-15", 1, 2, 10),
        ("lines:28-32", 3, 3, 30),
    ]


def test_a_capital_that_grows_when_lowered_moves_nothing() -> None:
    text = "\u0130stanbul\n" * 5 + "needle\n"
    [window] = find_matches(text, "NEEDLE").windows
    assert window.line == 6
    assert text[window.start : window.end].endswith("needle\n")


def test_a_match_in_every_line_is_bounded() -> None:
    found = find_matches("same line\n" * 100_000, "same")
    assert found.total == 100_000
    assert found.shown == MOST_MATCHES


def test_matches_in_one_line_of_megabytes_take_linear_time() -> None:
    text = "ab " * 2_000_000
    begun = time.thread_time()
    found = find_matches(text, "b")
    assert time.thread_time() - begun < 2
    assert found.total == 2_000_000
    assert all(window.id.startswith("chars:") for window in found.windows)
