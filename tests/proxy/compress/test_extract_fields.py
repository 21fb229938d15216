"""All fields at the top of JSON, the small ones whole."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.extract_fields import extract_fields
from proxy.compress.model import CharacterGauge, ContentType, Task
from tests.proxy.compress.gauges import KEY
from tests.proxy.compress.json_values import (
    CONTAINERS,
    LAYOUTS,
    is_part,
    says_what_is_missing,
    write,
)


def _task(text: str, budget: int) -> Task:
    content = ContentType.JSON_OBJECT if text.lstrip().startswith("{") else ContentType.JSON_ARRAY
    return Task(text, budget, CharacterGauge(), "", KEY, content)


def _fields(value: object, budget: int) -> Any:
    made = extract_fields(_task(json.dumps(value), budget))
    assert made is not None
    assert len(made.text) <= budget
    return json.loads(made.text)


def test_small_values_are_whole_and_large_ones_are_announced() -> None:
    value = {
        "id": 7,
        "body": "word " * 500,
        "ok": True,
        "rows": [{"n": i} for i in range(300)],
        "none": None,
        "e": "",
    }
    found = _fields(value, 600)
    assert list(found)[:-1] == list(value)
    assert (found["id"], found["ok"], found["none"], found["e"]) == (7, True, None, "")
    assert "characters not shown: json:/body" in found["body"]
    assert "items not shown: json:/rows/" in found["rows"][-1]


def test_a_value_without_room_is_announced_with_its_size() -> None:
    value = {f"field{i}": [{"n": j, "more": "abc" * 20} for j in range(50)] for i in range(8)}
    found = _fields(value, 900)
    assert found["field3"] in ("\u2026 50 items not shown: json:/field3",) or "\u2026" in str(
        found["field3"]
    )
    assert [key for key in found if key != "_mms"] == list(value)


def test_a_scalar_never_becomes_empty() -> None:
    found = _fields({"digits": int("9" * 900), "x": "y" * 900}, 300)
    assert found["digits"] == "\u2026 900 characters not shown: json:/digits"
    assert "not shown" in found["x"]


def test_of_an_array_the_first_items_are_shown() -> None:
    rows = [{"id": i, "text": "abc " * 10} for i in range(100)]
    found = _fields(rows, 500)
    assert found[0] == rows[0]
    assert "items not shown: json:/" in found[-2]


@given(CONTAINERS, LAYOUTS, st.integers(0, 600))
def test_any_json_gives_a_part_of_it_that_fits(
    value: object, layout: dict[str, Any], budget: int
) -> None:
    text = write(value, layout)
    made = extract_fields(_task(text, budget))
    if made is None:
        return
    assert len(made.text) <= budget
    assert len(made.text) < len(text)
    part, whole = json.loads(made.text), json.loads(text)
    assert is_part(part, whole)
    assert says_what_is_missing(part, whole)
