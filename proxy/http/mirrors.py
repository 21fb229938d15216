"""Arguments that a tool wants to see as HTTP headers too (stateless era, ``x-mcp-header``). Pure.

Source: MCP specification 2026-07-28, "Transports: custom headers from tool parameters".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from proxy import wire

KEY = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TYPES = ("string", "integer", "boolean")
_DATA = ("default", "examples", "const", "enum")
"""Keywords of JSON Schema that hold values and no schemas."""
_FLAT = ("$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keywords whose members are named by the author, so that none of the names is a keyword."""

Path = tuple[str, ...]


class InvalidMirror(Exception):
    """A tool's schema asks for headers in a way that is not allowed; the tool must not be offered."""


class Mirrors:
    """By tool, where in the arguments each mirrored value stands."""

    def __init__(self) -> None:
        self._by_tool: dict[str, dict[Path, str]] = {}

    def learn(self, result: wire.Raw) -> tuple[wire.Raw, list[str]]:
        """Take note of a ``tools/list`` result.

        Returns the result without the tools that must not be offered, and why for each of those.
        Raises `wire.MalformedMessage`.
        """
        if KEY.encode() not in bytes(result):
            return result, []
        members = wire.members_of(result)
        kept: list[wire.Raw] = []
        refused: list[str] = []
        for item in wire.items_of(members.get("tools", wire.Raw(b"[]"))):
            tool = wire.members_of(item)
            name = wire.text_of(tool.get("name", b"null")) or ""
            try:
                found = mirrored(wire.value_of(tool.get("inputSchema", b"{}")))
            except InvalidMirror as reason:
                refused.append(f"tool {name} is left out: {reason}")
                continue
            kept.append(item)
            self._by_tool.pop(name, None)
            if found:
                self._by_tool[name] = found
        members["tools"] = wire.raw(kept)
        return wire.Raw(wire.encode(members)), refused

    def headers(self, tool: str, arguments: wire.Raw | None) -> dict[str, str]:
        """Header names and texts for one call; the texts are not yet encoded for HTTP."""
        wanted = self._by_tool.get(tool)
        if not wanted or arguments is None:
            return {}
        found: dict[str, str] = {}
        for path, token in wanted.items():
            text = _text_at(arguments, path)
            if text is not None:
                found[f"mcp-param-{token.lower()}"] = text
        return found


def mirrored(schema: Any) -> dict[Path, str]:
    """Where a tool's schema asks for headers, and their names. Raises `InvalidMirror`."""
    found: dict[Path, str] = {}
    names: set[str] = set()
    for path, node in _schemas(schema):
        if KEY not in node:
            continue
        token = node[KEY]
        if not path:
            raise InvalidMirror(f"{KEY} stands where no argument can be found by its name")
        where = ".".join(path)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise InvalidMirror(f"{KEY} of {where} is no name of a header")
        if node.get("type") not in _TYPES:
            raise InvalidMirror(f"{KEY} of {where} needs the type {', '.join(_TYPES)}")
        if token.lower() in names:
            raise InvalidMirror(f"{KEY} of {where} comes twice")
        names.add(token.lower())
        found[path] = token
    return found


def _schemas(root: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every schema within ``root``; its path is empty where names alone do not lead to it."""
    todo: list[tuple[Path | None, Any]] = [((), root)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, list):
            todo += [(None, item) for item in cast("list[Any]", node)]
        if not isinstance(node, dict):
            continue
        schema = cast("dict[str, Any]", node)
        yield path or (), schema
        for keyword, value in schema.items():
            if keyword in _DATA:
                continue
            if keyword == "properties" and isinstance(value, dict):
                inner = cast("dict[str, Any]", value).items()
                todo += [(None if path is None else (*path, name), sub) for name, sub in inner]
            elif keyword in _FLAT and isinstance(value, dict):
                todo += [(None, sub) for sub in cast("dict[str, Any]", value).values()]
            else:
                todo.append((None, value))


def _text_at(arguments: wire.Raw, path: Path) -> str | None:
    """The value at ``path`` as a header's text; ``None`` when there is none to send."""
    value = arguments
    for name in path:
        if bytes(value)[:1] != b"{":
            return None
        found = wire.members_of(value).get(name)
        if found is None:
            return None
        value = found
    text = wire.text_of(value)
    if text is not None:
        return text
    raw = bytes(value)
    return raw.decode() if raw in (b"true", b"false") or raw[:1] in b"-0123456789" else None
