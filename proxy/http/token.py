"""The secret that a host shows to the loopback endpoint, kept in a file for this user only."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

TOKEN_BYTES = 32
_SHORTEST = 32
_LONGEST = 4096


class UnsafeTokenError(Exception):
    """The file cannot be trusted. ``str()`` says why and how to mend it."""


def load_or_create_token(path: Path) -> str:
    """The token in ``path``, made at the first call.

    Its directory must exist. Links are not followed. Raises `UnsafeTokenError` or `OSError`.
    """
    try:
        return read_token(path)
    except FileNotFoundError:
        pass
    token = secrets.token_urlsafe(TOKEN_BYTES)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        os.fchmod(descriptor, 0o600)  # whatever the umask says
        file.write(token + "\n")
    return token


def read_token(path: Path) -> str:
    """The token in ``path``. Raises `UnsafeTokenError` or `OSError` (``FileNotFoundError``: none yet)."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise UnsafeTokenError(f"{path} is a link; remove it: rm {path}") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafeTokenError(f"{path} is not a file; move it away")
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UnsafeTokenError(
                f"{path} can be read by others (mode {stat.S_IMODE(found.st_mode):04o}); "
                f"remove it, and a new token is made: rm {path}"
            )
        text = file.read(_LONGEST).decode("ascii", "replace").strip()
    if len(text) < _SHORTEST or not text.isprintable() or not text.isascii():
        raise UnsafeTokenError(
            f"{path} holds no token; remove it, and a new one is made: rm {path}"
        )
    return text
