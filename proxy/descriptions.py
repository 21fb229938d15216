"""What hosts are told about a tool: overrides, limits of descriptions, schemas without their prose. Pure.

Without a setting every byte stays as the upstream wrote it. A schema keeps its meaning: only
annotations go, and only where a schema stands, never an argument that is called ``description``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from proxy import wire
from proxy.splice import member_spans, with_values

DESCRIBE_TOOL = "stm_proxy_describe_tool"
POINTER = f" [whole: {DESCRIBE_TOOL}]"
"""Ends a description that was cut, or whose arguments lost their descriptions."""
_CUT = "\u2026"
_DEEPEST = 64
"""Levels of a schema that are looked at; deeper ones stay as they are."""

_SCHEMA = frozenset(
    (
        *("items", "additionalItems", "contains", "unevaluatedItems"),
        *("additionalProperties", "unevaluatedProperties", "propertyNames"),
        *("not", "if", "then", "else", "contentSchema"),
    )
)
"""Keywords whose value is a schema (or, for old ``items``, an array of them)."""
_SCHEMAS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
"""Keywords whose value is an array of schemas."""
_NAMED_SCHEMAS = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
"""Keywords whose value maps names to schemas (or, for ``dependencies``, to arrays of names)."""


@dataclass(frozen=True, slots=True)
class DescriptionRules:
    """The settings of one tool's description, every default filled in."""

    override: str = ""
    """Instead of the upstream's own description; empty: none."""
    most_characters: int = 0
    """0: no limit."""
    strip_schema: bool = False
    """Leave out the descriptions and examples of arguments."""


AS_IT_IS = DescriptionRules()


@dataclass(frozen=True, slots=True)
class DescriptionPlan:
    """The rules for the tools of one upstream."""

    general: DescriptionRules = AS_IT_IS
    by_tool: Mapping[str, DescriptionRules] = field(default_factory=dict[str, DescriptionRules])
    """For tools with settings of their own."""

    def of(self, tool: str) -> DescriptionRules:
        """The rules for one tool by its own name."""
        return self.by_tool.get(tool, self.general)


@dataclass(frozen=True, slots=True)
class Described:
    """What was changed."""

    members: wire.Members
    overridden: bool = False
    cut: bool = False
    stripped: bool = False

    @property
    def changes(self) -> tuple[str, ...]:
        """One clause each, for a person."""
        said = (
            (self.overridden, "description_override replaces the upstream's description"),
            (self.cut, "description cut to max_description_chars"),
            (self.stripped, "descriptions of arguments left out"),
        )
        return tuple(text for true, text in said if true)


def described(members: wire.Members, rules: DescriptionRules, *, recoverable: bool) -> Described:
    """A tool's definition by the rules. ``recoverable``: hosts are offered `DESCRIBE_TOOL`."""
    if rules == AS_IT_IS:
        return Described(members)
    members = dict(members)
    stripped = False
    if rules.strip_schema and "inputSchema" in members:
        schema = bytes(members["inputSchema"])
        bare = without_annotations(schema)
        stripped = bare != schema
        if stripped:
            members["inputSchema"] = wire.Raw(bare)
    before = wire.string(members, "description")
    whole = rules.override or before or ""
    pointer = POINTER if recoverable else ""
    text = limited(whole, rules.most_characters, pointer)
    cut = text != whole
    if stripped and pointer and whole and not cut:
        room = rules.most_characters - len(whole)
        text = whole + pointer if not rules.most_characters or room >= len(pointer) else whole
    if text != (before or ""):
        members["description"] = wire.raw(text)
    return Described(members, bool(rules.override), cut, stripped)


def limited(text: str, most_characters: int, pointer: str = "") -> str:
    """The text within the limit, cut after a word, and ``pointer`` behind it, whole or not at all.

    0 characters: no limit.
    """
    if not most_characters or len(text) <= most_characters:
        return text
    end = _CUT + pointer
    if len(end) > most_characters // 2:
        end = _CUT
    room = most_characters - len(end)
    head = text[: room + 1]
    at = max(head.rfind(" "), head.rfind("\n"), head.rfind("\t"))
    # A long word, or a script without spaces: better cut inside than leave half of the room empty.
    head = text[:at] if at > room // 2 else text[:room]
    return head.rstrip() + end


@lru_cache(maxsize=2048)
def without_annotations(schema: bytes) -> bytes:
    """A JSON Schema without ``description`` and ``examples``; what validates is the same.

    Every other byte stays, white space between the items of an array excepted. A schema that refers
    into its examples keeps them. Kept for the next time, since lists are derived often.
    """
    removed = {"description"} if b"/examples" in schema else {"description", "examples"}
    try:
        return _bare(schema, frozenset(removed), 0)
    except RecursionError:
        return schema


def _bare(schema: bytes, removed: frozenset[str], depth: int) -> bytes:
    if depth > _DEEPEST or (b'"description"' not in schema and b'"examples"' not in schema):
        return schema
    spans = member_spans(schema)
    if not spans:
        return schema
    values: list[bytes | None] = []
    for span in spans:
        value = schema[span.value : span.end]
        if span.name in removed:
            values.append(None)
        elif span.name in _NAMED_SCHEMAS and value[:1] == b"{":
            values.append(_bare_members(value, removed, depth + 1))
        elif span.name in _SCHEMAS and value[:1] == b"[":
            values.append(_bare_items(value, removed, depth + 1))
        elif span.name in _SCHEMA and value[:1] == b"{":
            values.append(_bare(value, removed, depth + 1))
        else:
            values.append(value)
    return with_values(schema, spans, values)


def _bare_members(container: bytes, removed: frozenset[str], depth: int) -> bytes:
    spans = member_spans(container) or []
    values = [container[span.value : span.end] for span in spans]
    return with_values(
        container,
        spans,
        [_bare(value, removed, depth) if value[:1] == b"{" else value for value in values],
    )


def _bare_items(container: bytes, removed: frozenset[str], depth: int) -> bytes:
    try:
        items = [bytes(item) for item in wire.items_of(container)]
    except wire.MalformedMessage:
        return container
    bare = [_bare(item, removed, depth) if item[:1] == b"{" else item for item in items]
    return container if bare == items else b"[" + b",".join(bare) + b"]"
