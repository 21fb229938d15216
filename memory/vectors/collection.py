"""An index in one collection of a Chroma store, wherever that store is. Loads numpy.

What is used of Chroma is little, so that a local store, a server and the distributed one are the same to
us: collections by name with the cosine space, ids that are numbers, unit vectors; no documents, no
metadata, no filters. What may be found is decided here, from more results than were asked for.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from memory.vectors.checks import checked_nums, checked_query, checked_rows
from memory.vectors.port import (
    Floats,
    Found,
    IndexBroken,
    IndexFault,
    IndexHealth,
    Mask,
    Nums,
)

BATCH = 300
"""Most vectors in one request; distributed Chroma takes no more."""
OVERFETCH = 4
"""How many times ``k`` are fetched where only some may be found."""
MOST_FETCHED = 1_000
"""Most that are fetched for one query, unless ``k`` itself is more."""


class Collection(Protocol):
    """One collection. Every method raises `IndexFault`."""

    def dims(self) -> int:
        """Of the vectors in it; 0 while there are none."""
        ...

    def upsert(self, ids: list[str], vectors: Floats) -> None:
        """At most `BATCH`."""
        ...

    def delete(self, ids: list[str]) -> None:
        """At most `BATCH`; unknown ones are passed over."""
        ...

    def query(self, vector: Floats, most: int) -> tuple[list[str], list[float]]:
        """Ids and cosine distances, nearest first."""
        ...

    def count(self) -> int:
        """How many vectors there are."""
        ...


class Store(Protocol):
    """A Chroma store that was opened or reached. Every method but `close` raises `IndexFault`."""

    def collection(self, name: str) -> Collection:
        """The collection of that name, made if there is none."""
        ...

    def delete_collection(self, name: str) -> None:
        """One that is not there is passed over."""
        ...

    def close(self) -> None:
        """Never raises."""
        ...


class CollectionIndex:
    """Opens its store with the first use and keeps one collection of it at hand."""

    def __init__(self, open_store: Callable[[], Store], place: str, namespace: str = "") -> None:
        """``place``: where the store is, for a person. ``namespace``: keeps memories apart in one store."""
        self._open_store = open_store
        self._place = place
        self._namespace = namespace
        self._lock = threading.RLock()
        self._store: Store | None = None
        self._collection: Collection | None = None
        self._model_id = ""
        self._dims = 0

    def ensure(self, model_id: str, dims: int) -> None:
        """Use this model's collection. Raises `IndexFault`; `IndexBroken` when its dimensions differ."""
        with self._lock:
            self._model_id, self._dims = model_id, dims
            self._collection = None
            self._at_hand()

    def upsert(self, nums: Nums, vectors: Floats) -> None:
        """Put vectors in, in requests of `BATCH`. Raises `IndexFault` and `ValueError`."""
        with self._lock:
            self._fill(self._at_hand(), *checked_rows(nums, vectors, self._dims))

    def delete(self, nums: Sequence[int]) -> None:
        """Take vectors out. Raises `IndexFault` and `ValueError`."""
        ids = [str(num) for num in np.unique(checked_nums(nums)).tolist()]
        with self._lock:
            if not ids or not self._model_id:
                return
            collection = self._at_hand()
            for start in range(0, len(ids), BATCH):
                collection.delete(ids[start : start + BATCH])

    def query(self, vector: Floats, k: int, allowed: Mask | None) -> Found:
        """The nearest that are allowed, perhaps fewer than there are. Raises `IndexFault`, `ValueError`."""
        with self._lock:
            collection = self._at_hand()
            checked = checked_query(vector, self._dims)
            if k < 1:
                return []
            most = k if allowed is None else max(k, min(k * OVERFETCH, MOST_FETCHED))
            ids, distances = collection.query(checked, most)
        return _found(ids, distances, k, allowed)

    def count(self) -> int:
        """How many vectors of this model there are. Raises `IndexFault`."""
        with self._lock:
            return self._at_hand().count() if self._model_id else 0

    def drop(self, model_id: str) -> None:
        """Delete a model's collection. Raises `IndexFault`."""
        with self._lock:
            if model_id == self._model_id:
                self._collection = None
            self._opened().delete_collection(self._name(model_id))

    def health(self) -> IndexHealth:
        """Counts and searches once: a broken store fails at that."""
        try:
            with self._lock:
                count = self.count()
                if count and not self.query(_first_axis(self._dims), 1, None):
                    return IndexHealth(False, f"The index {self._place} finds nothing any more.")
        except IndexFault as fault:
            return IndexHealth(False, str(fault))
        return IndexHealth(True, f"{count:,} vectors in the index {self._place}.")

    def close(self) -> None:
        """Close the store; the next use opens it again."""
        with self._lock:
            self._collection = None
            if self._store is not None:
                store, self._store = self._store, None
                store.close()

    def rebuild(self, rows: Iterable[tuple[Nums, Floats]]) -> None:
        """Make this model's collection anew with these vectors. Raises `IndexFault` and `ValueError`."""
        with self._lock:
            self.drop(self._model_id)
            self._fill_all(self._at_hand(), rows)

    def may_hold(self) -> bool:
        """False when it surely stores nothing, so that it need not be opened to delete something."""
        return True

    def erase(self, models: Iterable[str] = ()) -> None:
        """Delete all that was ever stored here for this memory, as far as can be done from here.

        ``models``: ids of those that may have vectors here from earlier times. Afterwards it is empty. A
        server keeps deleted bytes in its files until it is vacuumed. Raises `IndexFault`.
        """
        with self._lock:
            for model_id in sorted({self._model_id, *models} - {""}):
                self.drop(model_id)

    def reset(self, now: int) -> str:
        """Begin anew with an empty collection; returns what was done, for a person. Raises `IndexFault`.

        ``now``: microseconds since 1970, UTC.
        """
        with self._lock:
            self.drop(self._model_id)
            self._at_hand()
        return f"The collection of the index {self._place} was made anew."

    def _fill_all(self, collection: Collection, rows: Iterable[tuple[Nums, Floats]]) -> None:
        for nums, vectors in rows:
            self._fill(collection, *checked_rows(nums, vectors, self._dims))

    def _fill(self, collection: Collection, nums: Nums, vectors: Floats) -> None:
        for start in range(0, len(nums), BATCH):
            ids = [str(num) for num in nums[start : start + BATCH].tolist()]
            collection.upsert(ids, vectors[start : start + BATCH])

    def _opened(self) -> Store:
        if self._store is None:
            self._store = self._open_store()
        return self._store

    def _at_hand(self) -> Collection:
        if not self._model_id:
            raise ValueError("no model was chosen yet")
        if self._collection is None:
            collection = self._opened().collection(self._name(self._model_id))
            dims = collection.dims()
            if dims not in (0, self._dims):
                raise IndexBroken(
                    f"The index {self._place} holds vectors of {dims} dimensions instead of {self._dims}."
                )
            self._collection = collection
        return self._collection

    def _name(self, model_id: str) -> str:
        identity = f"{self._namespace}\n{model_id}".encode()
        return f"mem-{hashlib.sha256(identity).hexdigest()[:24]}"


def _found(ids: list[str], distances: list[float], k: int, allowed: Mask | None) -> Found:
    found = [
        (int(id), min(1.0, max(-1.0, 1.0 - distance)))
        for id, distance in zip(ids, distances, strict=True)
    ]
    if allowed is not None:
        found = [(num, cosine) for num, cosine in found if num < len(allowed) and allowed[num]]
    return sorted(found, key=lambda one: (-one[1], one[0]))[:k]


def _first_axis(dims: int) -> Floats:
    axis = np.zeros(dims, dtype=np.float32)
    axis[0] = 1.0
    return axis
