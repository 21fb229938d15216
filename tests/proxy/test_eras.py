"""Both protocol eras behind: handshake revisions and the stateless one, negotiated per upstream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proxy.model import UpstreamState
from tests.proxy.fakes import ErrorAnswer, FakeRelay, FakeServer, running

pytestmark = pytest.mark.anyio

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class StatelessServer(FakeServer):
    """Speaks 2026-07-28 only, and refuses requests without the envelope."""

    def __init__(self, *tools: str) -> None:
        super().__init__(*tools)
        calls = self.handlers
        calls["initialize"] = lambda params: ErrorAnswer(-32022, "Unsupported protocol version")
        calls["server/discover"] = self._enveloped(
            lambda params: {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": True}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "2"}},
            }
        )
        listed = calls["tools/list"]
        calls["tools/list"] = self._enveloped(
            lambda params: (
                {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | listed(params)
            )
        )
        calls["tools/call"] = self._enveloped(
            lambda params: {"resultType": "complete", "content": [], "x": {"keep": None}}
        )
        calls["subscriptions/listen"] = self._enveloped(self._listen)

    def _enveloped(self, handler: Any) -> Any:
        def check(params: dict[str, Any]) -> Any:
            meta = params.get("_meta", {})
            if meta.get(_VERSION) != "2026-07-28" or _CAPABILITIES not in meta:
                return ErrorAnswer(-32602, "no envelope")
            return handler(params)

        return check

    def _listen(self, params: dict[str, Any]) -> Any:
        from tests.proxy.fakes import SILENCE

        self.say({"method": "notifications/subscriptions/acknowledged", "params": {}})
        return SILENCE


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_an_older_handshake_revision_of_the_upstream_is_accepted(revision: str) -> None:
    server = FakeServer("a")
    hello = server.handlers["initialize"]
    server.handlers["initialize"] = lambda params: hello(params) | {"protocolVersion": revision}
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)

        assert upstream.introduction.protocol == revision
        assert len(server.of("notifications/initialized")) == 1


@pytest.mark.parametrize(
    ("asked", "given"), [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")]
)
async def test_the_host_gets_the_revision_it_asks_for_if_mms_speaks_it(
    asked: str, given: str
) -> None:
    async with running(FakeRelay(), up=FakeServer("a")) as relay:
        host = relay.host()

        answer = await host.ask("initialize", {"protocolVersion": asked, "capabilities": {}})

        assert answer["result"]["protocolVersion"] == given


async def test_a_revision_that_mms_does_not_speak_is_refused_naming_both() -> None:
    server = FakeServer("a")
    hello = server.handlers["initialize"]
    server.handlers["initialize"] = lambda params: hello(params) | {"protocolVersion": "2031-01-01"}
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.BACKING_OFF)

        assert "speaks protocol revision 2031-01-01; mms speaks 2024-11-05" in upstream.reason


async def test_a_stateless_upstream_is_served_to_hosts_of_the_handshake_era() -> None:
    server = StatelessServer("a")
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        listed = await host.ask("tools/list")
        answer = await host.ask("tools/call", {"name": "up__a", "_meta": {"k": 1}})

        assert [tool["name"] for tool in listed["result"]["tools"]] == ["up__a"]
        assert answer["result"] == {"content": [], "x": {"keep": None}}
        (call,) = server.of("tools/call")
        assert call["params"]["_meta"]["k"] == 1
        upstream = relay.router.upstreams["up"]
        assert upstream.introduction.protocol == "2026-07-28"
        assert upstream.introduction.server == "new 2"


async def test_the_stateless_era_is_remembered_and_tried_first_the_next_time() -> None:
    server = StatelessServer("a")
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        server.received.clear()
        server.die()
        await relay.state("up", UpstreamState.BACKING_OFF)
        await relay.state("up", UpstreamState.READY)

        assert server.of("initialize") == []


async def test_a_stateless_upstream_is_listened_to_for_changed_lists() -> None:
    server = StatelessServer("a")
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        await host.ask("tools/list")
        server.tools.append("b")
        await relay.state("up", UpstreamState.READY)
        await asyncio.sleep(0.01)
        (listening,) = server.of("subscriptions/listen")
        assert listening["params"]["notifications"]["toolsListChanged"] is True
        server.say({"method": "notifications/tools/list_changed"})
        await host.hears("notifications/tools/list_changed")

        names = [tool["name"] for tool in (await host.ask("tools/list"))["result"]["tools"]]
        assert names == ["up__a", "up__b"]


async def test_input_that_a_stateless_upstream_requires_is_asked_of_the_host() -> None:
    server = StatelessServer("a")

    def call(params: dict[str, Any]) -> Any:
        if "inputResponses" not in params:
            return {
                "resultType": "input_required",
                "inputRequests": {
                    "who": {"method": "elicitation/create", "params": {"message": "Name?"}}
                },
                "requestState": "opaque\u00e9",
            }
        return {
            "resultType": "complete",
            "content": [],
            "got": [params["inputResponses"], params["requestState"]],
        }

    server.handlers["tools/call"] = call
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("host", elicitation={})
        host.answers["elicitation/create"] = {"action": "accept", "content": {"n": 1}}

        answer = await host.call("up__a")

        expected = [{"who": {"action": "accept", "content": {"n": 1}}}, "opaque\u00e9"]
        assert answer["result"]["got"] == expected
        assert host.heard("elicitation/create")[0]["params"] == {"message": "Name?"}


async def test_an_upstream_that_asks_back_for_ever_is_cut_off() -> None:
    server = StatelessServer("a")
    server.handlers["tools/call"] = lambda params: {
        "resultType": "input_required",
        "inputRequests": {"x": {"method": "elicitation/create", "params": {}}},
    }
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("host", elicitation={})
        host.answers["elicitation/create"] = {"action": "accept"}

        answer = await host.call("up__a")

        assert "asked back more than 10 times" in answer["result"]["content"][0]["text"]
        assert len(host.heard("elicitation/create")) == 10


async def test_an_unknown_kind_of_result_is_refused() -> None:
    server = StatelessServer("a")
    server.handlers["tools/call"] = lambda params: {"resultType": "hologram", "content": []}
    async with running(FakeRelay(), up=server) as relay:
        answer = await relay.host().call("up__a")

        assert "unknown result type 'hologram'" in answer["result"]["content"][0]["text"]


async def test_a_server_that_answers_the_handshake_with_the_stateless_revision_is_discovered() -> (
    None
):
    server = StatelessServer("a")
    server.handlers["initialize"] = lambda params: {
        "protocolVersion": "2026-07-28",
        "capabilities": {},
    }
    async with running(FakeRelay(), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)

        assert upstream.introduction.protocol == "2026-07-28"
