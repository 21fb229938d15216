"""Backups of the user's file, from before a program changed it, and putting one back.

A backup's name holds the time and a digest of what the file became, so that it is put back only while the
file is as the program left it: ``config.toml.20261201T124500-3f2a9c1d04be.bak``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from config.edit import EditRefusedError, replace_text, set_keys
from config.file_writes import write_new

_NAME = re.compile(r"(?P<file>.+)\.\d{8}T\d{6}-(?P<digest>[0-9a-f]{12})\.bak")


def set_keys_with_backup(
    file: Path,
    values: Mapping[str, str],
    at: datetime,
    *,
    environ: Mapping[str, str] | None = None,
) -> Path | None:
    """Write several keys, all or none; returns the backup, ``None`` when nothing had to be changed.

    The backup lies beside the file and is readable by its owner only. Raises `EditRefusedError`.
    """
    backup: Path | None = None

    def keep(old: bytes, new: str) -> None:
        nonlocal backup
        backup = file.with_name(f"{file.name}.{at:%Y%m%dT%H%M%S}-{_digest(new)}.bak")
        if backup.is_file() and backup.read_bytes() == old:
            return  # the same change once more within a second
        write_new(backup, old)

    set_keys(file, values, environ=environ, keep=keep)
    return backup


def put_back(file: Path, backup: Path, *, environ: Mapping[str, str] | None = None) -> None:
    """Give the file the text of a backup. The backup stays.

    Raises `EditRefusedError` when it is no backup of that file, cannot be read, or the file was changed
    since.
    """
    named = _NAME.fullmatch(backup.name)
    if named is None or named["file"] != file.name:
        raise EditRefusedError(
            f"{backup} is no backup of {file.name}. They lie beside it and are named like "
            f"{file.name}.20261201T124500-3f2a9c1d04be.bak. Nothing was changed."
        )
    try:
        text = backup.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EditRefusedError(
            f"{backup} cannot be read: {getattr(error, 'strerror', None) or error}. "
            "Nothing was changed."
        ) from error

    def unless(present: str) -> str:
        if _digest(present) == named["digest"]:
            return ""
        if present == text:
            return f"{file} is already as in the backup. Nothing was changed."
        return (
            f"{file} was changed after the backup was made; putting it back would lose that. Nothing was "
            f"changed. Compare them (diff {backup.name} {file.name}) and edit by hand, or copy the "
            "backup over it."
        )

    replace_text(file, text, unless=unless, environ=environ)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
