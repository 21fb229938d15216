"""Turns noted calls into lines of the log and writes them; used by one thread only. Blocking."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.schema import SelectionTelemetrySettings
from proxy.catalogue import Catalogue
from proxy.telemetry.rotation import append, rotate, size_of
from proxy.telemetry.selection import (
    Candidates,
    Execution,
    Selection,
    candidates_line,
    candidates_of,
    execution_line,
    selection_line,
)

_LEFT_OUT = 4_096
"""Calls whose selection was left out and whose execution is still awaited."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A call that begins, and what was offered then."""

    selection: Selection
    catalogue: Catalogue


Note = Begun | Execution


@dataclass(slots=True)
class Written:
    """What became of a batch, in lines."""

    written: int = 0
    dropped: int = 0
    """A secret was in them, or in the other line of their call."""
    failed: int = 0
    error: OSError | None = None


class SelectionWriter:
    """Writes to one log file."""

    def __init__(self, file: Path, looks_secret: Callable[[str], bool]) -> None:
        self._file = file
        self._looks_secret = looks_secret
        self._left_out: deque[str] = deque(maxlen=_LEFT_OUT)
        self._known: tuple[Catalogue, Candidates] | None = None
        self._announced = ""
        """Digest of the candidates that the active file has last."""

    def write(self, batch: Sequence[Note], settings: SelectionTelemetrySettings) -> Written:
        """Write the lines of a batch, rotating where the file would get too large."""
        told = Written()
        lines: list[bytes] = []
        waiting: list[Note] = []
        """The notes of ``lines``."""
        done = 0
        try:
            size = size_of(self._file)
            if size == 0:
                self._announced = ""
            for note in batch:
                new = self._lines_of(note, told)
                added = sum(map(len, new))
                if added and size and size + added > settings.max_bytes:
                    self._flush(lines, told)
                    waiting.clear()
                    rotate(self._file, settings.backups)
                    size, self._announced = 0, ""
                    new = self._lines_of(note, told)
                    added = sum(map(len, new))
                lines += new
                waiting.append(note)
                size += added
                done += 1
            self._flush(lines, told)
        except OSError as error:
            self._announced = ""
            told.error = error
            told.failed = len(lines) + len(batch) - done
            for note in (*waiting, *batch[done:]):
                if isinstance(note, Begun):
                    self._left_out.append(note.selection.id)
        return told

    def _flush(self, lines: list[bytes], told: Written) -> None:
        if lines:
            append(self._file, b"".join(lines))
            told.written += len(lines)
            lines.clear()

    def _lines_of(self, note: Note, told: Written) -> list[bytes]:
        """Its line, behind the candidates if the file does not have them yet; empty: left out."""
        if isinstance(note, Execution):
            line = execution_line(note)
            if note.selection_id in self._left_out or self._is_secret(line):
                told.dropped += 1
                return []
            return [line]
        candidates = self._candidates(note.catalogue)
        line = selection_line(note.selection, candidates)
        if self._is_secret(line):
            self._left_out.append(note.selection.id)
            told.dropped += 1
            return []
        if candidates.digest == self._announced:
            return [line]
        self._announced = candidates.digest
        announcement = candidates_line(candidates, note.selection.at)
        if self._is_secret(announcement):
            told.dropped += 1
            return [line]
        return [announcement, line]

    def _candidates(self, catalogue: Catalogue) -> Candidates:
        """Worked out once for each state of what is offered."""
        if self._known is None or self._known[0] is not catalogue:
            names = tuple(catalogue.tools)
            self._known = (catalogue, candidates_of(names, catalogue.reject_reasons()))
        return self._known[1]

    def _is_secret(self, line: bytes) -> bool:
        return self._looks_secret(line.decode("utf-8", "replace"))
