"""A tool's call and its answer on their ways: cache, pipeline, memories, the log of selections."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from config.schema import SurfacingSettings
from proxy import wire
from proxy.answer_cache import KeptAnswer
from proxy.answers import AnswerRequest, Answers, ShapedAnswer
from proxy.callers import Callers
from proxy.calls_under_way import AS_IT_CAME, CallsUnderWay
from proxy.catalogue import Catalogue
from proxy.compress.notices import READ_MORE
from proxy.exchange import Answer, Failure
from proxy.host_calls import HostCall
from proxy.own_tools import sees_own_tools
from proxy.query import CONTEXT_QUERY, strip_context_query
from proxy.session import HostSession
from proxy.shared_answers import SharedAnswers
from proxy.surface.chance import SurfacedCall
from proxy.surface.surfacer import Surfacer
from proxy.telemetry.selection_log import SelectionLog
from proxy.tool_routes import ToolRoute, ToolRoutes

_CONTEXT_QUERY = CONTEXT_QUERY.encode()


@dataclass(frozen=True, slots=True)
class RouterSurfacing:
    """What shows memories with answers, and the settings of it in force."""

    surfacer: Surfacer
    settings: Callable[[], SurfacingSettings]
    callers: Callers
    selection: SelectionLog | None = None
    """Where it is logged which tools are called; ``None``: nowhere."""


class ToolCalls:
    """Calls of upstreams' tools, where answers are shaped, kept and held."""

    def __init__(
        self,
        calls: CallsUnderWay,
        answers: Answers,
        routes: ToolRoutes,
        catalogue: Callable[[], Catalogue],
        surfacing: RouterSurfacing | None,
    ) -> None:
        """``catalogue``: everything that hosts are offered now."""
        self._calls = calls
        self._answers = answers
        self._routes = routes
        self._catalogue = catalogue
        self._surfacer = None if surfacing is None else surfacing.surfacer
        self._callers = Callers() if surfacing is None else surfacing.callers
        self._selection = None if surfacing is None else surfacing.selection
        self._shared = SharedAnswers(answers.cache)

    def call(
        self,
        session: HostSession,
        id: wire.Raw,
        params: wire.Members,
        route: ToolRoute,
    ) -> None:
        """A host calls a tool."""
        query = ""
        arguments = bytes(params.get("arguments", b""))
        if _CONTEXT_QUERY in arguments and not route.traits.declares_context_query:
            params, query = strip_context_query(params)
            arguments = bytes(params.get("arguments", b""))
        call = self._calls.open(
            session,
            id,
            "tools/call",
            params,
            route.upstream,
            route.tool,
            arguments,
            offered=route.offered,
        )
        if call is None:
            return
        call.rules = route.rules
        call.traits = route.traits
        call.query = query
        if self._selection is not None and self._selection.enabled:
            call.selection_id = self._selection.note_selection(
                route.upstream.name, route.tool, self._catalogue(), arguments
            )
        if not route.shares:
            self._shared.begun(call)
            self._calls.submit(call)
        else:
            admitted = self._shared.admit(call, call.exchange.started)
            if isinstance(admitted, KeptAnswer):
                self._give_chance(call, route)
                call.exchange.finish({"result": wire.Raw(admitted.body)})
                self._answers.called(session.id, arguments)
                return
            if admitted:
                self._calls.submit(call)
        # Once it is on its way: only answers look at this, and those come in later callbacks.
        self._give_chance(call, route)
        self._answers.called(session.id, arguments)

    def finish(self, call: HostCall, answer: Answer) -> None:
        """The upstream has answered, or will not: shape the answer if need be, then send it."""
        rules = call.rules
        if call.writes or call.shared_as is not None:
            for follower in self._shared.answered(call, answer, time.monotonic()):
                copy = answer if isinstance(answer, Failure) else dict(answer)
                follower.exchange.finish(copy)
        if isinstance(answer, Failure) or rules is None or "result" not in answer:
            self._miss(call)
            self._calls.deliver(call, answer)
            return
        size = len(answer["result"])
        shapes = rules.may_exceed(size) or rules.clean
        if not self._surfaces(call, size) and not shapes:
            self._calls.deliver(call, answer)
            return
        self._calls.keep(call)  # until it is sent
        if not shapes:
            self._answers.spawn(self._finish_later(call, answer, None))
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
            READ_MORE in self._catalogue().own_tools and sees_own_tools(call.session),
        )
        self._answers.spawn(self._finish_later(call, answer, self._answers.shape(request)))

    def withdrawn(self, call: HostCall) -> None:
        """Nobody wants this one any more; of identical calls the next one asks in its place."""
        if self._surfacer is not None and call.chance is not None:
            self._surfacer.cancelled(call.chance)
        successor = self._shared.withdrawn(call)
        if successor is not None:
            self._calls.submit(successor)

    def left(self, session: int) -> None:
        """A host has left."""
        self._answers.left(session)
        if self._surfacer is not None:
            self._surfacer.left(session)

    def _give_chance(self, call: HostCall, route: ToolRoute) -> None:
        """Memories may be shown with the answer."""
        surfacer = self._surfacer
        if surfacer is not None and surfacer.enabled and not surfacer.passes():
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

    async def _finish_later(
        self, call: HostCall, answer: wire.Members, shaping: Awaitable[ShapedAnswer] | None
    ) -> None:
        """Make the answer smaller, show memories with it, send it; unless nobody waits any more."""
        moments = call.moments
        shaped = None
        if shaping is not None:
            if moments is not None:
                moments.shaping = time.monotonic()
            shaped = await shaping
            if moments is not None:
                moments.shaped = time.monotonic()
        body = bytes(answer["result"]) if shaped is None else shaped.body
        if self._surfacer is not None and call.chance is not None:
            if moments is not None and call.chance.decision is None:
                moments.placing = time.monotonic()
            placed = await self._surfacer.place(call.chance, body)
            if moments is not None:
                moments.placed = time.monotonic()
            if placed.surfacing_id:
                shaped = replace(
                    shaped or AS_IT_CAME,
                    body=placed.body,
                    surfacing_id=placed.surfacing_id,
                    surfaced_tokens=placed.tokens,
                    measured=None,
                )
        if self._calls.release(call):
            if shaped is not None:
                answer["result"] = wire.Raw(shaped.body)
            self._calls.deliver(call, answer, shaped)

    def _surfaces(self, call: HostCall, size: int) -> bool:
        """Whether memories may come with the answer. False: its chance has passed."""
        surfacer, chance = self._surfacer, call.chance
        return surfacer is not None and chance is not None and surfacer.wants(chance, size)

    def _miss(self, call: HostCall) -> None:
        """There is no result that memories could come with."""
        if self._surfacer is not None and call.chance is not None:
            self._surfacer.failed(call.chance)
