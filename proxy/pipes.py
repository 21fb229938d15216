"""Files over pipes, as the running event loop wants to own them."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import sys
from typing import IO

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031


def take_descriptor(file: IO[bytes]) -> int:
    """A descriptor of our own for an open file's pipe; the file itself is closed."""
    descriptor = os.dup(file.fileno())
    file.close()
    return descriptor


def pipe_file(descriptor: int, mode: str, loop: asyncio.AbstractEventLoop) -> IO[bytes]:
    """What to hand to ``loop.connect_read_pipe`` or ``connect_write_pipe``, which then owns it.

    asyncio's loops close the file object, and the descriptor through it. uvloop closes the
    descriptor itself and then the object: were that the descriptor's owner, too, its number would be
    closed twice, and the second time it may be another thread's new file.
    """
    return os.fdopen(descriptor, mode, 0, closefd=isinstance(loop, asyncio.BaseEventLoop))


def widen(descriptor: int) -> None:
    """Enlarge a pipe: fewer wake-ups for large frames. The system may refuse."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
