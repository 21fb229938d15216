"""What stands out among the items of an array."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.json_outliers import unusual
from tests.proxy.compress.json_values import VALUES


def _rows(count: int, **odd: object) -> list[dict[str, object]]:
    return [
        {"id": i, "status": "ok", "ms": 20 + i % 7} | (odd if i == count // 3 else {})
        for i in range(count)
    ]


def test_failed_items_are_errors() -> None:
    for odd in (
        {"status": "FAILED"},
        {"error": "no such file"},
        {"success": False},
        {"level": "fatal"},
    ):
        assert unusual(_rows(60, **odd)).errors == (20,), odd


def test_an_empty_error_is_none() -> None:
    rows = [row | {"error": None if row["id"] != 7 else "boom"} for row in _rows(60)]
    assert unusual(rows).errors == (7,)


def test_server_errors_are_errors_and_other_numbers_are_not() -> None:
    rows = [{"path": f"/{i}", "status_code": 503 if i == 11 else 200} for i in range(50)]
    assert unusual(rows).errors == (11,)


def test_a_number_far_from_the_others_is_odd() -> None:
    found = unusual(_rows(200, ms=5000))
    assert 66 in found.odd
    assert not found.errors


def test_what_most_items_have_is_not_unusual() -> None:
    rows = [{"status": "failed", "n": i} for i in range(40)]
    assert unusual(rows).errors == ()
    assert list(unusual(rows).odd) == []


def test_an_item_with_other_keys_or_type_is_odd() -> None:
    assert list(unusual([*_rows(30), "stray"]).odd) == [30]
    assert 10 in unusual(_rows(30, note="only here")).odd


def test_few_items_have_nothing_unusual() -> None:
    assert unusual([{"error": "x"}, {"a": 1}]).errors == ()


@given(st.lists(VALUES, max_size=40))
def test_any_items_give_positions_of_theirs(items: list[object]) -> None:
    found = unusual(items)
    both = [*found.errors, *found.odd]
    assert len(set(both)) == len(both)
    assert all(0 <= place < len(items) for place in both)
    assert found == unusual(items)
