"""The demo's agent notices whatever is not as its script says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from mcp import Client, ClientSession, MCPError
from mcp.types import CallToolResult, TextContent

from console.demo import agent
from console.demo.agent import DemoFailed, investigate, play, wait_for_tools
from console.demo.script import PlannedCall, Step
from console.demo.servers import logs
from console.demo.servers.serving import build


class Answering:
    """A session that answers every call in the same way and says how many ran at once."""

    def __init__(self, *, is_error: bool = False, error: MCPError | None = None) -> None:
        self.is_error = is_error
        self.error = error
        self.running = 0
        self.most = 0

    async def call_tool(self, *_: Any, **__: Any) -> CallToolResult:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        if self.error:
            raise self.error
        return CallToolResult(
            content=[TextContent(type="text", text="fine")], is_error=self.is_error
        )


def played_by(session: Answering, *calls: PlannedCall) -> list[agent.PlayedCall]:
    return asyncio.run(play(cast("ClientSession", session), [Step(0.0, calls)], pace=0))


def test_calls_of_one_step_run_at_the_same_time() -> None:
    session = Answering()
    played = played_by(session, *(PlannedCall("logs", "tail") for _ in range(3)))
    assert session.most == 3
    assert [call.tool for call in played] == ["logs__tail"] * 3
    assert not any(call.surprise or call.failed for call in played)


def test_an_error_that_was_not_planned_is_a_surprise_and_so_is_its_absence() -> None:
    fine, fails = PlannedCall("logs", "tail"), PlannedCall("logs", "tail", fails=True)
    assert played_by(Answering(is_error=True), fine)[0].surprise == "failed, but should not"
    assert played_by(Answering(), fails)[0].surprise == "did not fail, but should"
    assert played_by(Answering(is_error=True), fails)[0].surprise == ""


def test_an_error_of_the_protocol_is_a_surprise_with_its_text() -> None:
    session = Answering(error=MCPError(code=-32000, message="upstream logs is down"))
    (call,) = played_by(session, PlannedCall("logs", "tail"))
    assert call.surprise == "answered with error -32000: upstream logs is down"


def test_missing_tools_are_named_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "START_SECONDS", 0.3)

    async def run() -> None:
        async with Client(build(logs.SERVER), mode="legacy") as client:
            with pytest.raises(DemoFailed, match="missing: logs__nothing"):
                await wait_for_tools(client.session, frozenset({"tail", "logs__nothing"}))

    asyncio.run(run())


def test_without_a_station_the_agent_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "START_SECONDS", 0.2)
    with pytest.raises(DemoFailed, match=r"nobody\.sock"):
        asyncio.run(investigate(tmp_path / "nobody.sock", pace=0, forever=False))


@contextlib.asynccontextmanager
async def hanging_up(socket: Path) -> AsyncIterator[None]:
    """A station that reads the handshake and closes."""

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(meet, socket)
    async with server:
        yield


def test_a_station_that_hangs_up_ends_the_agent_with_a_reason(tmp_path: Path) -> None:
    socket = tmp_path / "mms.sock"

    async def run() -> None:
        async with asyncio.timeout(10), hanging_up(socket):
            await investigate(socket, pace=0, forever=True)

    reasons: list[str] = []
    try:
        asyncio.run(run())
    except* DemoFailed as failed:
        reasons = [str(one) for one in agent.leaves_of(failed)]
    assert reasons == ["the station closed the connection"]
