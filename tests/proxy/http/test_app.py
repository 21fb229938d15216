"""The endpoint for hosts: real requests over a real socket, a relay over fake upstreams behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from proxy.http import app as app_module
from proxy.http import host as host_module
from proxy.http.app import HttpApp
from proxy.http.guard import rules_for
from proxy.http.server import bind_loopback, serving
from proxy.http.sse import Event, EventParser
from proxy.model import UpstreamState
from tests.proxy.fakes import SILENCE, FakeRelay, FakeServer, running

pytestmark = pytest.mark.anyio

TOKEN = "t" * 43
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "web", "version": "1"},
}
BOTH = "application/json, text/event-stream"


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn, for at most five seconds, until something is so."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  # other code's state, which tells nobody
            await asyncio.sleep(0.002)


class Stream:
    """An event stream as a client reads it."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._chunks = response.aiter_bytes()
        self._parser = EventParser(10_000_000)
        self._events: list[Event] = []

    async def event(self) -> Event | None:
        """The next event, within five seconds; ``None`` at the end."""
        async with asyncio.timeout(5):
            while not self._events:
                try:
                    self._events += self._parser.feed(await anext(self._chunks))
                except StopAsyncIteration:
                    return None
            return self._events.pop(0)

    async def message(self) -> dict[str, Any]:
        """The next event with data."""
        while (event := await self.event()) is not None:
            if event.data:
                return json.loads(event.data)
        raise AssertionError("the stream has ended")


class Client:
    """A host that speaks HTTP by hand."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {TOKEN}", "accept": BOTH},
            timeout=httpx2.Timeout(5.0),
            trust_env=False,
        )
        self.session: dict[str, str] = {}

    async def initialize(self, revision: str = "2025-11-25") -> httpx2.Response:
        response = await self.post(
            {"id": 0, "method": "initialize", "params": {**INITIALIZE, "protocolVersion": revision}}
        )
        if "mcp-session-id" in response.headers:
            self.session = {
                "mcp-session-id": response.headers["mcp-session-id"],
                "mcp-protocol-version": revision,
            }
            await self.post({"method": "notifications/initialized"})
        return response

    async def post(self, message: Any, **headers: str) -> httpx2.Response:
        return await self.http.post(
            self.url, json={"jsonrpc": "2.0", **message}, headers={**self.session, **headers}
        )

    async def call(self, id: Any, tool: str = "up__x", **meta: Any) -> httpx2.Response:
        params: dict[str, Any] = {"name": tool, "arguments": {}}
        if meta:
            params["_meta"] = meta
        return await self.post({"id": id, "method": "tools/call", "params": params})

    @asynccontextmanager
    async def stream(
        self, method: str, message: Any = None, **headers: str
    ) -> AsyncGenerator[Stream]:
        body = None if message is None else json.dumps({"jsonrpc": "2.0", **message})
        given = {**self.session, "content-type": "application/json", **headers}
        async with self.http.stream(method, self.url, content=body, headers=given) as response:
            yield Stream(response)


class Endpoint:
    """The application, served, with a relay behind it."""

    def __init__(self, relay: FakeRelay, server: FakeServer, limit: int) -> None:
        self.relay = relay
        self.server = server
        bound = bind_loopback("127.0.0.1", 0)
        self.bound = bound
        port = bound.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.app = HttpApp(
            rules_for("127.0.0.1", port, [], TOKEN), relay.front.open_session, lambda: limit
        )

    async def received(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until the upstream has received so many messages of a method."""
        await until(lambda: len(self.server.of(method)) >= count)
        return self.server.of(method)

    def answer(self, request: dict[str, Any], result: Any = None) -> None:
        assert self.server.link is not None
        self.server.link.deliver({"jsonrpc": "2.0", "id": request["id"], "result": result or {}})


@asynccontextmanager
async def endpoint(limit: int = 1_000_000) -> AsyncGenerator[tuple[Endpoint, Client]]:
    server = FakeServer("x", resources={})
    relay = FakeRelay()
    async with running(relay, up=server):
        await relay.state("up", UpstreamState.READY)
        served = Endpoint(relay, server, limit)
        async with serving(served.app, served.bound, served.app.end_all):
            client = Client(served.url)
            try:
                yield served, client
            finally:
                await client.http.aclose()


async def test_a_handshake_opens_a_session_and_calls_are_answered_as_json() -> None:
    async with endpoint() as (served, client):
        response = await client.initialize()
        assert response.headers["content-type"] == "application/json"
        assert response.json()["result"]["protocolVersion"] == "2025-11-25"
        assert len(client.session["mcp-session-id"]) == 32
        answer = await client.call("string id")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["id"] == "string id"
        assert answer.json()["result"]["content"][0]["text"] == "x"
        (session,) = served.relay.router.sessions.values()
        assert session.view().endpoint == "http"
        assert session.view().name == "web"


async def test_sessions_are_apart() -> None:
    async with endpoint() as (served, client):
        other = Client(served.url)
        await client.initialize()
        await other.initialize()
        assert client.session["mcp-session-id"] != other.session["mcp-session-id"]
        served.server.handlers["tools/call"] = lambda params: SILENCE
        async with asyncio.TaskGroup() as group:
            mine = group.create_task(client.call(1))
            first = (await served.received("tools/call"))[0]
            theirs = group.create_task(other.call(1))
            second = (await served.received("tools/call", 2))[1]
            served.answer(second, {"for": "other"})
            served.answer(first, {"for": "first"})
        assert mine.result().json()["result"] == {"for": "first"}
        assert theirs.result().json()["result"] == {"for": "other"}
        await other.http.aclose()


async def test_progress_turns_the_answer_into_a_stream_that_ends_with_the_response() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        call = {
            "id": 7,
            "method": "tools/call",
            "params": {"name": "up__x", "_meta": {"progressToken": "p"}},
        }
        async with asyncio.TaskGroup() as group:
            opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            async def read() -> list[Event]:
                async with client.stream("POST", call) as stream:
                    assert stream.response.headers["content-type"] == "text/event-stream"
                    found: list[Event] = []
                    while (event := await stream.event()) is not None:
                        found.append(event)
                        if len(found) == 2:
                            opened.set_result(None)
                    return found

            reading = group.create_task(read())
            request = (await served.received("tools/call"))[0]
            token = request["params"]["_meta"]["progressToken"]
            served.server.say(
                {
                    "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": 1},
                }
            )
            await opened
            served.answer(request, {"done": True})
        first, progress, response = reading.result()
        assert (first.data, first.retry_ms) == (b"", 1000)
        assert json.loads(progress.data)["params"] == {"progressToken": "p", "progress": 1}
        assert json.loads(response.data) == {"jsonrpc": "2.0", "id": 7, "result": {"done": True}}


async def test_older_clients_get_no_event_without_data() -> None:
    async with endpoint() as (served, client):
        await client.initialize("2025-06-18")
        async with client.stream("GET") as stream:
            await client.post({"id": 1, "method": "ping"})
            (session,) = served.relay.router.sessions.values()
            session.send(b'{"jsonrpc":"2.0","method":"notifications/x"}')
            event = await stream.event()
            assert event is not None
            assert b"notifications/x" in event.data


async def test_a_question_of_the_upstream_goes_out_with_the_call_and_its_answer_comes_back() -> (
    None
):
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        call = {"id": 7, "method": "tools/call", "params": {"name": "up__x"}}
        async with asyncio.TaskGroup() as group:

            async def read() -> dict[str, Any]:
                async with client.stream("POST", call) as stream:
                    asked = await stream.message()
                    assert asked["method"] == "roots/list"
                    answer = await client.post({"id": asked["id"], "result": {"roots": []}})
                    assert answer.status_code == 202
                    return await stream.message()

            reading = group.create_task(read())
            request = (await served.received("tools/call"))[0]
            served.server.say({"id": "q", "method": "roots/list"})
            await until(lambda: any(m.get("id") == "q" for m in served.server.received))
            served.answer(request, {"done": True})
        assert reading.result()["result"] == {"done": True}


async def test_what_belongs_to_no_request_waits_for_the_get_stream_and_arrives_in_order() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        (session,) = served.relay.router.sessions.values()
        for n in range(300):
            session.send(b'{"jsonrpc":"2.0","method":"notifications/%d"}' % n)
        async with client.stream("GET") as stream:
            for n in range(300 - 256, 300):
                assert (await stream.message())["method"] == f"notifications/{n}"


async def test_only_one_get_stream_lives_and_a_dead_one_makes_room() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        async with client.stream("GET") as stream:
            assert (await stream.event()) is not None
            second = await client.http.get(client.url, headers=client.session)
            assert second.status_code == 409
        (host,) = served.app.hosts
        await until(lambda: not host.streams.being_read)
        async with client.stream("GET") as stream:
            assert stream.response.status_code == 200


async def test_a_call_goes_on_without_its_client_and_is_read_on_by_event_id() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        params = {"name": "up__x", "_meta": {"progressToken": 1}}
        call = {"id": 7, "method": "tools/call", "params": params}
        async with asyncio.TaskGroup() as group:

            async def begin() -> str:
                async with client.stream("POST", call) as stream:
                    event = await stream.event()
                    assert event is not None
                    return event.id

            beginning = group.create_task(begin())
            request = (await served.received("tools/call"))[0]
            report = {"progressToken": request["params"]["_meta"]["progressToken"], "progress": 1}
            served.server.say({"method": "notifications/progress", "params": report})
        (host,) = served.app.hosts
        await until(lambda: not host.streams.being_read)
        served.answer(request, {"late": True})
        assert served.server.of("notifications/cancelled") == []
        headers = {"last-event-id": beginning.result()}
        async with client.stream("GET", **headers):
            pass  # may be broken and taken up again as often as needed
        async with client.stream("GET", **headers) as stream:
            assert (await stream.message())["params"]["progress"] == 1
            assert (await stream.message())["result"] == {"late": True}
            assert await stream.event() is None
        async with client.stream("GET", **{"last-event-id": "99-1"}) as stream:
            assert stream.response.status_code == 400


async def test_a_cancelled_call_ends_without_an_answer() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        async with asyncio.TaskGroup() as group:
            calling = group.create_task(client.call(7))
            request = (await served.received("tools/call"))[0]
            note = {"method": "notifications/cancelled", "params": {"requestId": 7}}
            assert (await client.post(note)).status_code == 202
        assert calling.result().status_code == 200
        assert calling.result().content == b""  # not even an id to come back with
        assert (
            served.server.of("notifications/cancelled")[0]["params"]["requestId"] == request["id"]
        )
        served.answer(request)
        served.server.handlers["tools/call"] = lambda params: {"again": True}
        assert (await client.call(7)).json()["result"] == {"again": True}


async def test_a_long_answer_becomes_a_stream_before_the_client_gives_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app_module, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(app_module, "KEEP_ALIVE_SECONDS", 0.01)
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        async with client.stream(
            "POST", {"id": 7, "method": "tools/call", "params": {"name": "up__x"}}
        ) as stream:
            assert stream.response.headers["content-type"] == "text/event-stream"
            raw = b""
            async with asyncio.timeout(5):
                async for chunk in stream.response.aiter_raw():
                    raw += chunk
                    if raw.count(b": keep-alive") == 2:
                        served.answer((await served.received("tools/call"))[0], {"ok": 1})
                    if b'"ok"' in raw:
                        break


async def test_a_session_that_was_ended_is_not_found_and_its_call_is_refused() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        async with asyncio.TaskGroup() as group:
            calling = group.create_task(client.call(7))
            await served.received("tools/call")
            gone = await client.http.delete(client.url, headers=client.session)
            assert gone.status_code == 204
        assert calling.result().status_code == 503
        assert calling.result().json()["id"] == 7
        assert served.relay.router.sessions == {}
        assert (await client.call(8)).status_code == 404
        assert len(await served.received("notifications/cancelled")) == 1


async def test_what_is_wrong_with_a_request_is_told_by_its_status() -> None:
    async with endpoint(limit=5000) as (_, client):
        nobody = await client.post({"id": 1, "method": "ping"})
        assert nobody.status_code == 400
        assert nobody.json()["id"] == 1
        discover = await client.post({"id": "d", "method": "server/discover"})
        assert discover.status_code == 404
        assert discover.json()["error"]["code"] == -32601
        await client.initialize()

        async def status(content: bytes | None = None, **headers: str) -> int:
            given = {**client.session, "content-type": "application/json", **headers}
            body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}' if content is None else content
            response = await client.http.post(client.url, content=body, headers=given)
            return response.status_code

        assert await status() == 200
        assert await status(b'\n{\n"jsonrpc":"2.0",\r\n"id":1,"method":"ping"}\n') == 200
        assert await status(b"{") == 400
        assert await status(b"[]") == 400
        assert await status(b'{"jsonrpc":"2.0"}') == 400
        assert await status(b"x" * 6000) == 413
        assert await status(**{"mcp-session-id": "0" * 32}) == 404
        assert await status(**{"mcp-protocol-version": "2026-07-28"}) == 400
        assert await status(**{"mcp-protocol-version": "2025-03-26"}) == 200
        assert await status(authorization="Bearer no") == 401
        assert await status(host="evil.test") == 421
        assert await status(origin="http://evil.test") == 403
        assert await status(b'{"jsonrpc":"2.0","id":1,"method":7}') == 200
        assert (await client.post({"id": 5, "method": "initialize"})).status_code == 400


async def test_a_request_that_cannot_be_read_inside_is_answered_all_the_same() -> None:
    async with endpoint() as (_, client):
        await client.initialize()
        for wrong in ({"method": 7}, {"method": "completion/complete", "params": {"ref": 1}}):
            answer = await client.post({"id": "r", **wrong})
            assert answer.json()["id"] == "r"
            assert answer.json()["error"]["code"] in (-32600, -32700)


async def test_a_body_without_an_announced_length_is_limited_too() -> None:
    async with endpoint(limit=5000) as (_, client):
        await client.initialize()

        async def body() -> AsyncGenerator[bytes]:
            for _ in range(10):
                yield b"x" * 1000

        response = await client.http.post(
            client.url,
            content=body(),
            headers={**client.session, "content-type": "application/json"},
        )
        assert response.status_code == 413


async def test_a_handshake_that_cannot_be_read_opens_no_session() -> None:
    async with endpoint() as (served, client):
        answer = await client.post({"id": 1, "method": "initialize", "params": {"clientInfo": 7}})
        assert answer.json()["error"]["code"] in (-32600, -32700)
        assert "mcp-session-id" not in answer.headers
        assert served.app.hosts == ()
        assert served.relay.router.sessions == {}


async def test_when_too_many_hosts_are_connected_the_longest_unused_one_makes_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app_module, "MAX_SESSIONS", 2)
    async with endpoint() as (served, client):
        others = [Client(served.url) for _ in range(2)]
        await client.initialize()
        await others[0].initialize()
        full = await others[1].initialize()
        assert full.status_code == 503
        served.app.hosts[0].used_at -= 100
        assert (await others[1].initialize()).status_code == 200
        assert (await client.call(1)).status_code == 404
        assert (await others[0].call(1)).status_code == 200
        for other in others:
            await other.http.aclose()


async def test_a_decisive_header_that_comes_twice_is_refused() -> None:
    async with endpoint() as (_, client):
        twice = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")]
        async with httpx2.AsyncClient(trust_env=False) as http:
            assert (await http.get(client.url, headers=twice)).status_code == 400


async def test_an_id_that_is_under_way_cannot_be_used_again() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        served.server.handlers["tools/call"] = lambda params: SILENCE
        async with asyncio.TaskGroup() as group:
            calling = group.create_task(client.call(7))
            request = (await served.received("tools/call"))[0]
            assert (await client.call(7)).status_code == 400
            served.answer(request, {"ok": 1})
        assert calling.result().json()["result"] == {"ok": 1}


async def test_sessions_that_nobody_uses_end_and_those_with_a_stream_live() -> None:
    async with endpoint() as (served, client):
        other = Client(served.url)
        await client.initialize()
        await other.initialize()
        async with client.stream("GET") as stream:
            assert (await stream.event()) is not None
            loop_time = max(host.used_at for host in served.app.hosts)
            served.app.end_idle(loop_time + host_module.IDLE_SECONDS + 1)
            assert len(served.relay.router.sessions) == 1
            assert (await other.post({"id": 1, "method": "ping"})).status_code == 404
            assert (await client.post({"id": 1, "method": "ping"})).status_code == 200
        await other.http.aclose()


async def test_a_host_whose_stream_has_closed_is_gone_after_minutes() -> None:
    async with endpoint() as (served, client):
        other = Client(served.url)
        await client.initialize()
        await other.initialize()
        async with client.stream("GET") as stream:
            assert (await stream.event()) is not None
        (host, quiet) = served.app.hosts
        await until(lambda: not host.streams.being_read)
        later = max(host.used_at, quiet.used_at) + host_module.LEFT_SECONDS
        served.app.end_idle(later - 1)
        assert len(served.app.hosts) == 2
        served.app.end_idle(later + 1)
        assert served.app.hosts == (quiet,)
        await other.http.aclose()


async def test_a_host_that_does_not_read_its_stream_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proxy.http.streams.KEPT_BYTES", 1000)
    monkeypatch.setattr("proxy.http.streams.UNREAD_BYTES", 5_000_000)
    async with endpoint() as (served, client):
        await client.initialize()
        (session,) = served.relay.router.sessions.values()
        async with client.stream("GET") as stream:
            assert (await stream.event()) is not None
            frame = b'{"jsonrpc":"2.0","method":"notifications/x","params":"%s"}' % (b"x" * 100_000)
            async with asyncio.timeout(5):
                while not session.closed:
                    session.send(frame)
                    await asyncio.sleep(0)
        assert served.app.hosts == ()


async def test_stopping_ends_every_stream_at_once() -> None:
    async with endpoint() as (served, client):
        await client.initialize()
        async with client.stream("GET") as stream:
            assert (await stream.event()) is not None
            served.app.end_all()
            assert await stream.event() is None
