"""Who may speak to the loopback endpoint: decided from the head of a request alone. Pure.

Any web page that this user looks at can send requests to the loopback interface, and by DNS rebinding
even as if from the same origin. So the host must be one of our own names with our port, an origin must
be our own or listed, and the token is wanted always.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PATH = "/mcp"
METHODS = ("GET", "POST", "DELETE")
_DECISIVE = frozenset(
    {b"host", b"origin", b"authorization", b"content-type", b"content-length", b"mcp-session-id"}
)
"""Headers that must not come twice: two readers could then see two different requests."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a request is answered that is not let in."""

    status: int
    reason: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What must be shown to be let in."""

    hosts: frozenset[str]
    """Exact values of the Host header, lower case."""
    origins: frozenset[str]
    """What a browser may say in Origin, lower case."""
    token: str


def rules_for(host: str, port: int, origins: Iterable[str], token: str) -> Rules:
    """The rules of an endpoint bound to ``host`` (an address) and ``port``."""
    names = {"localhost", f"[{host}]" if ":" in host else host}
    hosts = {f"{name}:{port}" for name in names}
    if port == 80:
        hosts |= names  # clients leave the usual port out
    allowed = {origin.rstrip("/").lower() for origin in origins}
    return Rules(frozenset(hosts), frozenset(allowed | {f"http://{name}" for name in hosts}), token)


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str] | None:
    """The headers by lower-case name; ``None`` when a decisive one comes twice."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        text = key.decode("latin-1")
        if text in headers:
            if key in _DECISIVE:
                return None
            headers[text] += ", " + value.decode("latin-1")
        else:
            headers[text] = value.decode("latin-1").strip()
    return headers


def check(method: str, path: str, headers: Mapping[str, str], rules: Rules) -> Refusal | None:
    """Why a request is not let in; ``None`` when it is."""
    if headers.get("host", "").lower() not in rules.hosts:
        return Refusal(421, "this is not a name of this endpoint")
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in rules.origins:
        return Refusal(403, "this origin is not listed in proxy.http.allowed_origins")
    if not _shows_token(headers.get("authorization", ""), rules.token):
        challenge = (b"www-authenticate", b'Bearer realm="mms"')
        return Refusal(401, "send the header Authorization: Bearer TOKEN", (challenge,))
    if path != PATH:
        return Refusal(404, f"MCP is served at {PATH}")
    if method not in METHODS:
        allow = (b"allow", ", ".join(METHODS).encode())
        return Refusal(405, f"only {', '.join(METHODS)} are served", (allow,))
    if method == "POST" and _media_type(headers.get("content-type", "")) != "application/json":
        return Refusal(415, "the body must be application/json")
    if method == "POST" and not accepts(headers, "application/json", "text/event-stream"):
        return Refusal(406, "accept application/json and text/event-stream")
    if method == "GET" and not accepts(headers, "text/event-stream"):
        return Refusal(406, "accept text/event-stream")
    return None


def accepts(headers: Mapping[str, str], *types: str) -> bool:
    """Whether all of these media types are acceptable; a missing header accepts everything."""
    value = headers.get("accept", "")
    if not value:
        return True
    offered = {_media_type(part) for part in value.split(",")}
    return all({type, f"{type.partition('/')[0]}/*", "*/*"} & offered for type in types)


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _shows_token(authorization: str, token: str) -> bool:
    scheme, _, shown = authorization.partition(" ")
    # Compared even when the scheme is wrong, so that the time tells nothing.
    same = hmac.compare_digest(shown.strip().encode("latin-1", "replace"), token.encode())
    return same and scheme.lower() == "bearer"
