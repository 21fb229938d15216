"""What a tool says about itself that decides how its calls and answers are treated. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proxy import wire
from proxy.answer_cache import is_writing
from proxy.query import CONTEXT_QUERY


@dataclass(frozen=True, slots=True)
class ToolTraits:
    """Taken from a tool's definition."""

    annotations: bytes = b""
    """JSON text; empty when it has none."""
    output_schema: bytes = b""
    declares_context_query: bool = False
    """The upstream itself wants an argument of that name: it is not ours to take out."""
    writes: bool = True
    """It does not say that it only reads: a call may change what other tools of the server answer."""


NO_TRAITS = ToolTraits()


def traits_by_name(definitions: Iterable[bytes]) -> Mapping[str, ToolTraits]:
    """The traits of every tool of a list; the first of a name counts."""
    found: dict[str, ToolTraits] = {}
    for definition in definitions:
        try:
            name = wire.string(wire.members_of(definition), "name")
        except wire.MalformedMessage:
            continue
        if name is not None and name not in found:
            found[name] = traits_of(definition)
    return found


def traits_of(definition: bytes) -> ToolTraits:
    """Read them from a tool as its upstream listed it; a definition that cannot be read has none."""
    try:
        members = wire.members_of(definition)
        schema = members.get("inputSchema")
        properties = wire.members_of(schema).get("properties") if schema is not None else None
        names = wire.members_of(properties) if properties is not None else {}
    except wire.MalformedMessage:
        return NO_TRAITS
    annotations = bytes(members.get("annotations", b""))
    return ToolTraits(
        annotations,
        bytes(members.get("outputSchema", b"")),
        CONTEXT_QUERY in names,
        is_writing(annotations),
    )
