"""What holds for every source of memories: the fake of tests, mms's own memory, and an external one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from config.paths import paths_for
from config.schema import MemorySettings
from config.schema_surfacing import LtmSettings, SurfacingSettings, SurfacingSource
from console.memory_source import EmbeddedSource
from memory.api import AddRecord
from memory.model import Actor, Kind, MemoryText, Origin
from memory.process.client import MemoryClient
from memory.process.program import reap
from proxy import wire
from proxy.host_tools import Caller
from proxy.surface.ltm import ExternalSource
from proxy.surface.source import MemorySource, NewMemory, SourceQuery
from tests.memory.process.processes import is_running
from tests.support import fake_ltm
from tests.support.fake_source import FakeSource, memories

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("memory_sources")]

CALLER = Caller("our-host", "session-7")
PATIENCE = 30.0
TEXTS = (
    "Staging deploys run from the release branch, never from main.",
    "The nightly backup of the billing database starts at two o'clock.",
    "Release notes are written before a release branch is cut.",
)


@asynccontextmanager
async def _fake(folder: Path) -> AsyncGenerator[MemorySource]:
    yield FakeSource(memories(TEXTS))


@asynccontextmanager
async def _embedded(folder: Path) -> AsyncGenerator[MemorySource]:
    environ = {"MMS_HOME": str(folder), "PATH": os.environ["PATH"]}
    paths = paths_for(environ)
    paths.config_file.write_text('[memory.embedder]\nprovider = "hashing"\n')
    async with MemoryClient(paths, environ) as client:
        for text in TEXTS:
            await client.ask(AddRecord(Kind.SEMANTIC, MemoryText(text)), Actor(Origin.AGENT))
        process = client.process
        yield EmbeddedSource(lambda: client, paths, MemorySettings)
    assert process is not None
    async with asyncio.timeout(PATIENCE):
        while is_running(process):  # noqa: ASYNC110  # it ends when its last client has left
            await asyncio.sleep(0.01)
    reap()


@asynccontextmanager
async def _external(folder: Path) -> AsyncGenerator[MemorySource]:
    file = folder / "memories.json"
    file.write_text(json.dumps(TEXTS))
    program = LtmSettings(sys.executable, (fake_ltm.__file__, "--memories", str(file)))
    settings = SurfacingSettings(source=SurfacingSource.LTM, ltm=program)
    source = ExternalSource(settings, os.environ, wire.raw({"name": "mms", "version": "1"}))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(source.run())
        async with asyncio.timeout(PATIENCE):
            while source.problem:  # noqa: ASYNC110  # another process starts
                await asyncio.sleep(0.01)
        yield source
        running.cancel()


SOURCES = {"fake": _fake, "embedded": _embedded, "external": _external}


def ask(text: str, limit: int = 5) -> SourceQuery:
    return SourceQuery(text, CALLER, limit)


@pytest.mark.parametrize("name", SOURCES)
async def test_every_source_keeps_the_contract(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with SOURCES[name](tmp_path_factory.mktemp("s")) as source, asyncio.timeout(PATIENCE):
        await what_fits_comes_first_and_says_why(source)
        await a_query_of_any_kind_is_answered(source)
        await a_proposal_is_filed_once_and_is_not_found_before_a_person_decides(source)


async def what_fits_comes_first_and_says_why(source: MemorySource) -> None:
    assert source.name in ("memory", "ltm")
    answer = await source.search(ask("staging deploys release branch"))
    assert not answer.empty
    assert answer.hints == 0
    best = answer.memories[0]
    assert best.text == TEXTS[0]
    assert set(best.common_words) <= {"staging", "deploys", "deploy", "release", "branch"}
    assert 2 <= len(best.common_words) <= 3
    scores = [memory.score for memory in answer.memories]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert best.score > 0.5
    assert all(0 < len(memory.id) <= 64 for memory in answer.memories)
    assert len({memory.id for memory in answer.memories}) == len(answer.memories)
    again = await source.search(ask("staging deploys release branch"))
    assert again == answer
    assert len((await source.search(ask("release branch", 1))).memories) == 1
    assert source.detail


async def a_query_of_any_kind_is_answered(source: MemorySource) -> None:
    for odd in ("", "   ", "?!", "\ud800", "\x00", "zebra", "word " * 3_000, '"quoted" AND (x'):
        answer = await source.search(ask(odd))
        assert all(memory.score < 0.5 for memory in answer.memories)
    await source.helped(("no such memory",))
    await source.helped(())
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(source.search(ask("backup billing")))
        await asyncio.sleep(0)
        waiting.cancel()
    found = (await source.search(ask("nightly backup billing"))).memories
    assert found[0].text == TEXTS[1]


async def a_proposal_is_filed_once_and_is_not_found_before_a_person_decides(
    source: MemorySource,
) -> None:
    fact = NewMemory("The parser needs yacc of 1994.", "docs/build.md", "k" * 256, CALLER)
    first = await source.propose(fact)
    assert not first.duplicate
    assert first.status == "pending"
    assert first.candidate_id
    assert first.created_at.endswith("+00:00")
    assert first.review_hint
    second = await source.propose(fact)
    assert second.duplicate
    assert second.candidate_id == first.candidate_id
    texts = [memory.text for memory in (await source.search(ask("parser yacc 1994"))).memories]
    assert fact.content not in texts
