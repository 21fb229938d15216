"""Where everything is put together: settings, engine, service, screen. The only place that knows all.

Nothing heavy is imported before it is needed: a bridge that starts a station waits for this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import logging.handlers
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Generator, Mapping
from pathlib import Path
from typing import cast

from config.describe import setting_rows
from config.edit import EditRefusedError, remove_upstream, set_key, unset_key
from config.load import load_settings
from config.paths import Paths, UnsafeDirectoryError, ensure_private_directory, paths_for
from config.store import SettingsStore
from console.memory_source import EmbeddedSource
from console.memory_tools import MemoryHostTools, StationMemory
from console.version import product_version
from proxy.engine import Engine, EngineParts
from proxy.listener import SocketInUse
from proxy.lock import StationRunning
from proxy.model import SettingRow
from proxy.operator import StationService
from proxy.service import EditRefused, EngineService

LOG_BYTES = 1_000_000
START_SECONDS = 15.0
STOP_SECONDS = 20.0
_log = logging.getLogger("mms")


class SettingsFile:
    """The user's file behind `proxy.service.SettingsEditor`."""

    def __init__(self, file: Path, store: SettingsStore, environ: Mapping[str, str]) -> None:
        self._file = file
        self._store = store
        self._environ = environ

    def set(self, key: str, value: str) -> None:
        """Write one key."""
        with _refusals():
            set_key(self._file, key, value, environ=self._environ)

    def unset(self, key: str) -> None:
        """Take one key out."""
        with _refusals():
            if not unset_key(self._file, key, environ=self._environ):
                raise EditRefused(f"{key} is not set in {self._file}")

    def remove_upstream(self, name: str) -> None:
        """Take an upstream out."""
        with _refusals():
            remove_upstream(self._file, name, environ=self._environ)

    def rows(self) -> tuple[SettingRow, ...]:
        """All settings in force."""
        return tuple(
            SettingRow(
                row.key,
                row.value,
                row.default,
                row.source.value,
                row.where,
                row.live,
                row.help,
            )
            for row in setting_rows(self._store.loaded)
        )


@contextlib.contextmanager
def _refusals() -> Generator[None]:
    try:
        yield
    except EditRefusedError as error:
        raise EditRefused(str(error)) from error


def make_engine(
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, str] | None = None,
    project_directory: Path | None = None,
) -> Engine:
    """An engine on the files that the environment points to."""
    paths = paths_for(environ)
    store = SettingsStore(
        lambda: load_settings(
            paths, environ, project_directory=project_directory, flags=flags or {}
        )
    )

    def watch() -> AsyncIterator[None]:
        from config.watch import changes

        return changes(store.loaded.files)

    def service(engine: Engine) -> StationService:
        return EngineService(engine, SettingsFile(paths.config_file, store, environ))

    memory = StationMemory(paths, environ, lambda: store.current.memory)
    tools = MemoryHostTools(memory.client, lambda: store.current.memory)
    source = EmbeddedSource(memory.client, paths, lambda: store.current.memory)
    return Engine(
        EngineParts(
            paths,
            store,
            environ,
            product_version(),
            watch,
            service,
            host_tools=tools,
            memory_source=source,
            beside=memory.open,
        )
    )


def log_to_file(paths: Paths, *, console: bool = False) -> None:
    """Send all logging to a bounded file; nothing ever reaches the terminal. Raises `OSError`.

    A console has a file of its own: it may be attached to a station that writes the other one.
    """
    ensure_private_directory(paths.state_directory)
    file = paths.log_file.with_name("console.log") if console else paths.log_file
    handler = logging.handlers.RotatingFileHandler(
        file, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8"
    )
    file.chmod(0o600)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # we report what became of a change


def serve(
    *,
    stdio: bool = False,
    background: bool = False,
    flags: Mapping[str, str] | None = None,
    project_directory: Path | None = None,
) -> int:
    """Be a station without a screen until a signal, ``mms stop``, or (stdio) the host's leaving.

    ``background``: nobody reads what is printed, and a station that runs already is no fault.
    Returns the exit code.
    """
    paths = paths_for(os.environ)
    try:
        log_to_file(paths)
        engine = make_engine(os.environ, flags=flags, project_directory=project_directory)
        _run(_serve(engine, stdio=stdio, quiet=background or stdio))
    except StationRunning as error:
        if background:
            return 0
        _print_error(str(error))
        return 1
    except (SocketInUse, UnsafeDirectoryError, OSError) as error:
        _log.error("the station cannot start: %s", error)
        _print_error(f"the station cannot start: {error}")
        return 1
    return 0


def new_loop() -> asyncio.AbstractEventLoop:
    """The engine's event loop: uvloop's, which takes a fifth off each call, where it can be had."""
    try:
        import uvloop
    except ImportError:  # no wheel for this platform
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _run(work: Coroutine[None, None, None]) -> None:
    """Run it; of several things that failed at once, raise the first."""
    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(work)
    except BaseExceptionGroup as group:
        raise _innermost(cast("BaseException", group)) from None


async def _serve(engine: Engine, *, stdio: bool, quiet: bool) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, engine.stop, f"signal {number.name}")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.run())
        ready = group.create_task(engine.ready.wait())
        await asyncio.wait((running, ready), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            ready.cancel()
            return
        for problem in engine.store.problems:
            _log.warning("settings: %s", problem)
            if not quiet:
                _print_error(str(problem))
        if stdio:
            from proxy.stdio_endpoint import serve_stdio

            await serve_stdio(engine.open_session, engine.store.current.proxy.max_host_frame_bytes)
            engine.stop("the host has left")
        elif not quiet:
            sys.stderr.write(f"mms: station ready on {engine.paths.socket}; ctrl+c ends it\n")
            sys.stderr.flush()


class EngineThread:
    """An engine in a thread and loop of its own, so that a busy screen never delays a call."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.loop = new_loop()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="mms-engine", daemon=True)

    def start(self) -> None:
        """Start it and wait until the socket answers. Raises what kept it from starting."""
        self._thread.start()
        self._started.wait(START_SECONDS)
        if self._failure is not None:
            raise self._failure

    def finish_calls(self, seconds: float) -> None:
        """Wait until no call is running, at most so long."""
        end = time.monotonic() + seconds
        while self.engine.router.calls and time.monotonic() < end and self._thread.is_alive():
            time.sleep(0.02)

    def stop(self, reason: str) -> None:
        """End it and wait, at most `STOP_SECONDS`."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):
                self.loop.call_soon_threadsafe(self.engine.stop, reason)
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
                runner.run(self._main())
        except (
            BaseException
        ) as error:  # handed to `start`, or logged: a thread has nobody to raise to
            if self._started.is_set():
                _log.exception("the engine failed")
            self._failure = _innermost(error)
        finally:
            self._started.set()

    async def _main(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.engine.run())
            announcing = group.create_task(self._announce())
            announcing.add_done_callback(lambda _: None)

    async def _announce(self) -> None:
        await self.engine.ready.wait()
        self._started.set()


def _innermost(error: BaseException) -> BaseException:
    found = error
    while isinstance(found, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", found)
        found = group.exceptions[0]
    return found


def _print_error(text: str) -> None:
    from console.safe import safe

    sys.stderr.write(f"mms: {safe(text)}\n")
