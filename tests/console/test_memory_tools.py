"""The memory's tools behind the proxy's port for tools of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from config.paths import paths_for
from config.schema import MemorySettings
from console.memory_tools import MemoryHostTools, StationMemory
from memory import api
from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Origin
from memory.tools.definitions import TOOLS
from memory.tools.names import NAMES
from proxy.host_tools import Caller, HostTools, NoHostTools
from tests.memory.support import FakeMemory

CALLER = Caller("our-host", "session-7")


@pytest.mark.anyio
async def test_a_call_reaches_the_memory_with_who_called_and_in_which_space() -> None:
    memory = FakeMemory()
    settings = MemorySettings(space="settings-space")
    tools: HostTools = MemoryHostTools(lambda: memory, lambda: settings)
    answer = await tools.call("memory_store_semantic", b'{"content":"a fact"}', CALLER)
    assert not answer.is_error
    record = json.loads(answer.body)["structuredContent"]["record"]
    assert record["content"] == "a fact"
    assert memory.service.actors == [Actor(Origin.AGENT, "our-host", "session-7")] * 2
    assert memory.service.asked[0] == api.CallTool(
        "memory_store_semantic", '{"content":"a fact"}', "settings-space"
    )
    await tools.call("memory_overview", b"", Caller("our-host", "session-7", "team"))
    assert memory.service.asked[-1] == api.GetOverview("team")


def test_the_tools_are_offered_as_long_as_the_settings_say_so() -> None:
    advertise = True
    tools = MemoryHostTools(FakeMemory, lambda: MemorySettings(advertise=advertise))
    assert tools.definitions == TOOLS
    assert tools.names == frozenset(NAMES)
    advertise = False
    assert tools.definitions == ()
    assert tools.names == frozenset()


class BrokenMemory:
    async def ask(self, request: Request[api.R], actor: Actor) -> api.R:
        raise MemoryFault(FaultCode.UNAVAILABLE, "The memory's process ended.", "Ask again.")


@pytest.mark.anyio
async def test_what_goes_wrong_is_an_answer() -> None:
    tools = MemoryHostTools(BrokenMemory, MemorySettings)
    answer = await tools.call("memory_overview", b"{}", CALLER)
    assert answer.is_error
    body = json.loads(answer.body)
    assert body["isError"] is True
    assert json.loads(body["content"][0]["text"]) == {
        "error": "The memory's process ended.",
        "code": "unavailable",
        "hint": "Ask again.",
    }
    answer = await tools.call("memory_overview", b"\xff", CALLER)
    assert b"no UTF-8" in answer.body


@pytest.mark.anyio
async def test_without_such_tools_every_call_is_an_error() -> None:
    tools: HostTools = NoHostTools()
    assert not tools.names
    assert not tools.definitions
    answer = await tools.call("memory_overview", b"{}", CALLER)
    assert answer.is_error
    assert json.loads(answer.body)["isError"] is True


@pytest.mark.anyio
async def test_a_station_has_one_client_and_leaves_with_it(tmp_path: Path) -> None:
    environ = {"MMS_HOME": str(tmp_path)}
    memory = StationMemory(paths_for(environ), environ, lambda: MemorySettings(idle_seconds=7))
    async with memory.open():
        pass  # nobody called
    async with memory.open():
        client = memory.client()
        assert memory.client() is client
        assert client.idle_seconds == 7
        assert not client.is_connected
    with pytest.raises(MemoryFault, match="was closed"):
        await client.ask(api.GetPosition(), Actor(Origin.AGENT))
    assert not paths_for(environ).state_directory.exists()
