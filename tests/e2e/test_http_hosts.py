"""Hosts over HTTP: the official SDK's client on the endpoint of a real station."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from proxy.http.token import read_token
from proxy.model import UpstreamState
from tests.e2e.conformance import http_port_of, over_stdio
from tests.support.stations import Station, operator, running_station, until_state

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning"),
]


async def connected(station: Station, mode: str) -> tuple[httpx2.AsyncClient, Client]:
    """A client of the SDK; both have to be entered."""
    port = await http_port_of(station)
    token = read_token(station.paths.http_token_file)
    http = httpx2.AsyncClient(
        headers={"authorization": f"Bearer {token}"}, timeout=30, trust_env=False
    )
    transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
    return http, Client(transport, mode=mode)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_works_in_both_modes(home: Path, mode: str) -> None:
    with running_station(
        home, f"[proxy.http]\nenabled = true\nport = 0\n{over_stdio()}"
    ) as station:
        await until_state(station, "fixture", UpstreamState.READY)
        http, client = await connected(station, mode)
        reports: list[float] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            reports.append(progress)

        async with http, client:
            assert client.protocol_version == "2025-11-25"
            tools = await client.list_tools()
            assert "fixture__test_simple_text" in [tool.name for tool in tools.tools]
            result: Any = await client.call_tool(
                "fixture__test_tool_with_progress", {}, progress_callback=report
            )
            assert "three times" in result.content[0].text
            assert reports == [0, 50, 100]
            found: Any = await client.read_resource("test://template/9/data")
            assert '"9"' in found.contents[0].text
            async with operator(station) as attached:
                (host,) = (await attached.snapshot()).hosts
            assert host.endpoint == "http"
        async with operator(station) as attached:
            assert (await attached.snapshot()).hosts == ()


async def test_the_endpoint_follows_the_settings_while_the_station_runs(home: Path) -> None:
    on = "[proxy.http]\nenabled = true\nport = 0\n"
    with running_station(home, "") as station:
        async with operator(station) as attached:
            assert (await attached.snapshot()).station.http == ""
        station.write(on)
        port = await http_port_of(station)
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/mcp")).status_code == 401
            station.write("")
            async with asyncio.timeout(30), operator(station) as attached:
                while (await attached.snapshot()).station.http:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            with pytest.raises(httpx2.TransportError):
                await client.get(f"http://127.0.0.1:{port}/mcp", headers={"connection": "close"})


async def test_a_port_that_is_taken_is_on_the_list_of_what_needs_attention(home: Path) -> None:
    taken = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    async with taken:
        port = taken.sockets[0].getsockname()[1]
        config = f"[proxy.http]\nenabled = true\nport = {port}\n"
        with running_station(home, config) as station:
            async with asyncio.timeout(30), operator(station) as attached:
                while not (listed := (await attached.snapshot()).attention):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        assert any(f"port {port} is in use" in item.text for item in listed)
