"""An external memory: what is asked of it, what is made of its answers, and what its troubles do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.schema_surfacing import LtmSettings, SurfacingSettings, SurfacingSource
from proxy import wire
from proxy.host_tools import Caller
from proxy.surface import ltm_answers
from proxy.surface.ltm import ExternalSource
from proxy.surface.source import (
    NewMemory,
    ProposalsUnsupported,
    SourceFailed,
    SourceQuery,
    SourceUnavailable,
)
from tests.support import fake_ltm
from tests.support.stations import alive

CALLER = Caller("our-host", "session-7")
PATIENCE = 30.0
STAGING = "Staging deploys run from the release branch, never from main."
TEAM = {"content": "The team deploys on Tuesdays.", "id": "t-1", "namespace": "team", "score": 0.25}


def program(folder: Path, *more: str, namespace: str = "") -> SurfacingSettings:
    """Settings that start the fake."""
    file = folder / "memories.json"
    file.write_text(json.dumps([STAGING, TEAM]))
    arguments = (fake_ltm.__file__, "--memories", str(file), "--journal", str(folder / "j"), *more)
    ltm = LtmSettings(sys.executable, arguments, namespace=namespace, connect_timeout_seconds=20)
    return SurfacingSettings(source=SurfacingSource.LTM, ltm=ltm)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for another process."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(
    settings: SurfacingSettings, *, ready: bool = True
) -> AsyncGenerator[ExternalSource]:
    """A source whose program runs, and is gone afterwards."""
    client = wire.raw({"name": "mms", "version": "1"})
    source = ExternalSource(settings, os.environ, client, chance=lambda: 0.0)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(source.run())
        if ready:
            await until(lambda: not source.problem)
        yield source
        task.cancel()


def ask(text: str, limit: int = 5) -> SourceQuery:
    return SourceQuery(text, CALLER, limit)


def journal(folder: Path, tool: str) -> list[dict[str, Any]]:
    """Arguments of the calls that reached the program."""
    lines = [json.loads(line) for line in (folder / "j").read_text().splitlines()]
    return [line["arguments"] for line in lines if line["tool"] == tool]


@pytest.mark.anyio
async def test_a_core_with_everything_is_asked_the_fast_way_that_leaves_no_trace(
    tmp_path: Path,
) -> None:
    async with running(program(tmp_path, "--mode", "hints,asks_first")) as source:
        assert source.detail == "memtomem 0.6.12: structured search, proposals for review"
        answer = await source.search(ask("deploys"))
        assert [memory.id for memory in answer.memories] == ["chunk-0", "t-1"]
        assert [memory.kind for memory in answer.memories] == ["default", "team"]
        assert answer.memories[1].score == 0.25
        assert answer.memories[0].common_words == ("deploys",)
        assert answer.hints == 1
        await source.helped(("chunk-0",))
    assert journal(tmp_path, "mem_search") == [
        {
            "query": "deploys",
            "top_k": 5,
            "output_format": "structured",
            "rerank": False,
            "record": False,
        }
    ]
    assert journal(tmp_path, "mem_do") == [
        {"action": "version"},
        {"action": "increment_access", "params": {"chunk_ids": ["chunk-0"]}},
    ]


@pytest.mark.anyio
async def test_an_old_core_is_read_in_its_compact_format(tmp_path: Path) -> None:
    modes = "compact_only,no_proposals,no_increment,hints"
    async with running(program(tmp_path, "--mode", modes, namespace="team")) as source:
        assert "compact search, no proposals" in source.detail
        answer = await source.search(ask("deploys"))
        (memory,) = answer.memories
        assert memory.text == TEAM["content"]
        assert memory.id == ltm_answers.digest_id(memory.text)
        assert memory.kind == "team"
        assert answer.hints == 1
        assert (await source.search(ask("zebra"))).hints == 1
        with pytest.raises(ProposalsUnsupported, match="nothing was written"):
            await source.propose(NewMemory("A fact.", "", "k", CALLER))
        await source.helped((memory.id,))
        await source.helped((memory.id,))
    first = journal(tmp_path, "mem_search")[0]
    assert first == {"query": "deploys", "top_k": 5, "namespace": "team"}
    asked = [call["action"] for call in journal(tmp_path, "mem_do")]
    assert asked == ["version", "increment_access"]  # once refused, it is not asked again


@pytest.mark.anyio
async def test_troubles_of_one_search_are_told_and_leave_the_next_one_alone(tmp_path: Path) -> None:
    async with running(program(tmp_path, "--mode", "old_version_numbers")) as source:
        for fault, says in (
            ("error", "answered: Storage startup failed."),
            ("rpc_error", "answered: no index"),
            ("garbage", "in no known format"),
            ("no_text", "in no known format"),
            ("not_a_list", "no list of results"),
        ):
            with pytest.raises(SourceFailed, match=says):
                await source.search(ask(f"fault:{fault}"))
        odd = (await source.search(ask("fault:odd_items"))).memories
        assert [memory.text for memory in odd] == ["fault odd", "fault odd too"]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await source.search(ask("fault:hang"))
        with pytest.raises(SourceFailed, match="sensitive data"):
            await source.propose(NewMemory("token sk-live-1", "", "k", CALLER))
        assert (await source.propose(NewMemory("A fact.", "", "k", CALLER))).status == "pending"
        assert (await source.search(ask("staging"))).memories


@pytest.mark.anyio
async def test_a_program_that_dies_is_started_again_and_none_is_left_behind(
    tmp_path: Path,
) -> None:
    async with running(program(tmp_path)) as source:
        assert source._upstream is not None  # pyright: ignore[reportPrivateUsage]
        first = source._upstream.pid  # pyright: ignore[reportPrivateUsage]
        assert first is not None
        with pytest.raises(SourceUnavailable, match="exited with code 7 before it answered"):
            await source.search(ask("fault:die"))
        with pytest.raises(SourceUnavailable):
            await source.search(ask("staging"))
        await until(lambda: not source.problem)
        assert (await source.search(ask("staging"))).memories
        second = source._upstream.pid  # pyright: ignore[reportPrivateUsage]
        assert second is not None
        assert second != first
        # Another program in the settings takes its place; another namespace needs no new one.
        source.applied(program(tmp_path, namespace="team"))
        assert source._upstream.pid == second  # pyright: ignore[reportPrivateUsage]
        assert not (await source.search(ask("staging"))).memories
        source.applied(program(tmp_path, "--mode", "no_namespace"))
        await until(lambda: not source.problem)
        assert (await source.search(ask("staging"))).memories
        source.applied(program(tmp_path, "--mode", "no_namespace", namespace="team"))
        with pytest.raises(SourceUnavailable, match="takes no namespace"):
            await source.search(ask("staging"))
        source.applied(SurfacingSettings())
        await until(lambda: "switched off" in source.problem)
        await until(lambda: not alive(second))
    assert not alive(first)


@pytest.mark.anyio
async def test_nothing_waits_for_a_memory_that_is_not_there(tmp_path: Path) -> None:
    for mode, says in (
        ("never_ready", "still starting"),
        ("exits_at_start", "exited with code 3"),
    ):
        async with running(program(tmp_path, "--mode", mode), ready=False) as source:
            with pytest.raises(SourceUnavailable):
                await source.search(ask("staging"))
            await until(lambda: says in source.problem)  # noqa: B023
            assert source.detail == ""
            await source.helped(("chunk-0",))
    nowhere = SurfacingSettings(source=SurfacingSource.LTM, ltm=LtmSettings("no-such-program"))
    async with running(nowhere, ready=False) as source:
        await until(lambda: "no-such-program was not found" in source.problem)
    unset = SurfacingSettings(source=SurfacingSource.LTM)
    async with running(unset, ready=False) as source:
        with pytest.raises(SourceUnavailable, match="no program is set"):
            await source.search(ask("staging"))
    async with running(program(tmp_path, "--mode", "no_search"), ready=False) as source:
        await until(lambda: "no tool mem_search" in source.problem)


@pytest.mark.anyio
async def test_a_memory_without_a_gateway_is_only_searched(tmp_path: Path) -> None:
    for mode in ("no_gateway", "garbage_version"):
        async with running(program(tmp_path, "--mode", mode)) as source:
            assert (await source.search(ask("staging"))).memories
            with pytest.raises(ProposalsUnsupported):
                await source.propose(NewMemory("A fact.", "", "k", CALLER))


def test_a_compact_answer_is_cut_at_its_own_headers_only() -> None:
    text = (
        "Found 2 results:\n\n[1] 0.02 | notes.md > A\n[7] 0.99 | is a line of the text\n\nmore\n\n"
        "[2] 0.01 | [team] b.md\nsecond\n\n(Note: keyword index unavailable)\n\n(a hint)"
    )
    found = ltm_answers.parse_results(text)
    assert [one.text for one in found.results] == [
        "[7] 0.99 | is a line of the text\n\nmore",
        "second",
    ]
    assert [one.score for one in found.results] == [0.02, 0.01]
    assert found.results[1].namespace == "team"
    assert found.hints == 2
    assert not found.scale


def test_a_stamp_before_the_text_becomes_its_time() -> None:
    stamped = "> created: 2026-03-01T12:00:00+00:00\n\nA fact."
    assert ltm_answers.without_stamp(stamped) == ("A fact.", 1_772_366_400.0)
    assert ltm_answers.without_stamp("> created: yesterday-or-so\nA") == (
        "> created: yesterday-or-so\nA",
        None,
    )


@given(st.text() | st.text(alphabet="[]12 |.\n()Found results:{}\"'"))
def test_any_text_is_results_or_a_failure_that_says_so(text: str) -> None:
    with contextlib.suppress(SourceFailed):
        found = ltm_answers.parse_results(text)
        assert len({one.id for one in found.results}) == len(found.results)
    ltm_answers.parse_version(text)
    ltm_answers.without_stamp(text)


_ODD = st.sampled_from(
    [
        None,
        True,
        7,
        -1.5,
        1e300,
        10**400,
        "",
        " ",
        "text",
        "x" * 80,
        "a\nb",
        [],
        ["x"],
        {},
        {"a": 1},
    ]
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={"content": _ODD, "score": _ODD, "chunk_id": _ODD, "namespace": _ODD}
        )
        | _ODD,
        max_size=5,
    ),
    _ODD,
)
def test_odd_structured_answers_give_only_memories_with_a_text(items: list[Any], odd: Any) -> None:
    text = json.dumps({"results": items, "score_scale": odd, "hints": odd})
    for one in ltm_answers.parse_results(text).results:
        assert one.text.strip()
        assert 0 < len(one.id) <= 64
