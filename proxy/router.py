"""Between hosts and upstreams: every request to the right upstream, every answer to its own host.

All of it runs on the engine's loop, in callbacks; a call costs no task.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from config.schema import ProxySettings, SurfacingSettings
from proxy import wire
from proxy.answer_cache import AnswerCache, KeptAnswer
from proxy.answers import AnswerRequest, Answers, ShapedAnswer
from proxy.callers import Callers
from proxy.catalogue import Catalogue
from proxy.compress.notices import READ_MORE
from proxy.exchange import Answer, Exchange, Failure, FailureKind, call_outcome
from proxy.host_calls import HostCall, failure_text, is_tool_error
from proxy.host_lists import KINDS, HostLists
from proxy.listing import error_text
from proxy.model import Outcome, RunningCall
from proxy.own_tools import CallRecorder, OwnTools, sees_own_tools
from proxy.query import CONTEXT_QUERY, strip_context_query
from proxy.recorder import CallObservation
from proxy.session import HostSession
from proxy.shared_answers import SharedAnswers
from proxy.surface.chance import SurfacedCall
from proxy.surface.surfacer import Surfacer
from proxy.telemetry.selection_log import SelectionLog
from proxy.tool_routes import ToolRoute, ToolRoutes
from proxy.upstream import Upstream

_NOT_HERE = frozenset(
    str(code).encode()
    for code in (wire.METHOD_NOT_FOUND, wire.INVALID_PARAMS, wire.RESOURCE_NOT_FOUND)
)
"""Refusals after which the next upstream may be asked: nothing was done."""
_RECORDED = frozenset(("tools/call", "resources/read", "prompts/get"))
_CONTEXT_QUERY = CONTEXT_QUERY.encode()
_AS_IT_CAME = ShapedAnswer(b"")
"""What there is to know about an answer that nothing was done to."""

NextOne = Callable[[wire.Members], bool]
"""Asks another upstream after this refusal; false when there is none."""


class RouterRecorder(CallRecorder, Protocol):
    """Where the router's calls and tool lists go; must return at once."""

    def tool_list_sent(self, ours: bytes, /) -> None:
        """A host was given a tool list with our own tools in it."""
        ...


@dataclass(frozen=True, slots=True)
class RouterSurfacing:
    """What shows memories with answers, and the settings of it in force."""

    surfacer: Surfacer
    settings: Callable[[], SurfacingSettings]
    callers: Callers
    selection: SelectionLog | None = None
    """Where it is logged which tools are called; ``None``: nowhere."""


class Router:
    """Routes the requests of hosts. Sessions and upstreams are added and removed by the engine."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        recorder: RouterRecorder,
        looks_secret: Callable[[str], bool],
        answers: Answers | None = None,
        surfacing: RouterSurfacing | None = None,
    ) -> None:
        """``answers``: shapes, keeps and holds answers; without it everything is relayed as it comes.
        ``surfacing``: shows memories with them."""
        self.upstreams: dict[str, Upstream] = {}
        """By name, in the order of the settings."""
        self.sessions: dict[int, HostSession] = {}
        self.calls: dict[tuple[int, bytes], HostCall] = {}
        """Under way, by session and the host's id."""
        self._settings = settings
        self._recorder = recorder
        self._answers = answers
        self._surfacer = None if surfacing is None else surfacing.surfacer
        self._callers = Callers() if surfacing is None else surfacing.callers
        self._selection = None if surfacing is None else surfacing.selection
        self._own_tools: OwnTools | None = None
        self._shared = SharedAnswers(AnswerCache(0) if answers is None else answers.cache)
        self._routes = ToolRoutes(
            settings, SurfacingSettings if surfacing is None else surfacing.settings, self.upstreams
        )
        self._lists = HostLists(
            settings, self.upstreams, self.sessions, looks_secret, recorder.tool_list_sent
        )

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
        if self._answers is None:
            arguments = bytes(params.get("arguments", b""))
            self._send(
                session, id, "tools/call", params, route.upstream, route.tool, arguments=arguments
            )
        else:
            self._call_shaped(session, id, params, route, self._answers)

    def _call_shaped(
        self,
        session: HostSession,
        id: wire.Raw,
        params: wire.Members,
        route: ToolRoute,
        answers: Answers,
    ) -> None:
        """Call a tool whose answer goes through cache and pipeline."""
        query = ""
        arguments = bytes(params.get("arguments", b""))
        if _CONTEXT_QUERY in arguments and not route.traits.declares_context_query:
            params, query = strip_context_query(params)
            arguments = bytes(params.get("arguments", b""))
        call = self._open(session, id, "tools/call", params, route.upstream, route.tool, arguments)
        if call is None:
            return
        call.rules = route.rules
        call.traits = route.traits
        call.query = query
        if self._selection is not None and self._selection.enabled:
            call.selection_id = self._selection.note_selection(
                route.upstream.name, route.tool, self._lists.catalogue, arguments
            )
        if not route.shares:
            self._shared.begun(call)
            self._submit(call)
        else:
            admitted = self._shared.admit(call, call.exchange.started)
            if isinstance(admitted, KeptAnswer):
                self._give_chance(call, route)
                call.exchange.finish({"result": wire.Raw(admitted.body)})
                answers.called(session.id, arguments)
                return
            if admitted:
                self._submit(call)
        # Once it is on its way: only answers look at this, and those come in later callbacks.
        self._give_chance(call, route)
        answers.called(session.id, arguments)

    def _give_chance(self, call: HostCall, route: ToolRoute) -> None:
        """Memories may be shown with the answer."""
        surfacer = self._surfacer
        if surfacer is not None and surfacer.enabled:
            call.chance = surfacer.begin(
                SurfacedCall(
                    call.id,
                    call.session.id,
                    call.session.name,
                    self._callers.of(call.session),
                    route.upstream.name,
                    route.tool,
                    call.arguments,
                    call.query,
                    route.surfacing,
                )
            )

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
        *,
        arguments: bytes = b"",
        next_one: NextOne | None = None,
    ) -> None:
        call = self._open(session, id, method, params, upstream, label, arguments, next_one)
        if call is not None:
            self._submit(call)

    def _submit(self, call: HostCall) -> None:
        failure = call.upstream.submit(call.exchange)
        if failure is not None:
            call.exchange.finish(failure)

    def _open(
        self,
        session: HostSession,
        id: wire.Raw,
        method: str,
        params: wire.Members | None,
        upstream: Upstream,
        label: str,
        arguments: bytes,
        next_one: NextOne | None = None,
    ) -> HostCall | None:
        """Note a request as under way, before it is sent. ``None``: it was refused."""
        now = time.monotonic()
        limits = upstream.limits
        key = (session.id, bytes(id))
        if key in self.calls:
            session.refuse(id, wire.INVALID_REQUEST, "a request with this id is under way already")
            return None
        token = None
        if params is not None and "_meta" in params and bytes(params["_meta"])[:1] == b"{":
            token = wire.members_of(params["_meta"]).get("progressToken")
        call_id = self._recorder.next_call_id()
        exchange = Exchange(
            method,
            params,
            # Not the call itself: every call would be a cycle, for the garbage collector to find.
            partial(self._answered, key, call_id, next_one),
            now,
            now + limits.call_timeout,
            now + limits.call_timeout_max,
            limits.call_timeout,
            session.id,
            token,
            None if token is None else partial(_pass_progress_on, session, key[1]),
        )
        recorded = method in _RECORDED
        if recorded and params is not None and method != "tools/call":
            arguments = wire.encode(params)
        call = HostCall(
            call_id,
            session,
            id,
            upstream,
            label,
            recorded,
            time.time(),
            arguments,
            exchange,
        )
        self.calls[key] = call
        if recorded:
            session.calls += 1
        return call

    def _answered(
        self, key: tuple[int, bytes], call_id: int, next_one: NextOne | None, answer: Answer
    ) -> None:
        call = self.calls.get(key)
        if call is None or call.id != call_id:
            return
        del self.calls[key]
        if next_one is not None and not isinstance(answer, Failure) and "error" in answer:
            if not next_one(answer):
                self._finish(call, answer)
            return
        self._finish(call, answer)

    def _finish(self, call: HostCall, answer: Answer) -> None:
        """The upstream has answered, or will not: shape the answer if need be, then send it."""
        rules, answers = call.rules, self._answers
        if call.writes or call.shared_as is not None:
            for follower in self._shared.answered(call, answer, time.monotonic()):
                copy = answer if isinstance(answer, Failure) else dict(answer)
                follower.exchange.finish(copy)
        if (
            isinstance(answer, Failure)
            or rules is None
            or answers is None
            or "result" not in answer
        ):
            self._miss(call)
            self._deliver(call, answer)
            return
        size = len(answer["result"])
        shapes = rules.may_exceed(size) or rules.clean
        if not self._surfaces(call, size) and not shapes:
            self._deliver(call, answer)
            return
        self.calls[call.session.id, bytes(call.host_id)] = call  # until it is sent
        if not shapes:
            answers.spawn(self._finish_later(call, answer, None))
            return
        request = AnswerRequest(
            call.session.id,
            call.upstream.name,
            call.label,
            call.arguments,
            call.query,
            bytes(answer["result"]),
            rules,
            # Not as it was when the call began: then the upstream may not have listed its tools yet.
            self._routes.traits_of(call.upstream, call.label).output_schema,
            READ_MORE in self._lists.catalogue.own_tools and sees_own_tools(call.session),
        )
        answers.spawn(self._finish_later(call, answer, answers.shape(request)))

    async def _finish_later(
        self, call: HostCall, answer: wire.Members, shaping: Awaitable[ShapedAnswer] | None
    ) -> None:
        """Make the answer smaller, show memories with it, send it; unless nobody waits any more."""
        shaped = None if shaping is None else await shaping
        body = bytes(answer["result"]) if shaped is None else shaped.body
        if self._surfacer is not None and call.chance is not None:
            placed = await self._surfacer.place(call.chance, body)
            if placed.surfacing_id:
                shaped = replace(
                    shaped or _AS_IT_CAME,
                    body=placed.body,
                    surfacing_id=placed.surfacing_id,
                    surfaced_tokens=placed.tokens,
                    measured=None,
                )
        if self.calls.pop((call.session.id, bytes(call.host_id)), None) is call:
            if shaped is not None:
                answer["result"] = wire.Raw(shaped.body)
            self._deliver(call, answer, shaped)

    def _surfaces(self, call: HostCall, size: int) -> bool:
        """Whether memories may come with the answer. False: its chance has passed."""
        surfacer, chance = self._surfacer, call.chance
        return surfacer is not None and chance is not None and surfacer.wants(chance, size)

    def _miss(self, call: HostCall) -> None:
        """There is no result that memories could come with."""
        if self._surfacer is not None and call.chance is not None:
            self._surfacer.failed(call.chance)

    def _deliver(self, call: HostCall, answer: Answer, shaped: ShapedAnswer | None = None) -> None:
        outcome = call_outcome(answer)
        error = ""
        if isinstance(answer, Failure):
            error = failure_text(call.upstream, answer)
            if call.exchange.method == "tools/call":
                body = bytes(wire.tool_error(error))
                frame = wire.result(call.host_id, body)
            else:
                body = bytes(wire.error_value(wire.SERVER_ERROR, error))
                frame = wire.error(call.host_id, wire.SERVER_ERROR, error)
        else:
            body = bytes(answer["error"] if "error" in answer else answer["result"])
            limit = self._settings().max_result_bytes
            # What is too long by far is not even written: that would hold up everybody's calls.
            frame = b"" if len(body) > limit else wire.response(call.host_id, answer)
            if "error" in answer:
                error = error_text(answer).split("\n", 1)[0][:500]
            if max(len(body), len(frame)) > limit:
                outcome = Outcome.ERROR
                error = (
                    f"mms: the answer of {call.upstream.name} has {max(len(body), len(frame)):,} "
                    f"bytes; hosts stop reading above proxy.max_result_bytes = {limit:,}. "
                    "Ask for less."
                )
                shaped = None
                body = bytes(wire.tool_error(error))
                frame = (
                    wire.result(call.host_id, body)
                    if call.exchange.method == "tools/call"
                    else wire.error(call.host_id, wire.SERVER_ERROR, error)
                )
            elif outcome is Outcome.OK and is_tool_error(body):
                outcome = Outcome.TOOL_ERROR
        call.session.send(frame, bytes(call.host_id))
        self._record(call, outcome, error, body, shaped)

    def _record(
        self,
        call: HostCall,
        outcome: Outcome,
        error: str,
        body: bytes,
        shaped: ShapedAnswer | None = None,
    ) -> None:
        if self._selection is not None and call.selection_id is not None:
            self._selection.note_execution(
                call.selection_id,
                ok=outcome is Outcome.OK,
                latency_ms=(time.monotonic() - call.exchange.started) * 1000,
                error_type="" if outcome is Outcome.OK else outcome.value,
                cache_hit=bool(call.cache),
            )
        if call.recorded:
            shaped = shaped or _AS_IT_CAME
            self._recorder.observe(
                CallObservation(
                    call.id,
                    call.started_at,
                    (time.monotonic() - call.exchange.started) * 1000,
                    call.session.name,
                    call.session.id,
                    call.upstream.name,
                    call.label,
                    outcome,
                    error,
                    call.arguments,
                    body,
                    shaped.before,
                    shaped.strategy,
                    shaped.overhead_tokens,
                    shaped.held_key,
                    cache=call.cache,
                    cache_age_seconds=call.cache_age_seconds,
                    fault=shaped.fault,
                    surfacing_id=shaped.surfacing_id,
                    surfaced_tokens=shaped.surfaced_tokens,
                    query=shaped.query.text,
                    query_source=shaped.query.source,
                    measured=shaped.measured,
                    measured_before=shaped.measured_before,
                    host_cut_tokens=self._settings().host_cut_tokens,
                )
            )

    def cancel(self, session: HostSession, id: bytes, note: wire.Members) -> None:
        """Cancel a request; its host gets no answer any more."""
        call = self.calls.pop((session.id, id), None)
        if call is not None:
            self._withdraw(call, note)
            self._record(call, Outcome.CANCELLED, "cancelled by the host", b"")

    def forget(self, session: HostSession) -> None:
        """A host left: nobody wants its answers."""
        reason = wire.raw("the host has left")
        for key in [key for key in self.calls if key[0] == session.id]:
            call = self.calls.pop(key)
            self._withdraw(call, {"reason": reason})
            self._record(call, Outcome.CANCELLED, "the host has left", b"")
        self._lists.forget(session)
        if self._answers is not None:
            self._answers.left(session.id)
        if self._surfacer is not None:
            self._surfacer.left(session.id)

    def _withdraw(self, call: HostCall, note: wire.Members) -> None:
        """Nobody wants this one any more; of identical calls the next one asks in its place."""
        if self._surfacer is not None and call.chance is not None:
            self._surfacer.cancelled(call.chance)
        successor = self._shared.withdrawn(call)
        if successor is not None:
            self._submit(successor)
        call.upstream.cancel(call.exchange, note)

    def running(self) -> tuple[RunningCall, ...]:
        """Calls that wait for an answer, oldest first."""
        return tuple(
            RunningCall(call.id, call.started_at, call.session.name, call.upstream.name, call.label)
            for call in self.calls.values()
        )


def _pass_progress_on(session: HostSession, about: bytes, report: wire.Members) -> None:
    frame = wire.notification("notifications/progress", wire.Raw(wire.encode(report)))
    session.send(frame, about)
