from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ids import LAST_INSTANT, is_id, new_id

INSTANTS = st.integers(0, LAST_INSTANT)
RANDOM = st.binary(min_size=10, max_size=10)


def test_an_id_is_written_as_the_specification_writes_it() -> None:
    assert new_id(1469922850259 * 1000, bytes(10)) == "01ARZ3NDEK" + "0" * 16
    assert new_id(1469918176385 * 1000, b"\xff" * 10) == "01ARYZ6S41" + "Z" * 16


@given(INSTANTS, RANDOM)
def test_every_id_has_the_form_of_one(now: int, randomness: bytes) -> None:
    assert is_id(new_id(now, randomness))


@given(INSTANTS, INSTANTS, RANDOM, RANDOM)
def test_ids_sort_by_the_millisecond_they_were_made_in(
    first: int, second: int, a: bytes, b: bytes
) -> None:
    if first // 1000 < second // 1000:
        assert new_id(first, a) < new_id(second, b)


@given(INSTANTS, RANDOM, RANDOM)
def test_ids_of_other_randomness_differ(now: int, a: bytes, b: bytes) -> None:
    assert (new_id(now, a) == new_id(now, b)) is (a == b)


def test_an_id_takes_ten_random_bytes_and_a_time_that_fits() -> None:
    for now, randomness in (
        (0, b""),
        (0, bytes(11)),
        (-1, bytes(10)),
        (LAST_INSTANT + 1, bytes(10)),
    ):
        with pytest.raises(ValueError, match="an id"):
            new_id(now, randomness)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0" * 25,
        "0" * 27,
        "8" + "0" * 25,
        "I" + "0" * 25,
        "0" * 25 + "u",
        "0" * 25 + "l",
        "0" * 26 + "\n",
    ],
)
def test_what_is_not_an_id_is_told_apart(text: str) -> None:
    assert not is_id(text)
