"""Numbers, times and texts as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console import format as fmt


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (9_931, "9,931"),
        (99_999, "99,999"),
        (100_000, "100k"),
        (208_624, "209k"),
        (999_400, "999k"),
        (999_600, "1.0M"),
        (1_234_567, "1.2M"),
        (31_000_000_000, "31G"),
        (5_000_000_000_000, "5.0T"),
        (-5, "-5"),
    ],
)
def test_counts_keep_their_digits_until_the_column_is_full(value: int, shown: str) -> None:
    assert fmt.count(value) == shown


@given(st.integers(min_value=0, max_value=10**12))
def test_a_count_fits_six_cells_and_a_brief_one_five(value: int) -> None:
    assert len(fmt.count(value)) <= 6
    assert len(fmt.brief(value)) <= 5


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_120, "9.1 kB"), (999_999, "1.0 MB")],
)
def test_sizes_are_decimal(value: int, shown: str) -> None:
    assert fmt.size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.04, "0.0 ms"), (4, "4 ms"), (999.6, "1.0 s"), (1234, "1.2 s"), (123_000, "2 min 3 s")],
)
def test_durations_take_the_unit_that_fits(value: float, shown: str) -> None:
    assert fmt.duration(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, fmt.NONE), (0.42, "0.4"), (9.97, "10"), (2210, "2,210"), (-1, "0.0")],
)
def test_the_ms_column_shows_no_more_digits_than_it_can(value: float | None, shown: str) -> None:
    assert fmt.milliseconds(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-3, "0s"), (59.9, "59s"), (60, "1m"), (11_520, "3h 12m"), (273_600, "3d 4h")],
)
def test_ages_name_the_two_largest_units(seconds: float, shown: str) -> None:
    assert fmt.age(seconds) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [(0, 0, fmt.NONE), (0, 9, "0%"), (1, 9_999, "<0.1%"), (13, 1000, "1.3%"), (42, 100, "42%")],
)
def test_shares_say_little_and_nothing_apart(part: int, whole: int, shown: str) -> None:
    assert fmt.percent(part, whole) == shown


def test_times_are_shown_in_the_given_zone_and_old_ones_with_their_day() -> None:
    at = datetime(2026, 11, 30, 23, 30, tzinfo=UTC).timestamp()
    east = timezone(timedelta(hours=2))
    assert fmt.clock(at, UTC) == "23:30:00"
    assert fmt.clock(at, east) == "01:30:00"
    assert fmt.moment(at, at + 60, UTC) == "23:30:00"
    assert fmt.moment(at, at + 3600, UTC) == "11-30 23:30"


@given(st.text(max_size=80), st.integers(min_value=0, max_value=40), st.booleans())
def test_a_fitted_text_has_exactly_the_width_and_is_one_line(
    text: str, width: int, right: bool
) -> None:
    shown = fmt.fit(text, width, right=right)
    assert cell_len(shown) == width
    assert len(shown.splitlines()) <= 1


def test_wide_characters_are_never_split() -> None:
    assert fmt.fit("検索結果", 5) == "検索" + fmt.ELLIPSIS
    assert fmt.fit("検索結果", 4) == "検" + " " + fmt.ELLIPSIS


def test_plural() -> None:
    assert fmt.plural(1, "call") == "1 call"
    assert fmt.plural(1200, "call was", "calls were") == "1,200 calls were"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999_999, "999,999"), (1_000_000, "1.00M"), (-2_884, "-2,884"), (10**9, "1.00G")],
)
def test_tokens_keep_their_digits_below_a_million(value: int, text: str) -> None:
    assert fmt.tokens(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(-51, 100, "-51%"), (-1, 100, "-1.0%"), (-1, 10_000, ">-0.1%"), (-240, 100, "-240%")],
)
def test_a_negative_share_has_its_sign(part: int, whole: int, text: str) -> None:
    assert fmt.percent(part, whole) == text


def test_a_negative_number_at_a_charts_edge_is_brief_too() -> None:
    assert fmt.brief(-48_213) == "-48k"
