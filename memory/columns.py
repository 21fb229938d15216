"""What filters need to know of every record, in arrays: who may be found is decided before ranking.

One row per `Record.num`. Kept up to date from the journal's numbers, so that other processes' changes on
the same database are seen, too. Imports numpy; only the memory's own process loads this.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory.model import Instant, Kind, State

if TYPE_CHECKING:
    from memory.store.reading import Reading, Selection

_KINDS = {kind: code for code, kind in enumerate(Kind)}
_STATES = {state: code for code, state in enumerate(State)}
_NOBODY = -1
_ALWAYS = np.iinfo(np.int64).max
_NEVER = np.iinfo(np.int64).min
_FIRST_SIZE = 1024


class Columns:
    """The arrays. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seq = 0
        """Journal number up to which changes are in here for good."""
        self._passing: set[int] = set()
        """Numbers of records as a transaction has left them that may yet be rolled back."""
        self._spaces: dict[str, int] = {}
        self._size = 0
        self._space = np.full(_FIRST_SIZE, _NOBODY, dtype=np.int32)
        self._kind = np.zeros(_FIRST_SIZE, dtype=np.int8)
        self._state = np.zeros(_FIRST_SIZE, dtype=np.int8)
        self._from = np.full(_FIRST_SIZE, _NEVER, dtype=np.int64)
        self._to = np.full(_FIRST_SIZE, _ALWAYS, dtype=np.int64)
        self._masks: dict[tuple[object, ...], NDArray[np.bool_]] = {}

    def refresh(self, reading: Reading) -> None:
        """Take in what changed since the last time."""
        with self._lock:
            self._refresh(reading)

    def _refresh(self, reading: Reading) -> None:
        changed = reading.columns(self._seq)
        undone = self._passing.difference([row.num for row in changed])
        if undone:
            # Rolled back, or not to be seen from here.
            changed += reading.columns_of(undone)
            self._space[list(undone)] = _NOBODY
        if not changed and not undone:
            return
        self._masks.clear()
        lasting = reading.lasting_position
        self._passing = {row.num for row in changed if row.changed_seq > lasting}
        for row in changed:
            self._reserve(row.num + 1)
            self._space[row.num] = self._spaces.setdefault(row.space, len(self._spaces))
            self._kind[row.num] = _KINDS[row.kind]
            self._state[row.num] = _STATES[row.state]
            self._from[row.num] = _NEVER if row.valid_from is None else row.valid_from
            self._to[row.num] = _ALWAYS if row.valid_to is None else row.valid_to
            if row.changed_seq <= lasting:
                self._seq = max(self._seq, row.changed_seq)
            self._size = max(self._size, row.num + 1)

    def mask(self, selection: Selection) -> NDArray[np.bool_]:
        """Who passes, by `Record.num`. ``known_at``, session, actor and times do not count here."""
        with self._lock:
            return self._mask(selection)

    def _mask(self, selection: Selection) -> NDArray[np.bool_]:
        key = (selection.space, selection.kinds, selection.states)
        found = self._masks.get(key)
        if found is None:
            found = self._space[: self._size] == self._spaces.get(selection.space, _NOBODY - 1)
            if selection.kinds:
                found &= _any_of(self._kind[: self._size], [_KINDS[one] for one in selection.kinds])
            found &= _any_of(self._state[: self._size], [_STATES[one] for one in selection.states])
            self._masks[key] = found
        if selection.valid_at is None:
            return found
        at = selection.valid_at
        return found & (self._from[: self._size] <= at) & (at < self._to[: self._size])

    def mask_known(
        self,
        selection: Selection,
        known: Mapping[int, tuple[State, Instant | None, Instant | None]],
    ) -> NDArray[np.bool_]:
        """Who passes by what was known at an earlier time; see `Reading.known_states`."""
        found = np.zeros(self._size, dtype=np.bool_)
        kinds = {_KINDS[one] for one in selection.kinds}
        for num, (state, valid_from, valid_to) in known.items():
            if num >= self._size or state not in selection.states:
                continue
            if kinds and int(self._kind[num]) not in kinds:
                continue
            at = selection.valid_at
            if at is not None and (
                (valid_from is not None and valid_from > at)
                or (valid_to is not None and valid_to <= at)
            ):
                continue
            found[num] = True
        return found

    def _reserve(self, size: int) -> None:
        have = len(self._space)
        if size <= have:
            return
        more = max(size, have * 2) - have
        self._space = np.concatenate([self._space, np.full(more, _NOBODY, dtype=np.int32)])
        self._kind = np.concatenate([self._kind, np.zeros(more, dtype=np.int8)])
        self._state = np.concatenate([self._state, np.zeros(more, dtype=np.int8)])
        self._from = np.concatenate([self._from, np.full(more, _NEVER, dtype=np.int64)])
        self._to = np.concatenate([self._to, np.full(more, _ALWAYS, dtype=np.int64)])


def _any_of(codes: NDArray[np.int8], wanted: Sequence[int]) -> NDArray[np.bool_]:
    # For the one or two codes of a selection a tenth of what `numpy.isin` takes.
    found = np.zeros(len(codes), dtype=np.bool_)
    for code in wanted:
        found |= codes == code
    return found
