"""Readers of other programs' files: the MCP reference memory server's and mem0's. Pure.

The reference server keeps one JSON object per line: entities with observations, and relations between
them (github.com/modelcontextprotocol/servers, ``src/memory``). mem0 gives a list of memories, alone or as
``results`` (docs.mem0.ai, "get all memories").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, cast

import msgspec

from memory.exchange.foreign import ForeignFile, Found, reference
from memory.ids import LAST_INSTANT
from memory.model import SECOND, Instant

_LONGEST_CATEGORY = 100


class Format(Enum):
    """The files that can be read."""

    MMS = "mms"
    MCP_MEMORY = "mcp-memory"
    MEM0 = "mem0"
    MARKDOWN = "markdown"


class UnreadableFile(Exception):
    """The file as a whole is not of the format; the text says why."""


def format_of(text: str) -> Format | None:
    """The format of a file by its beginning; ``None``: none of them is recognised."""
    begin = text.lstrip("\ufeff \t\r\n")
    line = begin.splitlines()[0] if begin else ""
    try:
        first = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return Format.MEM0 if begin[:1] in ("[", "{") else None
    if isinstance(first, dict):
        values = cast("dict[str, Any]", first)
        if "format" in values:
            return Format.MMS if values["format"] == "mms-memory" else None
        if values.get("type") in ("entity", "relation"):
            return Format.MCP_MEMORY
    return Format.MEM0 if begin[:1] in ("[", "{") else None


def read_mcp_memory(text: str, name: str) -> ForeignFile:
    """The reference server's file; ``name``: of the file, for source references."""
    found: list[Found] = []
    refused: list[str] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = _mapping(msgspec.json.decode(line))
            for content, of in _statements(value):
                if isinstance(content, str) and content.strip():
                    found.append(Found(place, content, reference(name, "#", of)))
                else:
                    refused.append(f"{place}: an observation of {of!r} is no text.")
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            refused.append(f"{place}: it is no JSON: {error}.")
        except _BadEntry as error:
            refused.append(f"{place}: {error}.")
    return ForeignFile(tuple(found), tuple(refused))


def read_mem0(text: str, name: str) -> ForeignFile:
    """An export of mem0. Raises `UnreadableFile`."""
    try:
        value = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise UnreadableFile(f"it is no JSON: {error}") from None
    items = cast("dict[str, Any]", value).get("results") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise UnreadableFile("it is no list of memories and has none as results")
    found: list[Found] = []
    refused: list[str] = []
    for number, item in enumerate(cast("list[Any]", items), 1):
        place = f"memory {number}"
        try:
            found.append(_memory(_mapping(item), place, name))
        except _BadEntry as error:
            refused.append(f"{place}: {error}.")
    return ForeignFile(tuple(found), tuple(refused))


class _BadEntry(Exception):
    """An entry cannot be read; the text says why."""


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _BadEntry("it is no JSON object")
    return cast("dict[str, Any]", value)


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text.strip():
        raise _BadEntry(f"{name} is missing or no text")
    return " ".join(text.split())


def _statements(value: Mapping[str, Any]) -> Iterator[tuple[object, str]]:
    """What a line says, and of whom; something else than a text is handed on as it is."""
    match value.get("type"):
        case "entity":
            name = _text(value, "name")
            kind = value.get("entityType")
            head = f"{name} ({' '.join(kind.split())})" if isinstance(kind, str) and kind else name
            observations = value.get("observations")
            if not isinstance(observations, list):
                raise _BadEntry("observations is missing or no list")
            for one in cast("list[object]", observations):
                is_text = isinstance(one, str) and one.strip()
                yield (f"{head}: {one}" if is_text else None), name
        case "relation":
            start, end = _text(value, "from"), _text(value, "to")
            yield f"{start} {_text(value, 'relationType').replace('_', ' ')} {end}", start
        case _:
            raise _BadEntry("type is neither entity nor relation")


def _memory(value: Mapping[str, Any], place: str, name: str) -> Found:
    content = value.get("memory")
    if not isinstance(content, str) or not content.strip():
        raise _BadEntry("memory is missing or no text")
    metadata = value.get("metadata")
    category = (
        cast("dict[str, Any]", metadata).get("category") if isinstance(metadata, dict) else ""
    )
    user, id = value.get("user_id"), value.get("id")
    of = f"{name}#{user}" if isinstance(user, str) and user else name
    return Found(
        place,
        content,
        reference(of, f"/{id}" if isinstance(id, str) else ""),
        category=category[:_LONGEST_CATEGORY]
        if isinstance(category, str) and category
        else "general",
        valid_from=_instant(value.get("created_at")),
    )


def _instant(value: object) -> Instant | None:
    """A time of ISO 8601; without a zone it is UTC. Something else is none."""
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(value)
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    instant = round(seconds * SECOND)
    return instant if 0 <= instant <= LAST_INSTANT else None
