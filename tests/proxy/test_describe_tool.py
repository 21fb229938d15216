"""The whole description of a tool, in pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.catalogue import Catalogue, Offer, OfferedUpstream, build
from proxy.control_tools import TOOLS
from proxy.describe_tool import (
    DESCRIBE_TOOL_TOOL,
    LONGEST_NAME,
    MOST_BYTES,
    Description,
    describe,
)
from proxy.descriptions import DescriptionPlan, DescriptionRules
from proxy.surface.feedback_tool import SURFACING_FEEDBACK_TOOL

SCHEMA = (
    b'{"type":"object","required":["path"],"properties":{"path":{"maximum":1e400,"type":"string",'
    b'"description":"Where it is","examples":["/tmp/\\u00e9"]}}}'
)


def _catalogue(
    description: str = "Reads a file.", override: str = "", name: str = "read", most: int = 0
) -> Catalogue:
    tool = b'{"name":"%s","description":%s,"inputSchema":%s}' % (
        name.encode(),
        json.dumps(description).encode(),
        SCHEMA,
    )
    rules = DescriptionRules(override, most, True)
    hidden = b'{"name":"off","inputSchema":{}}'
    upstream = OfferedUpstream(
        "files",
        "fs",
        Offer(tools=(tool, hidden)),
        frozenset({"off"}),
        DescriptionPlan(by_tool={name: rules}),
    )
    return build([upstream], lambda _: False, own_tools=(DESCRIBE_TOOL_TOOL, *TOOLS))


def _ask(catalogue: Catalogue, *, recover: bool = False, **arguments: Any) -> Description:
    return describe(catalogue, json.dumps(arguments).encode(), recover=recover)


def _page(answer: Description) -> dict[str, Any]:
    assert not answer.is_error, answer.body
    assert len(answer.body) <= MOST_BYTES
    result = json.loads(answer.body)
    (block,) = result["content"]
    assert json.loads(block["text"]) == result["structuredContent"]
    return result["structuredContent"]


def _refusal(answer: Description) -> str:
    result = json.loads(answer.body)
    assert answer.is_error
    assert result["isError"] is True
    return result["content"][0]["text"]


def _read(catalogue: Catalogue, **arguments: Any) -> str:
    page = _page(_ask(catalogue, **arguments))
    text = page["text"]
    while page["next_offset"] is not None:
        assert page["next_offset"] > page["offset"]
        more = {"offset": page["next_offset"], "generation": page["generation"]}
        page = _page(_ask(catalogue, **(arguments | more)))
        text += page["text"]
    assert len(text) == page["total_chars"]
    return text


def test_a_short_description_comes_whole_with_every_member_of_a_page() -> None:
    answer = _ask(_catalogue(), name="fs__read")
    page = _page(answer)
    generation = page.pop("generation")
    assert len(generation) == 16
    assert (answer.upstream, answer.tool) == ("files", "read")
    assert page == {
        "name": "fs__read",
        "part": "description",
        "text": "Reads a file.",
        "format": "text",
        "offset": 0,
        "next_offset": None,
        "total_chars": 13,
        "response_hint": "Long answers are shortened: stm_proxy_select_chunks or "
        "stm_proxy_read_more gets the rest",
    }
    assert _page(_ask(_catalogue(""), name="fs__read"))["text"] == "fs__read"


def test_the_whole_schema_is_compact_json_with_sorted_keys_and_its_descriptions() -> None:
    page = _page(_ask(_catalogue(), name="fs__read", part="input_schema"))
    assert page["format"] == "json"
    assert page["text"] == (
        '{"properties":{"path":{"description":"Where it is","examples":["/tmp/é"],'
        '"maximum":1e400,"type":"string"}},"required":["path"],"type":"object"}'
    )
    assert b"Where it is" not in _catalogue().list_result("tools")


def test_the_replaced_description_is_given_only_when_the_operator_allows_it() -> None:
    catalogue = _catalogue("Original.", "Ours.")
    assert _page(_ask(catalogue, name="fs__read"))["text"] == "Ours."
    asked = {"name": "fs__read", "part": "upstream_description"}
    assert "recover_upstream_description" in _refusal(_ask(catalogue, **asked))
    assert _page(_ask(catalogue, recover=True, **asked))["text"] == "Original."
    assert "no override" in _refusal(_ask(_catalogue(), recover=True, **asked))


def test_the_generation_is_that_of_the_metadata_and_survives_a_restart() -> None:
    first = _page(_ask(_catalogue("A" * 50), name="fs__read", limit=10))
    same = _page(_ask(_catalogue("A" * 50), name="fs__read", part="input_schema"))
    assert first["generation"] == same["generation"]
    assert first["next_offset"] == 10
    changed = _ask(_catalogue("B" * 50), name="fs__read", offset=10, generation=first["generation"])
    assert "Start again at offset 0" in _refusal(changed)


def test_at_the_end_there_is_an_empty_completed_page() -> None:
    first = _page(_ask(_catalogue(), name="fs__read"))
    end = _page(_ask(_catalogue(), name="fs__read", offset=13, generation=first["generation"]))
    assert (end["text"], end["next_offset"]) == ("", None)
    beyond = _ask(_catalogue(), name="fs__read", offset=14, generation=first["generation"])
    assert "has 13 characters" in _refusal(beyond)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "name is missing"),
        ({"name": ""}, "name is empty"),
        ({"name": "fs__read", "part": "all"}, "must be one of: description, input_schema"),
        ({"name": "fs__read", "offset": -1}, "counted from 0"),
        ({"name": "fs__read", "offset": 5}, "without generation"),
        ({"name": "fs__read", "limit": 0}, "must be 1 to 16,000"),
        ({"name": "fs__read", "limit": 16_001}, "must be 1 to 16,000"),
        ({"name": "fs__read", "limit": "many"}, "must be a whole number"),
        ({"name": "fs__read", "generation": "0" * 16}, "has changed"),
        ({"name": "fs__read", "page": 2}, "no argument"),
        ({"name": "fs__off"}, "is withheld from hosts: switched off by upstreams.files.tools.off"),
        ({"name": "mcp__mms__fs__read"}, "Without the host's prefix it is fs__read."),
        ({"name": "read"}, "With its prefix it is fs__read."),
        ({"name": "fs__raed"}, "Similar ones: fs__read."),
        ({"name": "stm_proxy_read_more"}, "tool of mms itself"),
        ({"name": "\ud800"}, "There is no tool"),
        ({"name": "x" * (LONGEST_NAME + 1)}, "at most 300"),
    ],
)
def test_a_mistake_is_answered_by_what_would_be_right(
    arguments: dict[str, Any], words: str
) -> None:
    assert words in _refusal(_ask(_catalogue(), **arguments))


def test_what_is_no_object_of_arguments_is_refused() -> None:
    for arguments in (b"[1]", b"{", b'"fs__read"'):
        assert "object" in _refusal(describe(_catalogue(), arguments, recover=False))


@settings(max_examples=30)
@given(
    st.text(st.characters(codec=None), max_size=300),  # lone surrogates included
    st.integers(1, 200),
    st.integers(1, 16_000),
)
def test_pages_of_any_text_join_to_the_whole_within_the_limit(
    text: str, times: int, limit: int
) -> None:
    whole = text * times
    limit = max(limit, len(whole) // 20 + 1)
    catalogue = _catalogue(whole)
    shown = _read(catalogue, name="fs__read", limit=min(limit, 16_000))
    assert shown == (json.loads(json.dumps(whole)) or "fs__read")


@pytest.mark.parametrize("character", ["a", '"', "\\", "\x01", "é", "𝄞", "\ud800"])
def test_a_page_is_as_long_as_the_budget_allows(character: str) -> None:
    whole = character * 16_000
    catalogue = _catalogue(whole)
    answer = _ask(catalogue, name="fs__read", limit=16_000)
    page = _page(answer)
    assert len(answer.body) > MOST_BYTES - 40
    assert page["next_offset"] == len(page["text"])
    assert _read(catalogue, name="fs__read", limit=16_000) == whole


def test_the_five_tools_for_models_are_small() -> None:
    tools = (*TOOLS, DESCRIBE_TOOL_TOOL, SURFACING_FEEDBACK_TOOL)
    assert len(DESCRIBE_TOOL_TOOL) <= 900
    assert sum(map(len, set(tools))) <= 3584
