"""What a store of held texts knows in memory: what waits for the disk, uses, handles, pins. Thread-safe.

Every method takes microseconds, whatever the size of the texts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from proxy.answer_model import HeldView
from proxy.store.held_rows import HeldBody, NewAnswer

MOST_WAITING_BYTES = 256 * 1024 * 1024
"""Bodies kept while the file cannot be written; then the oldest are lost."""

RECENT_BYTES = 16 * 1024 * 1024
"""Bodies that stay in memory after they were written; the oldest go first."""

_BATCH_BYTES = 8 * 1024 * 1024
_KNOWN_PARTS = 20_000

Uses = Mapping[str, tuple[float, int]]
"""By the key of the whole: when it was used last, and how many reads came with that."""


class HeldMemory:
    """See the module's text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, NewAnswer] = OrderedDict()
        self._waiting_bytes = 0
        self._recent: OrderedDict[str, NewAnswer] = OrderedDict()
        """Written lately, and kept a while: what was just sent is what is read on or compared."""
        self._recent_bytes = 0
        self._uses: dict[str, tuple[float, int]] = {}
        self._wholes: OrderedDict[str, str] = OrderedDict()
        """Keys of wholes by keys of parts that were put or read lately."""
        self._pins: dict[int, set[str]] = {}
        self._pinned: dict[str, int] = {}
        """In how many sessions a whole is pinned."""
        self.lost = 0
        """Answers that waited too long for the disk."""

    # what waits

    def add(self, answer: NewAnswer) -> None:
        """An answer that is to be written. One that waits already only counts as used."""
        with self._lock:
            for part, _ in answer.parts:
                self._know(part, answer.key)
            known = self._waiting.get(answer.key)
            if known is not None:
                self._use(answer.key, answer.created_at, 0)
                parts = (*known.parts, *(part for part in answer.parts if part not in known.parts))
                if parts != known.parts:
                    self._waiting[answer.key] = replace(known, parts=parts)
                return
            self._waiting[answer.key] = answer
            self._waiting_bytes += len(answer.body)
            while self._waiting_bytes > MOST_WAITING_BYTES and len(self._waiting) > 1:
                oldest = next(iter(self._waiting))
                unpinned = (key for key in self._waiting if key not in self._pinned)
                victim = next(unpinned, oldest)
                self._forget(oldest if victim == answer.key else victim)
                self.lost += 1

    def batch(self) -> Sequence[NewAnswer]:
        """The answers that come next to the disk. They wait until `written`."""
        batch: list[NewAnswer] = []
        size = 0
        with self._lock:
            for answer in self._waiting.values():
                batch.append(answer)
                size += len(answer.body)
                if size >= _BATCH_BYTES:
                    break
        return batch

    def written(self, batch: Sequence[NewAnswer]) -> None:
        """The file has them now."""
        with self._lock:
            for answer in batch:
                if self._waiting.get(answer.key) is answer:
                    self._forget(answer.key)
                    self._keep(answer)

    def drop(self, key: str) -> bool:
        """Do not write an answer after all. False when it does not wait."""
        with self._lock:
            self._forget_recent(key)
            return self._forget(key)

    def evicted(self, keys: Sequence[str]) -> None:
        """The file has them no more."""
        with self._lock:
            for key in keys:
                self._forget_recent(key)

    def rest(self) -> None:
        """The store stops: what is in the file need not stay here."""
        with self._lock:
            self._recent.clear()
            self._recent_bytes = 0

    def waiting(self) -> Sequence[NewAnswer]:
        """All answers that are not in the file yet."""
        with self._lock:
            return tuple(self._waiting.values())

    def waiting_sums(self) -> tuple[int, int]:
        """How many wait, and their bytes."""
        with self._lock:
            return len(self._waiting), self._waiting_bytes

    def find(self, key: str) -> HeldBody | None:
        """A text that waits or was written lately, by the key of the whole or of a part."""
        with self._lock:
            whole = self._waiting.get(key) or self._recent.get(key)
            if whole is not None:
                return HeldBody(key, whole.body, "", whole.upstream, whole.tool)
            of = self._wholes.get(key, "")
            whole = self._waiting.get(of) or self._recent.get(of)
        if whole is None:
            return None
        pointer = dict(whole.parts).get(key)
        if pointer is None:
            return None
        return HeldBody(whole.key, whole.body, pointer, whole.upstream, whole.tool)

    # uses

    def use(self, whole: str, at: float, reads: int) -> None:
        """A text was used."""
        with self._lock:
            self._use(whole, at, reads)

    def take_uses(self) -> Uses:
        """The uses that are not in the file yet; they are forgotten here."""
        with self._lock:
            uses, self._uses = self._uses, {}
        return uses

    def give_back(self, uses: Uses) -> None:
        """They could not be written."""
        with self._lock:
            for key, (at, reads) in uses.items():
                self._use(key, at, reads)

    def uses(self) -> Uses:
        """The uses that are not in the file yet."""
        with self._lock:
            return dict(self._uses)

    # handles and pins

    def know(self, part: str, whole: str) -> None:
        """A part was read: whoever pins it means the whole."""
        with self._lock:
            self._know(part, whole)

    def pin(self, session: int, key: str) -> None:
        """Keep the text of a handle until the session is over."""
        with self._lock:
            whole = self._wholes.get(key, key)
            pins = self._pins.setdefault(session, set())
            if whole not in pins:
                pins.add(whole)
                self._pinned[whole] = self._pinned.get(whole, 0) + 1

    def unpin(self, session: int) -> None:
        """The session is over."""
        with self._lock:
            for whole in self._pins.pop(session, ()):
                self._pinned[whole] -= 1
                if not self._pinned[whole]:
                    del self._pinned[whole]

    def needed(self) -> frozenset[str]:
        """The wholes that some session needs, or that were used since the file was written."""
        with self._lock:
            return frozenset((*self._pinned, *self._uses))

    def as_now(self, view: HeldView) -> HeldView:
        """What the file says of an answer, with what it does not know yet."""
        with self._lock:
            used_at, reads = self._uses.get(view.key, (0.0, 0))
            pinned = view.key in self._pinned
        return replace(
            view, used_at=max(view.used_at, used_at), reads=view.reads + reads, pinned=pinned
        )

    # the lock is held

    def _know(self, part: str, whole: str) -> None:
        self._wholes[part] = whole
        self._wholes.move_to_end(part)
        if len(self._wholes) > _KNOWN_PARTS:
            self._wholes.popitem(last=False)

    def _use(self, whole: str, at: float, reads: int) -> None:
        before = self._uses.get(whole, (0.0, 0))
        self._uses[whole] = (max(at, before[0]), before[1] + reads)

    def _keep(self, answer: NewAnswer) -> None:
        self._forget_recent(answer.key)
        self._recent[answer.key] = answer
        self._recent_bytes += len(answer.body)
        while self._recent_bytes > RECENT_BYTES:
            self._forget_recent(next(iter(self._recent)))

    def _forget_recent(self, key: str) -> None:
        answer = self._recent.pop(key, None)
        if answer is not None:
            self._recent_bytes -= len(answer.body)

    def _forget(self, key: str) -> bool:
        answer = self._waiting.pop(key, None)
        if answer is None:
            return False
        self._waiting_bytes -= len(answer.body)
        return True
