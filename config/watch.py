"""Notice that a settings file changed, whatever way it was written.

Editors rename over a file, truncate it in place, or delete and create it; a watch on the file itself
goes deaf. So directories are watched, an event only wakes us, and what decides is a comparison of
the files' state, which is also polled for directories that do not exist yet and for file systems
without events.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

POLL_SECONDS = 2.0
"""How long a change stays unnoticed where no event tells of it."""
DEBOUNCE_SECONDS = 0.15
"""Rest after the first sign of a change."""
STABLE_SECONDS = 0.1
"""A file counts as written when it did not change for so long."""
LONGEST_UNREST_SECONDS = 2.0
"""A file that never comes to rest is reported so often."""

_FileState = tuple[str, int, int, int, int] | None
_State = tuple[_FileState, ...]


def changes(files: Sequence[Path]) -> AsyncGenerator[None]:
    """Yield once for every settled change of any of ``files``, created and deleted included.

    What happens between two items is one item. The state to compare with is taken at this call:
    call before reading the files, and no change is missed.
    """
    return _changes(tuple(files), _state(files))


async def _changes(files: Sequence[Path], last: _State) -> AsyncGenerator[None]:
    wake = asyncio.Event()
    loop = asyncio.get_running_loop()

    def notify() -> None:
        # The loop may be gone when the watching thread sees its last event.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(wake.set)

    watched: frozenset[Path] = frozenset()
    watch: _DirectoryWatch | None = None
    try:
        while True:
            wanted = _directories(files)
            if watch is None or watched != wanted or not watch.is_alive:
                if watch is not None:
                    watch.stop()
                watched = wanted
                watch = _DirectoryWatch(watched, _names(files), notify)
            # A change during the switch of directories must not wait for an event.
            if _state(files) == last:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await wake.wait()
            was_told = wake.is_set()
            wake.clear()
            if _state(files) == last:
                continue
            if not was_told:
                # Deaf: for example its directory was made anew under the same name.
                watch.stop()
                watch = None
            settled = await _settled(files)
            if settled != last:
                last = settled
                yield
    finally:
        if watch is not None:
            watch.stop()


async def _settled(files: Sequence[Path]) -> _State:
    """Wait until the files rest."""
    loop = asyncio.get_running_loop()
    end = loop.time() + LONGEST_UNREST_SECONDS
    await asyncio.sleep(DEBOUNCE_SECONDS)
    state = _state(files)
    while loop.time() < end:
        await asyncio.sleep(STABLE_SECONDS)
        before, state = state, _state(files)
        if state == before:
            break
    return state


def _state(files: Sequence[Path]) -> _State:
    return tuple(_file_state(file) for file in files)


def _file_state(file: Path) -> _FileState:
    """What differs after any write: the target of links, inode, size and both times."""
    try:
        status = file.stat()
        target = os.path.realpath(file)
    except OSError:
        return None
    return target, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _directories(files: Sequence[Path]) -> frozenset[Path]:
    """The existing directories in which a change of a file, or of a link's target, shows."""
    places = {file.parent for file in files} | {file.resolve().parent for file in files}
    return frozenset(place for place in places if place.is_dir())


def _names(files: Sequence[Path]) -> frozenset[str]:
    return frozenset({file.name for file in files} | {file.resolve().name for file in files})


class _DirectoryWatch:
    """A thread that tells of every event on files of some names; ends soon after `stop`."""

    def __init__(
        self, directories: frozenset[Path], names: frozenset[str], notify: Callable[[], None]
    ) -> None:
        self._directories = directories
        self._names = names
        self._notify = notify
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="settings-watch", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """False when there was nothing to watch, or the watch broke; polling goes on."""
        return self._thread.is_alive() or not self._directories

    def stop(self) -> None:
        """Ask the thread to end; it does within a tenth of a second."""
        self._stopping.set()

    def _run(self) -> None:
        if not self._directories:
            return
        from watchfiles import watch

        # A deleted directory or a used-up limit of watches ends this; polling takes over.
        with contextlib.suppress(OSError, RuntimeError):
            for _ in watch(
                *self._directories,
                # A string comes in, for every change below.
                watch_filter=lambda _, path: os.path.basename(path) in self._names,  # noqa: PTH119
                debounce=50,
                step=50,
                stop_event=self._stopping,
                recursive=False,
                raise_interrupt=False,
            ):
                self._notify()
