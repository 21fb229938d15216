"""Vectors of length one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.embedding.unit import unit_rows, unit_vector


@given(
    st.lists(
        st.lists(
            st.floats(-1e300, 1e300).filter(lambda one: abs(one) > 1e-300), min_size=3, max_size=3
        ),
        max_size=5,
    )
)
def test_any_direction_becomes_a_vector_of_length_one(rows: list[list[float]]) -> None:
    result = unit_rows(np.array(rows, dtype=np.float64).reshape(len(rows), 3))
    assert result.dtype == np.float32
    assert np.allclose(np.linalg.norm(result, axis=1), 1, atol=1e-6)


def test_the_direction_stays() -> None:
    assert unit_vector(np.array([3.0, -4.0])).tolist() == pytest.approx([0.6, -0.8])


def test_many_rows_are_treated_alike() -> None:
    rows = np.tile(np.array([[1.0, 2.0, 2.0]]), (3_000, 1))
    result = unit_rows(rows)
    assert (result == result[0]).all()
    assert result[0].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_what_has_no_direction_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="vector"):
        unit_rows(np.array([[1.0, 0.0], bad]))


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="matrix"):
        unit_rows(np.zeros(3))
    with pytest.raises(ValueError, match="vector"):
        unit_vector(np.zeros((1, 3)))
