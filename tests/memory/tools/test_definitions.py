"""What hosts are told about the twelve tools."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec
import pytest

from memory.tools import names
from memory.tools.definitions import INSTRUCTIONS, TOOLS
from proxy.token_gauge import TokenGauge

SPECIFIED: dict[str, dict[str, Any]] = {
    # Name of a parameter and its default; `inspect.Parameter.empty` where it must be given.
    "memory_store_semantic": {
        "content": inspect.Parameter.empty,
        "importance": 0.5,
        "category": "general",
        "domain": None,
        "confidence": 1.0,
        "supersedes": None,
        "related_ids": None,
    },
    "memory_store_episodic": {
        "text": inspect.Parameter.empty,
        "session_id": inspect.Parameter.empty,
        "turn_number": None,
        "summary": None,
        "importance": 0.5,
    },
    "memory_store_procedural": {
        "content": inspect.Parameter.empty,
        "steps": inspect.Parameter.empty,
        "preconditions": None,
    },
    "memory_query": {"query": inspect.Parameter.empty, "top_k": 5, "memory_types": None},
    "memory_best_procedures": {"task": inspect.Parameter.empty, "top_k": 3},
    "memory_recent_episodes": {"n": 5},
    "memory_session_episodes": {"session_id": inspect.Parameter.empty},
    "memory_record_outcome": {
        "record_id": inspect.Parameter.empty,
        "success": inspect.Parameter.empty,
    },
    "memory_forgetting_preview": {},
    "memory_forgetting_run": {},
    "memory_resolve_supersession": {
        "keep_id": inspect.Parameter.empty,
        "supersede_id": inspect.Parameter.empty,
    },
    "memory_overview": {},
}
OURS = {
    "memory_session_episodes": {"cursor"},
    "memory_forgetting_preview": {"cursor"},
    "memory_forgetting_run": {"plan_hash"},
}
"""Optional parameters beyond the specification."""

BY_NAME: dict[str, dict[str, Any]] = {
    tool["name"]: tool for tool in (msgspec.json.decode(definition) for definition in TOOLS)
}


def test_there_are_the_twelve_tools_in_the_order_of_their_names() -> None:
    assert tuple(BY_NAME) == names.NAMES
    assert list(SPECIFIED) == list(names.NAMES)


@pytest.mark.parametrize("name", names.NAMES)
def test_parameters_and_defaults_are_the_specified_ones(name: str) -> None:
    schema = BY_NAME[name]["inputSchema"]
    ours = OURS.get(name, set())
    assert set(schema["properties"]) == SPECIFIED[name].keys() | ours
    required = {key for key, default in SPECIFIED[name].items() if default is inspect._empty}
    assert set(schema.get("required", ())) == required
    for key, default in SPECIFIED[name].items():
        if default is not inspect.Parameter.empty:
            assert schema["properties"][key].get("default") == default


def test_annotations_tell_the_truth() -> None:
    reading = {name for name, tool in BY_NAME.items() if tool["annotations"]["readOnlyHint"]}
    assert reading == names.READING_TOOLS
    replacing = {name for name, tool in BY_NAME.items() if tool["annotations"]["destructiveHint"]}
    assert replacing == {names.FORGETTING_RUN, names.RESOLVE_SUPERSESSION}
    assert not any(tool["annotations"]["openWorldHint"] for tool in BY_NAME.values())


@pytest.mark.parametrize(
    ("name", "mentioned"),
    [
        (names.STORE_SEMANTIC, ["potential_contradictions", names.RESOLVE_SUPERSESSION, "keep_id"]),
        (names.FORGETTING_PREVIEW, ["likely_duplicate", names.RESOLVE_SUPERSESSION]),
        (names.BEST_PROCEDURES, ["without outcomes", names.RECORD_OUTCOME]),
        (names.FORGETTING_RUN, [names.FORGETTING_PREVIEW]),
        (names.STORE_PROCEDURAL, [names.RECORD_OUTCOME]),
    ],
)
def test_what_the_agent_has_to_judge_is_in_the_description(name: str, mentioned: list[str]) -> None:
    assert [word for word in mentioned if word not in BY_NAME[name]["description"]] == []


def test_the_twelve_tools_cost_a_host_little() -> None:
    gauge = TokenGauge()
    assert sum(gauge.size(definition.decode()) for definition in TOOLS) <= 2_000
    for name in (names.STORE_SEMANTIC, names.FORGETTING_PREVIEW, names.BEST_PROCEDURES):
        assert gauge.size(BY_NAME[name]["description"]) <= 85
    assert gauge.size(INSTRUCTIONS) <= 80
