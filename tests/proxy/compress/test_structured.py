"""Structured content is made smaller within its schema, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.compress.extract_json import extract_json
from proxy.compress.model import CharacterGauge, ContentType, Task
from proxy.compress.structured import reduce_structured

GAUGE = CharacterGauge()
ROW = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "note": {"type": "string"},
        "state": {"enum": ["open", "closed"]},
    },
    "required": ["id", "state"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/row"}},
    },
    "required": ["total", "items"],
    "additionalProperties": False,
    "$defs": {"row": ROW},
}
VALUE = {
    "total": 200,
    "items": [
        {"id": i, "name": f"user {i}", "note": "words and words " * 5, "state": "open"}
        for i in range(200)
    ],
}


def _reduced(value: object, schema: object, budget: int, query: str = "") -> Any:
    text = reduce_structured(json.dumps(value), json.dumps(schema), Task("", budget, GAUGE, query))
    if text is None:
        return None
    assert len(text) <= budget
    found = json.loads(text)
    Draft202012Validator(schema).validate(found)  # pyright: ignore
    return found


def test_items_are_left_out_and_nothing_foreign_is_put_in() -> None:
    found = _reduced(VALUE, SCHEMA, 2000, "user 120")
    assert found["total"] == 200
    assert 2 < len(found["items"]) < 30
    assert {
        "id": 120,
        "name": "user 120",
        "note": "words and words " * 5,
        "state": "open",
    } in found["items"]


def test_the_same_rows_as_in_the_text_are_kept() -> None:
    found = _reduced(VALUE, SCHEMA, 2000, "user 120")
    text = json.dumps(VALUE)
    made = extract_json(Task(text, 2600, GAUGE, "user 120", content=ContentType.JSON_OBJECT))
    assert made is not None
    shown = [item for item in json.loads(made.text)["items"] if isinstance(item, dict)]
    both = [item for item in found["items"] if item in shown]
    assert len(both) >= len(found["items"]) - 2


def test_the_fewest_items_stay() -> None:
    schema = json.loads(json.dumps(SCHEMA))
    schema["properties"]["items"]["minItems"] = 5
    found = _reduced(VALUE, schema, 500)
    assert len(found["items"]) >= 5


def test_a_long_text_is_shortened_unless_the_schema_is_about_its_text() -> None:
    value = {"result": "words and more words. " * 200}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
    }
    found = _reduced(value, schema, 300)
    assert found["result"].startswith("words and more")
    assert found["result"].endswith("\u2026")
    for rule in (
        {"format": "uri"},
        {"pattern": "^w"},
        {"enum": [value["result"]]},
        {"minLength": 1000},
    ):
        schema["properties"]["result"] = {"type": "string"} | rule
        assert _reduced(value, schema, 300) is None, rule


def test_optional_members_go_and_required_ones_stay() -> None:
    value = {"id": 1, "state": "open", "name": "n" * 20, "note": "x" * 400}
    found = _reduced(value, ROW, 60)
    assert found["id"] == 1
    assert found["state"] == "open"


def test_a_list_is_never_emptied() -> None:
    for budget in range(20, 400, 20):
        found = _reduced(VALUE, SCHEMA, budget)
        assert found is None or found["items"]


def test_what_cannot_satisfy_its_schema_is_none() -> None:
    assert (
        _reduced({"rows": [[1, 2]] * 300}, {"properties": {"rows": {"minItems": 300}}}, 200) is None
    )
    assert _reduced(VALUE, {"properties": {"total": {"type": "string"}}}, 500) is None


@pytest.mark.parametrize(
    "schema",
    ["", "{", "[]", "3", '{"type": 7}', '{"$ref": "https://example.com/other.json"}',
     '{"properties": {"items": {"$ref": "#/nowhere"}}}',
     '{"patternProperties": {"^(a+)+$": {}}}'],
)  # fmt: skip
def test_a_schema_that_is_broken_or_cannot_be_checked_gives_none(schema: str) -> None:
    assert reduce_structured(json.dumps(VALUE), schema, Task("", 500, GAUGE)) is None


def test_what_fits_is_only_compacted() -> None:
    text = reduce_structured('{"a": 1.50}', "{}", Task("", 50, GAUGE))
    assert text == '{"a":1.50}'


def test_an_older_dialect_is_checked_by_its_own_rules() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"r": {"type": "integer"}},
              "properties": {"rows": {"type": "array", "items": {"$ref": "#/definitions/r"}}}}  # fmt: skip
    text = reduce_structured(
        json.dumps({"rows": list(range(1000))}), json.dumps(schema), Task("", 300, GAUGE)
    )
    assert text is not None
    assert len(json.loads(text)["rows"]) > 20


NAMES = st.sampled_from(["a", "b", "c", "d"])
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {},
            {"type": "string"},
            {"type": "integer"},
            {"type": "string", "minLength": 5},
            {"enum": ["x", 1]},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        ),
        st.builds(
            lambda properties, required: {
                "type": "object",
                "properties": properties,
                "required": required,
            },
            st.dictionaries(NAMES, inner, max_size=4),
            st.lists(NAMES, unique=True, max_size=3),
        ),
        st.builds(lambda one, other: {"anyOf": [one, other]}, inner, inner),
    ),
    max_leaves=8,
)
INSTANCES = st.recursive(
    st.one_of(st.integers(0, 9), st.text(max_size=30), st.sampled_from(["x", "lorem ipsum " * 9])),
    lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=30,
)


@given(INSTANCES.filter(lambda value: isinstance(value, dict)), SCHEMAS, st.integers(0, 300))
def test_any_outcome_satisfies_its_schema_and_fits(
    value: object, schema: dict[str, Any], budget: int
) -> None:
    # What fits without its white space is not changed, whatever the schema says of it.
    if len(json.dumps(value, separators=(",", ":"))) > budget:
        _reduced(value, schema, budget)
