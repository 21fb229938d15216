from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.outliers import FATAL, OUTLIER, failures, must_keep


@pytest.mark.parametrize(
    "line",
    [
        "5 errors found",
        "KeyError: 'x'",
        "[ERROR] disk full",
        "error: cannot open file",
        "build failed",
        "failed=2",
        "java.io.IOException: gone",
        "Traceback (most recent call last):",
        "kernel panic - not syncing",
        "Fehler beim Lesen",
        "发生错误",
        "接続エラー",
        "произошла ошибка",
        "10 errors",
    ],
)
def test_a_report_of_a_failure_must_be_kept(line: str) -> None:
    assert list(failures(["all is well", line, "done"])) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "0 errors found",
        "no errors",
        "errors: 0",
        "failed=0 passed=3",
        '"error": null',
        '"error_count": 0',
        "without any errors",
        "the terrorist was seen",
        "an infallible method",
        "mirror of the site",
    ],
)
def test_no_failure_is_no_report(line: str) -> None:
    assert failures([line]) == {}


def test_in_prose_only_what_a_program_wrote_counts() -> None:
    lines = [
        "The attempt failed in 1990.",
        "His fatal error was pride.",
        "ERROR 42: disk",
        "error: x",
    ]

    assert list(failures(lines, strict=True)) == [2, 3]


def test_a_fatal_report_weighs_more_than_another() -> None:
    found = failures(["request failed", "FATAL: out of memory"])

    assert found[1] == FATAL > found[0]


def test_a_number_far_from_its_column_is_an_outlier() -> None:
    rows = [f"{number},{20 + number % 7},ok" for number in range(200)]
    rows[77] = "77,900,ok"

    assert must_keep(rows) == {77: OUTLIER}


def test_a_value_that_stands_once_among_few_is_an_outlier() -> None:
    rows = [f"{number}\t200" for number in range(200)]
    rows[42] = "42\t500"

    assert list(must_keep(rows)) == [42]


def test_rows_of_all_different_values_have_no_outliers() -> None:
    assert must_keep([f"{number},name {number * 7919 % 1000}" for number in range(300)]) == {}


@given(st.lists(st.text()))
def test_any_segments_are_judged_the_same_twice(segments: list[str]) -> None:
    found = must_keep(segments)

    assert must_keep(segments) == found
    assert all(0 <= index < len(segments) for index in found)


@given(st.lists(st.from_regex(r"[-0-9.einfa]{1,6},[-0-9.e]{0,5}", fullmatch=True), min_size=12))
def test_any_cells_are_judged_without_an_error(rows: list[str]) -> None:
    must_keep(rows)
