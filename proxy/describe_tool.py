"""``stm_proxy_describe_tool``: the whole of what a tool's entry in a list may have left out, in pages. Pure.

Reads what is registered and never asks an upstream. Definition, arguments and answer are all here;
whoever answers calls of our own tools hands the arguments to `describe`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache
from typing import Any

from config.schema import Compression
from proxy import wire
from proxy.catalogue import Advertised, Catalogue
from proxy.compress.notices import READ_MORE, SELECT_CHUNKS
from proxy.control_tools import text_result
from proxy.descriptions import DESCRIBE_TOOL
from proxy.eligibility import SEPARATOR
from proxy.json_canon import canonical
from proxy.tool_arguments import Mistake, definition, integer, object_of, shown, string

MOST_CHARACTERS = 16_000
"""Of one page."""
DEFAULT_CHARACTERS = 4_000
MOST_BYTES = 16_384
"""Of one whole result as JSON in UTF-8: both representations, escapes included."""
LONGEST_NAME = 300
LONGEST_GENERATION = 64


class Part(Enum):
    """What of a tool can be read."""

    DESCRIPTION = "description"
    """What agents are told, an override included."""
    INPUT_SCHEMA = "input_schema"
    """The upstream's whole schema as compact JSON with sorted keys."""
    UPSTREAM_DESCRIPTION = "upstream_description"
    """What an override replaced."""


DESCRIBE_TOOL_TOOL = definition(
    DESCRIBE_TOOL,
    "Read a tool's whole description",
    "Returns in pages what a tool list left out of a tool's description or arguments. "
    "Go on with the returned next_offset and generation until next_offset is null.",
    {
        "name": {"type": "string", "description": "PREFIX__TOOL, without a host's mcp__SERVER__"},
        "part": {"type": "string", "enum": [part.value for part in Part]},
        "offset": {"type": "integer"},
        "limit": {"type": "integer", "description": "Characters, 1 to 16000, default 4000"},
        "generation": {"type": "string"},
    },
    ("name",),
    reads=True,
)

_KNOWN = ("name", "part", "offset", "limit", "generation")
_PARTS = ", ".join(part.value for part in Part)
_REST = f"{SELECT_CHUNKS} or {READ_MORE}"
_HINTS: Mapping[Compression, str] = {
    Compression.NONE: "",
    Compression.PROGRESSIVE: f"Long answers come in chunks: {READ_MORE} reads on",
    Compression.SELECTIVE: f"Long answers come as a list of sections: {SELECT_CHUNKS} gets them",
    Compression.HYBRID: f"Long answers come as beginning and sections: {SELECT_CHUNKS} gets the rest",
}
_HINT = f"Long answers are shortened: {_REST} gets the rest"


@dataclass(frozen=True, slots=True)
class DescribeArguments:
    """Checked arguments."""

    name: str
    part: Part = Part.DESCRIPTION
    offset: int = 0
    limit: int = DEFAULT_CHARACTERS
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """An answer to a call."""

    body: bytes
    """The ``result`` member, at most `MOST_BYTES`."""
    is_error: bool = False
    upstream: str = ""
    """Whose tool was read; empty for errors."""
    tool: str = ""


@dataclass(frozen=True, slots=True)
class _Parts:
    description: str
    upstream_description: str
    input_schema: str
    generation: str

    def text_of(self, part: Part) -> str:
        match part:
            case Part.DESCRIPTION:
                return self.description
            case Part.UPSTREAM_DESCRIPTION:
                return self.upstream_description
            case Part.INPUT_SCHEMA:
                return self.input_schema


def describe(catalogue: Catalogue, arguments: bytes, *, recover: bool) -> Description:
    """Answer a call.

    ``recover``: ``proxy.recover_upstream_description``; agents may read what an override replaced.
    """
    try:
        asked = _parse(arguments)
        tool = _registered(catalogue, asked.name)
        return Description(_page(asked, tool, recover), False, tool.upstream, tool.name)
    except Mistake as mistake:
        return Description(text_result(str(mistake), is_error=True), is_error=True)


def _parse(arguments: bytes) -> DescribeArguments:
    given = object_of(arguments, _KNOWN)
    part = string(given, "part", LONGEST_NAME, Part.DESCRIPTION.value)
    if part not in {known.value for known in Part}:
        raise Mistake(f"part is {shown(part)}, but must be one of: {_PARTS}.")
    offset = integer(given, "offset") or 0
    if offset < 0:
        raise Mistake(f"offset is {offset:,}, but characters are counted from 0 upwards.")
    limit = integer(given, "limit")
    limit = DEFAULT_CHARACTERS if limit is None else limit
    if not 1 <= limit <= MOST_CHARACTERS:
        raise Mistake(f"limit is {limit:,}, but must be 1 to {MOST_CHARACTERS:,} characters.")
    generation = string(given, "generation", LONGEST_GENERATION, "")
    if offset and not generation:
        raise Mistake(
            f"offset is {offset:,} without generation. Give the generation of the page before, or "
            "start at offset 0."
        )
    return DescribeArguments(
        string(given, "name", LONGEST_NAME), Part(part), offset, limit, generation
    )


def _registered(catalogue: Catalogue, name: str) -> Advertised:
    """The tool of that advertised name. Raises `Mistake`, which says the right name if there is one."""
    tool = catalogue.tools.get(name)
    if tool is not None:
        return tool
    if name in catalogue.own_tools:
        raise Mistake(f"{name} is a tool of mms itself; the tool list has all there is about it.")
    reason = catalogue.withheld_reason(name)
    if reason is not None:
        raise Mistake(f"{name} is withheld from hosts: {reason}.")
    rest = name
    while SEPARATOR in rest:
        rest = rest.partition(SEPARATOR)[2]
        if rest in catalogue.tools:
            raise Mistake(
                f"There is no tool {shown(name)}. Without the host's prefix it is {rest}."
            )
    target = catalogue.find_tool(name)
    bare = [known for known, one in catalogue.tools.items() if one.name == name]
    if target is not None and len(bare) == 1:
        raise Mistake(f"There is no tool {shown(name)}. With its prefix it is {bare[0]}.")
    similar = get_close_matches(name, list(catalogue.tools)[:2000], 3)
    hint = f" Similar ones: {', '.join(similar)}." if similar else ""
    raise Mistake(f"There is no tool {shown(name)}; give PREFIX__TOOL as the tool list does.{hint}")


def _page(asked: DescribeArguments, tool: Advertised, recover: bool) -> bytes:
    if asked.part is Part.UPSTREAM_DESCRIPTION:
        if not recover:
            raise Mistake(
                "upstream_description is not available: the operator has not set "
                "proxy.recover_upstream_description."
            )
        if not tool.override:
            raise Mistake(
                f"upstream_description is not available: no override replaced the description of "
                f"{asked.name}. Read part description."
            )
    parts = _parts_of(tool.source, tool.override, asked.name)
    if asked.generation and asked.generation != parts.generation:
        raise Mistake(
            f"The metadata of {asked.name} has changed since that page. Start again at offset 0 "
            "without generation."
        )
    text = parts.text_of(asked.part)
    if asked.offset > len(text):
        raise Mistake(
            f"offset is {asked.offset:,}, but {asked.part.value} of {asked.name} has {len(text):,} "
            "characters."
        )

    def result(end: int) -> bytes:
        return _result(
            {
                "name": asked.name,
                "part": asked.part.value,
                "text": text[asked.offset : end],
                "format": "json" if asked.part is Part.INPUT_SCHEMA else "text",
                "generation": parts.generation,
                "offset": asked.offset,
                "next_offset": end if end < len(text) else None,
                "total_chars": len(text),
                "response_hint": _HINTS.get(tool.compression, _HINT),
            }
        )

    last = min(len(text), asked.offset + asked.limit)
    whole = result(last)
    if len(whole) <= MOST_BYTES:
        return whole
    # Results grow with their text, so the longest that fits is found by halving.
    fits, too_long = asked.offset, last
    page = b""
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        tried = result(middle)
        if len(tried) <= MOST_BYTES:
            fits, page = middle, tried
        else:
            too_long = middle
    if not page:
        raise Mistake(
            f"Not even one character of {asked.part.value} fits into {MOST_BYTES:,} bytes together "
            "with the tool's name."
        )
    return page


def _result(page: Mapping[str, Any]) -> bytes:
    """Text for hosts that show texts only, the same as structured content for the others."""
    text = bytes(wire.raw(page)).decode()
    return bytes(wire.raw({"content": [{"type": "text", "text": text}], "structuredContent": page}))


@lru_cache(maxsize=16)
def _parts_of(source: bytes, override: str, name: str) -> _Parts:
    """Kept for the pages that follow."""
    members = wire.members_of(source)
    own = wire.string(members, "description") or ""
    schema = canonical(bytes(members.get("inputSchema", b"{}")))
    effective = override or own or name
    digest = hashlib.sha256()
    for text in (effective, own, schema):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return _Parts(effective, own, schema, digest.hexdigest()[:16])
