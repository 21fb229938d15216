"""The external system as the source: a core of memtomem, asked over MCP as a station asks it.

It is installed once beside the development environment, as ``tests/e2e/test_ltm.py`` does it. All memories
are stored before the week, since its files cannot be dated.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace

from config.schema_surfacing import LtmSettings, SurfacingSettings, SurfacingSource
from proxy import wire
from proxy.host_tools import Caller
from proxy.surface.ltm import ExternalSource
from proxy.surface.model import FoundMemory
from proxy.surface.source import SourceQuery
from tests.bench.surfacing.figures import Outcome
from tests.bench.surfacing.replay import LIMIT, Looked, decided, search_of
from tests.bench.surfacing.week import Memory, Week
from tests.e2e.test_ltm import FOLDER, PACKAGES, SERVE
from tests.support.mcp_client import start_program

_PATIENCE = 120.0
_CALLER = Caller("bench", "session-1")


class CannotInstall(Exception):
    """``str()`` says why."""


@dataclass(frozen=True, slots=True)
class External:
    """What the external memory found for each call of a week."""

    looked: tuple[Looked, ...]
    found: dict[str, tuple[FoundMemory, ...]]
    """By query."""
    keys: dict[str, int]
    about: str
    """The system's name and version."""

    def outcomes(self, threshold: float, *, ranks_alone: bool = False) -> list[Outcome]:
        """What would be shown; ``ranks_alone``: the first three, whatever their scores."""

        def of(one: Looked) -> Sequence[FoundMemory]:
            found = self.found.get(one.search.text, ())
            return [replace(memory, score=1.0) for memory in found] if ranks_alone else found

        return decided(self.looked, of, self.keys, threshold)


def python() -> str:
    """A Python with memtomem. Raises `CannotInstall`."""
    inside = FOLDER / "bin" / "python"
    if not (FOLDER / "installed").exists():
        newer = next(filter(None, map(shutil.which, ("python3.13", "python3.12"))), sys.executable)
        pip = (str(inside), "-m", "pip", "install", "-q", *PACKAGES)
        for command in ((newer, "-m", "venv", str(FOLDER)), pip):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CannotInstall(done.stderr.strip()[-300:])
        (FOLDER / "installed").touch()
    return str(inside)


async def searched(the_week: Week) -> External:
    """Store everything, then search for each call. Raises `CannotInstall`."""
    command = python()
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as home:
        env = {"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"]}
        keys = {_plain(one.text): one.key for one in the_week.memories}
        async with start_program((command, "-c", SERVE), env, kill=True) as client:
            await client.initialize(seconds=_PATIENCE)
            for text in keys:
                await client.text("mem_add", {"content": text}, seconds=_PATIENCE)
        looked = tuple(
            Looked(session.day, number, call, call.matter, search_of(call), (), "")
            for number, session in enumerate(the_week.sessions)
            for call in session.calls
        )
        found, about = await _asked({one.search.text for one in looked} - {""}, command, env)
    by_id = {memory.id: keys[memory.text] for several in found.values() for memory in several}
    return External(looked, found, by_id, about)


async def _asked(
    queries: set[str], command: str, env: dict[str, str]
) -> tuple[dict[str, tuple[FoundMemory, ...]], str]:
    program = LtmSettings(command, ("-c", SERVE), env)
    settings = SurfacingSettings(source=SurfacingSource.LTM, ltm=program)
    source = ExternalSource(settings, os.environ, wire.raw({"name": "mms", "version": "1"}))
    found: dict[str, tuple[FoundMemory, ...]] = {}
    async with asyncio.TaskGroup() as group:
        task = group.create_task(source.run())
        async with asyncio.timeout(_PATIENCE):
            while source.problem:  # noqa: ASYNC110  # another process starts
                await asyncio.sleep(0.05)
        for query in sorted(queries):
            async with asyncio.timeout(_PATIENCE):
                answer = await source.search(SourceQuery(query, _CALLER, LIMIT + 10))
            found[query] = tuple(answer.memories)
        about = source.detail
        task.cancel()
    return found, about


def _plain(text: str) -> str:
    kind, _, rest = text.partition(": ")
    return rest if kind in ("episode", "procedure") else text


def all_before(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The same, stored before the week."""
    return tuple(replace(one, day=-1) for one in memories)
