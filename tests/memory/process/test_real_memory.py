"""The real memory in its real process, as the station, the console and the command line use it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from config.paths import Paths, ensure_private_directory
from memory import api
from memory.model import Actor, Origin
from memory.process.client import MemoryClient
from tests.memory.process.processes import AGENT, PATIENCE, instance, is_running, remember, until

PERSON = Actor(Origin.OPERATOR, "console")


def hashing(tmp_path: Path) -> tuple[Paths, dict[str, str]]:
    """An instance whose memory needs no model."""
    paths, environ = instance(tmp_path)
    ensure_private_directory(paths.config_file.parent)
    paths.config_file.write_text('[memory.embedder]\nprovider = "hashing"\n', encoding="utf-8")
    return paths, environ


@pytest.mark.anyio
async def test_what_was_answered_survives_a_kill_and_settings_are_followed(tmp_path: Path) -> None:
    paths, environ = hashing(tmp_path)
    async with MemoryClient(paths, environ) as agent, MemoryClient(paths, environ) as console:
        stored = await agent.ask(remember("The staging database listens on port 6432"), AGENT)
        seen = await console.ask(api.GetRecord(stored.record.id), PERSON)
        assert seen.record.actor == "test-host"
        assert agent.process == console.process
        assert agent.process is not None
        os.kill(agent.process, signal.SIGKILL)
        call = api.CallTool("memory_query", '{"query":"staging database"}')
        answer = await agent.ask(call, AGENT)
        assert not answer.is_error
        assert stored.record.id in answer.body
        assert (await agent.ask(api.Verify(), AGENT)).problems == ()
        with paths.config_file.open("a", encoding="utf-8") as file:
            file.write('[memory]\napproval = "auto"\n')
        approval = ""
        async with asyncio.timeout(PATIENCE):
            while approval != "auto":
                approval = (await console.ask(api.GetOverview(), PERSON)).approval
        last = agent.process
        assert last is not None
    await until(lambda: not is_running(last))
    assert "Traceback" not in (paths.memory_directory / "memory.log").read_text("utf-8")
