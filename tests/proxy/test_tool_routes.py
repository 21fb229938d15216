"""Where names of tools lead: worked out once, until something changes."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from config.schema import CachePolicy, ProxySettings, SurfacingSettings
from proxy.host_calls import HostCall
from proxy.model import UpstreamState
from proxy.tool_routes import ToolRoute, ToolRoutes
from tests.proxy.fakes import FakeRelay, FakeServer, running

pytestmark = pytest.mark.anyio


async def _found(relay: FakeRelay, *names: str) -> list[ToolRoute | None]:
    """What the names lead to, each asked for twice, by routes that may look things up only once."""
    await relay.state("up", UpstreamState.READY)
    looked_up = 0

    def settings() -> ProxySettings:
        nonlocal looked_up
        looked_up += 1
        return relay.proxy

    routes = ToolRoutes(settings, SurfacingSettings, relay.router.upstreams)
    found: list[ToolRoute | None] = []
    for name in names:
        first, second = (routes.find(relay.router.catalogue, name) for _ in range(2))
        assert first == second
        found.append(first)
    known = sum(name in relay.router.catalogue.tools for name in names)
    led = sum(route is not None for route in found)
    assert looked_up == known + 2 * (led - known)
    routes.clear()
    for name, before in zip(names, found, strict=True):
        assert routes.find(relay.router.catalogue, name) == before
    return found


def _calls() -> int:
    """All calls that have not been freed."""
    return sum(type(thing) is HostCall for thing in gc.get_objects())


async def test_names_lead_to_their_tools_and_made_up_ones_are_not_kept() -> None:
    async with running(FakeRelay(), up=FakeServer("good")) as relay:
        good, new, nobody = await _found(relay, "up__good", "up__new", "nobody__x")

        assert good is not None
        assert new is not None
        assert nobody is None
        assert (good.tool, bytes(good.name)) == ("good", b'"good"')
        assert (new.tool, bytes(new.name)) == ("new", b'"new"')
        assert good.upstream is new.upstream is relay.router.upstreams["up"]


async def test_a_route_tells_whether_its_tool_writes_and_whether_answers_are_shared() -> None:
    server = FakeServer()
    schema = {"inputSchema": {"type": "object"}}
    server.handlers["tools/list"] = lambda params: {
        "tools": [
            {"name": "read", **schema, "annotations": {"readOnlyHint": True}},
            {"name": "write", **schema, "annotations": {"readOnlyHint": False}},
            {"name": "quiet", **schema},
        ]
    }
    relay = FakeRelay()
    assert relay.proxy.cache.policy is CachePolicy.STRICT
    async with running(relay, up=server):
        read, write, quiet = await _found(relay, "up__read", "up__write", "up__quiet")

        assert read is not None
        assert write is not None
        assert quiet is not None
        assert (read.shares, read.traits.writes) == (True, False)
        assert (write.shares, write.traits.writes) == (False, True)
        assert (quiet.shares, quiet.traits.writes) == (False, True)


async def test_a_tool_listed_anew_with_other_hints_is_treated_by_those(tmp_path: Path) -> None:
    server = FakeServer()
    hints = {"readOnlyHint": True}
    server.handlers["tools/list"] = lambda params: {
        "tools": [{"name": "t", "inputSchema": {"type": "object"}, "annotations": dict(hints)}]
    }
    async with running(FakeRelay(tmp_path), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)
        host = relay.host()
        await host.ask("tools/list")
        assert relay.answers is not None
        cache = relay.answers.cache
        await host.call("up__t")
        assert cache.generation("up") == 0  # it only reads

        hints["readOnlyHint"] = False
        host.frames.clear()
        server.say({"method": "notifications/tools/list_changed"})
        await host.hears("notifications/tools/list_changed")
        await host.call("up__t")

        assert upstream is relay.router.upstreams["up"]
        assert cache.generation("up") > 0


async def test_a_finished_call_leaves_nothing_for_the_garbage_collector(tmp_path: Path) -> None:
    async with running(FakeRelay(tmp_path), up=FakeServer("t")) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        gc.collect()
        before = _calls()
        gc.disable()
        try:
            await host.call("up__t")
            left = _calls()
        finally:
            gc.enable()

        assert left == before
