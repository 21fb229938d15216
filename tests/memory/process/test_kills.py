"""The real memory process, killed while it works, shared by programs, and with a torn Chroma folder.

``MMS_TEST_KILL_ROUNDS`` says how often the process is killed, 3 times if it is not set.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from config.load import load_settings
from config.paths import Paths, ensure_private_directory
from memory import api
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Kind, MemoryText, Origin
from memory.process.client import MemoryClient
from memory.service import MemoryService
from memory.vectors.auto import AutoIndex, Large
from tests.memory.erasure import files_with, vector_bytes
from tests.memory.process.processes import (
    AGENT,
    PATIENCE,
    ROOT,
    instance,
    is_running,
    remember,
    until,
)

PERSON = Actor(Origin.OPERATOR, "console")
ROUNDS_VARIABLE = "MMS_TEST_KILL_ROUNDS"
ROUNDS = int(os.environ.get(ROUNDS_VARIABLE, "3"))
WRITERS = 4
SYLLABLES = [first + second for first in "bdfgklmnprst" for second in "aeiou"]


def settled_on(tmp_path: Path, index: str) -> tuple[Paths, dict[str, str]]:
    """An instance without a model whose vectors are in such an index."""
    if index == "chroma" and find_spec("chromadb") is None:
        pytest.skip("chromadb is not installed")
    paths, environ = instance(tmp_path)
    ensure_private_directory(paths.config_file.parent)
    config = f'[memory.embedder]\nprovider = "hashing"\n[memory.vectors]\nindex = "{index}"\n'
    paths.config_file.write_text(config, encoding="utf-8")
    return paths, environ


def sentences(seed: int) -> Iterator[str]:
    """Facts that have little in common; some contradict one that came before."""
    chosen = random.Random(seed)

    def word() -> str:
        return "".join(chosen.choices(SYLLABLES, k=4))

    while True:
        subject = f"The {word()} {word()}"
        yield f"{subject} of {word()} listens on port {chosen.randint(1_000, 9_999)}."
        yield f"{subject} was seen by {word()} near {word()}."


async def write_until_killed(
    client: MemoryClient, texts: Iterator[str], chosen: random.Random
) -> dict[str, str]:
    """Kill the process at some moment while several requests are under way.

    Returns the texts that were acknowledged, by id. Half of the requests have a key and are repeated.
    """
    acknowledged: dict[str, str] = {}
    kill_after = chosen.randint(1, 15)
    enough, killed = asyncio.Event(), asyncio.Event()

    async def write(writer: int) -> None:
        while not killed.is_set():
            text = next(texts)
            key = text if writer % 2 else ""
            try:
                stored = await client.ask(remember(text, key=key), AGENT)
            except MemoryFault as fault:
                if fault.code is FaultCode.UNAVAILABLE and not key:
                    return
                raise  # what has a key is asked again
            assert not stored.repeated or key
            acknowledged[stored.record.id] = text
            if len(acknowledged) >= kill_after:
                enough.set()

    async def kill() -> None:
        await enough.wait()
        await asyncio.sleep(chosen.random() * 0.01)  # not always just after an answer
        victim = client.process
        killed.set()
        if victim is not None:
            os.kill(victim, signal.SIGKILL)

    await client.ask(api.GetPosition(), AGENT)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        group.create_task(kill())
        for writer in range(WRITERS):
            group.create_task(write(writer))
    return acknowledged


async def assert_kept(client: MemoryClient, acknowledged: dict[str, str]) -> None:
    """Every acknowledged text is there, and its words and its vector find it."""
    assert (await client.ask(api.Verify(), AGENT)).problems == ()
    for id, text in acknowledged.items():
        found = (await client.ask(api.Search(text, top_k=3), AGENT)).hits
        assert found[0].record.id == id, (text, [hit.record.text.content for hit in found])
        assert found[0].record.text.content == text
        assert found[0].parts.raw_similarity > 0.99
        assert [hit.record.text.content for hit in found].count(text) == 1


def assert_indexes_agree(
    paths: Paths, environ: dict[str, str], acknowledged: dict[str, str]
) -> None:
    """Open the memory here, when its process is gone: every record has its vector in every index."""
    settings = load_settings(paths, environ, project_directory=None).settings.memory
    service = MemoryService.open(paths.memory_directory, settings, environ, upkeep=False)
    try:
        for id, text in acknowledged.items():
            assert service.answer(api.GetRecord(id), PERSON).record.text.content == text
            found = service.answer(api.Search(text, top_k=1), PERSON).hits
            assert [hit.record.id for hit in found] == [id]
        for _ in range(10_000):
            if not service.upkeep.step():
                break
        status = service.answer(api.GetIndexStatus(), PERSON)
        counts = service.answer(api.GetOverview(), PERSON).counts
        assert (status.pending, status.problem) == (0, "")
        assert status.vectors == sum(one.count for one in counts)
        assert service.answer(api.Verify(), PERSON).problems == ()
        searched = service._core.index._searched
        assert searched is not None
        if isinstance(searched.index, AutoIndex):
            assert searched.index.state is Large.READY
            assert searched.index._large.count() == status.vectors
    finally:
        service.close()


@pytest.mark.anyio
@pytest.mark.parametrize("index", ["brute", "chroma"])
async def test_what_was_acknowledged_is_there_after_every_kill(tmp_path: Path, index: str) -> None:
    paths, environ = settled_on(tmp_path, index)
    chosen, texts = random.Random(20), sentences(21)
    everything: dict[str, str] = {}
    last = 0
    for _ in range(ROUNDS):
        async with MemoryClient(paths, environ) as client:
            acknowledged = await write_until_killed(client, texts, chosen)
            assert acknowledged
            assert not everything.keys() & acknowledged.keys()
            everything |= acknowledged
            await assert_kept(client, acknowledged)
            last = process_of(client)
    await until(lambda: not is_running(last))
    assert_indexes_agree(paths, environ, everything)
    log = (paths.memory_directory / "memory.log").read_text("utf-8")
    assert "Traceback" not in log, log
    assert list(paths.memory_directory.glob("*damaged*")) == []


@pytest.mark.anyio
async def test_two_programs_that_report_at_once_are_counted_exactly(tmp_path: Path) -> None:
    paths, environ = settled_on(tmp_path, "brute")
    start = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from tests.memory.process.counting import main; main()"
    )
    async with MemoryClient(paths, environ) as client:
        plain, keyed = [
            (
                await client.ask(
                    api.AddRecord(Kind.PROCEDURAL, MemoryText(text, steps=("Do it.",))), AGENT
                )
            ).record.id
            for text in ("Release the parser by script", "Water the plants in the hall")
        ]
        programs = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-c", start, str(ROOT), plain, keyed, "60"),
                stdin=PIPE,
                stdout=PIPE,
                env=environ,
            )
            for _ in range(2)
        ]
        async with asyncio.timeout(PATIENCE):
            for program in programs:
                assert program.stdout is not None
                assert await program.stdout.readline() == b"ready\n"
            answers = await asyncio.gather(*(program.communicate(b"go\n") for program in programs))
        assert [out for out, _ in answers] == [b"120\n"] * 2
        by_plain = await client.ask(api.GetRecord(plain), PERSON)
        by_key = await client.ask(api.GetRecord(keyed), PERSON)
        assert (by_plain.record.successes, by_plain.record.failures) == (80, 40)
        assert (by_key.record.successes, by_key.record.failures) == (40, 20)
        assert len(by_key.outcomes) == 60
        assert (await client.ask(api.Verify(), PERSON)).problems == ()


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["no database", "half"])
async def test_a_torn_chroma_folder_is_put_aside_and_filled_again_while_searches_go_on(
    tmp_path: Path, how: str
) -> None:
    paths, environ = settled_on(tmp_path, "chroma")
    folder = paths.memory_directory / "chroma"
    made = sentences(5)
    texts = [next(made) for _ in range(24)]
    async with MemoryClient(paths, environ) as client:
        stored = await asyncio.gather(*(client.ask(remember(text), AGENT) for text in texts))
        await client.ask(api.Search(texts[0]), AGENT)
        last = process_of(client)
        await until((folder / "chroma.sqlite3").exists)
    await until(lambda: not is_running(last))
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            match how:
                case "no database":
                    file.write_bytes(b"no database" * 1_000)
                case _:
                    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    async with MemoryClient(paths, environ) as client, asyncio.timeout(PATIENCE):
        status = None
        while status is None or status.problem or not aside(paths):
            for text in texts[::8]:
                found = await client.ask(api.Search(text), AGENT)
                assert found.degraded == ""
                assert found.hits[0].record.text.content == text
            status = await client.ask(api.GetIndexStatus(), AGENT)
        last = process_of(client)
    await until(lambda: not is_running(last))
    assert len(aside(paths)) == 1
    assert_indexes_agree(paths, environ, {one.record.id: one.record.text.content for one in stored})


@pytest.mark.anyio
async def test_the_next_process_makes_a_folder_without_what_was_erased(tmp_path: Path) -> None:
    paths, environ = settled_on(tmp_path, "chroma")
    folder = paths.memory_directory / "chroma"
    made = sentences(6)
    texts = [next(made) for _ in range(12)]
    async with MemoryClient(paths, environ) as client:
        stored = await asyncio.gather(*(client.ask(remember(text), AGENT) for text in texts))
        await client.ask(api.Search(texts[0]), AGENT)
        await until((folder / "chroma.sqlite3").exists)
        erased = stored[3].record
        receipt = await client.ask(api.ExpungeRecord(erased.id, "asked to"), PERSON)
        assert receipt.problems == ()
        assert not folder.exists()
        assert await client.ask(api.Search(texts[0], top_k=1), AGENT)
        last = process_of(client)
    await until(lambda: not is_running(last))
    assert not folder.exists(), "what was in that process's memory gets into no file"
    async with MemoryClient(paths, environ) as client:
        await client.ask(api.Search(texts[0]), AGENT)
        kept = vector_bytes(stored[0].record)
        await until(lambda: bool(files_with(folder, kept)))
        last = process_of(client)
    await until(lambda: not is_running(last))
    assert files_with(paths.memory_directory, vector_bytes(erased)) == []


def process_of(client: MemoryClient) -> int:
    """Process id of the memory."""
    assert client.process is not None
    return client.process


def aside(paths: Paths) -> list[Path]:
    """Folders that were put aside."""
    return sorted(paths.memory_directory.glob("quarantine-*"))
