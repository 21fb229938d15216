"""Vectors of length one. Pure; loads numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory.embedding.port import Floats

_AT_ONCE = 1_024
"""Rows in double precision at once, so that they stay in the processor's cache."""


def unit_rows(rows: NDArray[np.floating]) -> Floats:
    """Every row divided by its length, as float32.

    Raises `ValueError` when ``rows`` is no matrix, or a row is all zero or not finite.
    """
    if rows.ndim != 2:
        raise ValueError(f"a matrix is expected, not an array of {rows.ndim} dimensions")
    result = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        result[start : start + _AT_ONCE] = _unit_part(rows[start : start + _AT_ONCE])
    return result


def unit_vector(vector: NDArray[np.floating]) -> Floats:
    """`unit_rows` for one vector. Raises `ValueError` likewise."""
    if vector.ndim != 1:
        raise ValueError(f"a vector is expected, not an array of {vector.ndim} dimensions")
    return unit_rows(vector[np.newaxis, :])[0]


def _unit_part(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    exact = rows.astype(np.float64)
    # Without this, squares of very small and very large numbers would leave the range of a float.
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not np.isfinite(largest).all():
        raise ValueError("a vector holds a number that is not finite")
    if not largest.all():
        raise ValueError("a vector is all zero")
    exact /= largest
    exact /= np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, np.newaxis]
    return exact
