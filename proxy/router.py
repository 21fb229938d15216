"""Between hosts and upstreams: every request to the right upstream, every answer to its own host.

All of it runs on the engine's loop, in callbacks; a call costs no task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from config.schema import ProxySettings, SurfacingSettings
from proxy import wire
from proxy.answers import Answers
from proxy.calls_under_way import CallsUnderWay, NextOne
from proxy.catalogue import Catalogue
from proxy.exchange import Exchange, Failure, FailureKind
from proxy.host_calls import HostCall
from proxy.host_lists import KINDS, HostLists
from proxy.model import RunningCall
from proxy.own_tools import CallRecorder, OwnTools
from proxy.session import HostSession
from proxy.telemetry.tracing import Tracing
from proxy.tool_calls import RouterSurfacing, ToolCalls
from proxy.tool_health import Failures
from proxy.tool_routes import ToolRoutes
from proxy.upstream import Upstream

_NOT_HERE = frozenset(
    str(code).encode()
    for code in (wire.METHOD_NOT_FOUND, wire.INVALID_PARAMS, wire.RESOURCE_NOT_FOUND)
)
"""Refusals after which the next upstream may be asked: nothing was done."""


class RouterRecorder(CallRecorder, Protocol):
    """Where the router's calls and tool lists go; must return at once."""

    def tool_list_sent(self, ours: bytes, /) -> None:
        """A host was given a tool list with our own tools in it."""
        ...


class Router:
    """Routes the requests of hosts. Sessions and upstreams are added and removed by the engine."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        recorder: RouterRecorder,
        looks_secret: Callable[[str], bool],
        answers: Answers | None = None,
        surfacing: RouterSurfacing | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        """``answers``: shapes, keeps and holds answers; without it everything is relayed as it comes.
        ``surfacing``: shows memories with them. ``tracing``: gets a span of every call."""
        self.upstreams: dict[str, Upstream] = {}
        """By name, in the order of the settings."""
        self.sessions: dict[int, HostSession] = {}
        self._own_tools: OwnTools | None = None
        self._routes = ToolRoutes(
            settings, SurfacingSettings if surfacing is None else surfacing.settings, self.upstreams
        )
        self._lists = HostLists(
            settings, self.upstreams, self.sessions, looks_secret, recorder.tool_list_sent
        )
        self._under_way = CallsUnderWay(
            settings, recorder, None if surfacing is None else surfacing.selection, tracing
        )
        self._tool_calls: ToolCalls | None = None
        if answers is not None:
            self._tool_calls = ToolCalls(
                self._under_way, answers, self._routes, lambda: self._lists.catalogue, surfacing
            )
            self._under_way.stages = self._tool_calls

    @property
    def calls(self) -> dict[tuple[int, bytes], HostCall]:
        """Under way, by session and the host's id."""
        return self._under_way.by_id

    @property
    def catalogue(self) -> Catalogue:
        """Everything that hosts are offered now."""
        return self._lists.catalogue

    def offer_own_tools(self, own_tools: OwnTools) -> None:
        """From the next `rebuild` on, hosts are offered our own tools."""
        self._own_tools = own_tools
        self._lists.own_tools = own_tools.definitions

    # upstreams come, go and change

    def rebuild(self) -> frozenset[str]:
        """Derive the catalogue anew; returns the kinds of lists that changed."""
        self._routes.clear()
        return self._lists.rebuild()

    def note_failures(self, failures: Failures) -> None:
        """Recent calls that failed: tools are withheld by them, or offered again."""
        self._routes.clear()
        self.announce(self._lists.note_failures(failures))

    def announce(self, changed: frozenset[str], said: frozenset[str] = frozenset()) -> None:
        """Tell hosts that lists changed: those that hold another one, and of what upstreams ``said``."""
        self._lists.announce(changed, said)

    def upstream_added(self, upstream: Upstream) -> None:
        """From now on, first lists may wait for it."""
        self.upstreams[upstream.name] = upstream
        self._lists.upstream_added(upstream.name)

    def state_changed(self) -> None:
        """Some upstream's state changed: lists may no longer have to wait for it."""
        self._lists.answer_waiting()

    def hand_over(self, exchange: Exchange, successor: Upstream | None) -> None:
        """A request that was never sent goes to the upstream's successor, if it has one."""
        call = next((call for call in self.calls.values() if call.exchange is exchange), None)
        if call is None:
            return
        if successor is None:
            exchange.finish(Failure(FailureKind.DOWN, "was removed from the settings"))
            return
        call.upstream = successor
        failure = successor.submit(exchange)
        if failure is not None:
            exchange.finish(failure)

    def tick(self, now: float) -> None:
        """Some times a second: lists that have waited long enough, tools of long outages."""
        for upstream in self.upstreams.values():
            upstream.tick(now)
        if self._lists.tick(now):
            self.announce(self.rebuild())

    # requests of hosts

    def request(
        self, session: HostSession, id: wire.Raw, method: str, params: wire.Members | None
    ) -> None:
        """Route a request by its method."""
        if method == "tools/call":
            self._call_tool(session, id, params or {})
        elif method in KINDS:
            self._lists.answer(session, id, KINDS[method])
        elif method == "prompts/get":
            self._get_prompt(session, id, params or {})
        elif method == "completion/complete":
            self._complete(session, id, params or {})
        elif method.startswith("resources/") and params is not None and "uri" in params:
            uri = wire.text_of(params["uri"]) or ""
            names = self.catalogue.upstreams_of_uri(uri)
            upstreams = [self.upstreams[name] for name in names if name in self.upstreams]
            upstreams = upstreams or self._able("resources")
            self._forward(session, id, method, params, upstreams)
        else:
            self._forward(session, id, method, params, self._able(None))

    def _call_tool(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        name = wire.string(params, "name")
        if name is None:
            session.refuse(id, wire.INVALID_PARAMS, "tools/call needs the name of a tool")
            return
        catalogue = self._lists.catalogue
        own = self._own_tools
        if own is not None and (name in catalogue.own_tools or own.answers(name)):
            own.call(session, id, name, params)
            return
        route = self._routes.find(catalogue, name)
        if route is None:
            reason = catalogue.withheld_reason(name)
            text = f"Unknown tool: {name}" if reason is None else f"{name} is withheld: {reason}"
            session.refuse(id, wire.INVALID_PARAMS, text)
            return
        params["name"] = route.name
        if self._tool_calls is None:
            arguments = bytes(params.get("arguments", b""))
            self._send(session, id, "tools/call", params, route.upstream, route.tool, arguments)
        else:
            self._tool_calls.call(session, id, params, route)

    def _get_prompt(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        name = wire.string(params, "name")
        target = None if name is None else self.catalogue.find_prompt(name)
        upstream = None if target is None else self.upstreams.get(target[0])
        if target is None or upstream is None:
            session.refuse(id, wire.INVALID_PARAMS, f"Unknown prompt: {name}")
            return
        params["name"] = wire.raw(target[1])
        self._send(session, id, "prompts/get", params, upstream, "prompts/get")

    def _complete(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        upstreams = self._able("completions")
        if "ref" in params:
            ref = wire.members_of(params["ref"])
            name = wire.string(ref, "name")
            uri = wire.string(ref, "uri")
            target = None if name is None else self.catalogue.find_prompt(name)
            if target is not None and target[0] in self.upstreams:
                ref["name"] = wire.raw(target[1])
                params["ref"] = wire.Raw(wire.encode(ref))
                upstreams = [self.upstreams[target[0]]]
            elif uri is not None:
                owners = [t.upstream for t in self.catalogue.templates if t.name == uri]
                upstreams = [self.upstreams[o] for o in owners if o in self.upstreams] or upstreams
        self._forward(session, id, "completion/complete", params, upstreams)

    def _able(self, capability: str | None) -> list[Upstream]:
        """Connected upstreams with a capability, in order."""
        return [
            upstream
            for upstream in self.upstreams.values()
            if upstream.ready and (capability is None or capability in upstream.capabilities)
        ]

    def _forward(
        self,
        session: HostSession,
        id: wire.Raw,
        method: str,
        params: wire.Members | None,
        upstreams: Sequence[Upstream],
    ) -> None:
        """Ask one upstream after the other until one knows what is meant."""
        if not upstreams:
            session.refuse(id, wire.METHOD_NOT_FOUND, f"Method not found: no upstream for {method}")
            return
        first, *others = upstreams

        def next_one(answer: wire.Members) -> bool:
            code = bytes(wire.members_of(answer["error"]).get("code", b""))
            if not others or code not in _NOT_HERE:
                return False
            self._forward(session, id, method, params, others)
            return True

        self._send(session, id, method, params, first, method, next_one=next_one)

    def _send(
        self,
        session: HostSession,
        id: wire.Raw,
        method: str,
        params: wire.Members | None,
        upstream: Upstream,
        label: str,
        arguments: bytes = b"",
        next_one: NextOne | None = None,
    ) -> None:
        calls = self._under_way
        call = calls.open(session, id, method, params, upstream, label, arguments, next_one)
        if call is not None:
            calls.submit(call)

    def cancel(self, session: HostSession, id: bytes, note: wire.Members) -> None:
        """Cancel a request; its host gets no answer any more."""
        self._under_way.cancel(session, id, note)

    def forget(self, session: HostSession) -> None:
        """A host left: nobody wants its answers."""
        self._under_way.forget(session)
        self._lists.forget(session)
        if self._tool_calls is not None:
            self._tool_calls.left(session.id)

    def running(self) -> tuple[RunningCall, ...]:
        """Calls that wait for an answer, oldest first."""
        return self._under_way.running()
