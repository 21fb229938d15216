"""What upstreams send of their own accord, to the host that it is meant for and to no other.

A shared upstream does not say which host's call a message belongs to. It is attributed when exactly one
host has a request under way there (or only one host is connected at all); otherwise a request is refused
with the reason, and a log line is kept from hosts. Guessing could show one host another's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from proxy import wire
from proxy.dialects import MAX_ROUNDS, InputRequired, answered
from proxy.exchange import Exchange, Failure, FailureKind
from proxy.router import Router
from proxy.session import HostSession, Question
from proxy.upstream import Upstream

_NEEDED = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}
"""What a host must have declared before it is asked."""
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@dataclass(slots=True)
class _Round:
    """The questions that a stateless upstream asked before it goes on with one request."""

    upstream: Upstream
    exchange: Exchange
    asked: InputRequired
    answers: dict[str, wire.Raw] = field(default_factory=dict[str, wire.Raw])


class Backchannel:
    """From upstreams to hosts, and what belongs to it: subscriptions, log levels, questions."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._subscribers: dict[tuple[str, str], set[int]] = {}
        """Sessions by upstream and URI."""
        self.withheld_logs = 0
        """Log lines that could not be attributed to one host."""

    # from upstreams

    def asked(self, upstream: Upstream, message: wire.Members) -> None:
        """An upstream sent a request."""
        id = message["id"]
        method = wire.text_of(message["method"]) or ""
        session, several = self._addressee(upstream)
        if session is None:
            if method == "ping":
                upstream.respond(wire.result(id, b"{}"))
            elif several:
                upstream.respond(
                    wire.error(
                        id,
                        wire.INTERNAL_ERROR,
                        "several hosts use this server at once; mms cannot tell whom this is for",
                    )
                )
            else:
                upstream.respond(wire.error(id, wire.METHOD_NOT_FOUND, "no host is connected"))
            return

        def reply(response: wire.Members) -> None:
            upstream.respond(wire.encode({**response, "id": id}))

        if not self._put(session, upstream, bytes(id), method, message, reply):
            upstream.respond(wire.error(id, wire.METHOD_NOT_FOUND, "Method not found"))

    def asked_back(self, upstream: Upstream, exchange: Exchange, asked: InputRequired) -> None:
        """A stateless upstream wants answers before it goes on with a host's request."""
        session = self._router.sessions.get(exchange.session or 0)
        exchange.rounds += 1
        if session is None or exchange.rounds > MAX_ROUNDS or not asked.requests:
            text = (
                "wants input from a host, and none is there"
                if session is None
                else f"asked back more than {MAX_ROUNDS} times"
            )
            exchange.finish(Failure(FailureKind.MALFORMED, text))
            return
        round = _Round(upstream, exchange, asked)
        for key, request in asked.requests.items():
            self._ask_for(session, round, key, request)

    def notified(self, upstream: Upstream, message: wire.Members) -> None:
        """An upstream sent a notification."""
        method = wire.text_of(message["method"]) or ""
        params = wire.members_of(message["params"]) if "params" in message else {}
        if method == "notifications/resources/updated":
            uri = wire.string(params, "uri")
            self._send_to(self._subscribers.get((upstream.name, uri or ""), set()), message)
        elif method == "notifications/cancelled":
            self._withdraw(upstream, params, message)
        elif method == "notifications/message":
            self._log(upstream, params, message)
        else:
            session, several = self._addressee(upstream)
            if session is not None:
                session.send(wire.encode(message), self._about(upstream, session))
            elif not several:
                self._send_to(set(self._router.sessions), message)
            # else: it may hold one host's data, and whose cannot be told

    def became_ready(self, upstream: Upstream) -> None:
        """Tell a new connection what the last one knew: log level and subscriptions."""
        if upstream.stateless:
            upstream.listen(self._subscribed(upstream))
            return
        level = self._level()
        if level is not None and "logging" in upstream.capabilities:
            upstream.tell("logging/setLevel", {"level": wire.raw(level)})
        for (name, uri), sessions in self._subscribers.items():
            if name == upstream.name and sessions:
                upstream.tell("resources/subscribe", {"uri": wire.raw(uri)})

    def upstream_lost(self, upstream: Upstream) -> None:
        """Its questions to hosts have no one left to answer to."""
        reason = wire.raw(f"upstream {upstream.name} went away")
        for session in self._router.sessions.values():
            for id, question in list(session.questions.items()):
                if question.upstream == upstream.name:
                    del session.questions[id]
                    params = wire.encode({"requestId": wire.Raw(id), "reason": reason})
                    session.send(
                        wire.notification("notifications/cancelled", wire.Raw(params)),
                        question.about,
                    )

    # from hosts

    def host_notified(self, session: HostSession, method: str, message: wire.Members) -> None:
        """A host sent a notification: to the upstream that asked, or to all."""
        if method == "notifications/progress" and "params" in message:
            token = wire.members_of(message["params"]).get("progressToken")
            for question in session.questions.values():
                if token is not None and question.progress_token == bytes(token):
                    upstream = self._router.upstreams.get(question.upstream)
                    if upstream is not None:
                        upstream.send(wire.encode(message))
            return
        frame = wire.encode(message)
        for upstream in self._router.upstreams.values():
            upstream.send(frame)

    def set_level(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        """``logging/setLevel``: each host has its own; upstreams get the most talkative one."""
        level = wire.string(params, "level")
        if level not in _LEVELS:
            session.refuse(id, wire.INVALID_PARAMS, f"level must be one of {', '.join(_LEVELS)}")
            return
        session.log_level = level
        wanted = {**params, "level": wire.raw(self._level())}
        for upstream in self._router.upstreams.values():
            able = upstream.ready and "logging" in upstream.capabilities
            if able and not upstream.stateless:
                upstream.tell("logging/setLevel", wanted)
        session.reply(id, b"{}")

    def subscribe(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        """``resources/subscribe``: the upstream hears of the first host that wants it."""
        uri = wire.string(params, "uri") or ""
        for name in self._providers(uri):
            others = self._subscribers.setdefault((name, uri), set())
            first = not others
            others.add(session.id)
            if not first or self._listens(name):
                session.reply(id, b"{}")
                return
        self._router.request(session, id, "resources/subscribe", params)

    def unsubscribe(self, session: HostSession, id: wire.Raw, params: wire.Members) -> None:
        """``resources/unsubscribe``: the upstream hears of it when no host is left."""
        uri = wire.string(params, "uri") or ""
        for name in self._providers(uri):
            others = self._subscribers.get((name, uri), set())
            others.discard(session.id)
            if others or self._listens(name):
                session.reply(id, b"{}")
                return
            self._subscribers.pop((name, uri), None)
        self._router.request(session, id, "resources/unsubscribe", params)

    def host_left(self, session: HostSession) -> None:
        """Answer its open questions in its place, and end its subscriptions."""
        for question in session.questions.values():
            question.answered({"error": wire.error_value(wire.SERVER_ERROR, "the host has left")})
        session.questions.clear()
        for (name, uri), sessions in list(self._subscribers.items()):
            sessions.discard(session.id)
            if not sessions:
                del self._subscribers[name, uri]
                upstream = self._router.upstreams.get(name)
                if upstream is not None and upstream.ready and not self._listens(name):
                    upstream.tell("resources/unsubscribe", {"uri": wire.raw(uri)})

    # helpers

    def _addressee(self, upstream: Upstream) -> tuple[HostSession | None, bool]:
        """The one host that a message can be meant for; else whether there were several."""
        sessions = self._router.sessions
        waiting = [sessions[id] for id in upstream.traffic.sessions() if id in sessions]
        candidates = waiting or [s for s in sessions.values() if s.initialized]
        if len(candidates) == 1:
            return candidates[0], False
        return None, bool(waiting) or len(candidates) > 1

    def _about(self, upstream: Upstream, session: HostSession) -> bytes | None:
        """The host's request under way there: over HTTP, the message goes out on its stream."""
        for (session_id, host_id), call in reversed(self._router.calls.items()):
            if session_id == session.id and call.upstream is upstream:
                return host_id
        return None

    def _put(
        self,
        session: HostSession,
        upstream: Upstream,
        upstream_id: bytes,
        method: str,
        message: wire.Members,
        reply: Callable[[wire.Members], None],
    ) -> bool:
        """Ask the host, unless it never said that it can answer this."""
        needed = _NEEDED.get(method)
        if needed is not None and not session.can(needed):
            return False
        token = None
        if "params" in message:
            meta = wire.members_of(message["params"]).get("_meta")
            found = None if meta is None else wire.members_of(meta).get("progressToken")
            token = None if found is None else bytes(found)
        about = self._about(upstream, session)
        session.ask(message, Question(reply, upstream.name, upstream_id, token, about))
        return True

    def _ask_for(
        self, session: HostSession, round: _Round, key: str, request: wire.Members
    ) -> None:
        exchange = round.exchange
        method = wire.string(request, "method") or ""

        def reply(response: wire.Members) -> None:
            if "error" in response:
                exchange.finish({"error": response["error"]})
                return
            round.answers[key] = response["result"]
            if len(round.answers) < len(round.asked.requests):
                return
            exchange.params = answered(exchange.params, round.asked, round.answers)
            failure = round.upstream.submit(exchange)
            if failure is not None:
                exchange.finish(failure)

        message = {"jsonrpc": wire.raw("2.0"), **request}
        if not self._put(session, round.upstream, b"", method, message, reply):
            exchange.finish(
                Failure(
                    FailureKind.MALFORMED,
                    f"needs {method or 'input'}, which {session.name} does not offer",
                )
            )

    def _withdraw(self, upstream: Upstream, params: wire.Members, message: wire.Members) -> None:
        """The upstream no longer wants an answer to its request."""
        wanted = params.get("requestId")
        for session in self._router.sessions.values():
            for id, question in list(session.questions.items()):
                if (
                    wanted is not None
                    and question.upstream == upstream.name
                    and question.upstream_id == bytes(wanted)
                ):
                    del session.questions[id]
                    changed = {**params, "requestId": wire.Raw(id)}
                    session.send(
                        wire.encode({**message, "params": wire.Raw(wire.encode(changed))}),
                        question.about,
                    )

    def _log(self, upstream: Upstream, params: wire.Members, message: wire.Members) -> None:
        level = wire.string(params, "level")
        session, several = self._addressee(upstream)
        if several:
            self.withheld_logs += 1
            return
        targets = [session] if session is not None else list(self._router.sessions.values())
        for target in targets:
            if _passes(level, target.log_level):
                target.send(wire.encode(message), self._about(upstream, target))

    def _level(self) -> str | None:
        """The most talkative level that any host wants."""
        wanted = [s.log_level for s in self._router.sessions.values() if s.log_level is not None]
        return min(wanted, key=_LEVELS.index) if wanted else None

    def _listens(self, name: str) -> bool:
        """Have a stateless upstream listen for what is wanted now; False for any other."""
        upstream = self._router.upstreams.get(name)
        if upstream is None or not upstream.stateless:
            return False
        upstream.listen(self._subscribed(upstream))
        return True

    def _subscribed(self, upstream: Upstream) -> list[str]:
        return [
            uri
            for (name, uri), sessions in self._subscribers.items()
            if name == upstream.name and sessions
        ]

    def _providers(self, uri: str) -> list[str]:
        names = self._router.catalogue.upstreams_of_uri(uri)
        if names:
            return [name for name in names if name in self._router.upstreams]
        able = [
            upstream.name
            for upstream in self._router.upstreams.values()
            if upstream.ready and "resources" in upstream.capabilities
        ]
        return able[:1]

    def _send_to(self, sessions: set[int], message: wire.Members) -> None:
        frame = wire.encode(message)
        for id in sorted(sessions):
            session = self._router.sessions.get(id)
            if session is not None and session.initialized:
                session.send(frame)


def _passes(level: str | None, wanted: str | None) -> bool:
    if level not in _LEVELS or wanted not in _LEVELS:
        return True
    return _LEVELS.index(level) >= _LEVELS.index(wanted)
