"""The endpoint as the station runs it: when it serves, when not, and what it says then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from config.paths import paths_for
from config.schema import HttpSettings, Settings
from proxy import http_endpoint
from proxy.http.server import NotLoopbackError, bind_loopback
from proxy.http_endpoint import serve_http
from proxy.session import HostSession, Outlet, Peer
from tests.proxy.fakes import FakeRelay

pytestmark = pytest.mark.anyio


class Station:
    """What the endpoint sees of an engine."""

    def __init__(self, home: Path) -> None:
        self.http_url = ""
        self.http_problem = ""
        self.paths = paths_for({"MMS_HOME": str(home)})
        self.paths.state_directory.mkdir(parents=True)
        self.store: Any = SimpleNamespace(current=Settings())
        self.relay = FakeRelay()

    def open_session(self, peer: Peer, outlet: Outlet) -> HostSession:
        return self.relay.front.open_session(peer, outlet)

    @asynccontextmanager
    async def serving(self, **settings: Any) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(serve_http(self, HttpSettings(enabled=True, **settings)))
            try:
                yield
            finally:
                task.cancel()

    async def until(self, attribute: str) -> str:
        async with asyncio.timeout(5):
            while not getattr(self, attribute):  # noqa: ASYNC110  # the engine's fields tell nobody
                await asyncio.sleep(0.002)
        return getattr(self, attribute)


async def test_it_serves_on_a_free_port_with_a_token_of_its_own(tmp_path: Path) -> None:
    station = Station(tmp_path)
    async with station.serving(port=0):
        url = await station.until("http_url")
        assert station.http_problem == ""
        token = station.paths.http_token_file.read_text().strip()
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
        async with httpx2.AsyncClient(trust_env=False) as client:
            without = await client.post(url, json=body)
            assert without.status_code == 401
            shown = await client.post(url, json=body, headers={"authorization": f"Bearer {token}"})
            assert shown.status_code == 200
            assert "server" not in shown.headers
            assert "access-control-allow-origin" not in shown.headers
    assert station.http_url == ""
    async with httpx2.AsyncClient(trust_env=False) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.post(url, json=body)


async def test_a_port_in_use_is_told_and_taken_as_soon_as_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_endpoint, "RETRY_SECONDS", 0.01)
    station = Station(tmp_path)
    taken = bind_loopback("127.0.0.1", 0)
    port = taken.getsockname()[1]
    async with station.serving(port=port):
        problem = await station.until("http_problem")
        assert f"port {port} is in use by another program" in problem
        assert "mms config set proxy.http.port" in problem
        taken.close()
        assert str(port) in await station.until("http_url")
        assert station.http_problem == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.test", ""])
async def test_an_address_that_others_could_reach_is_never_bound(tmp_path: Path, host: str) -> None:
    with pytest.raises(NotLoopbackError):
        bind_loopback(host, 0)
    station = Station(tmp_path)
    async with station.serving(port=0, host=host):
        assert "proxy.http.host" in await station.until("http_problem")
        assert station.http_url == ""


async def test_a_token_file_that_others_can_read_keeps_it_off_until_that_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_endpoint, "RETRY_SECONDS", 0.01)
    station = Station(tmp_path)
    station.paths.http_token_file.write_text("x" * 43)
    station.paths.http_token_file.chmod(0o644)
    async with station.serving(port=0):
        assert "can be read by others" in await station.until("http_problem")
        station.paths.http_token_file.unlink()
        await station.until("http_url")
        assert station.paths.http_token_file.read_text().strip() != "x" * 43


async def test_it_can_be_started_anew_on_the_same_port_at_once(tmp_path: Path) -> None:
    station = Station(tmp_path)
    async with station.serving(port=0):
        port = int((await station.until("http_url")).split(":")[2].split("/")[0])
    async with asyncio.TaskGroup() as group:
        settings = HttpSettings(enabled=True, port=port)
        old = group.create_task(serve_http(station, settings))
        await station.until("http_url")
        old.cancel()
        new = group.create_task(serve_http(station, settings))
        async with asyncio.timeout(5):
            await asyncio.wait({old})
            await station.until("http_url")
        assert station.http_problem == ""
        new.cancel()


def test_small_answers_do_not_wait_for_the_delayed_acknowledgement() -> None:
    import socket

    bound = bind_loopback("localhost", 0)
    try:
        assert bound.proto == socket.IPPROTO_TCP
    finally:
        bound.close()
