"""A log file that is set aside at a size: ``NAME`` is active, ``NAME.1`` its newest backup. Blocking."""

from __future__ import annotations

import os
from pathlib import Path


def backup(file: Path, number: int) -> Path:
    """The backup of that number, counted from 1."""
    return file.with_name(f"{file.name}.{number}")


def backups(file: Path) -> tuple[Path, ...]:
    """Those there are, the newest first."""
    found = [
        (int(number), path)
        for path in file.parent.glob(f"{file.name}.*")
        if (number := path.name.removeprefix(f"{file.name}.")).isdecimal()
    ]
    return tuple(path for _, path in sorted(found))


def rotate(file: Path, keep: int) -> None:
    """Set the active file aside and keep so many backups. Raises `OSError`."""
    for path in reversed(backups(file)):
        number = int(path.name.rpartition(".")[2])
        if number >= keep:
            path.unlink(missing_ok=True)
        else:
            path.replace(backup(file, number + 1))
    if keep > 0:
        file.replace(backup(file, 1))
    else:
        file.unlink(missing_ok=True)


def append(file: Path, data: bytes) -> None:
    """Add whole lines; readable by the owner only. A line that was cut by a crash is ended first.

    Raises `OSError`; then nothing of ``data`` counts as written.
    """
    handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    finally:
        os.close(handle)


def size_of(file: Path) -> int:
    """Bytes; 0 when it is not there. Raises `OSError`."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
