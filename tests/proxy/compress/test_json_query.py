"""Where a query's words stand in JSON, and what weighs most."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress import json_query, json_tree
from proxy.compress.json_query import Hits
from tests.proxy.compress.json_values import CONTAINERS, LAYOUTS, write


def _ranking(value: object, query: str, **layout: Any) -> list[object]:
    """Keys or positions of the children that are found, best first."""
    document = json_tree.parse(json.dumps(value, **layout))
    assert document is not None
    hits = json_query.find(document, query)
    children = document.children(0, len(document.raw))
    names = list(children.keys) or list(range(len(children)))
    scores = [
        hits.score(start, end) for start, end in zip(children.starts, children.ends, strict=True)
    ]
    found = [(score, name) for score, name in zip(scores, names, strict=True) if score]
    return [name for _, name in sorted(found, key=lambda pair: -pair[0])]


def test_a_key_that_the_query_names_comes_first() -> None:
    value = {"alpha": "the beta of beta and beta", "beta": 1, "gamma": "beta"}
    assert _ranking(value, "what is beta?")[0] in ("beta", "gamma")
    assert _ranking(value, "what is beta?")[-1] == "alpha"


def test_a_value_that_the_query_has_whole_beats_many_words_of_it() -> None:
    rows = [
        {"name": f"Ann Smith {i}", "note": "the salary of some other Ann Jones, manager"}
        for i in range(20)
    ]
    rows.append({"name": "Ann Jones", "note": "x"})
    assert _ranking(rows, "What is the salary of manager Ann Jones?")[0] == 20


def test_a_number_beside_its_name_beats_the_same_number_elsewhere() -> None:
    rows = [{"id": i, "age": 57 if i % 9 == 0 else 30} for i in range(60)]
    assert _ranking(rows, "the person with id 57")[0] == 57


def test_words_are_found_in_other_forms_and_cases() -> None:
    assert _ranking(["nothing", "Two DELIVERIES failed"], "failing delivery") == [1]
    assert _ranking(["x", "Cafe MÜNCHEN"], "münchen") == [1]
    assert _ranking(["x", "Cafe München"], "München", ensure_ascii=True) == [1]


def test_parts_of_words_are_not_found() -> None:
    assert _ranking(["concatenate", "scatter"], "cat") == []


def test_no_query_finds_nothing() -> None:
    document = json_tree.parse('{"a": 1}')
    assert document is not None
    assert json_query.find(document, "  ") is json_query.NOTHING


@given(
    CONTAINERS, LAYOUTS, st.one_of(st.text(max_size=30), st.sampled_from(["id 5", "ok name", "@1"]))
)
def test_any_query_on_any_json_finds_places_in_order(
    value: object, layout: dict[str, object], query: str
) -> None:
    document = json_tree.parse(write(value, layout))
    assert document is not None
    hits: Hits = json_query.find(document, query)
    assert list(hits.positions) == sorted(hits.positions)
    assert all(0 <= position < len(document.raw) for position in hits.positions)
    assert hits == json_query.find(document, query)
