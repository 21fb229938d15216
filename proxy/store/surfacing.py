"""Memories shown with answers, in one file: noted at once, written by a thread, seen from the first moment.

A read first writes what waits. While the file cannot be written, reads see a copy of it in memory to
which that was added.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from proxy.store.database import open_for_reading, transaction
from proxy.store.note_store import Backlog
from proxy.store.surfacing_retention import KEPT_SECONDS, Retention
from proxy.store.surfacing_rows import (
    Note,
    RatingNote,
    cleaned,
    cleaned_step,
    insert_note,
    insert_opportunities,
    name_of,
    select_adjustments,
    select_event,
    select_last_adjustment,
)
from proxy.store.surfacing_schema import MIGRATIONS, WHAT
from proxy.store.surfacing_scores import (
    MOST_OFFERED,
    MOST_RATED,
    select_negatives,
    select_offered,
    select_rated,
)
from proxy.store.writable import WritableFile
from proxy.store.writer_thread import WriterThread
from proxy.surface.model import (
    Adjustment,
    Arm,
    Opportunity,
    Rater,
    RateResult,
    Rating,
    SurfacingEvent,
)
from proxy.surface.record import ToolScores

MOST_WAITING = 2_000
"""Notes kept in memory while the file cannot be written; then the oldest are lost."""
LEARNT_SECONDS = 30 * 86_400.0
"""Ratings of so long a time are what the tuner learns from."""
MOST_ADJUSTMENTS = 200
"""Of one tool, for the tuner."""
OPPORTUNITIES_AT_ONCE = 200
"""Fewer wait for the next event, read or half minute."""


def _as_it_is(text: str) -> str:
    return text


class SurfacingStore:
    """A `proxy.surface.record.SurfacingRecord` in a file. Any thread may call any method."""

    def __init__(
        self,
        database: Path,
        *,
        redact: Callable[[str], str] = _as_it_is,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``redact`` hides secrets in queries and in texts of memories."""
        self._database = database
        self._redact = redact
        self._clock = clock
        self._notes: Backlog[Note] = Backlog(MOST_WAITING)
        self._opportunities: Backlog[Opportunity] = Backlog(MOST_WAITING)
        self._deciding = threading.Lock()
        """Held from looking to noting, where the note depends on what is there."""
        self._last_adjustment = 0
        self._retention = Retention(clock)
        self._stopped = False
        self._file = WritableFile(database, MIGRATIONS, what=WHAT, on_opened=_nothing)
        self._thread = WriterThread("mms-surfacing", self._file, self._write)

    def start(self) -> None:
        """Start the thread, which opens the file."""
        self._stopped = False
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Write what waits and end the thread. False when that took too long."""
        self._stopped = True
        if not self._thread.stop(timeout_seconds):
            return False
        with self._thread.disk:  # a store that was never started may have been opened by a read
            self._file.close()
        return True

    @property
    def problem(self) -> str:
        """Why nothing is written, for a person; empty while all is well."""
        return self._thread.problem

    def note_event(self, event: SurfacingEvent) -> None:
        """Keep an event; ratings in it are ignored. Returns at once."""
        self._note(event)

    def note_opportunity(self, opportunity: Opportunity) -> None:
        """Keep an opportunity. Returns at once."""
        self._opportunities.add(opportunity)
        if len(self._opportunities) >= OPPORTUNITIES_AT_ONCE:
            # Every call leaves one: a thread that wakes up for each would slow calls down.
            self._thread.wake()

    def read_event(self, surfacing_id: str) -> SurfacingEvent | None:
        """One event with its ratings. Blocking; so is what follows. Raises `StoreUnavailable`."""
        with self.reading() as connection:
            return select_event(connection, surfacing_id)

    def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater, at: float
    ) -> RateResult:
        """Keep a rating. Raises `StoreUnavailable` when the event cannot be looked up."""
        with self._deciding:
            event = self.read_event(surfacing_id)
            result = _judged(event, surfacing_id, memory_id, rating, rater)
            if event is not None and result.ok and not result.repeated:
                self._note(RatingNote(event.id, name_of(memory_id), rating, rater, at))
        return result

    def read_tool(self, upstream: str, tool: str) -> ToolScores:
        """What the tuner needs of a tool."""
        key = (name_of(upstream), name_of(tool))
        since = self._clock() - LEARNT_SECONDS
        with self.reading() as connection:
            return ToolScores(
                tuple(select_rated(connection, *key, since, MOST_RATED)),
                tuple(select_offered(connection, *key, MOST_OFFERED)),
                tuple(
                    select_adjustments(
                        connection, MOST_ADJUSTMENTS, "upstream = ? AND tool = ?", key
                    )
                ),
            )

    def read_negatives(self, upstream: str, tool: str) -> dict[str, int]:
        """By memory: in how many events of a tool it was rated ``not_relevant``."""
        since = self._clock() - KEPT_SECONDS
        with self.reading() as connection:
            return select_negatives(connection, name_of(upstream), name_of(tool), since)

    def note_adjustment(self, adjustment: Adjustment) -> int:
        """Keep a step of the tuner, or its reversal; returns the id it was given."""
        with self._deciding:
            with self.reading() as connection:
                stored = select_last_adjustment(connection)
            self._last_adjustment = max(self._last_adjustment, stored) + 1
            step = cleaned_step(adjustment, self._last_adjustment)
            self._note(step)
            self._settle()
        return step.id

    def read_adjustments(self, limit: int = 50) -> Sequence[Adjustment]:
        """The tuner's steps and reversals, newest first."""
        with self.reading() as connection:
            return tuple(select_adjustments(connection, limit))

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A connection that sees all that was noted, for a few short queries. Blocking.

        Raises `StoreUnavailable`, also for errors of the queries inside.
        """
        written = self._settle()
        with open_for_reading(self._database, MIGRATIONS, what=WHAT) as stored:
            if stored is not None and (written or not self._waits()):
                yield stored
                return
            with closing(in_memory(stored)) as copy:
                self._insert(copy, *self._waiting())
                yield copy

    def _settle(self) -> bool:
        return not self._stopped and self._thread.settle()

    def _note(self, note: Note) -> None:
        self._notes.add(note)
        self._thread.wake()

    def _waits(self) -> bool:
        return bool(len(self._notes) or len(self._opportunities))

    def _waiting(self) -> tuple[tuple[Note, ...], tuple[Opportunity, ...]]:
        return self._notes.waiting(), self._opportunities.waiting()

    def _insert(
        self,
        connection: sqlite3.Connection,
        notes: tuple[Note, ...],
        opportunities: tuple[Opportunity, ...],
    ) -> None:
        for note in notes:
            if isinstance(note, SurfacingEvent):
                note = cleaned(note, self._redact)
            insert_note(connection, note)
        insert_opportunities(connection, opportunities)

    def _write(self, connection: sqlite3.Connection) -> None:
        notes, opportunities = self._waiting()
        if notes or opportunities:
            with transaction(connection):
                self._insert(connection, notes, opportunities)
            self._notes.remove(notes)
            self._opportunities.remove(opportunities)
        self._retention.apply(connection, len(notes) + len(opportunities))


def in_memory(stored: sqlite3.Connection | None) -> sqlite3.Connection:
    """A database of the same content in memory, which may be changed; to be closed by the caller."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    if stored is not None:
        stored.backup(copy)
        return copy
    for migration in MIGRATIONS:
        for statement in migration.statements:
            copy.execute(statement)
    return copy


def _judged(
    event: SurfacingEvent | None, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater
) -> RateResult:
    """What is to become of a rating."""
    if event is None:
        return RateResult(
            False,
            f"There is no surfacing {surfacing_id[:64]!r}; use the id exactly as the answer gave it.",
        )
    if event.arm is Arm.HELD_OUT:
        return RateResult(
            False,
            f"The memories of {event.id} were held out: nobody has seen them, so nobody can rate them.",
        )
    shown = next((one for one in event.memories if one.memory_id == name_of(memory_id)), None)
    if shown is None:
        ids = ", ".join(one.memory_id for one in event.memories)
        return RateResult(
            False,
            f"Memory {memory_id[:64]!r} was not among those of {event.id}; they are: {ids}.",
        )
    before = next((one.rating for one in shown.ratings if one.rater is rater), None)
    said = f"{rating.value} for memory {shown.memory_id} of {event.id}"
    if before is rating:
        return RateResult(True, f"{said} was recorded before; nothing changes.", repeated=True)
    instead = "" if before is None else f", instead of {before.value}"
    person = next((one.rating for one in shown.ratings if one.rater is Rater.PERSON), rating)
    counts = (
        ""
        if rater is Rater.PERSON or person is rating
        else (f" The person said {person.value}, which counts.")
    )
    return RateResult(True, f"Recorded {said}{instead}.{counts}")


def _nothing(_connection: sqlite3.Connection) -> None:
    """The file needs no reading when it is opened."""
