"""An upstream behind streamable HTTP, on the official SDK's server: what hosts see of its life."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import httpx2
import pytest

from proxy.model import UpstreamState
from tests.e2e.conformance import ROOT, free_port, wait_for_port
from tests.support.mcp_client import RawClient, connect_host
from tests.support.stations import PATIENCE, RELAY_ONLY, running_station, until_state, view_of

pytestmark = pytest.mark.anyio

FIXTURE = [sys.executable, "-m", "tests.support.conformance_server", "http"]


@contextlib.asynccontextmanager
async def server(port: int) -> AsyncGenerator[None]:
    """The SDK's server, killed without a word at the end."""
    process = await asyncio.create_subprocess_exec(
        *FIXTURE, str(port), cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        await wait_for_port(port)
        yield
    finally:
        process.kill()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


def settings(port: int) -> str:
    return RELAY_ONLY + f'[upstreams.web]\nurl = "http://127.0.0.1:{port}/mcp"\n'


async def directly(port: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """One answer of the server without mms, in a session of its own."""
    headers = {"accept": "application/json, text/event-stream"}
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "direct", "version": "1"},
    }
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=PATIENCE) as client:

        async def post(message: dict[str, Any]) -> httpx2.Response:
            return await client.post(
                f"http://127.0.0.1:{port}/mcp", json={"jsonrpc": "2.0", **message}
            )

        greeted = await post({"id": 0, "method": "initialize", "params": hello})
        client.headers["mcp-session-id"] = greeted.headers["mcp-session-id"]
        await post({"method": "notifications/initialized"})
        answer = await post({"id": 1, "method": method, "params": params})
    data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:")]
    return json.loads(data[-1])["result"]


async def test_answers_are_what_the_server_says_directly(home: Path) -> None:
    port = free_port()
    async with server(port):
        with running_station(home, settings(port)) as station:
            async with connect_host(station.socket) as host:
                await until_state(station, "web", UpstreamState.READY)
                expected = await directly(port, "tools/list", {})
                found = await host.request("tools/list", {})
                for tool in found["tools"]:
                    tool["name"] = tool["name"].removeprefix("web__")
                assert found["tools"] == expected["tools"]
                for name in ("test_simple_text", "test_multiple_content_types"):
                    call = {"name": name, "arguments": {}}
                    expected = await directly(port, "tools/call", call)
                    call["name"] = f"web__{name}"
                    assert await host.request("tools/call", call) == expected
                params = {"uri": "test://template/7/data"}
                expected = await directly(port, "resources/read", params)
                assert await host.request("resources/read", params) == expected


async def test_a_stream_that_the_server_closes_within_a_call_is_taken_up_again(home: Path) -> None:
    port = free_port()
    async with server(port):
        with running_station(home, settings(port)) as station:
            async with connect_host(station.socket) as host:
                await until_state(station, "web", UpstreamState.READY)
                text = await host.text("web__test_reconnection")
                assert text == "The call went on without its stream."


async def test_a_server_that_dies_is_noticed_and_used_again_when_it_is_back(home: Path) -> None:
    port = free_port()
    with running_station(home, settings(port)) as station:
        async with connect_host(station.socket) as host:
            async with server(port):
                await until_state(station, "web", UpstreamState.READY)
                assert "simple text" in await host.text("web__test_simple_text")
            lost = await until_state(station, "web", UpstreamState.BACKING_OFF)
            assert "connection refused" in lost.reason
            async with server(port):
                await _until_text(host)


async def _until_text(host: RawClient) -> None:
    """The first calls may be told that the server is down; they make mms try again, and one works."""
    async with asyncio.timeout(PATIENCE):
        while True:
            result = await host.request(
                "tools/call", {"name": "web__test_simple_text", "arguments": {}}
            )
            if not result.get("isError"):
                return
            assert "mms: upstream web" in result["content"][0]["text"]
            await asyncio.sleep(0.05)


async def test_many_calls_at_once_are_each_answered_with_their_own(home: Path) -> None:
    port = free_port()
    async with server(port):
        with running_station(home, settings(port)) as station:
            async with connect_host(station.socket) as host:
                await until_state(station, "web", UpstreamState.READY)

                async def read(n: int) -> None:
                    uri = f"test://template/{n}/data"
                    found = await host.request("resources/read", {"uri": uri})
                    assert json.loads(found["contents"][0]["text"])["id"] == str(n)

                async with asyncio.TaskGroup() as group:
                    for n in range(64):
                        group.create_task(read(n))
                assert (await view_of(station, "web")).in_flight == 0
