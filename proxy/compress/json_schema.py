"""What a JSON Schema says about how much of a value may be left out.

Only hints for cutting: every subschema that could apply is taken to apply, so the hints are on the
careful side. Whether the outcome satisfies the schema is checked by a validator afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from proxy.compress.json_tree import Pointer

Schema = dict[str, object]
MOST_SCHEMAS = 200
"""Subschemas of one place that are looked at."""

_TEXT_RULES = ("enum", "const", "format", "pattern", "contentEncoding", "contentMediaType")
_ITEM_RULES = ("prefixItems", "contains", "minContains", "enum", "const", "unevaluatedItems")
_MEMBER_RULES = (
    *("minProperties", "dependentRequired", "dependentSchemas", "dependencies", "enum", "const"),
    *("if", "not", "unevaluatedProperties"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What must stay of a value at one place."""

    required: frozenset[str]
    """Members that an object must have."""
    members: bool
    """Whether other members may be left out."""
    fewest_items: int
    """Items that an array must have."""
    items: bool
    """Whether items may be left out."""
    shortest: int
    """Characters that a string must have."""
    text: bool
    """Whether a string may be shortened."""


class SchemaLimits:
    """The limits of every place in a value that a schema describes."""

    def __init__(self, schema: Schema, *, only_items: bool = False) -> None:
        """``only_items``: members stay and strings are whole, whatever the schema allows."""
        self._root = schema
        self._only_items = only_items
        self._schemas: dict[Pointer, list[Schema]] = {(): self._expanded([schema])}
        self._limits: dict[Pointer, Limits] = {}

    def at(self, pointer: Pointer) -> Limits:
        """The limits at ``pointer``; without any schema everything may be left out."""
        found = self._limits.get(pointer)
        if found is None:
            found = _limits(self._at(pointer))
            if self._only_items:
                found = replace(found, members=False, text=False)
            self._limits[pointer] = found
        return found

    def _at(self, pointer: Pointer) -> list[Schema]:
        known = self._schemas.get(pointer)
        if known is None:
            parent = self._at(pointer[:-1])
            found = [part for schema in parent for part in _below(schema, pointer[-1])]
            known = self._schemas[pointer] = self._expanded(found)
        return known

    def _expanded(self, schemas: list[Schema]) -> list[Schema]:
        """With everything that is combined into them or referred to."""
        found: list[Schema] = []
        waiting = list(schemas)
        seen: set[int] = set()
        while waiting and len(found) < MOST_SCHEMAS:
            schema = waiting.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append(schema)
            for name in ("allOf", "anyOf", "oneOf"):
                waiting += _schemas(schema.get(name))
            for name in ("then", "else"):
                waiting += _schemas([schema.get(name)])
            reference = schema.get("$ref")
            if isinstance(reference, str):
                target = self._resolve(reference)
                if target is not None:
                    waiting.append(target)
        return found

    def _resolve(self, reference: str) -> Schema | None:
        """A schema of the same document."""
        if not reference.startswith("#"):
            return None
        found = cast("object", self._root)
        for token in reference[1:].split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = cast("Schema", found).get(name)
            elif isinstance(found, list) and name.isdigit():
                items = cast("list[object]", found)
                found = items[int(name)] if int(name) < len(items) else None
            else:
                return None
        return cast("Schema", found) if isinstance(found, dict) else None


def _limits(schemas: list[Schema]) -> Limits:
    required: set[str] = set()
    fewest = shortest = 0
    for schema in schemas:
        names = schema.get("required")
        if isinstance(names, list):
            required.update(name for name in cast("list[object]", names) if isinstance(name, str))
        fewest = max(fewest, _count(schema.get("minItems")))
        shortest = max(shortest, _count(schema.get("minLength")))
    return Limits(
        frozenset(required),
        not any(name in schema for schema in schemas for name in _MEMBER_RULES),
        fewest,
        not any(name in schema for schema in schemas for name in _ITEM_RULES),
        shortest,
        not any(name in schema for schema in schemas for name in _TEXT_RULES),
    )


def _below(schema: Schema, token: str) -> Iterator[Schema]:
    """The subschemas for a member or item. A token may be either: the value decides, not we."""
    named = schema.get("properties")
    properties = cast("Schema", named) if isinstance(named, dict) else {}
    if token in properties:
        yield from _schemas([properties[token]])
    else:
        yield from _schemas([schema.get("additionalProperties")])
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict):
        yield from _schemas(list(cast("Schema", patterns).values()))
    if token.isdigit():
        yield from _schemas([schema.get("items")])


def _schemas(values: object) -> list[Schema]:
    if not isinstance(values, list):
        return []
    return [
        cast("Schema", value) for value in cast("list[object]", values) if isinstance(value, dict)
    ]


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**31 else 0
