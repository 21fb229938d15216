"""Memories with answers, end to end: real clients, a real station, the memory's process, an external one."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from console.stations.attached import AttachedStation
from proxy.breaker import FAILURES_TO_OPEN
from proxy.commands import RateMemory
from proxy.model import CallQuery, CallRecord
from proxy.surface.model import Decision, Rater, Rating, SurfacingQuery
from tests.support import fake_ltm
from tests.support import wordy_upstream as wordy
from tests.support.mcp_client import PATIENCE, RawClient, connect_host
from tests.support.stations import (
    MMS,
    Station,
    alive,
    children_of,
    operator,
    program,
    running_station,
    wait_until,
)

if TYPE_CHECKING:
    from mcp import ClientSession

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("surfacing")]

FIVE = {
    "stm_proxy_select_chunks",
    "stm_proxy_read_more",
    "stm_proxy_describe_tool",
    "stm_surfacing_feedback",
    "stm_compression_feedback",
}
FACT = "Database migrations of the billing service run by hand, never from the deploy job."
OTHER = "The cafeteria serves soup on Fridays."
QUERY = "billing service database migrations"
_ID = re.compile(r"\b[0-9a-f]{12}\b")
_MEMORY = re.compile(r"^([\w.:/@+=-]+) \d+%", re.MULTILINE)


def upstream(**keys: Any) -> str:
    return program("w", [sys.executable, str(Path(wordy.__file__))], **keys)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """A station with the embedded memory, whose model needs no time."""
    config = (
        "surfacing = { timeout_seconds = 10.0, cooldown_seconds = 0.0, min_score = 0.3 }\n"
        'memory = { embedder = { provider = "hashing" } }\n' + upstream()
    )
    with running_station(tmp_path_factory.mktemp("h"), config) as station:
        yield station


async def own_tools(host: RawClient) -> set[str]:
    listed = (await host.request("tools/list"))["tools"]
    return {tool["name"] for tool in listed if tool["name"].startswith("stm_")}


async def store(host: RawClient, content: str) -> None:
    await host.text("memory_store_semantic", {"content": content})


async def blocks(host: RawClient, tool: str, query: str) -> list[str]:
    result = await host.call(tool, {"_context_query": query})
    return [block["text"] for block in result["content"] if block["type"] == "text"]


async def test_surfaced_then_rated_then_not_again_and_session_two_sees_what_session_one_saw(
    running: Station,
) -> None:
    async with connect_host(running.socket) as host:
        assert await own_tools(host) == FIVE
        await store(host, FACT)
        await store(host, OTHER)
        *_, first = await blocks(host, "w__short", QUERY)
        assert FACT in first
        assert OTHER not in first
        (surfacing_id,) = _ID.findall(first)
        (memory_id,) = _MEMORY.findall(first)
        wrong = {"surfacing_id": surfacing_id, "memory_id": "nothing", "rating": "helpful"}
        assert memory_id in await host.failure("stm_surfacing_feedback", wrong)
        said = await host.call(
            "stm_surfacing_feedback",
            {
                "surfacing_id": surfacing_id,
                "ratings": [{"memory_id": memory_id, "rating": "not_relevant"}],
            },
        )
        assert said["structuredContent"]["recorded"] == 1
        again = await blocks(host, "w__short", QUERY + " please")
        assert all(FACT not in block for block in again)
        async with connect_host(running.socket) as second:
            *_, seen = await blocks(second, "w__short", QUERY)
            assert FACT in seen
            refused = await second.failure(
                "stm_surfacing_feedback", {"surfacing_id": surfacing_id, "rating": "helpful"}
            )
            assert "no surfacing" in refused
    async with operator(running) as seen_by_person:
        done = await seen_by_person.execute(RateMemory(surfacing_id, memory_id, Rating.HELPFUL))
        assert done.ok, done.message
        view = await seen_by_person.surfacing(SurfacingQuery())
        event = next(one for one in view.recent if one.id == surfacing_id)
        (shown,) = event.memories
        assert shown.conflict
        assert shown.rating is Rating.HELPFUL
        assert {one.rater for one in shown.ratings} == set(Rater)
        assert view.events_total == 2
        assert dict(view.since_start)[Decision.SURFACED] == 2
        (call,) = await recorded(seen_by_person, surfacing_id)
        assert call.surfaced_tokens == event.tokens > 0


async def recorded(person: AttachedStation, surfacing_id: str) -> list[CallRecord]:
    """The calls of a surfacing, once they are measured: the first count loads a vocabulary."""
    async with asyncio.timeout(PATIENCE):
        while True:
            calls = await person.calls(CallQuery())
            found = [one for one in calls if one.surfacing_id == surfacing_id]
            if found:
                return found
            await asyncio.sleep(0.05)


async def test_the_official_client_sees_rates_and_is_spared_what_it_knows(running: Station) -> None:
    fact = "Invoices of the tax office need the cost centre in the subject."
    query = {"_context_query": "tax office invoices cost centre"}
    async with official_client(running) as first, official_client(running) as second:
        await first.call_tool("memory_store_semantic", {"content": fact})
        shown = await texts_of(first, "w__short", query)
        assert fact in shown[-1]
        (surfacing_id,) = _ID.findall(shown[-1])
        rated = await first.call_tool(
            "stm_surfacing_feedback", {"surfacing_id": surfacing_id, "rating": "already_known"}
        )
        assert not rated.is_error
        assert all(fact not in text for text in await texts_of(first, "w__short", query))
        assert fact in (await texts_of(second, "w__short", query))[-1]


@asynccontextmanager
async def official_client(station: Station) -> AsyncGenerator[ClientSession]:
    """A session of the official SDK over ``mms connect``."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=MMS, args=["connect"], env=station.environment)
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, read_timeout_seconds=PATIENCE) as session,
    ):
        await session.initialize()
        yield session


async def texts_of(session: ClientSession, tool: str, arguments: dict[str, Any]) -> list[str]:
    result: Any = await session.call_tool(tool, arguments)
    return [block.text for block in result.content if block.type == "text"]


async def test_shortened_and_progressive_answers_carry_memories_behind_their_footers(
    running: Station,
) -> None:
    async with connect_host(running.socket) as host:
        await store(host, "The nightly prose report is read by the auditors on Monday.")
        *_, last = await blocks(host, "w__prose", "nightly prose report auditors")
        assert "auditors on Monday" in last
        assert "stm_surfacing_feedback" in last


async def test_flags_advertise_tools_while_hosts_are_connected(running: Station) -> None:
    before = running.paths.config_file.read_text(encoding="utf-8")
    async with connect_host(running.socket) as host:
        assert await own_tools(host) == FIVE
        running.write(
            "advertise_observability_tools = true\nformation = { enabled = true }\n" + before
        )
        await host.until_notified("notifications/tools/list_changed")
        listed = (await host.request("tools/list"))["tools"]
        own = [tool for tool in listed if tool["name"].startswith("stm_")]
        assert {tool["name"] for tool in own} == {*FIVE, "stm_admin", "stm_memory_propose"}
        five = [tool for tool in own if tool["name"] in FIVE]
        assert len(json.dumps(five, separators=(",", ":"))) <= 3_584
        stats = await host.text("stm_admin", {"action": "surfacing_stats"})
        assert "Events total:" in stats
        assert "Opportunities: " in stats
        health = await host.text("stm_admin", {"action": "proxy_health"})
        assert "w: connected" in health
        assert "action must be one of" in await host.failure("stm_admin", {"action": "nothing"})
        proposal = {"content": "The auditors come on Mondays.", "source_ref": "https://x.example/a"}
        first = json.loads(await host.text("stm_memory_propose", proposal))
        assert first["ok"] is True
        assert first["duplicate"] is False
        second = json.loads(await host.text("stm_memory_propose", proposal))
        assert second["duplicate"] is True
        assert second["candidate_id"] == first["candidate_id"]
        running.write(before)
        await host.until_notified("notifications/tools/list_changed", 2)
        assert await own_tools(host) == FIVE
        off = json.loads(await host.text("stm_memory_propose", proposal))
        assert off == {"ok": False, "reason": "formation_disabled"} | {
            key: value for key, value in off.items() if key == "message"
        }


async def test_an_external_memory_killed_in_mid_call_costs_no_answer_and_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = tmp_path_factory.mktemp("h")
    command = json.dumps(sys.executable)
    notes = ["The release notes of the search service name every deploy.", "Soup on Fridays."]
    (home / "memories.json").write_text(json.dumps(notes), encoding="utf-8")
    args = json.dumps([fake_ltm.__file__, "--memories", str(home / "memories.json")])
    config = (
        'surfacing = { source = "ltm", timeout_seconds = 0.5, cooldown_seconds = 0.0, '
        "dedup_ttl_seconds = 1e-3, cache_seconds = 0.0, max_per_minute = 6000, min_score = 0.05, "
        f"ltm = {{ command = {command}, args = {args} }} }}\n" + upstream()
    )
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host, operator(station) as person:
            await _until_shown(host)
            pid = ltm_of(station)
            os.kill(pid, signal.SIGSTOP)  # it hangs in the middle of the call
            for number in range(FAILURES_TO_OPEN):
                query = f"release notes of the search service, {number} times"
                assert len(await blocks(host, "w__short", query)) == 1
            assert (await person.surfacing(SurfacingQuery(limit=0))).source.state == "open"
            os.kill(pid, signal.SIGKILL)
            assert len(await blocks(host, "w__short", "release notes, the third time")) == 1
            wait_until(lambda: not alive(pid), "the external memory has ended")
            await _until_shown(host)
            assert ltm_of(station) != pid
            view = await person.surfacing(SurfacingQuery())
            faults = [one for one, count in view.since_start if one.fault and count]
            assert faults
            assert view.source.state == "closed"


def ltm_of(station: Station) -> int:
    """The external memory's process."""
    children = [pid for pid, _ in children_of(station.pid)]
    (pid,) = [one for one in children if b"fake_ltm" in Path(f"/proc/{one}/cmdline").read_bytes()]
    return pid


async def _until_shown(host: RawClient) -> None:
    """Ask, each time as a new session would, until memories come."""
    async with asyncio.timeout(PATIENCE):
        number = 0
        while len(await blocks(host, "w__short", f"release notes search service {number}")) < 2:
            number += 1
            await asyncio.sleep(0.05)
