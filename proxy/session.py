"""One connected host: its handshake, its requests under way, and what it is asked in return.

Knows nothing of sockets: frames come in through `receive` and leave through an `Outlet`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from proxy import wire
from proxy.dialects import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE
from proxy.model import HostView


class Outlet(Protocol):
    """How frames reach a host."""

    def send(self, frame: bytes, about: bytes | None) -> None:
        """Queue one frame. ``about``: the id of the host's request that it belongs to, if any."""
        ...

    def close(self) -> None:
        """End the connection once what is queued has been sent."""
        ...


class Backend(Protocol):
    """What a session needs from the proxy behind it."""

    def initialize_result(self, revision: str) -> bytes:
        """The result of ``initialize`` as JSON text."""
        ...

    def host_ready(self, session: HostSession) -> None:
        """The host finished its handshake."""
        ...

    def request(
        self, session: HostSession, id: wire.Raw, method: str, params: wire.Members | None
    ) -> None:
        """A request that the session does not answer itself."""
        ...

    def cancel(self, session: HostSession, id: bytes, note: wire.Members) -> None:
        """The host no longer wants the answer to ``id``."""
        ...

    def notify(self, session: HostSession, method: str, message: wire.Members) -> None:
        """A notification for upstreams."""
        ...

    def left(self, session: HostSession) -> None:
        """The connection has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Peer:
    """What is known of the process at the other end."""

    endpoint: str
    pid: int | None = None
    directory: str = ""
    space: str = ""
    """Memory space that the host's bridge asked for; empty: the settings'."""


@dataclass(slots=True)
class Question:
    """A request that mms passed on to the host."""

    answered: Callable[[wire.Members], None]
    """Called with the host's response."""
    upstream: str
    upstream_id: bytes
    progress_token: bytes | None
    about: bytes | None


class HostSession:
    """One host's connection."""

    def __init__(self, id: int, peer: Peer, outlet: Outlet, backend: Backend) -> None:
        self.id = id
        self.peer = peer
        self.outlet = outlet
        self.name = "unknown host"
        self.version = ""
        self.protocol = ""
        self.capabilities: wire.Members = {}
        self.connected_at = time.time()
        self.initialized = False
        self.calls = 0
        self.log_level: str | None = None
        self.listed: dict[str, bytes] = {}
        """The lists that the host holds, by kind."""
        self.questions: dict[bytes, Question] = {}
        self.closed = False
        self._backend = backend
        self._next_question = 0

    def view(self) -> HostView:
        """For a screen."""
        return HostView(
            self.id,
            self.name,
            self.version,
            self.protocol,
            self.connected_at,
            self.peer.pid,
            self.peer.directory,
            self.peer.endpoint,
            self.calls,
        )

    def receive(self, frame: bytes) -> None:
        """One line from the host."""
        try:
            request = wire.request_in(frame)
            if request is None:
                self._dispatch(wire.parse(frame))
            else:
                self._request(request.id, request.method, request.params)
        except wire.MalformedMessage as error:
            batch = frame[:1] == b"["
            id = None if error.id is None or batch else wire.Raw(error.id)
            code = wire.INVALID_REQUEST if batch else wire.PARSE_ERROR
            self.send(wire.error(id, code, f"mms cannot read this message: {error.reason}"))

    def send(self, frame: bytes, about: bytes | None = None) -> None:
        """Queue a frame for the host."""
        if not self.closed:
            self.outlet.send(frame, about)

    def reply(self, id: wire.Raw, result: wire.Raw | bytes) -> None:
        """Answer one of its requests."""
        self.send(wire.result(id, result), bytes(id))

    def refuse(self, id: wire.Raw, code: int, text: str) -> None:
        """Answer one of its requests with an error of mms's own."""
        self.send(wire.error(id, code, text), bytes(id))

    def ask(self, message: wire.Members, question: Question) -> None:
        """Pass a request on to the host, under an id of this session."""
        self._next_question += 1
        id = str(self._next_question).encode()
        self.questions[id] = question
        self.send(wire.encode({**message, "id": wire.Raw(id)}), question.about)

    def can(self, capability: str) -> bool:
        """Whether the host declared this ability."""
        return capability in self.capabilities

    def close(self) -> None:
        """The connection has ended; what it had under way is cancelled."""
        if not self.closed:
            self.closed = True
            self._backend.left(self)

    def end(self) -> None:
        """The station stops: hang up."""
        self.close()
        self.outlet.close()

    def _dispatch(self, message: wire.Members) -> None:
        kind = wire.kind_of(message)
        if kind is wire.MessageKind.RESPONSE:
            question = self.questions.pop(bytes(message["id"]), None)
            if question is not None:
                question.answered(message)
            return
        if kind is wire.MessageKind.NONE:
            text = "this is neither a request, a notification nor a response"
            self.send(wire.error(message.get("id"), wire.INVALID_REQUEST, text))
            return
        method = wire.text_of(message["method"])
        if method is None:
            raise wire.MalformedMessage("the method is not a text")
        params = None
        first = memoryview(message["params"])[0] if "params" in message else ord("n")
        if first != ord("n"):  # bytes() would copy it
            if first != ord("{"):
                self._refuse_params(message)
                return
            params = wire.members_of(message["params"])
        if kind is wire.MessageKind.REQUEST:
            self._request(message["id"], method, params)
        else:
            self._notification(method, params, message)

    def _refuse_params(self, message: wire.Members) -> None:
        if "id" in message:
            self.refuse(message["id"], wire.INVALID_PARAMS, "params must be an object")

    def _request(self, id: wire.Raw, method: str, params: wire.Members | None) -> None:
        if method == "initialize":
            self._initialize(id, params or {})
        elif method == "ping":
            self.reply(id, b"{}")
        elif method == "server/discover":
            # Claude Code would turn stateless and lose what servers ask of it
            self.refuse(id, wire.METHOD_NOT_FOUND, "Method not found")
        else:
            self._backend.request(self, id, method, params)

    def _initialize(self, id: wire.Raw, params: wire.Members) -> None:
        wanted = wire.string(params, "protocolVersion")
        self.protocol = wanted if wanted in HANDSHAKE_REVISIONS else LATEST_HANDSHAKE
        if "clientInfo" in params:
            info = wire.members_of(params["clientInfo"])
            self.name = wire.string(info, "name") or self.name
            self.version = wire.string(info, "version") or ""
        if "capabilities" in params:
            self.capabilities = wire.members_of(params["capabilities"])
        self.reply(id, self._backend.initialize_result(self.protocol))

    def _notification(
        self, method: str, params: wire.Members | None, message: wire.Members
    ) -> None:
        if method == "notifications/initialized":
            if not self.initialized:
                self.initialized = True
                self._backend.host_ready(self)
        elif method == "notifications/cancelled":
            if params is not None and "requestId" in params:
                self._backend.cancel(self, bytes(params["requestId"]), params)
        else:
            self._backend.notify(self, method, message)
