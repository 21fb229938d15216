"""Vectors for tests, and an index that does as it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from memory.vectors.collection import Collection
from memory.vectors.port import Floats, IndexFault, Nums

DIMS = 16


def random_vectors(count: int, seed: int = 1, dims: int = DIMS) -> Floats:
    """Unit vectors, the same ones for the same seed."""
    rows = np.random.default_rng(seed).normal(size=(count, dims))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def numbers(*nums: int) -> Nums:
    """As an array."""
    return np.array(nums, dtype=np.int64)


def axis(at: int, dims: int = DIMS) -> Floats:
    """The unit vector along one axis."""
    vector = np.zeros(dims, dtype=np.float32)
    vector[at] = 1.0
    return vector


class FakeStore:
    """Collections in dictionaries. ``fault`` is raised by everything while it is set."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, Floats]] = {}
        self.fault: IndexFault | None = None
        self.calls: list[str] = []
        self.opened = 0
        self.before_query: Callable[[], None] = lambda: None

    def open(self) -> FakeStore:
        """As a store is opened."""
        self.called("open")
        self.opened += 1
        return self

    def called(self, what: str) -> None:
        """Note it, or fail."""
        self.calls.append(what)
        if self.fault is not None:
            raise self.fault

    def collection(self, name: str) -> Collection:
        self.called("collection")
        return FakeCollection(self, self.collections.setdefault(name, {}))

    def delete_collection(self, name: str) -> None:
        self.called("delete_collection")
        self.collections.pop(name, None)

    def close(self) -> None:
        self.calls.append("close")

    @property
    def only(self) -> dict[str, Floats]:
        """The one collection that there is."""
        (collection,) = self.collections.values()
        return collection


class FakeCollection:
    """A dictionary that is searched."""

    def __init__(self, store: FakeStore, rows: dict[str, Floats]) -> None:
        self._store = store
        self._rows = rows

    def dims(self) -> int:
        self._store.called("dims")
        return len(next(iter(self._rows.values()))) if self._rows else 0

    def upsert(self, ids: list[str], vectors: Floats) -> None:
        self._store.called(f"upsert {len(ids)}")
        assert len(ids) <= 300
        self._rows.update(zip(ids, vectors, strict=True))

    def delete(self, ids: list[str]) -> None:
        self._store.called(f"delete {len(ids)}")
        assert len(ids) <= 300
        for id in ids:
            self._rows.pop(id, None)

    def query(self, vector: Floats, most: int) -> tuple[list[str], list[float]]:
        self._store.called(f"query {most}")
        self._store.before_query()
        found: list[tuple[float, str]] = sorted(
            (1.0 - float(row @ vector), id) for id, row in self._rows.items()
        )
        best: list[Any] = found[:most]
        return [id for _, id in best], [distance for distance, _ in best]

    def count(self) -> int:
        self._store.called("count")
        return len(self._rows)
