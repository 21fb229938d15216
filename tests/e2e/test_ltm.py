"""A real core of memtomem as the external memory: found, credited, proposed to, and gone afterwards.

It needs Python 3.12 or later, also where mms runs on 3.11: the variable ``LTM_PYTHON`` names one that is not
on the search path. It is installed once, beside the development environment (``make clean`` removes it).
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from config.schema_surfacing import LtmSettings, SurfacingSettings, SurfacingSource
from proxy import wire
from proxy.host_tools import Caller
from proxy.surface.ltm import ExternalSource
from proxy.surface.source import NewMemory, SourceFailed, SourceQuery
from tests.support.stations import alive

pytestmark = [pytest.mark.npm, pytest.mark.anyio, pytest.mark.xdist_group("real_ltm")]

PACKAGES = ("memtomem==0.6.12", "pysqlite3-binary==0.5.4.post2")
"""The second one for a Python whose SQLite loads no extensions."""
FOLDER = Path(sys.prefix) / "servers-ltm"
PATIENCE = 120.0
CALLER = Caller("our-host", "session-7")
FACT = "Staging deploys run from the release branch, never from main."
RUN = """
import sqlite3, sys
if not hasattr(sqlite3.Connection, "enable_load_extension"):
    import pysqlite3, pysqlite3.dbapi2
    sys.modules["sqlite3"], sys.modules["sqlite3.dbapi2"] = pysqlite3, pysqlite3.dbapi2
"""
SERVE = RUN + "from memtomem.server import main\nmain()\n"


def _newer_python() -> str:
    for name in (os.environ.get("LTM_PYTHON", ""), "python3.13", "python3.12", sys.executable):
        path = shutil.which(name) if name else None
        if path is None:
            continue
        check = (path, "-c", "import sys; sys.exit(sys.version_info < (3, 12))")
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip("memtomem needs Python 3.12 or later; name one in LTM_PYTHON")


@pytest.fixture(scope="module")
def python() -> str:
    """A Python with memtomem."""
    newer = _newer_python()
    FOLDER.mkdir(exist_ok=True)
    inside = FOLDER / "bin" / "python"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (FOLDER / "installed").exists():
            pip = (str(inside), "-m", "pip", "install", "-q", *PACKAGES)
            for command in ((newer, "-m", "venv", str(FOLDER)), pip):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    pytest.skip(f"memtomem cannot be installed here: {done.stderr.strip()[-300:]}")
            (FOLDER / "installed").touch()
    return str(inside)


@asynccontextmanager
async def running(python: str, home: Path) -> AsyncGenerator[ExternalSource]:
    """The source, once the core answers."""
    env = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    program = LtmSettings(python, ("-c", SERVE), env)
    settings = SurfacingSettings(source=SurfacingSource.LTM, ltm=program)
    source = ExternalSource(settings, os.environ, wire.raw({"name": "mms", "version": "1"}))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(source.run())
        async with asyncio.timeout(PATIENCE):
            while source.problem:  # noqa: ASYNC110  # another process starts
                await asyncio.sleep(0.05)
        yield source
        task.cancel()


async def test_a_real_core_is_searched_credited_and_proposed_to(python: str, home: Path) -> None:
    async with running(python, home) as source, asyncio.timeout(PATIENCE):
        assert "0.6.12" in source.detail
        assert "structured search, proposals for review" in source.detail
        upstream = source._upstream  # pyright: ignore[reportPrivateUsage]
        assert upstream is not None
        process = upstream.pid
        assert process is not None
        assert (await source.search(SourceQuery("deploy staging", CALLER, 5))).memories == ()
        await source._call(upstream, "mem_add", {"content": FACT})  # pyright: ignore[reportPrivateUsage]
        query = SourceQuery("staging deploys release branch", CALLER, 5)
        (found,) = (await source.search(query)).memories
        assert found.text == FACT
        assert found.created_at is not None
        assert found.score > 0.5
        assert found.kind == "default"
        await source.helped((found.id,))
        assert source._credits  # pyright: ignore[reportPrivateUsage]
        proposal = NewMemory("The build needs make 4.3 or newer.", "", "key-1", CALLER)
        first = await source.propose(proposal)
        assert (first.status, first.duplicate) == ("pending", False)
        second = await source.propose(proposal)
        assert (second.candidate_id, second.duplicate) == (first.candidate_id, True)
        other = NewMemory("Something else.", "", "key-1", CALLER)
        with pytest.raises(SourceFailed, match="the external memory answered"):
            await source.propose(other)
        assert (await source.search(SourceQuery("make build newer", CALLER, 5))).memories == ()
    assert not alive(process)
