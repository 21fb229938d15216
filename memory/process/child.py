"""The memory's process: its lock, its socket, its settings and its log. It serves until nobody needs it.

Exit codes: 0 after serving, 1 when it could not start (the last line of the log says why), 3 when
another process owns this memory already. Imports the service, and with it everything heavy, on demand.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import stat
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

from config.load import load_settings
from config.paths import Paths, ensure_private_directory, paths_for
from config.schema import MemorySettings
from config.store import Applied, SettingsStore
from config.watch import changes
from memory.errors import MemoryFault
from memory.process.program import OWNED_ELSEWHERE, READY
from memory.process.server import Server, Service, bind

LOG_BYTES = 512 * 1024
"""The log is emptied when it grows beyond."""
ENDING_SECONDS = 30.0
"""What runs longer when the process ends is cut off: the database survives that, and a new one can start."""
_log = logging.getLogger("mms.memory")

OpenMemory = Callable[[Path, MemorySettings, Mapping[str, str]], Service]
"""Open the memory in a directory with these settings and this environment. Raises `MemoryFault`."""


def main(open_memory: OpenMemory | None = None) -> int:
    """Be the process of the instance that the environment points to; returns the exit code.

    ``open_memory``: what to serve instead of the memory itself.
    """
    paths = paths_for(os.environ)
    try:
        ensure_private_directory(paths.memory_directory)
        ensure_private_directory(paths.runtime_directory)
        with owning(paths.memory_directory / "owner.lock") as is_owner:
            if not is_owner:
                return OWNED_ELSEWHERE
            _log_to_stderr()
            asyncio.run(_serve(paths, open_memory or _open_real))
    except (OSError, MemoryFault) as error:
        sys.stderr.write(f"the memory's process could not start: {error}\n")
        return 1
    return 0


@contextlib.contextmanager
def owning(file: Path) -> Generator[bool]:
    """Whether we own the memory until the end of the block; the system frees it when we die."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(file, flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield True
    finally:
        os.close(descriptor)


async def _serve(paths: Paths, open_memory: OpenMemory) -> None:
    environ = dict(os.environ)
    # It serves all hosts and screens of the user, so it belongs to no project.
    store = SettingsStore(lambda: load_settings(paths, environ, project_directory=None))
    loop = asyncio.get_running_loop()
    server = Server(
        lambda: open_memory(paths.memory_directory, store.current.memory, environ),
    )

    def ending() -> None:
        # No handle is kept: at the end of the loop it is forgotten with it.
        loop.call_later(ENDING_SECONDS, os._exit, 1)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    bound = bind(paths.memory_socket)
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(store, server))
            await server.serve(bound, _say_ready, ending)
            watching.cancel()
    finally:
        bound.close()
        # A new owner can't be there yet: we still have the lock.
        paths.memory_socket.unlink(missing_ok=True)


async def _watch(store: SettingsStore, server: Server) -> None:
    """Follow the settings. A fault in it must not end the memory."""
    try:
        async for _ in changes(store.loaded.files):
            outcome = await asyncio.to_thread(store.reload)
            if isinstance(outcome, Applied) and outcome.old.memory != outcome.new.memory:
                await server.configure(outcome.new.memory)
            bound_log()
    except Exception:
        _log.exception("settings are not followed any more")


def _open_real(directory: Path, settings: MemorySettings, environ: Mapping[str, str]) -> Service:
    from memory.service import MemoryService

    return MemoryService.open(directory, settings, environ)


def _say_ready() -> None:
    """Tell who started us, and let go of the pipe; whatever prints later goes to the log."""
    with contextlib.suppress(OSError):
        os.write(1, READY)
    os.dup2(2, 1)


class _BoundedStderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Lines to standard error, which is the log; native code writes there, too."""

    def emit(self, record: logging.LogRecord) -> None:
        bound_log()
        super().emit(record)


def bound_log() -> None:
    """Empty the log when it has grown too long. What is no file is left alone."""
    with contextlib.suppress(OSError):
        found = os.fstat(2)
        if stat.S_ISREG(found.st_mode) and found.st_size > LOG_BYTES:
            os.ftruncate(2, 0)


def _log_to_stderr() -> None:
    handler = _BoundedStderr()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("mms").setLevel(logging.INFO)
