"""Open the console: on an engine of our own, or attached to a station that runs already."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from enum import Enum
from pathlib import Path

from config.load import load_settings
from config.paths import Paths, paths_for
from console.app import ConsoleApp, QuitChoice
from console.beginnings import Beginnings
from console.launching import own_command
from console.stations.lasting import LastingStation
from console.stations.local import LocalStation
from console.wiring import EngineThread, log_to_file, make_engine
from memory.process.client import MemoryClient
from proxy.lock import StationRunning, holder

FINISH_SECONDS = 10.0
"""How long running calls may still take when the person leaves and the proxy goes on elsewhere."""


class Opened(Enum):
    """How the console ended."""

    LEFT = "left"
    DEMO = "demo"
    """The person asked for the demo; it needs a station of its own."""


def open_console(
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, str] | None = None,
    project_directory: Path | None = None,
) -> Opened:
    """Run the console until the person leaves. Raises what keeps a station from starting."""
    paths = paths_for(environ)
    log_to_file(paths, console=True)
    with _printing_to(paths.log_file.with_name("console.log")):
        if holder(paths.lock_file) is not None:
            return asyncio.run(_attached(paths, environ))
        engine = make_engine(environ, flags=flags, project_directory=project_directory)
        thread = EngineThread(engine)
        try:
            thread.start()
        except StationRunning:
            return asyncio.run(_attached(paths, environ))  # another one was faster
        return _on_own_engine(thread, paths, environ)


def _on_own_engine(thread: EngineThread, paths: Paths, environ: Mapping[str, str]) -> Opened:
    engine = thread.engine
    steps = Beginnings(paths.config_file, environ)
    memory = MemoryClient(paths, environ)
    app = ConsoleApp(
        LocalStation(engine.service, thread.loop, memory),
        first_steps=steps,
        settings=engine.store.current.console,
        memory_space=engine.store.current.memory.space,
        log_file=paths.log_file.with_name("console.log"),
    )
    steps.leave = app.leave_for_demo
    choice = None

    async def show() -> QuitChoice | None:
        async with memory:
            return await app.run_async()

    try:
        choice = asyncio.run(show())
    finally:
        if choice is QuitChoice.KEEP:
            thread.finish_calls(FINISH_SECONDS)
        thread.stop("the console was left")
    if choice is QuitChoice.KEEP:
        start_in_background(environ)
    return Opened.DEMO if steps.demo_wanted else Opened.LEFT


async def _attached(paths: Paths, environ: Mapping[str, str]) -> Opened:
    loaded = load_settings(paths, environ, project_directory=None)
    memory = MemoryClient(paths, environ)
    station = LastingStation(paths.socket, memory)
    steps = Beginnings(paths.config_file, environ)
    app = ConsoleApp(
        station,
        first_steps=steps,
        settings=loaded.settings.console,
        memory_space=loaded.settings.memory.space,
        log_file=paths.log_file.with_name("console.log"),
    )
    steps.leave = app.leave_for_demo
    try:
        await app.run_async()
    finally:
        await station.aclose()
        await memory.aclose()
    return Opened.DEMO if steps.demo_wanted else Opened.LEFT


def start_in_background(environ: Mapping[str, str]) -> None:
    """Start a station without a screen that outlives this process."""
    subprocess.Popen(
        [*own_command(), "serve", "--background"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(environ),
        cwd="/",
    )


@contextlib.contextmanager
def _printing_to(file: Path) -> Generator[None]:
    """Textual draws on the error output; whatever else prints there must not spoil the picture."""
    screen = os.dup(2)
    before = sys.__stderr__
    sys.__stderr__ = os.fdopen(screen, "w", encoding="utf-8", errors="replace")  # type: ignore[misc]  # Textual takes its terminal from there
    sink = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(sink, 2)
    os.close(sink)
    try:
        yield
    finally:
        drawn = sys.__stderr__
        drawn.flush()
        os.dup2(screen, 2)
        sys.__stderr__ = before  # type: ignore[misc]  # back as it was
        drawn.close()
