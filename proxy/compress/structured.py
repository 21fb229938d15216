"""Structured content within a budget that still satisfies the tool's output schema, or not at all.

Items of arrays and optional members are left out and strings shortened, by the same selection as in
the text (`proxy.compress.extract_json`). The outcome is validated; what does not satisfy the schema
is not sent. Then the structured content stays behind its handle as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Protocol, cast

from proxy.compress import json_query, json_tree
from proxy.compress.json_schema import Schema, SchemaLimits
from proxy.compress.json_schema_cut import SchemaCutter
from proxy.compress.model import Task

ATTEMPTS = 7
"""How often a smaller size is tried."""
MAX_SCHEMA = 500_000
"""Characters of a schema that is read."""

_COSTLY_PATTERN = re.compile(r"[(|]|(?:[*+?}][^*+?{}]*){3}")
"""Patterns of names that may take more than linear time: groups, or many repetitions."""


def reduce_structured(value_text: str, schema_text: str, task: Task) -> str | None:
    """``value_text`` in at most ``task.budget``; ``None`` when the schema does not allow it.

    ``task`` gives the budget, the gauge and the query; its text is not looked at.
    """
    schema = _schema(schema_text)
    document = json_tree.parse(value_text)
    if schema is None or document is None or document.raw is not document.shadow:
        return None
    compact = document.raw.decode()
    size = task.gauge.size(compact)
    if size <= task.budget:
        return compact
    hits = json_query.find(document, task.query)
    for only_items in (False, True):
        cutter = SchemaCutter(
            document, task.gauge, hits, SchemaLimits(schema, only_items=only_items)
        )
        text = _within(task, cutter)
        if text is not None and _is_valid(text, schema):
            return text
    return None


def _within(task: Task, cutter: SchemaCutter) -> str | None:
    """What the cutter makes for the budget."""
    room = task.budget
    for _ in range(ATTEMPTS):
        made = cutter.cut(room) if room > 0 else None
        if made is None:
            return None
        text = made.decode()
        size = task.gauge.size(text)
        if size <= task.budget:
            return text
        room = min(room - 1, int(room * task.budget / size) - 1)
    return None


def _schema(text: str) -> Schema | None:
    if len(text) > MAX_SCHEMA:
        return None
    try:
        schema: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Schema", schema) if isinstance(schema, dict) else None


def _is_valid(text: str, schema: Schema) -> bool:
    """Whether the value satisfies the schema. A schema that is broken or not to be had: no."""
    from jsonschema import exceptions, validators
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import EMPTY_REGISTRY

    if _has_costly_names(schema):
        return False
    base = validators.validator_for(schema, default=validators.Draft202012Validator)
    # Strings with a pattern are whole or gone, so they match as well as before, and a pattern of the
    # upstream's cannot cost time here.
    untyped: Any = validators
    checked: Callable[..., _Validator] = untyped.extend(base, {"pattern": _unchecked})
    try:
        base.check_schema(schema)
        value: object = json.loads(text)
        # An empty registry: nothing is fetched.
        return checked(schema, registry=EMPTY_REGISTRY).is_valid(value)
    except (exceptions.SchemaError, Unresolvable, RecursionError, ValueError, re.error, TypeError):
        return False


class _Validator(Protocol):
    """What the package calls a validator; it has no complete types itself."""

    def is_valid(self, instance: object) -> bool: ...


def _unchecked(*_: object) -> None:
    """A keyword that every value satisfies."""


def _has_costly_names(schema: object) -> bool:
    """Whether names are matched with patterns that could take long."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            members = cast("Schema", part)
            patterns = members.get("patternProperties")
            if isinstance(patterns, dict) and any(
                map(_COSTLY_PATTERN.search, cast("Schema", patterns))
            ):
                return True
            waiting += members.values()
        elif isinstance(part, list):
            waiting += cast("list[object]", part)
    return False
