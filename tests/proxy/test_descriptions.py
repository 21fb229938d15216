"""Overrides, limits, and schemas without their prose."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy import wire
from proxy.descriptions import (
    POINTER,
    DescriptionRules,
    described,
    limited,
    without_annotations,
)


def _members(**members: Any) -> wire.Members:
    return wire.members_of(json.dumps({"name": "t", **members}).encode())


def _description(
    rules: DescriptionRules, description: str, *, recoverable: bool = True, **more: Any
) -> str | None:
    told = described(
        _members(description=description, **more), rules, recoverable=recoverable
    ).members
    return wire.string(told, "description")


def test_without_settings_nothing_changes() -> None:
    members = wire.members_of(b'{"name":"t","description":"\\u0041","inputSchema":{ "x": 1.0 }}')
    told = described(members, DescriptionRules(), recoverable=True)
    assert told.members is members
    assert told.changes == ()
    long = described(members, DescriptionRules(most_characters=80), recoverable=True)
    assert long.members == members


def test_an_override_replaces_the_description_or_adds_one() -> None:
    rules = DescriptionRules(override="Ours.")
    assert _description(rules, "Theirs.") == "Ours."
    told = described(_members(), rules, recoverable=True)
    assert wire.string(told.members, "description") == "Ours."
    assert told.changes == ("description_override replaces the upstream's description",)


def test_a_long_description_is_cut_after_a_word_and_says_where_the_rest_is() -> None:
    text = "word " * 40
    rules = DescriptionRules(most_characters=90)
    cut = _description(rules, text)
    assert cut is not None
    assert cut.endswith(f"word\u2026{POINTER}")
    assert 80 <= len(cut) <= 90
    alone = _description(rules, text, recoverable=False)
    assert alone is not None
    assert alone.endswith("word\u2026")
    assert 85 <= len(alone) <= 90


@given(st.text(max_size=300), st.integers(1, 200), st.sampled_from(["", POINTER]))
def test_a_cut_description_is_within_its_limit_and_the_pointer_is_whole_or_not_there(
    text: str, most: int, pointer: str
) -> None:
    cut = limited(text, most, pointer)
    assert len(cut) <= most
    if len(text) <= most:
        assert cut == text
    else:
        head = cut.removesuffix(pointer)
        assert head.endswith("\u2026")
        assert text.startswith(head[:-1])
        assert limited(text, most, pointer) == cut


def test_stripped_arguments_are_announced_where_there_is_room() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": "A"}}}
    rules = DescriptionRules(strip_schema=True)
    assert _description(rules, "Short.", inputSchema=schema) == f"Short.{POINTER}"
    assert _description(rules, "Short.", inputSchema=schema, recoverable=False) == "Short."
    assert _description(rules, "Short.", inputSchema={"type": "object"}) == "Short."
    tight = DescriptionRules(most_characters=80, strip_schema=True)
    assert _description(tight, "x" * 79, inputSchema=schema) == "x" * 79


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (b'{"description":"x","type":"object"}', b'{"type":"object"}'),
        (
            (
                b'{"properties":{"description":{"description":"x"},"examples":{"examples":[1]}},'
                b'"required":["description","examples"]}'
            ),
            b'{"properties":{"description":{},"examples":{}},"required":["description","examples"]}',
        ),
        (
            b'{ "properties" : { "a" : { "maximum" : 1e400 , "description" : "x" } } }',
            b'{ "properties" : { "a" : { "maximum" : 1e400 } } }',
        ),
        (
            b'{"const":{"description":"x"},"default":{"description":"x"},"enum":[{"description":1}]}',
            b'{"const":{"description":"x"},"default":{"description":"x"},"enum":[{"description":1}]}',
        ),
        (
            (
                b'{"anyOf":[{"description":"x"},{"items":{"description":"x","type":"null"}}],'
                b'"$defs":{"description":{"examples":[{"a":1}],"not":{"description":""}}}}'
            ),
            b'{"anyOf":[{},{"items":{"type":"null"}}],"$defs":{"description":{"not":{}}}}',
        ),
        (
            b'{"dependencies":{"a":["description"],"b":{"description":"x"}},"items":[{"examples":[]}]}',
            b'{"dependencies":{"a":["description"],"b":{}},"items":[{}]}',
        ),
        (
            b'{"x-note":{"description":"stays"},"additionalProperties":{"description":"x"}}',
            b'{"x-note":{"description":"stays"},"additionalProperties":{}}',
        ),
        (
            b'{"properties":{"a":{"$ref":"#/examples/0"}},"examples":[{"type":"string"}]}',
            b'{"properties":{"a":{"$ref":"#/examples/0"}},"examples":[{"type":"string"}]}',
        ),
        (b"[1]", b"[1]"),
        (b"true", b"true"),
    ],
)
def test_only_annotations_at_schema_positions_go(schema: bytes, wanted: bytes) -> None:
    assert without_annotations(schema) == wanted


_NAMES = st.sampled_from(["a", "description", "examples", "properties"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "description"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)


def _schemas() -> st.SearchStrategy[Any]:
    leaf = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", "integer", "null"]),
            "description": st.just("says something"),
            "examples": st.lists(_VALUES, max_size=2),
            "enum": st.lists(_VALUES, min_size=1, max_size=3),
            "const": _VALUES,
            "default": _VALUES,
            "required": st.lists(_NAMES, unique=True, max_size=2),
        },
    )

    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=2)
        named = st.dictionaries(_NAMES, inner, max_size=3)
        more = st.fixed_dictionaries(
            {},
            optional={
                "properties": named,
                "$defs": named,
                "dependentSchemas": named,
                "patternProperties": st.dictionaries(
                    st.sampled_from(["^d", "s$"]), inner, max_size=2
                ),
                "items": inner,
                "prefixItems": several,
                "allOf": several,
                "anyOf": several,
                "oneOf": several,
                "not": inner,
                "if": inner,
                "then": inner,
                "else": inner,
                "additionalProperties": inner | st.booleans(),
                "propertyNames": inner,
            },
        )
        return st.builds(lambda one, two: one | two, leaf, more)

    return st.recursive(leaf, grown, max_leaves=5)


@settings(max_examples=40)
@given(_schemas(), st.lists(_VALUES, min_size=1, max_size=5))
def test_a_schema_without_annotations_accepts_the_same(schema: Any, values: list[Any]) -> None:
    validators = pytest.importorskip("jsonschema")
    raw = json.dumps(schema).encode()
    bare_raw = without_annotations(raw)
    bare = json.loads(bare_raw)
    before = validators.Draft202012Validator(schema)
    after = validators.Draft202012Validator(bare)
    for value in values:
        assert before.is_valid(value) == after.is_valid(value)
    assert without_annotations(bare_raw) == bare_raw
    assert b"says something" not in bare_raw


def test_a_schema_of_any_depth_is_survived() -> None:
    deep = b'{"items":' * 1000 + b"{}" + b"}" * 1000
    assert without_annotations(deep).count(b"items") == 1000
