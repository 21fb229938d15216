"""The full texts behind shortened answers: content-addressed, compressed, bounded, kept over restarts.

`HeldStore.put` only notes the answer; a thread writes it at once (some 10 ms). Reads see it from the
first moment. What was used longest ago is deleted when the store is over its bound, but nothing that a
connected host was given: sessions pin what they got. Any thread may call any method.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from proxy.answer import key_of_bytes as key_of
from proxy.answer_model import HeldDetail, HeldList, HeldTotals, HeldView
from proxy.shown import shown_answer
from proxy.store import held_rows as rows
from proxy.store.calls import clean
from proxy.store.database import StoreUnavailable, open_for_reading, transaction
from proxy.store.held_memory import HeldMemory
from proxy.store.held_rows import MIGRATIONS, WHAT, HeldBody, NewAnswer, Sums
from proxy.store.writable import WritableFile
from proxy.store.writer_thread import WriterThread

__all__ = ["HeldBody", "HeldStore", "key_of", "read_held", "read_held_answer"]

_KEY = re.compile(r"[0-9a-f]{16}")


class HeldStore:
    """Held answers in one file, with what is not written yet in memory."""

    def __init__(
        self, database: Path, max_bytes: int, clock: Callable[[], float] = time.time
    ) -> None:
        """``max_bytes``: of the compressed bodies."""
        self._database = database
        self._max_bytes = max_bytes
        self._clock = clock
        self._memory = HeldMemory()
        self._sums = Sums(0, 0, 0)
        self._evicted = 0
        self._tight = False
        self._file = WritableFile(database, MIGRATIONS, what=WHAT, on_opened=self._measure)
        self._thread = WriterThread("mms-held", self._file, self._write_all)

    # life

    def start(self) -> None:
        """Start the thread, which opens the file."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> bool:
        """Write what waits and end the thread. False when that took too long."""
        stopped = self._thread.stop(timeout_seconds)
        self._memory.rest()
        return stopped

    def resize(self, max_bytes: int) -> None:
        """Another bound; what is over it goes soon."""
        self._max_bytes = max_bytes
        self._thread.wake()

    @property
    def problem(self) -> str:
        """What is wrong with the store, for a person; empty while all is well."""
        if self._thread.problem:
            return self._thread.problem
        if self._memory.lost:
            return (
                f"{self._memory.lost} held answers were lost, since they could not be written in time. "
                f"Check the disk of {self._database.parent}."
            )
        if self._tight:
            return (
                "The held texts take more than proxy.held.max_bytes, because connected hosts may still "
                "read all of them. Set a higher bound, or end sessions."
            )
        return ""

    # used by the engine

    def put(
        self,
        key: str,
        body: bytes,
        parts: Iterable[tuple[str, str]],
        upstream: str,
        tool: str,
        now: float | None = None,
    ) -> None:
        """Hold an answer. Returns at once, whatever its size.

        ``key``: `key_of` the body. ``parts``: key and JSON Pointer of texts in it that have a handle of
        their own. An answer that is held already only counts as used.
        """
        at = self._clock() if now is None else now
        self._memory.add(NewAnswer(key, body, tuple(parts), clean(upstream), clean(tool), at))
        self._thread.wake()

    def get(self, key: str) -> HeldBody | None:
        """The text of a whole or of a part, for an agent: counts as a read. Blocking."""
        found = self.peek(key)
        if found is not None:
            self._memory.use(found.key, self._clock(), 1)
        return found

    def at_hand(self, key: str) -> bool:
        """`get` and `peek` need no disk for this key, so the loop itself may call them."""
        return self._memory.find(key) is not None

    def peek(self, key: str) -> HeldBody | None:
        """The text of a whole or of a part, without counting it as a read. Blocking."""
        if not _KEY.fullmatch(key):
            return None
        waiting = self._memory.find(key)
        if waiting is not None:
            return waiting
        try:
            with open_for_reading(self._database, MIGRATIONS, what=WHAT) as connection:
                found = None if connection is None else rows.select_body(connection, key)
        except StoreUnavailable:
            return None
        if found is not None and found.key != key:
            self._memory.know(key, found.key)
        return found

    def pin(self, session: int, key: str) -> None:
        """The session was given this handle: keep its text until `unpin_session`."""
        self._memory.pin(session, key)

    def unpin_session(self, session: int) -> None:
        """The session is over: what only it was given may go."""
        self._memory.unpin(session)
        if self._tight:
            self._thread.wake()

    # for operators; blocking

    def list(self, limit: int) -> HeldList:
        """Held answers, used last first. Raises `StoreUnavailable` when the file cannot be read."""
        waiting, uses = self._memory.waiting(), self._memory.uses()
        found: dict[str, HeldView] = {}
        with open_for_reading(self._database, MIGRATIONS, what=WHAT) as connection:
            if connection is not None:
                found = {view.key: view for view in rows.select_views(connection, limit)}
                for key in uses:
                    view = None if key in found else rows.select_view(connection, key)
                    if view is not None:
                        found[key] = view
        for answer in waiting:
            found.setdefault(answer.key, _view_of(answer))
        views = sorted(
            (self._memory.as_now(view) for view in found.values()),
            key=lambda view: (-view.used_at, view.key),
        )
        return HeldList(self.totals(), tuple(views[:limit]))

    def detail(self, key: str, redact: Callable[[str], str]) -> HeldDetail | None:
        """One held answer for a person. ``redact`` hides secrets. Does not count as a read."""
        held = self.peek(key)
        if held is None:
            return None
        waiting = (answer for answer in self._memory.waiting() if answer.key == held.key)
        view = next(map(_view_of, waiting), None)
        if view is None:
            with open_for_reading(self._database, MIGRATIONS, what=WHAT) as connection:
                view = None if connection is None else rows.select_view(connection, held.key)
        if view is None:
            return None
        text, cut = shown_answer(held.body, redact)
        return HeldDetail(self._memory.as_now(view), text, cut)

    def drop(self, key: str) -> bool:
        """Delete a held answer, pinned or not. False when none is held under that key."""
        if not _KEY.fullmatch(key):
            return False
        with self._thread.disk:
            dropped = self._memory.drop(key)
            connection = self._file.connection()
            if connection is None:
                return dropped
            try:
                with transaction(connection):
                    deleted = rows.delete_answers(connection, [key])
                self._measure(connection)
            except sqlite3.Error as error:
                self._file.failed(error)
                deleted = 0
        return dropped or bool(deleted)

    def totals(self) -> HeldTotals:
        """The store as a whole; what is not written yet counts with its size as it came."""
        answers, size = self._memory.waiting_sums()
        sums = self._sums
        return HeldTotals(
            sums.answers + answers,
            sums.bytes + size,
            sums.stored_bytes + size,
            self._max_bytes,
            self._evicted,
        )

    # the thread

    def _write_all(self, connection: sqlite3.Connection) -> None:
        """Write all that waits and delete what is over the bound."""
        while self._write(connection):
            pass
        self._evict(connection)

    def _write(self, connection: sqlite3.Connection) -> bool:
        """Write a batch. False when nothing waited."""
        batch, uses = self._memory.batch(), self._memory.take_uses()
        if not batch and not uses:
            return False
        try:
            new = [
                (answer, rows.compressed(answer.body))
                for answer in batch
                if not rows.has_answer(connection, answer.key)
            ]
            with transaction(connection):
                for answer, stored in new:
                    rows.insert_answer(connection, answer, stored)
                for answer in batch:
                    rows.insert_parts(connection, answer)
                rows.touch(connection, {answer.key: (answer.created_at, 0) for answer in batch})
                rows.touch(connection, uses)
        except BaseException:
            self._memory.give_back(uses)
            raise
        self._memory.written(batch)
        self._sums = Sums(
            self._sums.answers + len(new),
            self._sums.bytes + sum(len(answer.body) for answer, _ in new),
            self._sums.stored_bytes + sum(len(stored) for _, stored in new),
        )
        return bool(batch)

    def _evict(self, connection: sqlite3.Connection) -> None:
        surplus = self._sums.stored_bytes - self._max_bytes
        if surplus <= 0:
            self._tight = False
            return
        needed = self._memory.needed()
        keys: list[str] = []
        for key, _, stored_bytes in rows.oldest(connection):
            if surplus <= 0:
                break
            if key not in needed:
                keys.append(key)
                surplus -= stored_bytes
        self._tight = surplus > 0
        if not keys:
            return
        with transaction(connection):
            deleted = rows.delete_answers(connection, keys)
        self._memory.evicted(keys)
        self._evicted += deleted
        self._measure(connection)
        rows.shrink(connection)

    def _measure(self, connection: sqlite3.Connection) -> None:
        self._sums = rows.select_sums(connection)


def _view_of(answer: NewAnswer) -> HeldView:
    return HeldView(
        answer.key,
        answer.upstream,
        answer.tool,
        len(answer.body),
        len(answer.body),
        answer.created_at,
        answer.created_at,
        0,
        pinned=False,
    )


def read_held(database: Path, limit: int, max_bytes: int = 0) -> HeldList:
    """Held answers from the file, without a station. Raises `StoreUnavailable`.

    ``max_bytes``: the bound by the settings, which the file does not know.
    """
    with open_for_reading(database, MIGRATIONS, what=WHAT) as connection:
        if connection is None:
            return HeldList(HeldTotals(0, 0, 0, max_bytes, 0), ())
        sums = rows.select_sums(connection)
        views = rows.select_views(connection, max(1, min(limit, 10_000)))
    totals = HeldTotals(sums.answers, sums.bytes, sums.stored_bytes, max_bytes, 0)
    return HeldList(totals, tuple(views))


def read_held_answer(database: Path, key: str, redact: Callable[[str], str]) -> HeldDetail | None:
    """One held answer from the file, without a station. Raises `StoreUnavailable`."""
    if not _KEY.fullmatch(key):
        return None
    with open_for_reading(database, MIGRATIONS, what=WHAT) as connection:
        held = None if connection is None else rows.select_body(connection, key)
        if connection is None or held is None:
            return None
        view = rows.select_view(connection, held.key)
    if view is None:
        return None
    text, cut = shown_answer(held.body, redact)
    return HeldDetail(view, text, cut)
