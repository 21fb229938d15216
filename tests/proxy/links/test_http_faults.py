"""Odd servers behind streamable HTTP: nothing hangs, nothing is lost without a word."""

from __future__ import annotations

import asyncio

import pytest

from proxy.http import link as link_module
from tests.proxy.http.web import Cut, Exchange
from tests.proxy.links.test_http import WELCOME, Server, call, linked, send

pytestmark = pytest.mark.anyio

NOTE = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}


@pytest.mark.parametrize("status", [500, 302, 400])
async def test_a_notification_that_is_refused_is_noted_and_the_link_lives(status: int) -> None:
    server = Server()

    async def refuse(exchange: Exchange) -> None:
        if b"roots/list_changed" in exchange.body:
            await exchange.answer(status, location="/elsewhere")
        else:
            await server(exchange)

    async with linked(refuse) as (link, ear):
        send(link, NOTE)
        noise = await ear.until(lambda: ear.noise)
        assert "notifications/roots/list_changed was lost" in noise[0]
        send(link, call(2))
        await ear.answer_to(2)


async def test_a_notification_that_is_never_taken_does_not_stop_what_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "NOTE_SECONDS", 0.05)
    server = Server()

    async def hang(exchange: Exchange) -> None:
        if b"roots/list_changed" in exchange.body:
            await exchange.gone.wait()
            raise Cut
        await server(exchange)

    async with linked(hang) as (link, ear):
        send(link, NOTE)
        send(link, call(2))
        await ear.answer_to(2)
        assert "did not take it" in ear.noise[0]


async def test_a_server_that_breaks_off_the_handshake_is_lost() -> None:
    async def cut(exchange: Exchange) -> None:
        await exchange.start(content_type="application/json", content_length="100")
        raise Cut

    async with linked(cut, greet=False) as (link, ear):
        send(link, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
        lost = await ear.until(lambda: ear.lost)
        assert "broke the connection" in lost[0].reason
        assert not lost[0].permanent


@pytest.mark.parametrize(("status", "words"), [(405, "405"), (503, "does not go on")])
async def test_a_broken_answer_that_cannot_be_read_on_is_an_error(
    status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.stream("id: a-1\nretry: 1\ndata:")
        await exchange.end()

    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(status)

    server = Server()
    server.calls = answer
    server.listening = refuse
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert words in (await ear.answer_to(2))["error"]["message"]


async def test_an_answer_may_come_on_the_stream_of_unasked_messages() -> None:
    called = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        called.set()
        await exchange.stream(": elsewhere")
        await exchange.gone.wait()

    async def listening(exchange: Exchange) -> None:
        await exchange.stream()
        await called.wait()
        await exchange.event({"jsonrpc": "2.0", "id": 2, "result": {"here": True}})
        await exchange.gone.wait()

    server = Server()
    server.calls = answer
    server.listening = listening
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert (await ear.answer_to(2))["result"] == {"here": True}
        (post,) = [e for e in server.seen if b"tools/call" in e.body]
        async with asyncio.timeout(5):
            await post.gone.wait()


async def test_a_batch_of_the_revision_that_allowed_it_is_taken_apart() -> None:
    async def answer(exchange: Exchange) -> None:
        progress = {"jsonrpc": "2.0", "method": "notifications/progress"}
        await exchange.json([progress, {"jsonrpc": "2.0", "id": 2, "result": {"n": 1}}])

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert (await ear.answer_to(2))["result"] == {"n": 1}
        assert ear.messages[-2]["method"] == "notifications/progress"


async def test_tools_that_must_not_be_offered_are_left_out_with_a_word() -> None:
    def tool(name: str, header: str) -> object:
        return {
            "name": name,
            "inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": header}}},
        }

    async def serve(exchange: Exchange) -> None:
        if exchange.message["method"] == "tools/list":
            await exchange.result({"tools": [tool("good", "A"), tool("bad", "not a name")]})
        else:
            await exchange.result({"supportedVersions": ["2026-07-28"], "h": exchange.headers})

    async with linked(serve, greet=False) as (link, ear):
        send(link, {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}})
        await ear.answer_to(1)
        send(link, {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
        listed = await ear.answer_to(2)
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["good"]
        assert "tool bad is left out" in ear.noise[0]
        send(link, call(3, name="good", arguments={"a": "x"}))
        assert (await ear.answer_to(3))["result"]["h"]["mcp-param-a"] == "x"


async def test_a_server_that_takes_nothing_is_given_up() -> None:
    async def hang(exchange: Exchange) -> None:
        if b"initialize" in exchange.body and b"notifications" not in exchange.body:
            await exchange.result(WELCOME)
            return
        await exchange.gone.wait()
        raise Cut

    async with linked(hang) as (link, ear):
        for _ in range(link_module.OUTGOING_LIMIT + 2):
            send(link, NOTE)
        lost = await ear.until(lambda: ear.lost)
        assert "does not take the messages" in lost[0].reason


async def test_a_get_stream_that_keeps_failing_is_asked_for_less_and_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(link_module, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(link_module, "LONGEST_PAUSE", 0.1)
    asked = 0
    enough = asyncio.Event()

    async def listening(exchange: Exchange) -> None:
        nonlocal asked
        asked += 1
        if asked == 6:
            enough.set()
        await exchange.answer(409 if asked % 2 else 503)

    server = Server()
    server.listening = listening
    async with linked(server) as (link, ear):
        async with asyncio.timeout(5):
            await enough.wait()
        send(link, call(2))
        await ear.answer_to(2)
        assert ear.lost == []
