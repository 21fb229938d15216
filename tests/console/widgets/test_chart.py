"""Bars as strings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.chart import bars, resample, spread


def test_bars_fill_from_below() -> None:
    assert bars([0, 8, 16], 2) == ["  \u2588", " \u2588\u2588"]
    assert bars([1, 2, 4], 1) == ["\u2582\u2584\u2588"]


def test_little_is_not_nothing() -> None:
    assert bars([1, 1_000_000], 1)[0][0] == "\u2581"
    assert bars([0, 0], 2) == ["  ", "  "]


@given(st.lists(st.integers(0, 10**9), max_size=90), st.integers(1, 12))
def test_every_row_has_a_character_per_column(values: list[int], height: int) -> None:
    rows = bars(values, height)
    assert len(rows) == height
    assert all(len(row) == len(values) for row in rows)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=90), st.integers(1, 200))
def test_resampling_fills_the_width_and_stays_within_the_values(
    values: list[int], width: int
) -> None:
    columns = resample(values, width)
    assert len(columns) == width
    assert max(columns) <= max(values)
    assert min(columns) >= min(values)


def test_a_column_over_several_values_shows_their_mean_rounded_up() -> None:
    assert resample([0, 1, 10, 20], 2) == [1, 15]
    assert resample([3, 5], 4) == [3, 3, 5, 5]
    assert resample([], 9) == []


@given(st.lists(st.integers(-50, 50), max_size=40), st.integers(0, 60))
def test_spread_bars_fill_the_width_and_each_value_has_the_same_room(
    values: list[int], width: int
) -> None:
    columns = spread(values, width)
    assert len(columns) == (width if values else 0)
    if values and width >= 2 * len(values):
        each = width // len(values)
        bars_only = columns[width - each * len(values) :]
        assert [bars_only[index * each] for index in range(len(values))] == [0] * len(values)
        assert [bars_only[index * each + 1] for index in range(len(values))] == values
