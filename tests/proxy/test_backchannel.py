"""What upstreams send of their own accord reaches the host it is meant for, and no other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proxy.model import UpstreamState
from tests.proxy.fakes import SILENCE, ErrorAnswer, FakeHost, FakeRelay, FakeServer, running

pytestmark = pytest.mark.anyio

_ABLE: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}


async def _busy(relay: FakeRelay, host: FakeHost) -> Any:
    """Have a call of this host under way at ``up``."""
    await relay.state("up", UpstreamState.READY)
    id = host.request("tools/call", {"name": "up__hang"})
    await asyncio.sleep(0.01)
    return id


def _hanging() -> FakeServer:
    server = FakeServer("hang", logging={}, resources={"subscribe": True})
    server.handlers["tools/call"] = lambda params: SILENCE
    server.handlers["resources/list"] = lambda params: {
        "resources": [{"uri": "x://y", "name": "y"}]
    }
    server.handlers["logging/setLevel"] = lambda params: {}
    server.handlers["resources/subscribe"] = lambda params: {}
    server.handlers["resources/unsubscribe"] = lambda params: {}
    return server


async def _reply_to(server: FakeServer, id: Any) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while True:
            for message in server.received:
                if message.get("id") == id and "method" not in message:
                    return message
            await asyncio.sleep(0.002)


async def test_a_question_reaches_the_host_whose_call_is_under_way_and_no_other() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        idle, busy = relay.host("idle", **_ABLE), relay.host("busy", **_ABLE)
        busy.answers["sampling/createMessage"] = {"role": "assistant", "x": None}
        await _busy(relay, busy)
        server.say({"id": "q1", "method": "sampling/createMessage", "params": {"k": 1.0}, "xu": 2})

        reply = await _reply_to(server, "q1")

        assert reply["result"] == {"role": "assistant", "x": None}
        (asked,) = busy.heard("sampling/createMessage")
        assert asked["params"] == {"k": 1.0}
        assert asked["xu"] == 2
        assert idle.heard("sampling/createMessage") == []


async def test_a_question_that_could_be_for_several_hosts_is_refused() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        first, second = relay.host("first", **_ABLE), relay.host("second", **_ABLE)
        await _busy(relay, first)
        await _busy(relay, second)
        server.say({"id": 5, "method": "elicitation/create", "params": {}})

        reply = await _reply_to(server, 5)

        assert "cannot tell" in reply["error"]["message"]
        assert first.heard("elicitation/create") == second.heard("elicitation/create") == []


async def test_a_host_is_not_asked_for_what_it_cannot_do() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("plain")
        await _busy(relay, host)
        server.say({"id": 5, "method": "roots/list"})

        assert (await _reply_to(server, 5))["error"]["code"] == -32601
        assert host.heard("roots/list") == []


async def test_a_host_that_declines_is_heard() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("host", **_ABLE)
        host.answers["elicitation/create"] = ErrorAnswer(-1, "no", {"why": "busy"})
        await _busy(relay, host)
        server.say({"id": 9, "method": "elicitation/create", "params": {}})

        assert (await _reply_to(server, 9))["error"] == {
            "code": -1,
            "message": "no",
            "data": {"why": "busy"},
        }


async def test_without_any_host_a_ping_is_answered_and_all_else_refused() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        server.say({"id": 1, "method": "ping"})
        server.say({"id": 2, "method": "roots/list"})

        assert (await _reply_to(server, 1))["result"] == {}
        assert (await _reply_to(server, 2))["error"]["message"] == "no host is connected"


async def test_a_host_that_leaves_has_its_calls_cancelled_and_its_questions_answered() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("host", **_ABLE)
        await _busy(relay, host)
        server.say({"id": 3, "method": "sampling/createMessage", "params": {}})
        await asyncio.sleep(0.01)
        host.session.close()

        assert (await _reply_to(server, 3))["error"]["message"] == "the host has left"
        (notice,) = server.of("notifications/cancelled")
        assert notice["params"]["reason"] == "the host has left"
        assert relay.router.running() == ()


async def test_a_question_that_the_upstream_withdraws_is_withdrawn_at_the_host() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host("host", **_ABLE)
        await _busy(relay, host)
        server.say({"id": "q", "method": "sampling/createMessage", "params": {}})
        await asyncio.sleep(0.01)
        server.say(
            {"method": "notifications/cancelled", "params": {"requestId": "q", "reason": "r"}}
        )

        (asked,) = host.heard("sampling/createMessage")
        (notice,) = host.heard("notifications/cancelled")
        assert notice["params"] == {"requestId": asked["id"], "reason": "r"}


async def test_log_lines_go_to_the_host_whose_call_runs_and_obey_its_level() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        quiet, loud = relay.host("quiet"), relay.host("loud")
        await _busy(relay, loud)
        await loud.ask("logging/setLevel", {"level": "debug"})
        await quiet.ask("logging/setLevel", {"level": "error"})
        for level in ("debug", "error"):
            server.say({"method": "notifications/message", "params": {"level": level, "x": 1}})

        await asyncio.sleep(0.01)

        heard = [note["params"] for note in loud.heard("notifications/message")]
        assert heard == [{"level": "debug", "x": 1}, {"level": "error", "x": 1}]
        assert quiet.heard("notifications/message") == []
        levels = [message["params"]["level"] for message in server.of("logging/setLevel")]
        assert levels == ["debug", "debug"]


async def test_log_lines_that_could_be_any_hosts_are_kept_back_and_counted() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        first, second = relay.host("first"), relay.host("second")
        await _busy(relay, first)
        await _busy(relay, second)
        server.say({"method": "notifications/message", "params": {"level": "error"}})

        assert first.heard("notifications/message") == second.heard("notifications/message") == []
        assert relay.backchannel.withheld_logs == 1


async def test_updates_of_a_resource_go_to_its_subscribers() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        first, second, other = relay.host("1"), relay.host("2"), relay.host("3")
        for host in (first, second):
            assert (await host.ask("resources/subscribe", {"uri": "x://y"}))["result"] == {}
        note = {"method": "notifications/resources/updated", "params": {"uri": "x://y", "t": 1}}
        server.say(note)
        await first.ask("resources/unsubscribe", {"uri": "x://y"})
        server.say(note)
        await second.ask("resources/unsubscribe", {"uri": "x://y"})

        assert len(first.heard("notifications/resources/updated")) == 1
        assert len(second.heard("notifications/resources/updated")) == 2
        assert other.heard("notifications/resources/updated") == []
        assert len(server.of("resources/subscribe")) == 1
        assert len(server.of("resources/unsubscribe")) == 1


async def test_level_and_subscriptions_are_told_to_a_restarted_upstream() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        await host.ask("resources/subscribe", {"uri": "x://y"})
        await host.ask("logging/setLevel", {"level": "info"})
        server.received.clear()
        server.die()
        await relay.state("up", UpstreamState.BACKING_OFF)
        await relay.state("up", UpstreamState.READY)
        await asyncio.sleep(0.01)

        assert server.of("resources/subscribe")[0]["params"] == {"uri": "x://y"}
        assert server.of("logging/setLevel")[0]["params"] == {"level": "info"}


async def test_notifications_of_hosts_reach_upstreams_unchanged() -> None:
    server = _hanging()
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        relay.host().notify("notifications/x-client", {"a": None})
        await asyncio.sleep(0.01)

        (note,) = server.of("notifications/x-client")
        assert note["params"] == {"a": None}


async def test_a_hosts_progress_on_a_question_reaches_the_upstream_that_asked() -> None:
    server, other = _hanging(), FakeServer("x")
    async with running(FakeRelay(), up=server, other=other) as relay:
        host = relay.host("host", **_ABLE)
        await _busy(relay, host)
        meta = {"_meta": {"progressToken": "t1"}}
        server.say({"id": 1, "method": "sampling/createMessage", "params": meta})
        await asyncio.sleep(0.01)
        host.notify("notifications/progress", {"progressToken": "t1", "progress": 1})
        await asyncio.sleep(0.01)

        assert len(server.of("notifications/progress")) == 1
        assert other.of("notifications/progress") == []
