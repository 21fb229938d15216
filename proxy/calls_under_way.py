"""The requests of hosts that are under way at upstreams: noted, sent, answered, recorded.

Runs on the engine's loop, in callbacks; a call costs no task.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from config.schema import ProxySettings
from proxy import wire
from proxy.answers import ShapedAnswer
from proxy.exchange import Answer, Exchange, Failure, call_outcome
from proxy.host_calls import HostCall, failure_text, is_tool_error
from proxy.listing import error_text
from proxy.model import Outcome, RunningCall
from proxy.own_tools import CallRecorder
from proxy.recorder import CallObservation
from proxy.session import HostSession
from proxy.telemetry.selection_log import SelectionLog
from proxy.telemetry.trace import CallFacts, CallMoments, trace_of
from proxy.telemetry.tracing import Tracing
from proxy.upstream import Upstream

_RECORDED = frozenset(("tools/call", "resources/read", "prompts/get"))
AS_IT_CAME = ShapedAnswer(b"")
"""What there is to know about an answer that nothing was done to."""

NextOne = Callable[[wire.Members], bool]
"""Asks another upstream after this refusal; false when there is none."""


class CallStages(Protocol):
    """What is between an upstream's answer and the host."""

    def finish(self, call: HostCall, answer: Answer, /) -> None:
        """The upstream has answered, or will not: `CallsUnderWay.deliver` it, now or later."""
        ...

    def withdrawn(self, call: HostCall, /) -> None:
        """Nobody wants the answer any more."""
        ...


class CallsUnderWay:
    """One station's calls."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        recorder: CallRecorder,
        selection: SelectionLog | None,
        tracing: Tracing | None,
    ) -> None:
        self.by_id: dict[tuple[int, bytes], HostCall] = {}
        """By session and the host's id."""
        self.stages: CallStages | None = None
        """Set before the first call; without, answers go out as they come."""
        self._settings = settings
        self._recorder = recorder
        self._selection = selection
        self._tracing = tracing

    def open(
        self,
        session: HostSession,
        id: wire.Raw,
        method: str,
        params: wire.Members | None,
        upstream: Upstream,
        label: str,
        arguments: bytes,
        next_one: NextOne | None = None,
        *,
        offered: str = "",
    ) -> HostCall | None:
        """Note a request as under way, before it is sent. ``None``: it was refused.

        ``offered``: the tool, if its upstream offers it; a trace may name no other one.
        """
        now = time.monotonic()
        limits = upstream.limits
        key = (session.id, bytes(id))
        if key in self.by_id:
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
        self.by_id[key] = call
        if recorded:
            session.calls += 1
            if self._tracing is not None and self._tracing.enabled:
                call.moments = self._tracing.begin(params, session.id, upstream.name, offered)
                if call.moments is not None:
                    exchange.on_sent = partial(_note_sent, call.moments)
        return call

    def submit(self, call: HostCall) -> None:
        """Send it, or let it wait for its upstream."""
        failure = call.upstream.submit(call.exchange)
        if failure is not None:
            call.exchange.finish(failure)

    def keep(self, call: HostCall) -> None:
        """It was answered, but the answer is still being worked on; the host may cancel it meanwhile."""
        self.by_id[call.session.id, bytes(call.host_id)] = call

    def release(self, call: HostCall) -> bool:
        """The work that `keep` was for is done. False: nobody waits for the answer any more."""
        return self.by_id.pop((call.session.id, bytes(call.host_id)), None) is call

    def deliver(self, call: HostCall, answer: Answer, shaped: ShapedAnswer | None = None) -> None:
        """Send it to the host, and record the call."""
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

    def cancel(self, session: HostSession, id: bytes, note: wire.Members) -> None:
        """Cancel a request; its host gets no answer any more."""
        call = self.by_id.pop((session.id, id), None)
        if call is not None:
            self._withdraw(call, note)
            self._record(call, Outcome.CANCELLED, "cancelled by the host", b"")

    def forget(self, session: HostSession) -> None:
        """A host left: nobody wants its answers."""
        reason = wire.raw("the host has left")
        for key in [key for key in self.by_id if key[0] == session.id]:
            call = self.by_id.pop(key)
            self._withdraw(call, {"reason": reason})
            self._record(call, Outcome.CANCELLED, "the host has left", b"")

    def _withdraw(self, call: HostCall, note: wire.Members) -> None:
        if self.stages is not None:
            self.stages.withdrawn(call)
        call.upstream.cancel(call.exchange, note)

    def running(self) -> tuple[RunningCall, ...]:
        """Calls that wait for an answer, oldest first."""
        return tuple(
            RunningCall(call.id, call.started_at, call.session.name, call.upstream.name, call.label)
            for call in self.by_id.values()
        )

    def _answered(
        self, key: tuple[int, bytes], call_id: int, next_one: NextOne | None, answer: Answer
    ) -> None:
        call = self.by_id.get(key)
        if call is None or call.id != call_id:
            return
        del self.by_id[key]
        if call.moments is not None:
            call.moments.answered = time.monotonic()
            call.moments.failure = answer.kind if isinstance(answer, Failure) else None
        if next_one is not None and not isinstance(answer, Failure) and "error" in answer:
            if not next_one(answer):
                self.deliver(call, answer)
        elif self.stages is None:
            self.deliver(call, answer)
        else:
            self.stages.finish(call, answer)

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
        shaped = shaped or AS_IT_CAME
        if call.moments is not None:
            self._trace(call, call.moments, outcome, len(body), shaped)
        if call.recorded:
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

    def _trace(
        self,
        call: HostCall,
        moments: CallMoments,
        outcome: Outcome,
        answer_bytes: int,
        shaped: ShapedAnswer,
    ) -> None:
        if self._tracing is None:
            return
        facts = CallFacts(
            call.upstream.name,
            call.exchange.method,
            call.started_at,
            call.exchange.started,
            time.monotonic(),
            outcome,
            len(call.arguments),
            answer_bytes,
            len(shaped.before),
            shaped.before_tokens,
            shaped.sent_tokens,
            shaped.strategy,
            shaped.clean_ms,
            shaped.compress_ms,
            bool(shaped.fault),
            call.cache,
            None if call.chance is None else call.chance.decision,
            shaped.surfaced_tokens,
        )
        trace = trace_of(moments, facts)
        self._tracing.note(trace, call.session.id, call.upstream.name, moments.tool)


def _note_sent(moments: CallMoments) -> None:
    if moments.sent is None:  # a request that the upstream asked back about is sent again
        moments.sent = time.monotonic()


def _pass_progress_on(session: HostSession, about: bytes, report: wire.Members) -> None:
    frame = wire.notification("notifications/progress", wire.Raw(wire.encode(report)))
    session.send(frame, about)
