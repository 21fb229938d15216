"""The memory as hosts have it: the official client, ``mms connect``, a station, the memory's process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Coroutine, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from memory import api
from memory.model import Actor, Origin, ProposalState, State
from memory.process.client import MemoryClient
from memory.tools.names import NAMES
from tests.support.mcp_client import PATIENCE
from tests.support.stations import MMS, Station, alive, chaos, running_station, wait_until

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp_types import CallToolResult

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("memory_hosts")]

T = TypeVar("T")
PERSON = Actor(Origin.OPERATOR, "console")
OLD = "The staging database listens on port 5432."
NEW = "The staging database listens on port 6432."
EMBEDDER = '[memory.embedder]\nprovider = "hashing"\n'
AT_ONCE = "[memory.policy]\nmin_age_days = 0.0\nsuperseded_after_days = 0.0\n"
"""Forgetting that waits for nothing."""


@dataclass
class Host:
    """A host of ours: the official client, which checks every answer by the tool's schema."""

    session: ClientSession
    notified: list[str] = field(default_factory=list[str])
    """Methods of the notifications that came."""

    async def raw(self, tool: str, **arguments: Any) -> CallToolResult:
        """The whole result."""
        result: Any = await self.session.call_tool(tool, arguments)
        return result

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """What a tool of the memory answers, in its structured form."""
        result = await self.raw(f"memory_{name}", **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.structured_content

    async def fail(self, name: str, **arguments: Any) -> str:
        """What it says when it can't."""
        result = await self.raw(f"memory_{name}", **arguments)
        assert result.is_error, result.structured_content
        return result.content[0].text  # type: ignore[union-attr]  # it is one text

    async def found(self, query: str) -> list[str]:
        """Contents of what a query finds, best first."""
        results = (await self.call("query", query=query))["results"]
        return [one["record"]["content"] for one in results]

    async def tools(self) -> list[str]:
        """Names of the memory's tools that are listed."""
        listed = await self.session.list_tools()
        return [tool.name for tool in listed.tools if tool.name.startswith("memory_")]


@asynccontextmanager
async def host_of(station: Station, *arguments: str) -> AsyncGenerator[Host]:
    """A host that has started ``mms connect``."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    notified: list[str] = []

    async def on_message(message: Any) -> None:
        method = getattr(message, "method", None)
        if method is not None:
            notified.append(method)

    parameters = StdioServerParameters(
        command=MMS, args=["connect", *arguments], env=station.environment
    )
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(
            read, write, read_timeout_seconds=PATIENCE, message_handler=on_message
        ) as session,
    ):
        await session.initialize()
        host = Host(session, notified)
        assert {*await host.tools()} <= set(NAMES)
        yield host


@asynccontextmanager
async def person_of(station: Station) -> AsyncGenerator[MemoryClient]:
    """The person's way to the memory."""
    async with MemoryClient(station.paths, station.environment) as memory:
        yield memory


async def approve(memory: MemoryClient, space: str, asked: dict[str, Any]) -> None:
    """The person agrees with what an agent asked for."""
    waiting = (await memory.ask(api.ListProposals(space), PERSON)).items
    assert asked["proposal_id"] in [one.proposal.id for one in waiting]
    request = api.Decide(asked["proposal_id"], api.Decision.APPROVE, space)
    assert (await memory.ask(request, PERSON)).proposal.state is ProposalState.APPLIED


async def state(memory: MemoryClient, space: str, id: str) -> State:
    """Where a record is in its life."""
    return (await memory.ask(api.GetRecord(id, space), PERSON)).record.state


async def process_of(memory: MemoryClient) -> int:
    """Process id of the memory."""
    await memory.ask(api.GetPosition(), PERSON)
    assert memory.process is not None
    return memory.process


@contextmanager
def stopped(process: int) -> Generator[None]:
    """Let a process stand still; it goes on afterwards if it lives."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


@dataclass(frozen=True)
class Shared:
    """A station that several tests use, each in a space of its own."""

    station: Station
    by_person: bool
    """The person decides about everything."""


@pytest.fixture(scope="module", params=["auto", "operator"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    approval: str = request.param
    forgetting = "agent" if approval == "auto" else "operator"
    config = f'[memory]\napproval = "{approval}"\nforgetting = "{forgetting}"\n'
    home = tmp_path_factory.mktemp("h")
    with running_station(home, config + EMBEDDER + AT_ONCE) as station:
        yield Shared(station, approval == "operator")


async def test_a_contradiction_is_judged_and_the_old_fact_is_not_found_any_more(
    shared: Shared,
) -> None:
    async with (
        host_of(shared.station, "--space", "facts") as host,
        person_of(shared.station) as memory,
    ):
        assert await host.tools() == list(NAMES)
        old = (await host.call("store_semantic", content=OLD))["record"]
        stored = await host.call("store_semantic", content=NEW)
        new = stored["record"]
        (candidate,) = stored["potential_contradictions"]
        assert candidate["record"]["id"] == old["id"]
        assert candidate["class"] == "value_difference"
        resolved = await host.call(
            "resolve_supersession", keep_id=new["id"], supersede_id=old["id"]
        )
        if shared.by_person:
            assert resolved["status"] == "proposed"
            assert {*await host.found("staging database port")} == {OLD, NEW}
            assert (await host.call("overview"))["pending_decisions"] == 1
            await approve(memory, "facts", resolved)
        else:
            assert resolved["status"] == "resolved"
            assert resolved["kept_id"] == new["id"]
        assert await host.found("staging database port") == [NEW]
        assert await state(memory, "facts", old["id"]) is State.SUPERSEDED
        assert (await host.call("overview"))["pending_decisions"] == 0


async def test_the_survivor_of_a_duplicate_is_overridden_before_the_run(shared: Shared) -> None:
    async with (
        host_of(shared.station, "--space", "doubles") as host,
        person_of(shared.station) as memory,
    ):
        first = (await host.call("store_semantic", content="The deploy runs every Monday."))[
            "record"
        ]["id"]
        second = (await host.call("store_semantic", content="The deploy runs every Monday!"))[
            "record"
        ]["id"]
        seen = await host.call("forgetting_preview")
        assert (seen["dry_run"], seen["pruned"]) == (True, 1)
        (doubtful,) = [one for one in seen["decisions"] if one["action"] == "prune"]
        assert (doubtful["record_id"], doubtful["survivor_id"]) == (second, first)
        assert doubtful["reason"] == "likely_duplicate"
        assert await state(memory, "doubles", second) is State.ACTIVE
        resolved = await host.call("resolve_supersession", keep_id=second, supersede_id=first)
        assert resolved["status"] == ("proposed" if shared.by_person else "resolved")
        if shared.by_person:
            await approve(memory, "doubles", resolved)
        outdated = await host.fail("forgetting_run", plan_hash=seen["plan_hash"])
        assert "preview" in outdated
        seen = await host.call("forgetting_preview")
        (agreed,) = [one for one in seen["decisions"] if one["action"] == "prune"]
        assert (agreed["record_id"], agreed["survivor_id"]) == (first, second)
        assert agreed["reason"] == "superseded"
        done = await host.call("forgetting_run", plan_hash=seen["plan_hash"])
        if shared.by_person:
            assert done["status"] == "proposed"
            assert await state(memory, "doubles", first) is State.SUPERSEDED
            await approve(memory, "doubles", done)
        else:
            assert (done["status"], done["pruned"]) == ("executed", 1)
        assert await state(memory, "doubles", first) is State.ARCHIVED
        assert await state(memory, "doubles", second) is State.ACTIVE
        assert await host.found("deploy Monday") == ["The deploy runs every Monday!"]


async def test_a_procedure_without_outcomes_is_tried_and_its_outcomes_change_the_order(
    shared: Shared,
) -> None:
    async with host_of(shared.station, "--space", "ways") as host:
        ways, task = ("Deploy the site by hand", "Deploy the site by script"), "Deploy the site"
        hand, script = [
            (await host.call("store_procedural", content=way, steps=["begin", "end"]))["record"][
                "id"
            ]
            for way in ways
        ]
        untried = (await host.call("best_procedures", task=task))["results"]
        assert {one["record"]["id"] for one in untried} == {hand, script}
        assert all(one["explore"] and one["wilson_score"] == 0 for one in untried)
        for _ in range(4):
            await host.call("record_outcome", record_id=hand, success=False)
        for _ in range(3):
            await host.call("record_outcome", record_id=script, success=True)
        reported = await host.call("record_outcome", record_id=script, success=True)
        assert (reported["record"]["success_count"], reported["record"]["failure_count"]) == (4, 0)
        assert reported["record"]["wilson_score"] > 0.4
        ranked = (await host.call("best_procedures", task=task))["results"]
        assert [one["record"]["id"] for one in ranked] == [script, hand]
        assert ranked[0]["combined_score"] > ranked[1]["combined_score"]


async def test_hosts_of_two_spaces_share_nothing(shared: Shared) -> None:
    async with (
        host_of(shared.station, "--space", "left") as left,
        host_of(shared.station, "--space", "right") as right,
    ):
        mine = (await left.call("store_semantic", content=OLD))["record"]["id"]
        theirs = await right.call("store_semantic", content=NEW)
        assert theirs["potential_contradictions"] == []
        assert await left.found("staging database port") == [OLD]
        assert await right.found("staging database port") == [NEW]
        told = await right.fail(
            "resolve_supersession", keep_id=theirs["record"]["id"], supersede_id=mine
        )
        assert "not_found" in told
        spaces = [(await host.call("overview"))["space"] for host in (left, right)]
        assert spaces == ["left", "right"]


async def test_settings_hide_the_tools_and_hosts_are_told(home: Path) -> None:
    def config(*, advertise: bool) -> str:
        return f"[memory]\nadvertise = {str(advertise).lower()}\n" + EMBEDDER

    changed = "notifications/tools/list_changed"
    with running_station(home, config(advertise=False)) as station:
        async with host_of(station) as host:
            assert await host.tools() == []
            for times, advertise in ((1, True), (2, False), (3, True)):
                station.write(config(advertise=advertise))
                async with asyncio.timeout(PATIENCE):
                    while host.notified.count(changed) < times:  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
                assert await host.tools() == (list(NAMES) if advertise else [])
            assert (await host.call("overview"))["semantic_count"] == 0


@pytest.mark.parametrize("tool", ["forgetting_preview", "store_semantic"])
async def test_a_memory_that_stands_still_delays_no_relayed_call(home: Path, tool: str) -> None:
    with running_station(home, EMBEDDER + chaos("steady")) as station:
        async with (
            host_of(station) as host,
            host_of(station) as other,
            person_of(station) as memory,
        ):
            await host.call("store_semantic", content=OLD)
            arguments = {} if tool == "forgetting_preview" else {"content": NEW}
            async with asyncio.TaskGroup() as group:
                with stopped(await process_of(memory)):
                    pending = group.create_task(host.call(tool, **arguments))
                    for one in (host, other):
                        for _ in range(5):
                            echoed = await one.raw("steady__echo", text="still there")
                            assert echoed.content[0].text == "still there"  # type: ignore[union-attr]
                        assert "memory_query" in await one.tools()
                    assert not pending.done()
            assert pending.result()


async def test_a_call_whose_memory_is_killed_is_told_so_and_the_next_one_works(home: Path) -> None:
    with running_station(home, EMBEDDER + chaos("steady")) as station:
        async with host_of(station) as host, person_of(station) as memory:
            await host.call("store_semantic", content=OLD)
            lost = host.fail("store_semantic", content=NEW)
            told = await killed_meanwhile(host, await process_of(memory), lost)
            assert "unavailable" in told
            assert "look before asking for it again" in told
            assert await host.found("staging database port") == [OLD]
            asked = host.found("staging database port")
            found = await killed_meanwhile(host, await process_of(memory), asked)
            assert found == [OLD], "what only reads is asked again by itself"
            verified = await memory.ask(api.Verify(), PERSON)
            assert verified.problems == ()


async def killed_meanwhile(host: Host, victim: int, call: Coroutine[Any, Any, T]) -> T:
    """What a call answers whose memory is killed while it is under way."""
    async with asyncio.TaskGroup() as group:
        with stopped(victim):
            pending = group.create_task(call)
            # The answer to a later call tells that the station has handed the first one on.
            await host.raw("steady__echo", text="and then")
            os.kill(victim, signal.SIGKILL)
    return pending.result()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_no_memory_process_outlives_its_station(home: Path, number: signal.Signals) -> None:
    with running_station(home, EMBEDDER) as station:
        async with host_of(station, "--no-start") as host:
            await host.call("store_semantic", content=OLD)
            async with person_of(station) as memory:
                process = await process_of(memory)
            assert process in station.look()
            assert process != station.pid
            station.stop(number)
            wait_until(lambda: not alive(process), "the memory's process ended")
        if number is signal.SIGKILL:
            station.socket.unlink(missing_ok=True)  # nobody was left to do it
