"""Real memory processes with a fake memory in them, for tests."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from config.paths import Paths, paths_for
from config.schema import MemorySettings
from memory import api
from memory.api import Request
from memory.model import Actor, Instant, Kind, MemoryText, Origin
from memory.process.child import main
from memory.process.client import MemoryClient
from tests.memory.support import FakeService

ROOT = Path(__file__).resolve().parents[3]
AGENT = Actor(Origin.AGENT, "test-host", "s")
PATIENCE = 30.0
"""Seconds that any wait may take."""

START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from tests.memory.process.processes import serve; sys.exit(serve())"
)
PROGRAM = (sys.executable, "-P", "-c", START, str(ROOT))


class ScriptedService(FakeService):
    """Does what a text says: ``die``, ``raise``, ``print``, or ``wait FILE`` until that file exists."""

    def __init__(self, directory: Path, settings: MemorySettings) -> None:
        super().__init__(settings)
        self._directory = directory
        self._note("opened")

    def answer(self, request: Request[Any], actor: Actor, now: Instant) -> Any:
        words = _words(request).split(maxsplit=1)
        match words:
            case ["die"]:
                os._exit(9)
            case ["die-once"] if not (self._directory / "died").exists():
                (self._directory / "died").touch()
                os._exit(9)
            case ["raise"]:
                raise ValueError("a fault of ours")
            case ["print"]:
                print("words of a library", flush=True)
            case ["wait", name]:
                (self._directory / "waiting").touch()
                import time

                while not (self._directory / name).exists():
                    time.sleep(0.005)
            case ["approval"]:
                return api.SearchResult((), self.settings.approval.value)
        self._note(f"answered {type(request).__name__} {' '.join(words)}".rstrip())
        return super().answer(request, actor, now)

    def close(self) -> None:
        self._note("closed")

    def _note(self, what: str) -> None:
        with (self._directory / "notes").open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {what}\n")


def _words(request: Request[Any]) -> str:
    match request:
        case api.AddRecord():
            return request.text.content
        case api.Search():
            return request.query
        case _:
            return ""


def serve() -> int:
    """What the child process runs."""
    return main(lambda directory, settings, _environ: ScriptedService(directory, settings))


def instance(tmp_path: Path) -> tuple[Paths, dict[str, str]]:
    """An instance of its own and the environment that points to it."""
    environ = {**os.environ, "MMS_HOME": str(tmp_path / "home")}
    return paths_for(environ), environ


def client_of(tmp_path: Path, **more: Any) -> MemoryClient:
    """A client whose process is a `ScriptedService`."""
    paths, environ = instance(tmp_path)
    return MemoryClient(paths, environ, program=PROGRAM, **more)


def remember(content: str, key: str = "") -> api.AddRecord:
    """A request that stores a fact."""
    return api.AddRecord(Kind.SEMANTIC, MemoryText(content), key=key)


def notes(tmp_path: Path) -> list[str]:
    """What the processes of this instance did, without their ids."""
    return [line.partition(" ")[2] for line in _noted(tmp_path)]


def openers(tmp_path: Path) -> list[int]:
    """Ids of the processes that opened the memory."""
    return [int(line.split()[0]) for line in _noted(tmp_path) if line.endswith(" opened")]


def _noted(tmp_path: Path) -> list[str]:
    file = instance(tmp_path)[0].memory_directory / "notes"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds, at most `PATIENCE` seconds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  # another process makes it true
            await asyncio.sleep(0.005)


def is_running(pid: int) -> bool:
    """Whether the process lives; one that waits to be reaped does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
