"""The thread of a store: writes when something waits, tries again after trouble, finishes at the end."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable

from proxy.store.writable import WritableFile

_IDLE_SECONDS = 30.0
"""What is not urgent is written after so long, or with what is."""
_FAULT_SECONDS = 1.0
_GATHER_SECONDS = 0.1
"""What comes within so long shares one turn of the disk, and the calls it came from go on undisturbed."""

_log = logging.getLogger(__name__)


class WriterThread:
    """Calls ``write`` with the file's connection, off everybody's way."""

    def __init__(
        self, name: str, file: WritableFile, write: Callable[[sqlite3.Connection], None]
    ) -> None:
        """``write`` writes all that waits. When it raises, all of that must still wait."""
        self._name = name
        self._file = file
        self._write = write
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._fault = ""
        self._thread: threading.Thread | None = None
        self.disk = threading.Lock()
        """Guards the file and its connection; held while the disk works."""

    @property
    def problem(self) -> str:
        """Why nothing is written, or what became of a damaged file; empty if all is well."""
        return self._fault or self._file.problem

    def start(self) -> None:
        """Start; the thread opens the file."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something waits. Returns at once."""
        self._wake.set()

    def settle(self) -> bool:
        """Write what waits now, in the caller's thread. False when that cannot be done now. Blocking."""
        return self._step()

    def stop(self, timeout_seconds: float) -> bool:
        """Write what waits and end the thread. False when that took too long."""
        thread = self._thread
        if thread is None:
            return True
        self._stop.set()
        self._wake.set()
        thread.join(timeout_seconds)
        if thread.is_alive():
            return False
        self._thread = None
        return True

    def _run(self) -> None:
        try:
            self._step(at_once=True)
            while not self._stop.is_set():
                self._wake.wait(self._pause())
                self._stop.wait(_GATHER_SECONDS)
                self._wake.clear()
                self._step()
            self._step(at_once=True)
        finally:
            with self.disk:
                self._file.close()

    def _pause(self) -> float:
        if self._fault:
            return _FAULT_SECONDS
        retry = self._file.retry_in()
        return _IDLE_SECONDS if retry is None else max(retry, 0.01)

    def _step(self, *, at_once: bool = False) -> bool:
        """True when everything that waited is written."""
        with self.disk:
            try:
                connection = self._file.connection(at_once=at_once)
                if connection is not None:
                    self._write(connection)
                    self._file.worked()
                self._fault = ""
                return connection is not None
            except sqlite3.Error as error:
                self._file.failed(error)
            # The thread's edge: what waits is tried again.
            except Exception as error:
                self._fault = f"{self._name} cannot write because of a fault in mms: {error!r}."
                _log.exception("%s could not write", self._name)
            return False
