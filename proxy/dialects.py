"""How an upstream is spoken to: the handshake revisions, or the stateless revision 2026-07-28.

Hosts are served the handshake era. In front of a server that only speaks the stateless one, mms adds
the envelope that each request needs there and takes off what only that era knows. Pure.
Source: MCP specification, "Versioning" and "Multi round-trip requests" of 2026-07-28.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proxy import wire

HANDSHAKE_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST_HANDSHAKE = HANDSHAKE_REVISIONS[-1]
STATELESS = "2026-07-28"
MAX_ROUNDS = 10
"""How often an upstream may ask back before it has to answer one call."""

_PREFIX = "io.modelcontextprotocol/"
_STATELESS_ONLY = ("resultType", "ttlMs", "cacheScope")


@dataclass(frozen=True, slots=True)
class InputRequired:
    """A stateless upstream wants answers before it can go on with a request."""

    requests: dict[str, wire.Members]
    """By the key under which each answer is expected."""
    state: wire.Raw | None
    """To be sent back as it came."""


class Dialect(Protocol):
    """Translation between what hosts say and what an upstream understands."""

    @property
    def revision(self) -> str:
        """The protocol revision in use."""
        ...

    def outgoing(self, params: wire.Members | None) -> wire.Members | None:
        """The parameters of a request as the upstream wants them."""
        ...

    def incoming(self, message: wire.Members) -> wire.Members | InputRequired:
        """A response as hosts understand it. Raises `wire.MalformedMessage`."""
        ...


@dataclass(frozen=True, slots=True)
class HandshakeDialect:
    """Front and back speak alike: nothing changes."""

    revision: str = LATEST_HANDSHAKE

    def outgoing(self, params: wire.Members | None) -> wire.Members | None:
        return params

    def incoming(self, message: wire.Members) -> wire.Members | InputRequired:
        result = message.get("result")
        if result is not None and memoryview(result)[0] != ord("{"):  # bytes() would copy it
            raise wire.MalformedMessage("the result is not an object")
        return message


class StatelessDialect:
    """Each request says who asks and what it can; results say whether they are complete."""

    revision = STATELESS

    def __init__(self, client_info: wire.Raw, capabilities: wire.Raw) -> None:
        self._envelope: wire.Members = {
            _PREFIX + "protocolVersion": wire.raw(STATELESS),
            _PREFIX + "clientInfo": client_info,
            _PREFIX + "clientCapabilities": capabilities,
        }

    def outgoing(self, params: wire.Members | None) -> wire.Members | None:
        members: wire.Members = dict(params or {})
        meta = wire.members_of(members["_meta"]) if "_meta" in members else {}
        members["_meta"] = wire.Raw(wire.encode({**meta, **self._envelope}))
        return members

    def incoming(self, message: wire.Members) -> wire.Members | InputRequired:
        if "result" not in message:
            return message
        result = wire.members_of(message["result"])
        kind = wire.text_of(result["resultType"]) if "resultType" in result else "complete"
        if kind == "input_required":
            return _input_required(result)
        if kind != "complete":
            raise wire.MalformedMessage(f"unknown result type {kind!r}")
        for name in _STATELESS_ONLY:
            result.pop(name, None)
        return {**message, "result": wire.Raw(wire.encode(result))}


def answered(
    params: wire.Members | None, asked: InputRequired, answers: dict[str, wire.Raw]
) -> wire.Members:
    """The parameters of the same request, with the answers that the upstream wanted."""
    members: wire.Members = dict(params or {})
    members["inputResponses"] = wire.Raw(wire.encode(answers))
    if asked.state is not None:
        members["requestState"] = asked.state
    return members


def _input_required(result: wire.Members) -> InputRequired:
    if "inputRequests" not in result:
        return InputRequired({}, result.get("requestState"))
    wanted = wire.members_of(result["inputRequests"])
    return InputRequired(
        {key: wire.members_of(value) for key, value in wanted.items()},
        result.get("requestState"),
    )
