"""A growing table of vectors by number, searched exactly. Loads numpy. Not safe for several threads."""

from __future__ import annotations

import numpy as np

from memory.vectors.port import Floats, Found, Mask, Nums
from memory.vectors.shortened import Shortened

_FIRST_ROWS = 256
_GATHER_SHARE = 0.2
"""When fewer rows are admitted than this share, they are copied out and only they are computed."""
_CLOSE = 1e-5
"""More than single precision can be wrong about a cosine: whoever is so close is computed again."""
_SHORTENED_FROM, _LEAST_DIMS = 4_096, 192
"""Rows and dimensions from which on shortened rows are looked at first: what is smaller is quickly read."""
_GROWN = 2
"""When a table has grown so much, its rows are shortened by a better basis."""
_LEFT_SHARE = 0.25
"""When more is left to be read than this share, shortened rows are of no use; then the next searches"""
_PAUSE = 50
"""do without."""
_AT_ONCE = 4_096
"""Rows that are computed in double precision at once, some 12 MB."""


class VectorTable:
    """Rows without gaps: the last row moves to where one was deleted."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self._size = 0
        self._rows: Floats = np.zeros((_FIRST_ROWS, dims), dtype=np.float32)
        self._nums: Nums = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._row_of = np.full(_FIRST_ROWS, -1, dtype=np.int32)
        """By number: its row, or -1."""
        self._short: Shortened | None = None
        self._pause = 0
        """Searches that do without shortened rows."""

    def __len__(self) -> int:
        return self._size

    def admitted(self, allowed: Mask | None) -> int:
        """How many rows a mask admits."""
        rows = self._admitted(allowed)
        return self._size if rows is None else len(rows)

    def nums(self) -> Nums:
        """All numbers, in ascending order."""
        return np.sort(self._nums[: self._size])

    def present(self, nums: Nums) -> Nums:
        """Those of ``nums`` that are in the table, in the same order."""
        return nums[self._find(nums) >= 0]

    def vectors(self, nums: Nums) -> Floats:
        """The vectors of numbers that are all in the table."""
        return self._rows[self._find(nums)]

    def put(self, nums: Nums, vectors: Floats) -> None:
        """Every number at most once; see `memory.vectors.checks`."""
        if not len(nums):
            return
        self._reserve_nums(int(nums.max()) + 1)
        rows = self._find(nums)
        new = rows < 0
        added = int(new.sum())
        self._reserve_rows(self._size + added)
        rows[new] = np.arange(self._size, self._size + added)
        self._rows[rows] = vectors
        if self._short is not None:
            self._short.put(rows, vectors)
        self._nums[rows] = nums
        self._row_of[nums] = rows
        self._size += added

    def remove(self, nums: Nums) -> None:
        """Numbers that are not there are passed over. What was there is overwritten."""
        for num in np.unique(self.present(nums)):
            row, last = int(self._row_of[num]), self._size - 1
            moved = self._nums[last]
            self._rows[row] = self._rows[last]
            self._nums[row] = moved
            self._row_of[moved] = row
            self._row_of[num] = -1
            self._rows[last] = 0.0
            if self._short is not None:
                self._short.move(row, last)
            self._size = last
        if self._size < len(self._rows) // 4 and len(self._rows) > _FIRST_ROWS:
            self._resize(max(_FIRST_ROWS, self._size * 2))

    def search(self, vector: Floats, k: int, allowed: Mask | None) -> Found:
        """The ``k`` nearest, exactly: equal vectors have equal cosines, and then the number decides."""
        if k < 1 or not self._size:
            return []
        rows = self._admitted(allowed)
        gathers = rows is not None and len(rows) < _GATHER_SHARE * self._size
        if not gathers:
            rows = self._promising(vector, k, rows)
            gathers = rows is not None and len(rows) < _GATHER_SHARE * self._size
        if rows is None:
            rough = _products(self._rows[: self._size], vector)
        elif gathers:
            rough = _products(self._rows[rows], vector)
        else:
            rough = _products(self._rows[: self._size], vector)[rows]
        near = _nearest(rough, k)
        if rows is not None:
            near = rows[near]
        cosines = self._exact(near, vector)
        nums = self._nums[near]
        best = np.lexsort((nums, -cosines))[:k]
        return list(zip(nums[best].tolist(), cosines[best].tolist(), strict=True))

    def cosines(self, vector: Floats, nums: Nums) -> Found:
        """Exact cosines of given numbers, sorted as by `search`; those that are not there are left out."""
        known = self.present(nums)
        cosines = self._exact(self._find(known), vector)
        best = np.lexsort((known, -cosines))
        return list(zip(known[best].tolist(), cosines[best].tolist(), strict=True))

    def _find(self, nums: Nums) -> Nums:
        """Rows of numbers, -1 where there is none."""
        rows = np.full(len(nums), -1, dtype=np.int64)
        inside = (nums >= 0) & (nums < len(self._row_of))
        rows[inside] = self._row_of[nums[inside]]
        return rows

    def _admitted(self, allowed: Mask | None) -> Nums | None:
        """Rows that the mask admits; None for all."""
        if allowed is None:
            return None
        nums = self._nums[: self._size]
        inside = np.flatnonzero(nums < len(allowed))
        rows = inside[allowed[nums[inside]]]
        return None if len(rows) == self._size else rows

    def _promising(self, vector: Floats, k: int, rows: Nums | None) -> Nums | None:
        """Those of ``rows`` (None: of all) that may be among the ``k`` nearest; or just ``rows``."""
        short = self._shortened(k)
        if short is None:
            return rows
        bounds = short.bounds(vector, self._size)
        if rows is not None:
            bounds = bounds[rows]
        if len(bounds) <= 2 * k:
            return rows
        # As good as the last of some k is whoever counts, so these should be good ones.
        some = np.argpartition(bounds, len(bounds) - k)[len(bounds) - k :]
        worst = _products(self._rows[some if rows is None else rows[some]], vector).min()
        left = np.flatnonzero(bounds >= worst - _CLOSE)
        if len(left) > _LEFT_SHARE * len(bounds):
            self._pause = _PAUSE
            return rows
        return left if rows is None else rows[left]

    def _shortened(self, k: int) -> Shortened | None:
        """The rows shortened, where that helps."""
        if self._size < max(_SHORTENED_FROM, 2 * k) or self.dims < _LEAST_DIMS:
            return None
        if self._pause:
            self._pause -= 1
            return None
        if self._short is None or self._size >= _GROWN * self._short.made_of:
            self._short = Shortened(self._rows[: self._size], len(self._rows))
        return self._short

    def _exact(self, rows: Nums, vector: Floats) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Cosines in double precision, every row summed in the same way wherever it lies."""
        wide = vector.astype(np.float64)
        cosines = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), _AT_ONCE):
            part = self._rows[rows[start : start + _AT_ONCE]].astype(np.float64)
            cosines[start : start + _AT_ONCE] = (part * wide).sum(axis=1)
        return np.clip(cosines, -1.0, 1.0)

    def _reserve_nums(self, needed: int) -> None:
        if needed > len(self._row_of):
            longer = np.full(max(needed, len(self._row_of) * 3 // 2), -1, dtype=np.int32)
            longer[: len(self._row_of)] = self._row_of
            self._row_of = longer

    def _reserve_rows(self, needed: int) -> None:
        if needed > len(self._rows):
            self._resize(max(needed, len(self._rows) * 3 // 2))

    def _resize(self, rows: int) -> None:
        vectors: Floats = np.zeros((rows, self.dims), dtype=np.float32)
        nums: Nums = np.zeros(rows, dtype=np.int64)
        vectors[: self._size] = self._rows[: self._size]
        nums[: self._size] = self._nums[: self._size]
        self._rows, self._nums = vectors, nums
        if self._short is not None:
            self._short.resize(rows)


def _products(rows: Floats, vector: Floats) -> Floats:
    # As quick as ``rows @ vector``, which memory's speed limits, too; but that starts threads which, when the
    # cores are busy, wait for each other ten times as long as the work takes.
    return np.einsum("ij,j->i", rows, vector)


def _nearest(rough: Floats, k: int) -> Nums:
    """Where the ``k`` best are, and all that may be as good as the last of them."""
    if len(rough) <= k:
        return np.arange(len(rough))
    worst = np.partition(rough, len(rough) - k)[len(rough) - k]
    return np.flatnonzero(rough >= worst - _CLOSE)
