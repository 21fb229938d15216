"""Introduce mms to an upstream and learn what it is: by ``initialize``, or by ``server/discover``.

Every server in use answers ``initialize`` except those of the stateless revision alone, so that comes
first; the revision that worked is remembered and decides the order the next time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from proxy import wire
from proxy.dialects import (
    HANDSHAKE_REVISIONS,
    LATEST_HANDSHAKE,
    STATELESS,
    Dialect,
    HandshakeDialect,
    StatelessDialect,
)
from proxy.exchange import Failure
from proxy.listing import Ask, error_code, error_text
from proxy.store.catalogues import RememberedCatalogue

CLIENT_CAPABILITIES = wire.raw(
    {
        "sampling": {"context": {}, "tools": {}},
        "elicitation": {"form": {}, "url": {}},
        "roots": {"listChanged": True},
    }
)
"""All that a host may be able to do; a request that a host cannot serve is refused in its name."""


class HandshakeRefused(Exception):
    """The upstream does not want to be spoken to. ``str()`` continues "upstream NAME …"."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """What an upstream said about itself."""

    protocol: str = ""
    server_info: bytes = b"{}"
    capabilities: wire.Members = field(default_factory=dict[str, wire.Raw])
    instructions: str = ""

    @classmethod
    def remembered(cls, known: RememberedCatalogue | None) -> Introduction:
        """What it said the last time."""
        if known is None:
            return cls()
        try:
            capabilities = wire.members_of(known.capabilities)
        except wire.MalformedMessage:
            capabilities = {}
        return cls(known.protocol, known.server_info, capabilities, known.instructions)

    @property
    def server(self) -> str:
        """Its name and version, for a person."""
        try:
            info = wire.members_of(self.server_info)
        except wire.MalformedMessage:
            return ""
        name = wire.string(info, "name") or ""
        version = wire.string(info, "version") or ""
        return f"{name} {version}".strip()


async def introduce(
    ask: Ask,
    send: Callable[[bytes], None],
    speak: Callable[[Dialect], None],
    *,
    client_info: wire.Raw,
    remembered: str,
) -> Introduction:
    """Negotiate. ``remembered``: the revision of the last time. Raises `HandshakeRefused`."""
    if remembered == STATELESS:
        found = await _discover(ask, speak, client_info)
        if isinstance(found, Introduction):
            return found
        speak(HandshakeDialect())
    first = await _initialize(ask, send, speak, client_info)
    if isinstance(first, Introduction):
        return first
    found = await _discover(ask, speak, client_info)
    if isinstance(found, Introduction):
        return found
    raise HandshakeRefused(f"{first}; it {found}" if found else first)


async def _initialize(
    ask: Ask, send: Callable[[bytes], None], speak: Callable[[Dialect], None], client_info: wire.Raw
) -> Introduction | str:
    """Shake hands; a string says why that is not to be had but another way may be."""
    answer = await ask(
        "initialize",
        {
            "protocolVersion": wire.raw(LATEST_HANDSHAKE),
            "capabilities": CLIENT_CAPABILITIES,
            "clientInfo": client_info,
        },
    )
    if isinstance(answer, Failure):
        raise HandshakeRefused(answer.text)
    if "error" in answer:
        return f"refused the handshake: {error_text(answer)}"
    result = wire.members_of(answer["result"])
    revision = wire.string(result, "protocolVersion")
    if revision == STATELESS:
        return f"answered the handshake with {STATELESS}, which has none"
    if revision not in HANDSHAKE_REVISIONS:
        raise HandshakeRefused(
            f"speaks protocol revision {revision or 'unknown'}; "
            f"mms speaks {', '.join(HANDSHAKE_REVISIONS)} and {STATELESS}"
        )
    speak(HandshakeDialect(revision))
    send(wire.notification("notifications/initialized"))
    return _introduction(revision, result)


async def _discover(
    ask: Ask, speak: Callable[[Dialect], None], client_info: wire.Raw
) -> Introduction | str:
    """Ask what it is; a string says why it did not tell, empty when it does not know the question."""
    speak(StatelessDialect(client_info, CLIENT_CAPABILITIES))
    answer = await ask("server/discover", {})
    if isinstance(answer, Failure):
        raise HandshakeRefused(answer.text)
    if "error" in answer:
        unknown = error_code(answer) == wire.METHOD_NOT_FOUND
        return "" if unknown else f"refused to be discovered: {error_text(answer)}"
    result = wire.members_of(answer["result"])
    versions = (
        wire.value_of(result["supportedVersions"]) if "supportedVersions" in result else [STATELESS]
    )
    if STATELESS not in versions:
        raise HandshakeRefused(f"speaks protocol revisions {versions}; mms speaks {STATELESS}")
    if "serverInfo" not in result and "_meta" in result:
        meta = wire.members_of(result["_meta"])
        info = meta.get("io.modelcontextprotocol/serverInfo")
        if info is not None:
            result["serverInfo"] = info
    return _introduction(STATELESS, result)


def _introduction(revision: str, result: wire.Members) -> Introduction:
    try:
        capabilities = wire.members_of(result["capabilities"]) if "capabilities" in result else {}
    except wire.MalformedMessage:
        capabilities = {}
    instructions = wire.string(result, "instructions")
    return Introduction(
        revision, bytes(result.get("serverInfo", b"{}")), capabilities, instructions or ""
    )
