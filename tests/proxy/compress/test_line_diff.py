"""What changed between two lists of lines."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.line_diff import Hunk, line_diff

LISTS = st.lists(st.sampled_from("abcde"), max_size=60)


def applied(old: Sequence[str], new: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """The new lines, from the old ones and the hunks' own lines only."""
    found: list[str] = []
    at = 0
    for hunk in hunks:
        assert at <= hunk.old_start <= hunk.old_end
        found += old[at : hunk.old_start]
        assert len(found) == hunk.new_start
        found += new[hunk.new_start : hunk.new_end]
        at = hunk.old_end
    return [*found, *old[at:]]


@settings(deadline=None)
@given(LISTS, LISTS)
def test_the_old_lines_with_the_hunks_are_the_new_lines(old: list[str], new: list[str]) -> None:
    hunks = line_diff(old, new)
    assert applied(old, new, hunks) == new
    assert bool(hunks) == (old != new)


@settings(deadline=None)
@given(st.lists(st.integers(0, 10_000).map(str), max_size=120), st.data())
def test_few_changes_give_small_hunks(old: list[str], data: st.DataObject) -> None:
    new = list(old)
    for _ in range(3):
        place = data.draw(st.integers(0, len(new)))
        new[place:place] = ["added"]
    changed = sum(
        hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start
        for hunk in line_diff(old, new)
    )
    assert changed == 3


def test_moved_windows_of_a_log_are_a_cut_and_an_addition() -> None:
    old = [f"line {number}" for number in range(20_000)]
    new = old[3_000:] + [f"line {number}" for number in range(20_000, 20_050)]
    assert line_diff(old, new) == [Hunk(0, 3_000, 0, 0), Hunk(20_000, 20_000, 17_000, 17_050)]


def test_lines_that_repeat_without_order_take_bounded_time_and_stay_right() -> None:
    old = [str(number * number % 7) for number in range(60_000)]
    new = [str(number * 3 % 5) for number in range(60_000)]
    begun = time.thread_time()
    hunks = line_diff(old, new)
    assert time.thread_time() - begun < 3
    assert applied(old, new, hunks) == new
