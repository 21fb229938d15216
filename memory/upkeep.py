"""What the memory does by itself, in a thread of its own: missing vectors, new models, the regret meter.

It never holds the store for long and never fails a request: what can't be done now is done later.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from memory.browse import REGRET_DAYS
from memory.core import Core
from memory.embedding.port import EmbedderUnavailable
from memory.errors import MemoryFault
from memory.model import DAY, DEFAULT_SPACE, Actor, Instant, Origin, State
from memory.recall import LONGEST_QUERY, candidates
from memory.remember import look_around
from memory.semantic_index import encoded
from memory.store.selection import Selection
from memory.text import embedding_text

_log = logging.getLogger("mms.memory.upkeep")
BATCH = 16
"""Records embedded at once: a third of a second of one core."""
_AGAIN_SECONDS = 30.0
"""After a model could not be reached, and for changes that other processes made."""
REST_SECONDS = 300.0
"""A model that nobody needed for so long is freed; loading it again takes a third of a second."""
_WAITING = 256
"""Searches whose regret is still to be looked at; more are dropped."""
_REGRET_TOP = 3
ENGINE = Actor(Origin.OPERATOR, "mms")
"""The memory itself."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A search that was answered, for the regret meter."""

    query: str
    space: str


class Upkeep:
    """The thread. `start` once, `close` once."""

    def __init__(self, core: Core, clock: Callable[[], Instant]) -> None:
        self._core = core
        self._clock = clock
        self._asked: queue.Queue[Asked] = queue.Queue(_WAITING)
        self._erase_at = 0.0
        """Not before is erasing tried again: a server that is away takes seconds to say so."""
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory-upkeep", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._wake.set()
        self._thread.start()

    def close(self) -> None:
        """End after the batch at hand."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(30)

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    def asked(self, search: Asked) -> None:
        """Look at this search later; never waits."""
        try:
            self._asked.put_nowait(search)
        except queue.Full:
            return
        self._wake.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                again = self.step()
            except MemoryFault as fault:
                _log.warning("upkeep waits %.0f s: %s", _AGAIN_SECONDS, fault)
                again = False
            except Exception:
                _log.exception("upkeep failed; it goes on in %.0f s", _AGAIN_SECONDS)
                again = False
            if not again:
                self._core.index.rest(REST_SECONDS)
                self._wake.wait(_AGAIN_SECONDS)

    def step(self) -> bool:
        """Do a little; whether there is more to do at once."""
        self._erase()
        return self._regret() or self._embed() or self._core.index.maintain(self._clock())

    def _erase(self) -> None:
        """Erase the vector of an expunged record that could not be erased at once."""
        index = self._core.index
        if index.erase_due and time.monotonic() >= self._erase_at:
            self._erase_at = time.monotonic() + _AGAIN_SECONDS
            for problem in index.erase()[1]:
                _log.warning("%s", problem)

    def _embed(self) -> bool:
        core = self._core
        try:
            model = core.index.wanted_profile().id
            with core.store.reading() as reading:
                pending = reading.pending(model, BATCH)
            if not pending:
                core.index.finish_switch()
                return False
            vectors = core.index.embed_many([embedding_text(one.text) for one in pending])
        except EmbedderUnavailable:
            return False  # `SemanticIndex.status` tells why
        now = self._clock()
        with core.store.writing(ENGINE, DEFAULT_SPACE, now) as writing:
            writing.put_vectors(
                model,
                [
                    (one.num, one.digest, encoded(vector))
                    for one, vector in zip(pending, vectors, strict=True)
                ],
            )
        core.index.vectors_came()
        with core.store.reading() as reading:
            records = reading.by_nums(one.num for one in pending)
        for one, vector in zip(pending, vectors, strict=True):
            record = records[one.num]
            if record.state is not State.ACTIVE or self._stop.is_set():
                continue
            with core.store.writing(ENGINE, record.space, now) as writing:
                look_around(core, writing, record, vector, model, now)
        time.sleep(0)  # let a request have the interpreter between two batches
        return True

    def _regret(self) -> bool:
        """Would a record that a run archived have been among the best three?"""
        try:
            asked = self._asked.get_nowait()
        except queue.Empty:
            return False
        core, now = self._core, self._clock()
        with core.store.reading() as reading:
            runs = [
                run.id
                for run in reading.runs(asked.space, limit=100)
                if run.undone_at is None and run.at >= now - REGRET_DAYS * DAY
            ]
            if not runs:
                return True
            selection = Selection(space=asked.space, states=(State.ACTIVE, State.ARCHIVED))
            vector = core.index.embed_query(asked.query[:LONGEST_QUERY]).vector
            found = candidates(core, reading, asked.query, selection, vector)
            best = sorted(found.fused, key=lambda num: (-found.fused[num].fused, num))
            records = reading.by_nums(best[:_REGRET_TOP])
            archived = [one.id for one in records.values() if one.state is State.ARCHIVED]
            hit = {run for run in reading.runs_of(archived).values() if run in runs}
        if hit:
            with core.store.writing(ENGINE, asked.space, now) as writing:
                writing.hit_archived(hit)
        return True
