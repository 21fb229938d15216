"""What a cosine can be at most, from a third of a vector: then most vectors need not be read. Loads numpy.

Vectors of one model lie near a subspace. The first coordinates in it, and the length of what is left, bound
the product of two vectors (Cauchy and Schwarz): ``v . w <= first(v) . first(w) + rest(v) * rest(w)``. This
holds for any orthonormal basis, so one made from earlier vectors stays right for later ones.
Measured with 10,000 MiniLM vectors: 4 of 1,000 are left to be read for the 10 nearest, 8 of 100 for the 100.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory.vectors.port import Floats

_PART = 3
"""One coordinate is kept for each so many."""
_SAMPLE = 2_000
"""Vectors that the basis is made from."""
_AT_ONCE = 1_024


class Shortened:
    """The first coordinates of every row of a table, and the length of its rest."""

    def __init__(self, vectors: Floats, room: int) -> None:
        """``vectors``: the rows that there are. ``room``: rows that there will be."""
        self.made_of = len(vectors)
        """Rows when the basis was made."""
        step = max(1, len(vectors) // _SAMPLE)
        sample = vectors[::step].astype(np.float64)
        _, axes = np.linalg.eigh(sample.T @ sample)
        kept = vectors.shape[1] // _PART
        self._basis: NDArray[np.float64] = np.ascontiguousarray(axes.T[::-1][:kept])
        self._firsts: Floats = np.zeros((room, kept), dtype=np.float32)
        self._rests: Floats = np.zeros(room, dtype=np.float32)
        for start in range(0, len(vectors), _AT_ONCE):
            rows = slice(start, min(start + _AT_ONCE, len(vectors)))
            self.put(rows, vectors[rows])

    def put(self, rows: slice | NDArray[np.int64], vectors: Floats) -> None:
        """These rows hold these vectors now."""
        self._firsts[rows], self._rests[rows] = self._cut(vectors)

    def move(self, row: int, last: int) -> None:
        """The last row moves to ``row``, and is no more."""
        self._firsts[row], self._rests[row] = self._firsts[last], self._rests[last]
        self._firsts[last], self._rests[last] = 0.0, 0.0

    def resize(self, room: int) -> None:
        """Make room for so many rows."""
        kept = min(room, len(self._rests))
        firsts, rests = self._firsts, self._rests
        self._firsts = np.zeros((room, firsts.shape[1]), dtype=np.float32)
        self._rests = np.zeros(room, dtype=np.float32)
        self._firsts[:kept], self._rests[:kept] = firsts[:kept], rests[:kept]

    def bounds(self, vector: Floats, size: int) -> Floats:
        """What the product of each of the first ``size`` rows with ``vector`` is at most."""
        first, rest = self._cut(vector[np.newaxis])
        found: Floats = np.einsum("ij,j->i", self._firsts[:size], first[0])
        return found + self._rests[:size] * rest[0]

    def _cut(self, vectors: Floats) -> tuple[Floats, Floats]:
        wide = vectors.astype(np.float64)
        # For one, `numpy.matmul` may start threads that cost more than all the rest.
        if len(wide) == 1:
            firsts = np.einsum("ij,j->i", self._basis, wide[0])[np.newaxis]
            left = wide - np.einsum("ij,i->j", self._basis, firsts[0])
        else:
            firsts = wide @ self._basis.T
            left = wide - firsts @ self._basis
        # The rest itself is measured: one less the square of the first part would lose all its digits.
        rests = np.sqrt(np.einsum("ij,ij->i", left, left))
        return firsts.astype(np.float32), rests.astype(np.float32)
