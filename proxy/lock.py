"""One station per data directory: whoever holds the lock is the station."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class StationRunning(Exception):
    """Another station holds the lock. ``str()`` says which and what to do."""

    def __init__(self, pid: int | None, directory: Path) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"a station already runs for {directory} ({who}). "
            "Look at it with: mms. End it with: mms stop"
        )
        self.pid = pid


class StationLock:
    """Held from entering to leaving; the system frees it when the process dies, however it dies.

    Raises `StationRunning` on entering, or `OSError`.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = -1

    def __enter__(self) -> StationLock:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self._file, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pid = _number(os.pread(descriptor, 32, 0))
            os.close(descriptor)
            raise StationRunning(pid, self._file.parent) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def holder(file: Path) -> int | None:
    """The process that holds the lock, ``None`` if nobody does."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _number(os.pread(descriptor, 32, 0))
    else:
        return None
    finally:
        os.close(descriptor)


def _number(text: bytes) -> int | None:
    return int(text) if text.strip().isdigit() else None
