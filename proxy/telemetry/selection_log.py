"""Writes the log of tool selections in a thread of its own: a call only leaves a note in a queue.

Both records of a call are written, or none. What does not fit into the queue, cannot be written or has
a secret in it is left out and counted.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from config.schema import SelectionTelemetrySettings
from proxy.catalogue import Catalogue
from proxy.eligibility import looks_sensitive
from proxy.telemetry.aggregate import aggregate
from proxy.telemetry.model import SelectionView
from proxy.telemetry.rotation import backups
from proxy.telemetry.selection import Execution, Selection
from proxy.telemetry.selection_writer import Begun, Note, SelectionWriter, Written

MOST_WAITING = 20_000
"""Records in the queue."""
MOST_WAITING_BYTES = 32 * 1024 * 1024
"""Of their arguments, which are hashed in the thread."""
_BREATH_SECONDS = 0.05
"""What comes within it is written at once."""
_BATCH = 2_000
"""Records that are written at once."""
_log = logging.getLogger("mms.selection")


@dataclass(frozen=True, slots=True)
class LogCounters:
    """Of this station since its start, in lines."""

    written: int = 0
    sampled_out: int = 0
    """Calls, not lines."""
    redaction_drops: int = 0
    write_errors: int = 0
    """Lines that could not be written, or found the queue full."""


class SelectionLog:
    """The log of one station. `note_selection` and `note_execution` are for the engine's loop."""

    def __init__(
        self,
        file: Path,
        settings: SelectionTelemetrySettings,
        *,
        looks_secret: Callable[[str], bool] = looks_sensitive,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """``looks_secret``: a line for which it is true is not written. ``chance``: 0 to below 1."""
        self._file = file
        self._settings = settings
        self._writer = SelectionWriter(file, looks_secret)
        self._chance = chance
        self._queue: deque[Note] = deque()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._noted = 0
        self._done = 0
        """Of these, written or left out."""
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._started = False
        self._counters = LogCounters()
        self._problem = ""

    # the engine's side

    @property
    def enabled(self) -> bool:
        """Whether calls are logged now."""
        return self._thread is not None and self._settings.enabled

    @property
    def problem(self) -> str:
        """Why lines are missing from the log, for a person; empty if none are."""
        return self._problem

    @property
    def counters(self) -> LogCounters:
        """What became of the notes so far."""
        return self._counters

    def start(self) -> None:
        """From now on, what is noted is written, if the settings say so."""
        self._started = True
        self.applied(self._settings)

    def stop(self, timeout_seconds: float) -> bool:
        """Write what waits and end the thread. False when that took too long. Blocking."""
        self._started = False
        thread = self._thread
        if thread is None:
            return True
        self._stopping.set()
        self._wake.set()
        thread.join(timeout_seconds)
        if thread.is_alive():
            return False
        self._thread = None
        return True

    def applied(self, settings: SelectionTelemetrySettings) -> None:
        """The settings changed; what was noted before is still written."""
        self._settings = settings
        if not settings.enabled:
            self._problem = ""
        elif self._started and self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="mms-selection", daemon=True)
            self._thread.start()

    def note_selection(
        self, server: str, tool: str, catalogue: Catalogue, arguments: bytes
    ) -> str | None:
        """A call begins. Returns its id for `note_execution`; ``None``: it is not logged.

        ``tool``: the upstream's own name. Returns at once.
        """
        settings = self._settings
        if not settings.enabled or self._thread is None:
            return None
        if settings.sampling < 1.0 and self._chance() >= settings.sampling:
            self._count(sampled_out=1)
            return None
        if (
            len(self._queue) >= MOST_WAITING
            or self._waiting_bytes + len(arguments) > MOST_WAITING_BYTES
        ):
            self._count(write_errors=2)
            self._problem = (
                f"Some calls are missing from {self._file.name}: they came faster than they could "
                "be written."
            )
            return None
        found = Selection(secrets.token_hex(8), time.time(), server, tool, arguments)
        with self._lock:
            self._waiting_bytes += len(arguments)
        self._put(Begun(found, catalogue))
        return found.id

    def note_execution(
        self,
        selection_id: str | None,
        *,
        ok: bool,
        latency_ms: float,
        error_type: str = "",
        cache_hit: bool = False,
    ) -> None:
        """The call of that id has ended; ``None`` is ignored. Returns at once."""
        if selection_id is None or self._thread is None:
            return
        self._put(Execution(selection_id, time.time(), ok, latency_ms, error_type, cache_hit))

    def view(self) -> SelectionView:
        """The active log added up, with the counters. Blocking: seconds for 50 MB."""
        counters = self._counters
        found = aggregate(self._file)
        try:
            rotated = len(backups(self._file))
        except OSError:
            rotated = 0
        return replace(
            found,
            enabled=self._settings.enabled,
            rotated_files=rotated,
            written=counters.written,
            sampled_out=counters.sampled_out,
            redaction_drops=counters.redaction_drops,
            write_errors=counters.write_errors,
            problem=self._problem or found.problem,
        )

    def flush(self, timeout_seconds: float) -> bool:
        """Wait until what was noted is written. False when that took too long. Blocking."""
        wanted = self._noted
        self._wake.set()
        with self._progress:
            return self._progress.wait_for(lambda: self._done >= wanted, timeout_seconds)

    def _put(self, note: Note) -> None:
        self._noted += 1
        self._queue.append(note)
        if not self._wake.is_set():
            self._wake.set()

    def _count(
        self,
        written: int = 0,
        sampled_out: int = 0,
        redaction_drops: int = 0,
        write_errors: int = 0,
    ) -> None:
        with self._lock:
            before = self._counters
            self._counters = LogCounters(
                before.written + written,
                before.sampled_out + sampled_out,
                before.redaction_drops + redaction_drops,
                before.write_errors + write_errors,
            )

    # the thread's side

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            self._stopping.wait(_BREATH_SECONDS)
            self._wake.clear()
            self._drain()
        self._drain()

    def _drain(self) -> None:
        while True:
            batch: list[Note] = []
            while self._queue and len(batch) < _BATCH:
                batch.append(self._queue.popleft())
            if not batch:
                return
            freed = sum(len(note.selection.arguments) for note in batch if isinstance(note, Begun))
            with self._lock:
                self._waiting_bytes -= freed
            try:
                told = self._writer.write(batch, self._settings)
            except Exception as error:  # the thread's edge: the next lines are tried again
                told = Written(failed=len(batch))
                self._problem = f"A fault in mms keeps selections from being logged: {error!r}."
                _log.exception("could not log selections")
            else:
                error = told.error
                self._problem = (
                    ""
                    if error is None
                    else f"The log of tool selections is not written ({error.strerror or error}): "
                    f"{self._file}. Make room or correct its permissions."
                )
            self._count(
                written=told.written, redaction_drops=told.dropped, write_errors=told.failed
            )
            with self._progress:
                self._done += len(batch)
                self._progress.notify_all()
