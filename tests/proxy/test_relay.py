"""Requests of hosts through router, session and upstream, over servers in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proxy.links.link import LinkLost
from proxy.model import Outcome, UpstreamState
from tests.proxy.fakes import (
    SILENCE,
    ErrorAnswer,
    FakeRelay,
    FakeServer,
    running,
    upstream_settings,
)

pytestmark = pytest.mark.anyio


def _text(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


async def test_a_call_reaches_its_upstream_without_prefix_and_its_answer_comes_back() -> None:
    server = FakeServer("read")
    async with running(FakeRelay(), fs=server) as relay:
        host = relay.host()

        answer = await host.call("fs__read", path="a", nothing=None)

        assert _text(answer) == "read"
        (call,) = server.of("tools/call")
        assert call["params"] == {"name": "read", "arguments": {"path": "a", "nothing": None}}


async def test_a_call_without_arguments_stays_without_arguments() -> None:
    server = FakeServer("read")
    async with running(FakeRelay(), fs=server) as relay:
        await relay.host().ask("tools/call", {"name": "fs__read", "task": {"ttl": 1}})

        (call,) = server.of("tools/call")
        assert call["params"] == {"name": "read", "task": {"ttl": 1}}


@pytest.mark.parametrize("id", [0, "abc", -1, "1"])
async def test_the_answer_has_the_very_id_that_the_host_gave(id: Any) -> None:
    async with running(FakeRelay(), fs=FakeServer("read")) as relay:
        host = relay.host()
        host.request("tools/call", {"name": "fs__read"}, id=id)

        answer = await host.answer(id)

        assert answer["id"] == id
        assert type(answer["id"]) is type(id)


async def test_errors_of_upstreams_pass_with_code_text_and_data() -> None:
    server = FakeServer("bad")
    server.handlers["tools/call"] = lambda params: ErrorAnswer(-32042, "need url", {"k": [None]})
    async with running(FakeRelay(), up=server) as relay:
        answer = await relay.host().call("up__bad")

        assert answer["error"] == {"code": -32042, "message": "need url", "data": {"k": [None]}}
        assert relay.recorder.observed[0].outcome is Outcome.ERROR
        assert relay.recorder.observed[0].error == "need url"


async def test_a_tools_own_error_is_recorded_as_such_and_does_not_count_against_the_upstream() -> (
    None
):
    server = FakeServer("bad")
    result = {"content": [{"type": "text", "text": "boom"}], "isError": True}
    server.handlers["tools/call"] = lambda params: result
    async with running(FakeRelay(), up=server) as relay:
        answer = await relay.host().call("up__bad")

        assert answer["result"] == result
        assert relay.recorder.observed[0].outcome is Outcome.TOOL_ERROR
        assert relay.router.upstreams["up"].vitals.errors == 0


async def test_an_unknown_tool_and_a_withheld_one_are_refused_with_the_reason() -> None:
    server = FakeServer("good")
    server.handlers["tools/list"] = lambda params: {
        "tools": [FakeServer.tool("good"), {"name": "bad"}]
    }
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        await host.ask("tools/list")

        unknown = await host.call("nobody__x")
        withheld = await host.call("up__bad")

        assert unknown["error"] == {"code": -32602, "message": "Unknown tool: nobody__x"}
        assert withheld["error"]["message"] == "up__bad is withheld: it has no input schema"
        assert server.of("tools/call") == []


async def test_progress_comes_with_the_hosts_own_token_before_the_result() -> None:
    server = FakeServer("slow")

    def call(params: dict[str, Any]) -> Any:
        token = params["_meta"]["progressToken"]
        server.say(
            {
                "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 1, "x": None},
            }
        )
        return {"content": [], "keep": params["_meta"]["com.x/k"]}

    server.handlers["tools/call"] = call
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        for token in (7, "s7"):
            host.frames.clear()
            answer = await host.ask(
                "tools/call",
                {"name": "up__slow", "_meta": {"progressToken": token, "com.x/k": [1.0]}},
            )

            (report,) = host.heard("notifications/progress")
            assert report["params"] == {"progressToken": token, "progress": 1, "x": None}
            assert host.frames.index(report) < host.frames.index(answer)
            assert answer["result"]["keep"] == [1.0]


async def test_a_cancelled_call_is_cancelled_upstream_and_its_late_answer_is_dropped() -> None:
    server = FakeServer("hang")
    server.handlers["tools/call"] = lambda params: SILENCE
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        id = host.request("tools/call", {"name": "up__hang"})
        await asyncio.sleep(0.01)
        host.notify("notifications/cancelled", {"requestId": id, "reason": "R", "x": 1})
        await asyncio.sleep(0.01)

        (sent,) = server.of("tools/call")
        (notice,) = server.of("notifications/cancelled")
        assert notice["params"] == {"requestId": sent["id"], "reason": "R", "x": 1}
        server.say({"id": sent["id"], "result": {"content": []}})
        assert (await host.ask("ping"))["result"] == {}
        assert [frame for frame in host.frames if frame.get("id") == id] == []
        assert relay.recorder.observed[0].outcome is Outcome.CANCELLED
        assert relay.router.upstreams["up"].traffic.strays == 1


async def test_a_call_that_is_not_answered_in_time_ends_with_an_error_that_names_the_upstream() -> (
    None
):
    server = FakeServer("hang")
    server.handlers["tools/call"] = lambda params: SILENCE
    async with running(FakeRelay(call_timeout_seconds=0.1), up=server) as relay:
        answer = await relay.host().call("up__hang")

        assert answer["result"]["isError"] is True
        assert _text(answer).startswith("mms: upstream up did not answer within 0 s")
        assert len(server.of("notifications/cancelled")) == 1
        assert relay.recorder.observed[0].outcome is Outcome.TIMEOUT


async def test_progress_extends_the_deadline_up_to_the_maximum() -> None:
    server = FakeServer("slow")
    server.handlers["tools/call"] = lambda params: SILENCE
    settings = {"call_timeout_seconds": 0.15, "call_timeout_max_seconds": 0.4}
    async with running(FakeRelay(**settings), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        loop = asyncio.get_running_loop()
        began = loop.time()
        id = host.request("tools/call", {"name": "up__slow", "_meta": {"progressToken": 1}})

        async def report() -> None:
            while True:
                await asyncio.sleep(0.02)
                for call in server.of("tools/call"):
                    params = {"progressToken": call["params"]["_meta"]["progressToken"]}
                    server.say({"method": "notifications/progress", "params": params})

        async with asyncio.TaskGroup() as group:
            reporting = group.create_task(report())
            answer = await host.answer(id)
            reporting.cancel()

        assert answer["result"]["isError"] is True
        assert loop.time() - began >= 0.39


async def test_when_an_upstream_dies_its_calls_end_at_once_and_it_comes_back() -> None:
    server = FakeServer("die")
    server.handlers["tools/call"] = lambda params: SILENCE
    async with running(FakeRelay(), up=server, other=FakeServer("ok")) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        id = host.request("tools/call", {"name": "up__die"})
        await asyncio.sleep(0.01)
        server.die()

        answer = await host.answer(id)
        assert "upstream up exited with code 3 before it answered" in _text(answer)
        assert relay.recorder.observed[0].outcome is Outcome.UPSTREAM_LOST
        assert _text(await host.call("other__ok")) == "ok"
        server.handlers["tools/call"] = lambda params: {"content": [{"type": "text", "text": "x"}]}
        assert _text(await host.call("up__die")) == "x"
        assert server.opened == 2


async def test_a_call_waits_for_an_upstream_that_is_still_connecting() -> None:
    server = FakeServer("late")
    server.gate = asyncio.Event()
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        id = host.request("tools/call", {"name": "up__late"})
        await asyncio.sleep(0.02)
        assert [frame for frame in host.frames if frame.get("id") == id] == []
        server.gate.set()

        assert _text(await host.answer(id)) == "late"


async def test_a_call_to_an_upstream_that_cannot_be_started_says_why() -> None:
    server = FakeServer("x")
    server.refuses = LinkLost("npx was not found; searched /bin", permanent=True)
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.FAILED)

        answer = await relay.host().call("up__x")

        assert _text(answer) == (
            "mms: upstream up cannot be started: npx was not found; searched /bin."
        )


async def test_calls_beyond_the_limit_wait_and_beyond_the_queue_are_refused() -> None:
    server = FakeServer("hang")
    server.handlers["tools/call"] = lambda params: SILENCE
    async with running(FakeRelay(max_in_flight=2, max_queued=1), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()
        first, second, third, fourth = (
            host.request("tools/call", {"name": "up__hang"}) for _ in range(4)
        )

        answer = await host.answer(fourth)
        assert "2 calls are running and 1 wait already" in _text(answer)
        await asyncio.sleep(0.01)
        assert len(server.of("tools/call")) == 2
        server.say({"id": server.of("tools/call")[0]["id"], "result": {"content": []}})
        await host.answer(first)
        await asyncio.sleep(0.01)
        assert len(server.of("tools/call")) == 3
        assert (second, third) == (3, 4)


async def test_an_answer_above_the_limit_of_hosts_becomes_an_error() -> None:
    server = FakeServer("big")
    server.handlers["tools/call"] = lambda params: {
        "content": [{"type": "text", "text": "x" * 70_000}]
    }
    async with running(FakeRelay(max_result_bytes=65536), up=server) as relay:
        answer = await relay.host().call("up__big")

        assert answer["result"]["isError"] is True
        assert "proxy.max_result_bytes = 65,536" in _text(answer)


@pytest.mark.parametrize("result", [[1], "text", 5, None])
async def test_a_result_that_is_no_object_is_a_clear_error(result: Any) -> None:
    server = FakeServer("bad")
    server.handlers["tools/call"] = lambda params: result
    async with running(FakeRelay(), up=server) as relay:
        answer = await relay.host().call("up__bad")

        assert "upstream up sent no valid result: the result is not an object" in _text(answer)


async def test_after_five_time_outs_calls_are_refused_until_a_probe_is_answered() -> None:
    server = FakeServer("hang")
    server.handlers["tools/call"] = lambda params: SILENCE
    server.handlers["ping"] = lambda params: SILENCE
    async with running(FakeRelay(call_timeout_seconds=0.05), up=server) as relay:
        upstream = await relay.state("up", UpstreamState.READY)
        host = relay.host()
        for _ in range(5):
            await host.call("up__hang")

        assert upstream.state is UpstreamState.DEGRADED
        refused = await host.call("up__hang")
        assert "did not answer its last 5 calls; it is asked again in" in _text(refused)
        assert len(server.of("tools/call")) == 5


async def test_switched_off_tools_and_upstreams_are_not_offered() -> None:
    off = upstream_settings("off", enabled=False)
    async with running(
        FakeRelay(), upstream_settings("on"), off, on=FakeServer("a"), off=FakeServer("b")
    ) as relay:
        host = relay.host()

        listed = await host.ask("tools/list")

        assert [tool["name"] for tool in listed["result"]["tools"]] == ["on__a"]
        assert relay.servers["off"].opened == 0
        answer = await host.call("off__b")
        assert answer["error"]["message"] == "Unknown tool: off__b"


async def test_unknown_methods_go_to_the_first_upstream_that_knows_them() -> None:
    first, second = FakeServer("a"), FakeServer("b")
    second.handlers["x/custom"] = lambda params: {"got": params}
    async with running(FakeRelay(), one=first, two=second) as relay:
        await relay.state("one", UpstreamState.READY)
        await relay.state("two", UpstreamState.READY)
        host = relay.host()

        assert (await host.ask("x/custom", {"a": None}))["result"] == {"got": {"a": None}}
        assert (await host.ask("nope/nope", {}))["error"]["code"] == -32601
        assert len(first.of("x/custom")) == 1


async def test_the_newest_revision_of_the_stateless_era_is_not_claimed() -> None:
    async with running(FakeRelay(), up=FakeServer("a")) as relay:
        host = relay.host()

        assert (await host.ask("server/discover", {}))["error"]["code"] == -32601


async def test_garbage_from_a_host_is_answered_and_the_session_lives_on() -> None:
    async with running(FakeRelay(), up=FakeServer("a")) as relay:
        host = relay.host()
        for line in (b"hello", b"[]", b'{"id":1}', b'{"id":77,"method":"x","params":[1]}', b"{"):
            host.session.receive(line)

        codes = [frame["error"]["code"] for frame in host.frames if "error" in frame]
        assert codes == [-32700, -32600, -32600, -32602, -32700]
        assert (await host.ask("ping"))["result"] == {}


async def test_resources_go_to_the_upstream_that_lists_them() -> None:
    first = FakeServer("a", resources={})
    second = FakeServer("b", resources={})
    second.handlers["resources/list"] = lambda params: {
        "resources": [{"uri": "x://y", "name": "y"}]
    }
    second.handlers["resources/read"] = lambda params: {"contents": [], "uri": params["uri"]}
    first.handlers["resources/read"] = lambda params: ErrorAnswer(-32002, "Resource not found")
    async with running(FakeRelay(), one=first, two=second) as relay:
        await relay.state("one", UpstreamState.READY)
        await relay.state("two", UpstreamState.READY)
        host = relay.host()

        assert (await host.ask("resources/read", {"uri": "x://y"}))["result"]["uri"] == "x://y"
        assert first.of("resources/read") == []
        assert (await host.ask("resources/read", {"uri": "z://z"}))["result"]["uri"] == "z://z"
        assert len(first.of("resources/read")) == 1


async def test_prompts_and_completions_are_asked_for_without_prefix() -> None:
    server = FakeServer("a", prompts={}, completions={})
    server.handlers["prompts/list"] = lambda params: {"prompts": [{"name": "review"}]}
    server.handlers["prompts/get"] = lambda params: {"messages": [], "echo": params}
    server.handlers["completion/complete"] = lambda params: {"completion": {}, "echo": params}
    async with running(FakeRelay(), up=server) as relay:
        await relay.state("up", UpstreamState.READY)
        host = relay.host()

        got = await host.ask("prompts/get", {"name": "up__review", "_meta": {"k": 1}})
        ref = {"type": "ref/prompt", "name": "up__review"}
        completed = await host.ask("completion/complete", {"ref": ref, "argument": {"name": "a"}})

        assert got["result"]["echo"] == {"name": "review", "_meta": {"k": 1}}
        assert completed["result"]["echo"]["ref"] == {"type": "ref/prompt", "name": "review"}
