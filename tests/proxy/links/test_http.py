"""Upstreams over streamable HTTP, against real servers on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from config.schema import UpstreamSettings
from proxy.http.server import bind_loopback
from proxy.links.http import open_http
from proxy.links.link import Link, LinkFailed, LinkLost
from tests.proxy.http.web import Cut, Exchange, Handler, web

pytestmark = pytest.mark.anyio

SECRET = "tok-3f9a27c1"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
}
WELCOME = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}


class Ear:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.noise: list[str] = []
        self.lost: list[LinkLost] = []
        self._heard = asyncio.Event()

    def frame_received(self, frame: bytes) -> None:
        self.frames.append(frame)
        self._heard.set()

    def noise_received(self, line: str) -> None:
        self.noise.append(line)
        self._heard.set()

    def link_lost(self, lost: LinkLost) -> None:
        self.lost.append(lost)
        self._heard.set()

    async def until(self, condition: Callable[[], Any]) -> Any:
        async with asyncio.timeout(5):
            while not (found := condition()):
                self._heard.clear()
                await self._heard.wait()
            return found

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(frame) for frame in self.frames if frame != b"{nonsense"]

    def answer(self, id: Any) -> dict[str, Any] | None:
        answers = [m for m in self.messages if m.get("id") == id and "method" not in m]
        return answers[0] if answers else None

    async def answer_to(self, id: Any) -> dict[str, Any]:
        return await self.until(lambda: self.answer(id))


class Server:
    """A server that keeps sessions, as most do; a test replaces what it needs."""

    def __init__(self) -> None:
        self.seen: list[Exchange] = []
        self.arrived = asyncio.Event()
        self.calls: Handler = self.echo
        self.listening: Handler = self.refuse_get
        self.session = "s-1"

    async def __call__(self, exchange: Exchange) -> None:
        self.seen.append(exchange)
        self.arrived.set()
        if exchange.method == "GET":
            await self.listening(exchange)
        elif exchange.method == "DELETE":
            await exchange.answer(200)
        elif exchange.message.get("method") == "initialize":
            await exchange.result(WELCOME, mcp_session_id=self.session)
        elif exchange.headers.get("mcp-session-id") != self.session:
            await exchange.json({"error": "no such session"}, 404)
        elif "id" not in exchange.message or "method" not in exchange.message:
            await exchange.answer(202)
        else:
            await self.calls(exchange)

    @staticmethod
    async def echo(exchange: Exchange) -> None:
        await exchange.result({"content": [], "echo": exchange.message["params"]})

    @staticmethod
    async def refuse_get(exchange: Exchange) -> None:
        await exchange.answer(405)

    async def saw(self, condition: Callable[[Exchange], bool]) -> Exchange:
        async with asyncio.timeout(5):
            while True:
                for exchange in self.seen:
                    if condition(exchange):
                        return exchange
                self.arrived.clear()
                await self.arrived.wait()


def settings(url: str, **headers: str) -> UpstreamSettings:
    return UpstreamSettings(name="remote", url=url, headers=headers)


def send(link: Link, message: dict[str, Any]) -> None:
    link.send(json.dumps(message).encode())


def call(id: Any, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


@asynccontextmanager
async def linked(
    handler: Handler, *, greet: bool = True, **more: Any
) -> AsyncGenerator[tuple[Link, Ear]]:
    """A link to a server that a handler plays, after the handshake."""
    async with web(handler) as url:
        ear = Ear()
        link = await open_http(settings(url, **more.pop("headers", {})), ear, **more)
        try:
            if greet:
                send(link, INITIALIZE)
                await ear.answer_to(1)
                send(link, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield link, ear
        finally:
            async with asyncio.timeout(8):
                await link.close()


async def test_a_call_is_answered_and_carries_session_revision_and_configured_headers() -> None:
    server = Server()
    async with linked(server, headers={"Authorization": f"Bearer {SECRET}"}) as (link, ear):
        send(link, call(2, name="x"))
        assert (await ear.answer_to(2))["result"]["echo"] == {"name": "x"}
    post = server.seen[-2]
    assert post.headers["authorization"] == f"Bearer {SECRET}"
    assert post.headers["mcp-session-id"] == "s-1"
    assert post.headers["mcp-protocol-version"] == "2025-11-25"
    assert "mcp-protocol-version" not in server.seen[0].headers
    assert server.seen[-1].method == "DELETE"
    assert server.seen[-1].headers["mcp-session-id"] == "s-1"


async def test_bytes_pass_unchanged_in_both_directions() -> None:
    odd = b'{"jsonrpc":"2.0","id":2,"result":{"n":1.0,"big":1180591620717411303424,"s":"\\ud800"},"x":null}'

    async def answer(exchange: Exchange) -> None:
        await exchange.json(odd)

    server = Server()
    server.calls = answer
    frame = (
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"n":1e3,"z":null,"s":"\\udfff"}}'
    )
    async with linked(server) as (link, ear):
        link.send(frame)
        await ear.until(lambda: len(ear.frames) > 1)
        assert ear.frames[-1] == odd
        assert (await server.saw(lambda e: b"tools/call" in e.body)).body == frame


async def test_line_ends_between_values_do_not_cut_a_frame_in_two() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.json(b'{\r\n "jsonrpc":"2.0",\n "id":2,\n "result": {\n  "a": 1 }\n}\n')

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        await ear.answer_to(2)
        assert b"\n" not in ear.frames[-1]
        assert b"\r" not in ear.frames[-1]


async def test_progress_and_questions_come_before_the_answer_in_order() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.stream()
        for n in range(50):
            await exchange.event({"jsonrpc": "2.0", "method": "notifications/progress", "n": n})
        await exchange.event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await exchange.event({"jsonrpc": "2.0", "id": 2, "result": {}})
        await exchange.end()

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        await ear.answer_to(2)
        assert [m.get("n") for m in ear.messages[1:51]] == list(range(50))
        assert ear.messages[51]["method"] == "roots/list"
        send(link, {"jsonrpc": "2.0", "id": "q", "result": {"roots": []}})
        await server.saw(lambda e: b'"roots"' in e.body)


async def test_calls_run_at_the_same_time() -> None:
    both = asyncio.Event()
    waiting = 0

    async def answer(exchange: Exchange) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == 2:
            both.set()
        await both.wait()
        await exchange.result({})

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        send(link, call(3))
        await ear.answer_to(2)
        await ear.answer_to(3)


async def test_a_request_reaches_the_server_after_the_notifications_before_it() -> None:
    server = Server()
    async with linked(server) as (link, ear):
        for n in range(5):
            send(link, {"jsonrpc": "2.0", "method": f"notifications/{n}"})
        send(link, call(2))
        await ear.answer_to(2)
    methods = [e.message.get("method") for e in server.seen if e.method == "POST"]
    assert methods[2:] == [f"notifications/{n}" for n in range(5)] + ["tools/call"]


async def test_an_answer_with_another_id_still_answers_its_own_request() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.json({"jsonrpc": "2.0", "id": "2", "result": {"ok": True}})

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert (await ear.answer_to(2))["result"] == {"ok": True}


@pytest.mark.parametrize(
    ("status", "body", "type", "words"),
    [
        (500, b"boom " + SECRET.encode(), "text/plain", "answers 500 Internal Server Error"),
        (429, b"", "text/plain", "limits how often"),
        (403, b"", "text/plain", "not allowed"),
        (202, b"", "", "gave no answer"),
        (200, b"<html>", "text/html", "'text/html'"),
        (200, b"{nonsense", "application/json", "no valid message"),
        (200, b"[]", "application/json", "no valid message"),
    ],
)
async def test_a_call_that_fails_is_answered_with_the_reason_and_the_next_one_works(
    status: int, body: bytes, type: str, words: str
) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.message["id"] == 2:
            more = {"content_type": type} if type else {}
            await exchange.answer(status, body, **more)
        else:
            await exchange.result({})

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        error = (await ear.answer_to(2))["error"]
        assert error["code"] == -32000
        assert error["message"].startswith("mms: upstream remote ")
        assert words in error["message"]
        assert SECRET not in error["message"]
        send(link, call(3))
        assert (await ear.answer_to(3))["result"] == {}
        assert ear.lost == []


async def test_an_error_of_the_protocol_in_a_failing_status_is_passed_on() -> None:
    error = {"code": -32042, "message": "visit the page", "data": {"url": "https://a.test"}}

    async def answer(exchange: Exchange) -> None:
        await exchange.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert (await ear.answer_to(2))["error"] == error


@pytest.mark.parametrize(
    ("status", "words", "permanent"),
    [
        (401, "answers 401 Unauthorized: check headers.Authorization of this upstream", True),
        (403, "answers 403 Forbidden", True),
        (404, "answers 404 Not Found: check the path in url", True),
        (405, "does not take POST", True),
        (503, "answers 503 Service Unavailable", False),
    ],
)
async def test_a_server_that_refuses_the_handshake_says_why(
    status: int, words: str, permanent: bool
) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(status, b"go away")

    async with linked(refuse, greet=False, headers={"Authorization": SECRET}) as (link, ear):
        send(link, INITIALIZE)
        lost = await ear.until(lambda: ear.lost)
        assert words in lost[0].reason
        assert lost[0].permanent is permanent
        assert SECRET not in lost[0].reason


async def test_a_credential_that_expires_ends_the_link() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.answer(401)

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        lost = await ear.until(lambda: ear.lost)
        assert "401" in lost[0].reason


async def test_nothing_listening_is_told_at_once_and_only_once() -> None:
    bound = bind_loopback("127.0.0.1", 0)
    port = bound.getsockname()[1]
    bound.close()
    ear = Ear()
    link = await open_http(settings(f"http://127.0.0.1:{port}/mcp?key={SECRET}"), ear)
    send(link, INITIALIZE)
    send(link, {**INITIALIZE, "id": 2})
    lost = await ear.until(lambda: ear.lost)
    await link.close()
    assert len(ear.lost) == 1
    assert lost[0].reason == (
        f"cannot be reached at 127.0.0.1:{port}: nothing listens there (connection refused)"
    )
    assert not lost[0].permanent


async def test_a_name_that_does_not_exist_is_told() -> None:
    ear = Ear()
    link = await open_http(settings("http://nowhere.invalid/mcp"), ear)
    send(link, INITIALIZE)
    lost = await ear.until(lambda: ear.lost)
    await link.close()
    assert lost[0].reason == "cannot be reached: the name nowhere.invalid is not known"


@pytest.mark.parametrize("status", [404, 400])
async def test_a_server_that_forgot_the_session_ends_the_link(status: int) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.json({"error": "Bad Request: No valid session ID provided"}, status)

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        lost = await ear.until(lambda: ear.lost)
        assert "no longer knows this session" in lost[0].reason
        assert not lost[0].permanent
    assert all(e.method != "DELETE" for e in server.seen)


async def test_a_server_that_dies_is_noticed_by_the_open_stream_without_a_call() -> None:
    opened = asyncio.Event()

    async def listening(exchange: Exchange) -> None:
        await exchange.stream(": hello")
        opened.set()
        await exchange.gone.wait()
        raise Cut

    server = Server()
    server.listening = listening
    ear = Ear()
    async with web(server) as url:
        link = await open_http(settings(url), ear)
        send(link, INITIALIZE)
        await ear.answer_to(1)
        send(link, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        async with asyncio.timeout(5):
            await opened.wait()
    lost = await ear.until(lambda: ear.lost)
    async with asyncio.timeout(5):
        await link.close()
    assert "connection refused" in lost[0].reason


async def test_an_answer_that_breaks_off_is_an_error_not_a_hang() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event({"jsonrpc": "2.0", "method": "notifications/progress"})
        raise Cut

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        message = (await ear.answer_to(2))["error"]["message"]
        assert "whether the call had an effect is not known" in message


async def test_a_broken_answer_is_read_on_where_it_broke() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.stream("id: a-1\nretry: 10\ndata:")
        await exchange.end()

    async def listening(exchange: Exchange) -> None:
        if "last-event-id" not in exchange.headers:
            await exchange.answer(405)
            return
        assert exchange.headers["last-event-id"] == "a-1"
        await exchange.stream()
        await exchange.event({"jsonrpc": "2.0", "id": 2, "result": {"late": True}})
        await exchange.end()

    server = Server()
    server.calls = answer
    server.listening = listening
    async with linked(server) as (link, ear):
        send(link, call(2))
        assert (await ear.answer_to(2))["result"] == {"late": True}


async def test_what_the_server_sends_unasked_arrives_and_the_stream_is_opened_again() -> None:
    opened = 0

    async def listening(exchange: Exchange) -> None:
        nonlocal opened
        opened += 1
        assert exchange.headers.get("last-event-id") == (None if opened == 1 else f"e{opened - 1}")
        await exchange.stream("retry: 1")
        await exchange.event({"jsonrpc": "2.0", "method": f"notifications/{opened}"}, f"e{opened}")
        if opened == 1:
            raise Cut
        await exchange.gone.wait()

    server = Server()
    server.listening = listening
    async with linked(server) as (_, ear):
        await ear.until(lambda: len(ear.frames) == 3)
        assert [m["method"] for m in ear.messages[1:]] == ["notifications/1", "notifications/2"]
        assert ear.lost == []


async def test_a_cancelled_call_is_told_to_the_server_and_its_connection_is_given_up() -> None:
    started = asyncio.Event()
    ended = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        await exchange.stream(": working")
        started.set()
        await exchange.gone.wait()
        ended.set()

    server = Server()
    server.calls = answer
    async with linked(server) as (link, ear):
        send(link, call(2))
        async with asyncio.timeout(5):
            await started.wait()
            note = {"method": "notifications/cancelled", "params": {"requestId": 2}}
            send(link, {"jsonrpc": "2.0", **note})
            await ended.wait()
        told = await server.saw(lambda e: b"cancelled" in e.body)
        assert told.message["params"] == {"requestId": 2}
        assert ear.answer(2) is None


async def test_the_stateless_era_gets_its_headers_and_no_notifications() -> None:
    seen: list[Exchange] = []

    async def serve(exchange: Exchange) -> None:
        seen.append(exchange)
        await exchange.result({"supportedVersions": ["2026-07-28"]})

    async with linked(serve, greet=False) as (link, ear):
        send(link, {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}})
        await ear.answer_to(1)
        send(link, {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
        send(link, call(2, name="größe"))
        await ear.answer_to(2)
        send(link, {**call(3, uri="file:///a"), "method": "resources/read"})
        await ear.answer_to(3)
    heads = [e.headers for e in seen]
    assert [e.method for e in seen] == ["POST"] * 3
    assert [h["mcp-protocol-version"] for h in heads] == ["2026-07-28"] * 3
    assert [h["mcp-method"] for h in heads] == ["server/discover", "tools/call", "resources/read"]
    assert heads[1]["mcp-name"] == "=?base64?Z3LDtsOfZQ==?="
    assert heads[2]["mcp-name"] == "file:///a"
    assert all("mcp-session-id" not in h for h in heads)


async def test_a_redirect_to_another_address_is_not_followed_and_the_token_stays_here() -> None:
    reached: list[Exchange] = []

    async def elsewhere(exchange: Exchange) -> None:
        reached.append(exchange)
        await exchange.answer(200)

    async with web(elsewhere) as other:

        async def redirect(exchange: Exchange) -> None:
            await exchange.answer(307, location=f"{other}?k={SECRET}")

        async with linked(redirect, greet=False, headers={"Authorization": SECRET}) as (link, ear):
            send(link, INITIALIZE)
            lost = await ear.until(lambda: ear.lost)
            assert "redirects to http://127.0.0.1:" in lost[0].reason
            assert lost[0].permanent
            assert SECRET not in lost[0].reason
    assert reached == []


async def test_a_redirect_on_the_same_address_is_followed() -> None:
    server = Server()

    async def redirect(exchange: Exchange) -> None:
        if exchange.path == "/mcp":
            await exchange.answer(308, location="/mcp/")
        else:
            await server(exchange)

    async with linked(redirect) as (link, ear):
        send(link, call(2, a=1))
        assert (await ear.answer_to(2))["result"]["echo"] == {"a": 1}


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_beyond_the_limit_is_refused_and_the_link_lives(streamed: bool) -> None:
    async def answer(exchange: Exchange) -> None:
        result = {"jsonrpc": "2.0", "id": exchange.message["id"], "result": {"x": "y" * 100_000}}
        if exchange.message["id"] != 2:
            await exchange.result({})
        elif streamed:
            await exchange.stream()
            await exchange.event(result)
            await exchange.end()
        else:
            await exchange.json(result)

    server = Server()
    server.calls = answer
    async with linked(server, frame_limit=65536) as (link, ear):
        send(link, call(2))
        assert "65,536 bytes" in (await ear.answer_to(2))["error"]["message"]
        send(link, call(3))
        assert (await ear.answer_to(3))["result"] == {}


async def test_closing_ends_calls_streams_and_the_session_in_time() -> None:
    async def hang(exchange: Exchange) -> None:
        await exchange.stream(": waiting")
        await exchange.gone.wait()

    server = Server()
    server.calls = server.listening = hang
    async with web(server) as url:
        ear = Ear()
        link = await open_http(settings(url), ear)
        send(link, INITIALIZE)
        await ear.answer_to(1)
        send(link, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        send(link, call(2))
        await server.saw(lambda e: b"tools/call" in e.body)
        async with asyncio.timeout(5):
            await link.close()
            await link.close()
        link.send(b"{}")
        assert ear.lost == []
        assert server.seen[-1].method == "DELETE"


async def test_a_link_can_be_closed_by_another_task() -> None:
    server = Server()
    async with web(server) as url:
        ear = Ear()
        link = await open_http(settings(url), ear)
        send(link, INITIALIZE)
        await ear.answer_to(1)
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            group.create_task(link.close())


async def test_a_link_survives_the_time_limit_within_which_it_was_opened() -> None:
    server = Server()
    async with web(server) as url:
        ear = Ear()
        async with asyncio.timeout(5):
            link = await open_http(settings(url), ear)
            send(link, INITIALIZE)
            await ear.answer_to(1)
        send(link, call(2))
        await ear.answer_to(2)
        await link.close()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (settings("ftp://host/mcp"), "http:// or https://"),
        (settings("http://"), "http:// or https://"),
        (settings("http://host:port/"), "cannot be read"),
        (settings("http://host:99999/"), "cannot be read"),
        (settings("http://host/", Authorization=f"{SECRET}\nX: y"), "headers.Authorization"),
        (settings("http://host/", **{"a b": SECRET}), "header name"),
    ],
)
async def test_settings_that_can_never_work_are_refused(
    given: UpstreamSettings, words: str
) -> None:
    with pytest.raises(LinkFailed) as failed:
        await open_http(given, Ear())
    assert failed.value.lost.permanent
    assert words in failed.value.lost.reason
    assert SECRET not in failed.value.lost.reason


async def test_addresses_with_secrets_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = Server()
    async with web(server) as url:
        ear = Ear()
        link = await open_http(settings(f"{url}?key={SECRET}"), ear)
        send(link, INITIALIZE)
        await ear.answer_to(1)
        await link.close()
    assert server.seen[0].path == f"/mcp?key={SECRET}"
    assert SECRET not in caplog.text
