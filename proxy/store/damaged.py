"""Set a file aside that cannot be used, so that a fresh one can take its place and nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path

COMPANIONS = ("-wal", "-shm", "-journal")
"""Suffixes of the files that belong to a SQLite database."""


def set_aside(file: Path, *, now: float | None = None) -> Path:
    """Move ``file`` and its SQLite companions into a new ``damaged-TIME`` directory beside it.

    Nothing may have the file open. Returns the new directory; raises `OSError` when the move is not
    possible, for example on a read-only file system.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    directory = _new_directory(file.parent, f"damaged-{stamp}")
    for path in (file, *(file.with_name(file.name + suffix) for suffix in COMPANIONS)):
        if path.exists():
            path.rename(directory / path.name)
    return directory


def _new_directory(parent: Path, name: str) -> Path:
    number = 1
    while True:
        directory = parent / (name if number == 1 else f"{name}-{number}")
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            number += 1
        else:
            return directory
