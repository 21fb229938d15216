"""Vectors of length one. Pure; loads numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory.embedding.port import Floats


def unit_rows(rows: NDArray[np.floating]) -> Floats:
    """Every row divided by its length, as float32.

    Raises `ValueError` when ``rows`` is no matrix, or a row is all zero or not finite.
    """
    if rows.ndim != 2:
        raise ValueError(f"a matrix is expected, not an array of {rows.ndim} dimensions")
    exact = rows.astype(np.float64)
    if not np.isfinite(exact).all():
        raise ValueError("a vector holds a number that is not finite")
    # Without this, squares of very small and very large numbers would leave the range of a float.
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError("a vector is all zero")
    exact /= largest
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    return exact.astype(np.float32)


def unit_vector(vector: NDArray[np.floating]) -> Floats:
    """`unit_rows` for one vector. Raises `ValueError` likewise."""
    if vector.ndim != 1:
        raise ValueError(f"a vector is expected, not an array of {vector.ndim} dimensions")
    return unit_rows(vector[np.newaxis, :])[0]
