"""Writing a person's files so that a reader sees the old one or the new one, and nobody else any."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path


def make_parents(directory: Path) -> None:
    """Missing directories are private: the file may hold tokens."""
    if not directory.exists():
        make_parents(directory.parent)
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)


def stamp_of(target: Path) -> tuple[int, int, int] | None:
    """Changes whenever the file does; ``None`` while there is none."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def write_new(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Create a file, on the disk when this returns. Raises `FileExistsError`.

    Whatever ``mode`` says in the end, while it is written its owner alone can read it.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as stream:  # noqa: PTH123  # a descriptor, not a path
        stream.write(data)
        stream.flush()
        os.fchmod(handle, mode)
        os.fsync(handle)


def replace_file(target: Path, text: str) -> None:
    """Write beside it, flush to the disk, and rename over it."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        write_new(beside, text.encode("utf-8"), mode)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
