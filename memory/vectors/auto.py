"""Exact search in memory, with a Chroma store beside it where there are many vectors. Loads numpy.

Every vector is in memory, so every question has an exact answer at any time. From `threshold` vectors on
Chroma is quicker for questions that admit most of them; it then names candidates, whose cosines are computed
here. When it is too few, too old, broken or away, the answer comes from memory, and `maintain` repairs it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from enum import Enum

from memory.vectors.brute import BruteIndex
from memory.vectors.collection import BATCH, CollectionIndex
from memory.vectors.port import (
    Floats,
    Found,
    IndexBroken,
    IndexFault,
    IndexHealth,
    Mask,
    Nums,
)

THRESHOLD = 50_000
"""Vectors from which on Chroma is used. Filtered searches are quicker in memory at any size."""
RETRY_MICROSECONDS = 60_000_000
"""How long a store that was away is left alone."""
_ADMITTED_SHARE = 0.5
"""A question that admits fewer than this share of all vectors is answered from memory."""
_PROBES = 20
"""Vectors that are looked up to see whether a store is what it was."""


class Large(Enum):
    """What the store beside the memory is good for."""

    UNUSED = "unused"
    """Not opened yet."""
    FILLING = "filling"
    """Opened; it lacks vectors."""
    READY = "ready"
    """It has the same vectors as the memory."""
    AWAY = "away"
    """It could not be reached; tried again after a minute."""
    BROKEN = "broken"
    """To be put aside and filled again, once."""
    OFF = "off"
    """It broke again after that; not used until the next start."""


class AutoIndex:
    """A `VectorIndex`. Whoever indexes calls `maintain` now and then, in the same thread."""

    def __init__(
        self, brute: BruteIndex, large: CollectionIndex, threshold: int = THRESHOLD
    ) -> None:
        """``large``: not opened before there are ``threshold`` vectors and `maintain` is called."""
        self._brute = brute
        self._large = large
        self._threshold = threshold
        self._lock = threading.RLock()
        self._state = Large.UNUSED
        self._dirty: set[int] = set()
        """Numbers whose vectors the store may lack, or have although they are gone."""
        self._verified = False
        self._was_reset = False
        self._retry_at: int | None = None
        self._model: tuple[str, int] = ("", 0)
        self._problem = ""

    @property
    def state(self) -> Large:
        """What the store beside the memory is good for."""
        return self._state

    @property
    def problem(self) -> str:
        """What is wrong with the store, for a person; empty while all is well. Searches work anyway."""
        return self._problem

    def ensure(self, model_id: str, dims: int) -> None:
        """Use the vectors of this model."""
        with self._lock:
            self._brute.ensure(model_id, dims)
            if (model_id, dims) != self._model:
                self._model = (model_id, dims)
                self._start_over()

    def load(self, nums: Nums, vectors: Floats) -> None:
        """At a start, what the store was given earlier: goes to the memory only."""
        self._brute.upsert(nums, vectors)

    def upsert(self, nums: Nums, vectors: Floats) -> None:
        """Put vectors in. A fault of the store is no fault of this."""
        with self._lock:
            self._brute.upsert(nums, vectors)
            self._dirty.update(nums.tolist())
            self._push_new(len(nums))

    def delete(self, nums: Sequence[int]) -> None:
        """Take vectors out. A fault of the store is no fault of this."""
        with self._lock:
            self._brute.delete(nums)
            self._dirty.update(nums)
            self._push_new(len(nums))

    def query(self, vector: Floats, k: int, allowed: Mask | None) -> Found:
        """The ``k`` nearest that are allowed, never fewer than there are."""
        if self._state is Large.READY and k > 0:
            count = self._brute.count()
            admitted = self._brute.admitted(allowed)
            if count >= self._threshold and admitted >= _ADMITTED_SHARE * count:
                found = self._candidates(vector, k, allowed)
                if len(found) >= min(k, admitted):
                    return found
        return self._brute.query(vector, k, allowed)

    def cosines(self, vector: Floats, nums: Sequence[int]) -> Found:
        """Exact cosines of given records, best first."""
        return self._brute.cosines(vector, nums)

    def count(self) -> int:
        """How many vectors of this model there are."""
        return self._brute.count()

    def drop(self, model_id: str) -> None:
        """Delete all vectors of a model. Raises `IndexFault` when the store may still have them."""
        with self._lock:
            self._brute.drop(model_id)
            if model_id == self._model[0]:
                self._start_over()
            if self._large.may_hold():
                self._large.drop(model_id)

    def erase(self, models: Iterable[str] = ()) -> None:
        """Delete the store with every byte of what was deleted before; `maintain` fills a new one.

        ``models``: ids of all whose vectors may be in it. Raises `IndexFault` when it may still have them.
        """
        with self._lock:
            self._start_over()
            self._dirty.update(self._brute.nums().tolist())
            if self._large.may_hold():
                self._large.erase(models)

    def maintain(self, now: int) -> bool:
        """Do a part of what the store needs; true when more is left to do at once. Never raises.

        ``now``: microseconds since 1970, UTC. One part puts at most a thousand vectors in, about a second.
        """
        with self._lock:
            if self._brute.count() < self._threshold:
                return False
            try:
                return self._step(now)
            except IndexFault as fault:
                self._failed(fault)
                return self._state is Large.BROKEN

    def health(self) -> IndexHealth:
        """Not well when the store is not, although searches are."""
        if self._problem:
            return IndexHealth(
                False, f"{self._problem} Searches go through memory meanwhile and are exact."
            )
        beside = (
            "" if self._state is Large.UNUSED else f" The store beside it: {self._state.value}."
        )
        return IndexHealth(True, self._brute.health().text + beside)

    def close(self) -> None:
        """Close both."""
        with self._lock:
            self._large.close()
            self._brute.close()
            self._model = ("", 0)
            self._start_over()

    def _candidates(self, vector: Floats, k: int, allowed: Mask | None) -> Found:
        """From the store, with cosines from memory; empty when it fails."""
        try:
            near = self._large.query(vector, k, allowed)
        except IndexFault as fault:
            with self._lock:
                self._failed(fault)
            return []
        return self._brute.cosines(vector, [num for num, _ in near])

    def _step(self, now: int) -> bool:
        match self._state:
            case Large.OFF:
                return False
            case Large.AWAY:
                if self._retry_at is None:
                    self._retry_at = now + RETRY_MICROSECONDS
                if now < self._retry_at:
                    return False
                self._open()
            case Large.BROKEN:
                self._was_reset = True
                self._problem = self._large.reset(now)
                self._fill_all()
            case Large.UNUSED:
                self._open()
            case Large.FILLING | Large.READY:
                self._push(4 * BATCH)
        if not self._dirty and not self._verified:
            self._verify()
        if not self._dirty and self._verified and self._state is Large.FILLING:
            self._state = Large.READY
            self._problem = ""
        return bool(self._dirty)

    def _open(self) -> None:
        self._large.ensure(*self._model)
        self._state = Large.FILLING
        self._verified = False
        self._retry_at = None

    def _verify(self) -> None:
        """Whether it has what the memory has; otherwise fill it anew."""
        nums = self._brute.nums()
        probes = nums[:: max(1, len(nums) // _PROBES)].tolist()
        same = self._large.count() == len(nums) and all(self._finds_itself(num) for num in probes)
        if not same:
            self._large.drop(self._model[0])
            self._fill_all()
        self._verified = True

    def _finds_itself(self, num: int) -> bool:
        _, vectors = self._brute.vectors([num])
        near = self._large.query(vectors[0], 5, None)
        # Another record with the same text may be found in its place.
        return bool(near) and near[0][1] > 0.999

    def _fill_all(self) -> None:
        self._dirty.update(self._brute.nums().tolist())
        self._state = Large.FILLING
        self._verified = True

    def _push_new(self, changed: int) -> None:
        """What was just changed goes to a store that has all else."""
        if self._state is Large.READY:
            try:
                self._push(changed)
            except IndexFault as fault:
                self._failed(fault)

    def _push(self, most: int) -> None:
        some = sorted(self._dirty)[:most]
        for start in range(0, len(some), BATCH):
            batch = some[start : start + BATCH]
            present, vectors = self._brute.vectors(batch)
            if len(present):
                self._large.upsert(present, vectors)
            gone = set(batch) - set(present.tolist())
            if gone:
                self._large.delete(sorted(gone))
            self._dirty.difference_update(batch)

    def _failed(self, fault: IndexFault) -> None:
        if self._state is Large.OFF:
            return
        self._problem = str(fault)
        if not isinstance(fault, IndexBroken):
            self._state = Large.AWAY
            self._retry_at = None
        elif self._was_reset:
            self._state = Large.OFF
        else:
            self._state = Large.BROKEN

    def _start_over(self) -> None:
        if self._state is not Large.OFF:
            self._state = Large.UNUSED
        self._dirty.clear()
        self._verified = False
        self._retry_at = None
        self._problem = ""
