"""What an index of vectors is. Importing this loads numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Nums: TypeAlias = NDArray[np.int64]
"""Numbers of records, of shape (n,), dense and small: see `LARGEST_NUM`."""
Floats: TypeAlias = NDArray[np.float32]
"""Vectors of length one, of shape (dims,) or (n, dims)."""
Mask: TypeAlias = NDArray[np.bool_]
"""``mask[num]`` says whether a record may be found; numbers beyond its end may not."""
Found: TypeAlias = "list[tuple[int, float]]"
"""Numbers and cosines, best first, equal ones by number."""

LARGEST_NUM = 50_000_000
"""Tables by number take four bytes for each one up to the largest."""


class IndexFault(Exception):
    """The index cannot do it. ``str()`` is for a person and holds no text of a record."""


class IndexBroken(IndexFault):
    """What it stored cannot be used any more. It must be put aside and filled again."""


class IndexUnavailable(IndexFault):
    """It cannot be reached or opened at the moment; what it stored is probably well."""


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """How an index is."""

    ok: bool
    text: str
    """One sentence for a person."""


class VectorIndex(Protocol):
    """Vectors of one model at a time; those of other models are kept beside them.

    Any thread may call any method; calls block. All but `health` and `close` may raise `IndexFault`, and
    `ValueError` for shapes, numbers or vectors that are not what they should be. Before `ensure` there is
    nothing in it and nothing can be put into it.
    """

    def ensure(self, model_id: str, dims: int) -> None:
        """From now on everything is about the vectors of this model. Those of others stay."""
        ...

    def upsert(self, nums: Nums, vectors: Floats) -> None:
        """Put vectors in, in place of earlier ones of the same number. Safe to repeat."""
        ...

    def delete(self, nums: Sequence[int]) -> None:
        """Take vectors out; numbers that are not there are passed over. Safe to repeat."""
        ...

    def query(self, vector: Floats, k: int, allowed: Mask | None) -> Found:
        """The ``k`` nearest of those that ``allowed`` admits; None admits all.

        May return fewer than there are: then the index looked at too few, and an exact one must be asked.
        """
        ...

    def count(self) -> int:
        """How many vectors of this model it has."""
        ...

    def drop(self, model_id: str) -> None:
        """Delete all vectors of a model, this one or another; one that is not there is passed over."""
        ...

    def health(self) -> IndexHealth:
        """Whether it can be used, found out by using it. Never raises."""
        ...

    def close(self) -> None:
        """Free what it holds. Never raises; may be repeated."""
        ...
