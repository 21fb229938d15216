"""What the client side of streamable HTTP has to remember: session, revision, headers. Pure.

Source: MCP specification 2025-11-25 and 2026-07-28, "Transports: Streamable HTTP".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from proxy import wire
from proxy.dialects import STATELESS
from proxy.http.mirrors import Mirrors

_BOTH_TYPES = "application/json, text/event-stream"
_PLAIN = re.compile(r"([\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?)?")
_WRAPPED = re.compile(r"=\?base64\?.*\?=")
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,1024}")


class Dialogue:
    """One client's view of a session with one server."""

    def __init__(self) -> None:
        self.session_id = ""
        """Empty: the server keeps no session."""
        self.revision = ""
        """Negotiated; empty before the handshake has succeeded."""
        self.stateless = False
        """The revision without handshake: no session, no notifications from here, no GET stream."""
        self.greeted = False
        """The server has answered ``initialize`` or ``server/discover`` with a result."""
        self._mirrors = Mirrors()

    def begin(self, method: str) -> None:
        """A request is about to be sent; the two that introduce us start anew."""
        if method in ("initialize", "server/discover"):
            self.session_id = ""
            self.revision = ""
            self.greeted = False
            self.stateless = method == "server/discover"

    def headers_for_request(self, method: str, params: wire.Raw | None) -> dict[str, str]:
        """Headers of a POST that carries a request."""
        headers = self.headers_for_note()
        if self.stateless:
            headers["mcp-protocol-version"] = STATELESS
            headers["mcp-method"] = header_value(method)
            key = _NAMED_BY.get(method)
            if key is not None and params is not None:
                members = wire.members_of(params)
                text = wire.text_of(members.get(key, b"null"))
                if text is not None:
                    headers["mcp-name"] = header_value(text)
                    if method == "tools/call":
                        mirrored = self._mirrors.headers(text, members.get("arguments"))
                        headers |= {name: header_value(value) for name, value in mirrored.items()}
        return headers

    def headers_for_note(self) -> dict[str, str]:
        """Headers of a POST that carries a notification or a response."""
        return {**self.headers(), "accept": _BOTH_TYPES, "content-type": "application/json"}

    def headers(self) -> dict[str, str]:
        """Headers of everything within the session."""
        headers: dict[str, str] = {}
        if self.session_id:
            headers["mcp-session-id"] = self.session_id
        if self.revision:
            headers["mcp-protocol-version"] = self.revision
        return headers

    def listed(self, message: wire.Members) -> tuple[wire.Members, list[str]]:
        """Tools were listed: the message to pass on, and what about it a person should know.

        Raises `wire.MalformedMessage`.
        """
        if not self.stateless or "result" not in message:
            return message, []
        result, refused = self._mirrors.learn(message["result"])
        return {**message, "result": result}, refused

    def answered(self, method: str, message: wire.Members, response: Mapping[str, str]) -> None:
        """An answer came; ``response``: the headers that came with it."""
        if "result" not in message or method not in ("initialize", "server/discover"):
            return
        self.greeted = True
        if method == "initialize":
            session_id = response.get("mcp-session-id", "")
            self.session_id = session_id if _SESSION_ID.fullmatch(session_id) else ""
            try:
                revision = wire.members_of(message["result"]).get("protocolVersion")
            except wire.MalformedMessage:
                return  # whoever asked will notice
            self.revision = (None if revision is None else wire.text_of(revision)) or ""


def header_value(text: str) -> str:
    """``text`` as it can stand in a header: as it is, or wrapped in base64."""
    if _PLAIN.fullmatch(text) and not _WRAPPED.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="
