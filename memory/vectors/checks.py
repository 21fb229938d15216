"""Whether what is put into an index is what it should be. Pure; loads numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory.embedding.unit import unit_rows, unit_vector
from memory.vectors.port import LARGEST_NUM, Floats, Nums


def checked_rows(nums: Nums, vectors: Floats, dims: int) -> tuple[Nums, Floats]:
    """Each number once, with its last vector, of length one also after a detour through float16.

    Raises `ValueError`.
    """
    numbers = checked_nums(nums)
    if vectors.ndim != 2 or vectors.shape != (len(numbers), dims):
        raise ValueError(
            f"{len(numbers)} vectors of {dims} dimensions are expected, not {vectors.shape}"
        )
    if len(numbers) == 1:
        return numbers, unit_rows(vectors)
    _, last = np.unique(numbers[::-1], return_index=True)
    keep = np.sort(len(numbers) - 1 - last)
    return numbers[keep], unit_rows(vectors[keep])


def checked_nums(nums: Nums | Sequence[int]) -> Nums:
    """As an array. Raises `ValueError` when one is out of range or no whole number."""
    numbers = np.asarray(nums)
    if not numbers.size:
        return np.zeros(0, dtype=np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError("numbers of records are expected")
    if int(numbers.min()) < 0 or int(numbers.max()) > LARGEST_NUM:
        raise ValueError(f"numbers of records go from 0 to {LARGEST_NUM:,}")
    return numbers.astype(np.int64)


def checked_query(vector: Floats, dims: int) -> Floats:
    """Of length one. Raises `ValueError`."""
    if vector.shape != (dims,):
        raise ValueError(f"a vector of {dims} dimensions is expected, not {vector.shape}")
    return unit_vector(vector)
