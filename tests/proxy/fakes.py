"""Stand-ins for what surrounds the relay: an upstream's link, an upstream's owner, a host, a recorder."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from config.schema import ProxySettings, Settings, UpstreamSettings
from proxy import wire
from proxy.answers import Answers
from proxy.backchannel import Backchannel
from proxy.callers import Callers
from proxy.compress.model import CharacterGauge
from proxy.control_tools import FeedbackArguments
from proxy.event_stream import EventFeed
from proxy.fleet import Fleet
from proxy.front import Front
from proxy.host_tools import HostTools, NoHostTools
from proxy.jobs import Job, JobFailed, Outcome
from proxy.links.link import LinkFailed, LinkListener, LinkLost
from proxy.model import Transport, UpstreamState, UpstreamView
from proxy.own_tools import OwnTools
from proxy.pipeline import run
from proxy.recorder import CallObservation
from proxy.router import Router
from proxy.session import Peer
from proxy.store.catalogues import RememberedCatalogue
from proxy.store.held import HeldStore
from proxy.summary import SummaryFailed
from proxy.telemetry.tracing import Tracing
from proxy.tool_calls import RouterSurfacing
from proxy.upstream import Upstream

Handler = Callable[[dict[str, Any]], Any]
"""Gets a request's params; returns a result, an `ErrorAnswer`, or ``SILENCE``."""

SILENCE = object()


class ErrorAnswer:
    """A JSON-RPC error as answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.body = {"code": code, "message": message} | ({} if data is None else {"data": data})


class FakeServer:
    """An MCP server in memory; its handlers can be replaced, and it can be killed."""

    def __init__(self, *tools: str, **capabilities: Any) -> None:
        self.tools = list(tools)
        self.capabilities = {"tools": {"listChanged": True}, **capabilities}
        self.received: list[dict[str, Any]] = []
        self.link: FakeLink | None = None
        self.refuses: LinkLost | None = None
        self.opened = 0
        self.gate: asyncio.Event | None = None
        """If set, a connection waits for it."""
        self.handlers: dict[str, Handler] = {
            "initialize": lambda params: {
                "protocolVersion": "2025-11-25",
                "capabilities": self.capabilities,
                "serverInfo": {"name": "fake", "version": "1"},
            },
            "tools/list": lambda params: {"tools": [self.tool(name) for name in self.tools]},
            "tools/call": lambda params: {"content": [{"type": "text", "text": params["name"]}]},
            "ping": lambda params: {},
        }

    @staticmethod
    def tool(name: str) -> dict[str, Any]:
        return {"name": name, "inputSchema": {"type": "object"}}

    async def open(self, settings: UpstreamSettings, listener: LinkListener) -> FakeLink:
        self.opened += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.refuses is not None:
            raise LinkFailed(self.refuses)
        self.link = FakeLink(self, listener)
        return self.link

    def handle(self, message: dict[str, Any], link: FakeLink) -> None:
        self.received.append(message)
        if "method" not in message or "id" not in message:
            return
        handler = self.handlers.get(message["method"])
        answer: Any = ErrorAnswer(-32601, "Method not found")
        if handler is not None:
            answer = handler(message.get("params") or {})
        if answer is SILENCE:
            return
        body = {"error": answer.body} if isinstance(answer, ErrorAnswer) else {"result": answer}
        link.deliver({"jsonrpc": "2.0", "id": message["id"], **body})

    def say(self, message: dict[str, Any]) -> None:
        """Send something of its own accord."""
        assert self.link is not None
        self.link.deliver({"jsonrpc": "2.0", **message})

    def die(self, reason: str = "exited with code 3") -> None:
        assert self.link is not None
        self.link.listener.link_lost(LinkLost(reason))

    def of(self, method: str) -> list[dict[str, Any]]:
        """What it received of one method."""
        return [message for message in self.received if message.get("method") == method]


class FakeLink:
    pid = 4711

    def __init__(self, server: FakeServer, listener: LinkListener) -> None:
        self.server = server
        self.listener = listener
        self.closed = False
        self._loop = asyncio.get_running_loop()

    def send(self, frame: bytes) -> None:
        if not self.closed:
            self._loop.call_soon(self.server.handle, json.loads(frame), self)

    def deliver(self, message: dict[str, Any]) -> None:
        if not self.closed:
            self.listener.frame_received(json.dumps(message).encode())

    async def close(self) -> None:
        self.closed = True


class FakeRecorder:
    def __init__(self) -> None:
        self.observed: list[CallObservation] = []
        self.lists_sent: list[bytes] = []
        self._next = 0

    def next_call_id(self) -> int:
        self._next += 1
        return self._next

    def observe(self, observation: CallObservation) -> None:
        self.observed.append(observation)

    def tool_list_sent(self, ours: bytes) -> None:
        self.lists_sent.append(ours)


class FakeWorker:
    """Does jobs in this process, counting characters as tokens; can be told to hold or to fail them."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.held: list[Callable[[], None]] = []
        self.holds = False
        self.fails = ""

    def submit(self, job: Job, done: Callable[[Outcome], None], timeout_seconds: float) -> None:
        self.jobs.append(job)
        loop = asyncio.get_running_loop()

        def do() -> None:
            done(JobFailed(self.fails) if self.fails else run(job, CharacterGauge()))

        if self.holds:
            self.held.append(do)
        else:
            loop.call_soon(do)

    def release(self) -> None:
        """Do what was held."""
        held, self.held, self.holds = self.held, [], False
        for do in held:
            do()


class FakeFeedback:
    def __init__(self) -> None:
        self.reports: list[FeedbackArguments] = []

    def report(self, feedback: FeedbackArguments, at: float) -> None:
        self.reports.append(feedback)


class FakeCatalogues:
    def __init__(self) -> None:
        self.kept: dict[str, RememberedCatalogue] = {}

    def load(self) -> dict[str, RememberedCatalogue]:
        return dict(self.kept)

    def save(self, name: str, catalogue: RememberedCatalogue) -> None:
        self.kept[name] = catalogue

    def forget(self, name: str) -> None:
        self.kept.pop(name, None)


class FakeHost:
    """A host on a session; answers what it is asked by ``answers``."""

    def __init__(self, relay: FakeRelay, name: str, capabilities: dict[str, Any]) -> None:
        self.frames: list[dict[str, Any]] = []
        self.abouts: list[bytes | None] = []
        self.answers: dict[str, Any] = {}
        self._arrived = asyncio.Event()
        self._last_id = 0
        self.session = relay.front.open_session(Peer("socket", 1), self)
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": name, "version": "1"},
            },
        )
        self.notify("notifications/initialized")

    def send(self, frame: bytes, about: bytes | None) -> None:
        message = json.loads(frame)
        self.frames.append(message)
        self.abouts.append(about)
        self._arrived.set()
        if "method" in message and "id" in message and message["method"] in self.answers:
            answer = self.answers[message["method"]]
            body = {"error": answer.body} if isinstance(answer, ErrorAnswer) else {"result": answer}
            self.receive({"jsonrpc": "2.0", "id": message["id"], **body})

    def close(self) -> None:
        """The station hangs up."""

    def receive(self, message: dict[str, Any]) -> None:
        self.session.receive(json.dumps(message).encode())

    def request(self, method: str, params: Any = None, id: Any = None) -> Any:
        self._last_id += 1
        id = self._last_id if id is None else id
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        self.receive(message if params is None else {**message, "params": params})
        return id

    def notify(self, method: str, params: Any = None) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        self.receive(message if params is None else {**message, "params": params})

    async def answer(self, id: Any) -> dict[str, Any]:
        """The response to a request, within five seconds."""
        async with asyncio.timeout(5):
            while True:
                for frame in self.frames:
                    if frame.get("id") == id and "method" not in frame:
                        return frame
                self._arrived.clear()
                await self._arrived.wait()

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        return await self.answer(self.request(method, params))

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.ask("tools/call", {"name": tool, "arguments": arguments})

    async def hears(self, method: str) -> None:
        """Wait, at most five seconds, for a message of this method."""
        async with asyncio.timeout(5):
            while not self.heard(method):
                self._arrived.clear()
                await self._arrived.wait()

    def heard(self, method: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame.get("method") == method]


class FakeRelay:
    """Front, router, backchannel and fleet over fake servers.

    With a folder for held texts, answers are shaped as in a station, by a fake worker.
    """

    def __init__(
        self,
        held: Path | None = None,
        *,
        surfacing: RouterSurfacing | None = None,
        tracing: Tracing | None = None,
        **settings: Any,
    ) -> None:
        self.proxy = ProxySettings(**settings)
        self.settings = Settings(proxy=self.proxy)
        self.recorder = FakeRecorder()
        self.worker = FakeWorker()
        self.feedback = FakeFeedback()
        self.host_tools: HostTools = NoHostTools()
        self.answers = None if held is None else self._answers(held)
        self.router = Router(
            lambda: self.proxy, self.recorder, lambda text: False, self.answers, surfacing, tracing
        )
        if self.answers is not None:
            self.router.offer_own_tools(
                OwnTools(
                    self.answers,
                    self.feedback,
                    self._offered,
                    self.recorder,
                    self.host_tools,
                    lambda: self.proxy,
                    Callers(),
                    tracing,
                )
            )
        self.backchannel = Backchannel(self.router)
        self.catalogues = FakeCatalogues()
        self.feed = EventFeed()
        self.front = Front(self.router, self.backchannel, self.feed, "0")
        self.servers: dict[str, FakeServer] = {}
        self.fleet = Fleet(
            self.router,
            self.backchannel,
            self.feed,
            self.catalogues,  # type: ignore[arg-type]  # same methods, no file
            self._open,
            _view,
            wire.raw({"name": "mms", "version": "0"}),
        )

    def _answers(self, held: Path) -> Answers:
        async def no_summary(*_: Any) -> str:
            raise SummaryFailed("there is no model")

        store = HeldStore(held / "held.sqlite3", 1 << 30)
        return Answers(
            lambda: self.proxy, store, self.worker, no_summary, lambda text: text, lambda _: None
        )

    def _offered(self) -> dict[str, frozenset[str]]:
        tools = self.router.catalogue.tools.values()
        return {
            name: frozenset(tool.name for tool in tools if tool.upstream == name)
            for name in self.servers
        }

    async def _open(self, settings: UpstreamSettings, listener: LinkListener) -> FakeLink:
        return await self.servers[settings.name].open(settings, listener)

    def host(self, name: str = "host", **capabilities: Any) -> FakeHost:
        return FakeHost(self, name, capabilities)

    async def state(self, name: str, state: UpstreamState) -> Upstream:
        """Wait, at most five seconds, until an upstream is in a state."""
        async with asyncio.timeout(5):
            while True:
                upstream = self.router.upstreams[name]
                if upstream.state is state:
                    return upstream
                await asyncio.sleep(0.002)


def _view(upstream: Upstream) -> UpstreamView:
    return UpstreamView(
        upstream.name,
        "",
        Transport.STDIO,
        "",
        upstream.state,
        upstream.reason,
        0.0,
        "",
        None,
        None,
        "",
        "",
        0,
        0,
        0,
        0,
        0,
        None,
        None,
        0,
        0,
        "",
    )


def upstream_settings(name: str, **more: Any) -> UpstreamSettings:
    """An upstream's settings with a command, so that it has an identity."""
    return UpstreamSettings(name=name, **{"command": f"run-{name}", **more})


@asynccontextmanager
async def running(
    relay: FakeRelay, *upstreams: UpstreamSettings, **servers: FakeServer
) -> AsyncGenerator[FakeRelay]:
    """Run the fleet over these servers; ``upstreams`` replaces the default settings."""
    relay.servers.update(servers)
    wanted = upstreams or tuple(upstream_settings(name) for name in servers)
    relay.settings = Settings(
        proxy=relay.proxy, upstreams={settings.name: settings for settings in wanted}
    )
    async with asyncio.TaskGroup() as group:
        if relay.answers is not None:
            relay.answers.start(group)
        helpers = relay.fleet.start(relay.settings, group)
        helpers.append(group.create_task(_ticking(relay)))
        try:
            yield relay
        finally:
            relay.fleet.stop()
            for helper in helpers:
                helper.cancel()


async def _ticking(relay: FakeRelay) -> None:
    while True:
        await asyncio.sleep(0.01)
        relay.router.tick(time.monotonic())
