"""Lists: at once from what is known, stable in their bytes, told when they change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proxy.links.link import LinkLost
from proxy.model import UpstreamState
from tests.proxy.fakes import SILENCE, ErrorAnswer, FakeRelay, FakeServer, running

pytestmark = pytest.mark.anyio


def _names(answer: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in answer["result"]["tools"]]


async def test_the_first_list_waits_for_an_upstream_that_was_never_seen() -> None:
    server = FakeServer("a")
    server.gate = asyncio.Event()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        id = host.request("tools/list")
        await asyncio.sleep(0.03)
        assert [frame for frame in host.frames if frame.get("id") == id] == []
        server.gate.set()

        assert _names(await host.answer(id)) == ["up__a"]


async def test_it_waits_no_longer_than_the_setting_says() -> None:
    server = FakeServer("a")
    server.gate = asyncio.Event()
    async with running(
        FakeRelay(first_list_wait_seconds=0.05), up=server, quick=FakeServer("b")
    ) as relay:
        host = relay.host()

        assert _names(await host.ask("tools/list")) == ["quick__b"]
        server.gate.set()
        await relay.state("up", UpstreamState.READY)
        assert len(host.heard("notifications/tools/list_changed")) == 1
        assert _names(await host.ask("tools/list")) == ["up__a", "quick__b"]


async def test_a_list_does_not_wait_for_an_upstream_that_cannot_start() -> None:
    server = FakeServer("a")
    server.refuses = LinkLost("is not there", permanent=True)
    async with running(FakeRelay(), up=server, quick=FakeServer("b")) as relay:
        assert _names(await relay.host().ask("tools/list")) == ["quick__b"]


async def test_after_a_restart_the_same_bytes_are_listed_before_anything_connects() -> None:
    relay = FakeRelay()
    async with running(relay, up=FakeServer("a", "b")):
        await relay.host().ask("tools/list")
        before = relay.router.catalogue.list_result("tools")
    await asyncio.to_thread(relay.fleet.save)

    again = FakeRelay()
    again.catalogues.kept = relay.catalogues.kept
    server = FakeServer("b", "a")
    server.gate = asyncio.Event()
    async with running(again, up=server):
        host = again.host()
        await host.ask("tools/list")
        assert again.router.catalogue.list_result("tools") == before
        server.gate.set()
        await again.state("up", UpstreamState.READY)
        assert again.router.catalogue.list_result("tools") == before
        assert host.heard("notifications/tools/list_changed") == []


async def test_pages_of_an_upstream_are_followed() -> None:
    server = FakeServer()
    pages: dict[Any, Any] = {
        None: {"tools": [FakeServer.tool("a")], "nextCursor": "p2|opaque="},
        "p2|opaque=": {"tools": [FakeServer.tool("b")]},
    }
    server.handlers["tools/list"] = lambda params: pages[params.get("cursor")]
    async with running(FakeRelay(), up=server) as relay:
        assert _names(await relay.host().ask("tools/list")) == ["up__a", "up__b"]


async def test_pages_that_never_end_are_given_up_with_a_reason() -> None:
    server = FakeServer()
    server.handlers["tools/list"] = lambda params: {
        "tools": [FakeServer.tool("a")],
        "nextCursor": "again",
    }
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)

        assert upstream.faults == ("tools/list repeats a page; 2 tools were taken",)
        assert _names(await relay.host().ask("tools/list")) == ["up__a"]


async def test_a_list_that_cannot_be_had_does_not_keep_the_upstream_from_serving() -> None:
    server = FakeServer("a", prompts={})
    server.handlers["prompts/list"] = lambda params: ErrorAnswer(-32603, "broken")
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)

        assert upstream.faults == ("prompts/list was refused: broken",)
        assert _names(await relay.host().ask("tools/list")) == ["up__a"]


async def test_a_changed_list_is_fetched_once_for_many_notices_and_told_to_hosts() -> None:
    server = FakeServer("a")
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        await host.ask("tools/list")
        server.tools.append("b")
        for _ in range(200):
            server.say({"method": "notifications/tools/list_changed"})
        await host.hears("notifications/tools/list_changed")

        assert len(host.heard("notifications/tools/list_changed")) == 1
        assert len(server.of("tools/list")) == 2
        assert _names(await host.ask("tools/list")) == ["up__a", "up__b"]


async def test_an_outage_changes_no_list() -> None:
    server = FakeServer("a")
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        await host.ask("tools/list")
        server.refuses = LinkLost("refuses")
        server.die()
        await relay.state("up", UpstreamState.BACKING_OFF)

        assert _names(await host.ask("tools/list")) == ["up__a"]
        assert host.heard("notifications/tools/list_changed") == []


async def test_a_list_that_never_comes_is_left_out_and_the_upstream_serves_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proxy.upstream.LIST_SECONDS", 0.05)
    server = FakeServer("a", prompts={})
    server.handlers["prompts/list"] = lambda params: SILENCE
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)

        assert upstream.faults == ("prompts/list failed: did not answer within 0 s",)
        assert _names(await relay.host().ask("tools/list")) == ["up__a"]


async def test_a_list_without_an_answer_stays_as_it_was_known_and_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proxy.upstream.LIST_SECONDS", 0.05)
    monkeypatch.setattr("proxy.upstream.LIST_CHANGE_PAUSE", 0.0)
    monkeypatch.setattr("proxy.upstream.LIST_CHANGE_INTERVAL", 0.0)
    monkeypatch.setattr("proxy.upstream.LIST_RETRY_SECONDS", 0.05)
    server = FakeServer("a")
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)
        host = relay.host()
        answers = server.handlers["tools/list"]
        server.handlers["tools/list"] = lambda params: SILENCE
        server.say({"method": "notifications/tools/list_changed"})
        async with asyncio.timeout(5):
            while not upstream.faults:  # noqa: ASYNC110  # nothing to wait on
                await asyncio.sleep(0.01)

        assert _names(await host.ask("tools/list")) == ["up__a"]

        server.tools.append("b")
        server.handlers["tools/list"] = answers
        async with asyncio.timeout(5):
            while upstream.faults:  # noqa: ASYNC110  # nothing to wait on
                await asyncio.sleep(0.01)

        assert _names(await host.ask("tools/list")) == ["up__a", "up__b"]
