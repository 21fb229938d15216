"""The schema of JSON by example."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.model import CharacterGauge, ContentType, Task
from proxy.compress.schema_pruning import schema_pruning
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


def _pruned(value: object, budget: int) -> Any:
    made = schema_pruning(_task(json.dumps(value), budget))
    assert made is not None
    assert len(made.text) <= budget
    return json.loads(made.text)


def test_of_arrays_the_first_two_and_the_last_are_shown() -> None:
    found = _pruned({"a": {"items": list(range(100))}}, 500)
    assert found["a"]["items"] == [0, 1, "\u2026 97 items not shown: json:/a/items/2-98", 99]


def test_short_arrays_and_strings_are_whole() -> None:
    value = {"few": [1, 2, 3, 4], "many": [0] * 500, "text": "short"}
    found = _pruned(value, 500)
    assert found["few"] == [1, 2, 3, 4]
    assert found["text"] == "short"


def test_the_rule_gets_tighter_until_it_fits() -> None:
    value = {
        f"f{i}": {"text": "word " * 300, "rows": [{"deep": {"deeper": [i] * 50}}] * 40}
        for i in range(6)
    }
    sizes = [len(json.dumps(_pruned(value, budget))) for budget in (9000, 3000, 1200, 700)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 2 * sizes[-1]


def test_json_lines_stay_lines() -> None:
    text = "\n".join(json.dumps({"n": i}) for i in range(100))
    made = schema_pruning(Task(text, 600, CharacterGauge(), "", KEY, ContentType.JSON_LINES))
    assert made is not None
    lines = [json.loads(line) for line in made.text.split("\n")]
    assert lines[:4] == [
        {"n": 0},
        {"n": 1},
        {"_mms": "\u2026 97 lines not shown: lines:3-99"},
        {"n": 99},
    ]


@given(CONTAINERS, LAYOUTS, st.integers(0, 600))
def test_any_json_gives_a_part_of_it_that_fits(
    value: object, layout: dict[str, Any], budget: int
) -> None:
    text = write(value, layout)
    made = schema_pruning(_task(text, budget))
    if made is None:
        return
    assert len(made.text) <= budget
    assert len(made.text) < len(text)
    part, whole = json.loads(made.text), json.loads(text)
    assert is_part(part, whole)
    assert says_what_is_missing(part, whole)
