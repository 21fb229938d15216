"""The argument ``_context_query``, offered with every tool whose schema cannot refuse it. Pure."""

from __future__ import annotations

from proxy.query import CONTEXT_QUERY
from proxy.splice import member_spans, with_member, with_value

_CONTEXT_QUERY_SCHEMA = (
    b'{"type":"string","description":"What you look for: a long answer is shortened around it"}'
)
_CONTEXT_QUERY_PROPERTIES = b'{"%s":%s}' % (CONTEXT_QUERY.encode(), _CONTEXT_QUERY_SCHEMA)
_RESTRICTING = frozenset(
    (
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
        *("propertyNames", "patternProperties", "maxProperties", "dependentSchemas"),
    )
)
"""With one of these a schema may refuse an argument although its properties name it."""


def with_query_argument(tool: bytes) -> bytes:
    """The definition with one more argument, unless its schema has it or may refuse it."""
    spans = {span.name: span for span in member_spans(tool) or ()}
    at = spans["inputSchema"]
    schema = _with_query(tool[at.value : at.end])
    return tool if schema is None else with_value(tool, at, schema)


def _with_query(schema: bytes) -> bytes | None:
    spans = member_spans(schema) or []
    names = [span.name for span in spans]
    if not _RESTRICTING.isdisjoint(names) or names.count("properties") > 1:
        return None
    if "properties" not in names:
        return with_member(schema, "properties", _CONTEXT_QUERY_PROPERTIES)
    at = spans[names.index("properties")]
    declared = schema[at.value : at.end]
    if any(span.name == CONTEXT_QUERY for span in member_spans(declared) or ()):
        return None
    properties = with_member(declared, CONTEXT_QUERY, _CONTEXT_QUERY_SCHEMA)
    return None if properties is None else with_value(schema, at, properties)
