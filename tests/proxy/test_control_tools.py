"""The tools that mms offers itself: their definitions and their arguments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import control_tools
from proxy.control_tools import (
    COMPRESSION_FEEDBACK_TOOL,
    LONGEST_MISSING,
    NAMES,
    READ_MORE_TOOL,
    SELECT_CHUNKS_TOOL,
    TOOLS,
    FeedbackArguments,
    FeedbackKind,
    ReadMoreArguments,
    SelectChunksArguments,
    parse_compression_feedback,
    parse_read_more,
    parse_select_chunks,
    text_result,
)

KEY = "0123456789abcdef"


def arguments(**given: object) -> bytes:
    return json.dumps(given).encode()


def test_the_three_definitions_are_small_and_take_no_more_than_two_kilobytes() -> None:
    assert sum(map(len, TOOLS)) <= 2048


def test_the_definitions_name_the_parameters_of_the_specification() -> None:
    schemas = {
        name: json.loads(tool)["inputSchema"] for name, tool in zip(NAMES, TOOLS, strict=True)
    }
    assert {name: list(schema["properties"]) for name, schema in schemas.items()} == {
        "stm_proxy_select_chunks": ["key", "sections"],
        "stm_proxy_read_more": ["key", "offset", "limit"],
        "stm_compression_feedback": ["server", "tool", "missing", "kind", "trace_id"],
    }
    assert {name: schema["required"] for name, schema in schemas.items()} == {
        "stm_proxy_select_chunks": ["key", "sections"],
        "stm_proxy_read_more": ["key"],
        "stm_compression_feedback": ["server", "tool", "missing"],
    }
    assert [json.loads(tool)["name"] for tool in TOOLS] == list(NAMES)


def test_only_the_report_writes_and_nothing_destroys() -> None:
    for tool in (SELECT_CHUNKS_TOOL, READ_MORE_TOOL):
        hints = json.loads(tool)["annotations"]
        assert hints == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }
    hints = json.loads(COMPRESSION_FEEDBACK_TOOL)["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"]) == (False, False)
    assert hints["idempotentHint"] is False


def test_no_output_schema_is_declared_so_text_alone_is_a_whole_answer() -> None:
    assert all("outputSchema" not in json.loads(tool) for tool in TOOLS)


def test_the_arguments_of_read_more_have_defaults() -> None:
    assert parse_read_more(arguments(key=KEY)) == ReadMoreArguments(KEY, 0, None)
    assert parse_read_more(arguments(key=KEY, offset=7, limit=9)) == ReadMoreArguments(KEY, 7, 9)
    assert parse_read_more(arguments(key=KEY, offset=None, limit=None)) == ReadMoreArguments(KEY)


def test_numbers_written_as_text_or_with_a_point_are_understood() -> None:
    assert parse_read_more(arguments(key=KEY, offset="120", limit=50.0)) == ReadMoreArguments(
        KEY, 120, 50
    )


def test_a_key_in_capitals_and_spaces_is_understood() -> None:
    assert parse_read_more(arguments(key=f" {KEY.upper()} ")) == ReadMoreArguments(KEY)


@pytest.mark.parametrize(
    ("given_arguments", "says"),
    [
        ({}, "key is missing"),
        ({"key": "abc"}, "16 hexadecimal digits"),
        ({"key": 5}, "16 hexadecimal digits"),
        ({"key": KEY, "offset": -1}, "counted from 0"),
        ({"key": KEY, "offset": 1.5}, "whole number"),
        ({"key": KEY, "offset": True}, "whole number"),
        ({"key": KEY, "limit": 0}, "1 or more"),
        ({"key": KEY, "limit": "many"}, "whole number"),
        ({"key": KEY, "ofset": 5}, "there are: key, offset, limit"),
    ],
)
def test_a_mistake_in_read_more_says_what_would_be_right(
    given_arguments: dict[str, object], says: str
) -> None:
    answer = parse_read_more(json.dumps(given_arguments).encode())
    assert isinstance(answer, str)
    assert says in answer


def test_arguments_of_the_host_itself_are_passed_over() -> None:
    assert parse_read_more(arguments(key=KEY, _context_query="x", _meta={})) == ReadMoreArguments(
        KEY
    )


def test_section_ids_keep_their_order_and_are_answered_once() -> None:
    wanted = ["lines:1-2", "grep:a b", "lines:1-2"]
    assert parse_select_chunks(arguments(key=KEY, sections=wanted)) == SelectChunksArguments(
        KEY, ("lines:1-2", "grep:a b")
    )


def test_one_id_or_an_array_written_as_text_is_understood() -> None:
    assert parse_select_chunks(arguments(key=KEY, sections="intro")) == SelectChunksArguments(
        KEY, ("intro",)
    )
    assert parse_select_chunks(arguments(key=KEY, sections='["a", "b"]')) == SelectChunksArguments(
        KEY, ("a", "b")
    )
    assert parse_select_chunks(arguments(key=KEY, sections="[draft]")) == SelectChunksArguments(
        KEY, ("[draft]",)
    )


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        (None, "array of section ids"),
        ([], "array of section ids"),
        ({"a": 1}, "array of section ids"),
        ([1], "every id is a text"),
        (["  "], "every id is a text"),
        (["x"] * 51, "at most 50"),
        (["x" * 1001], "at most 1,000"),
    ],
)
def test_a_mistake_in_select_chunks_says_what_would_be_right(sections: object, says: str) -> None:
    answer = parse_select_chunks(arguments(key=KEY, sections=sections))
    assert isinstance(answer, str)
    assert says in answer


def test_a_report_has_a_kind_or_is_of_kind_other() -> None:
    report = arguments(server="github", tool="list_issues", missing="the labels")
    assert parse_compression_feedback(report) == FeedbackArguments(
        "github", "list_issues", "the labels"
    )
    assert FeedbackArguments("a", "b", "c").kind is FeedbackKind.OTHER
    report = arguments(server="s", tool="t", missing="m", kind="wrong_topic", trace_id="abc")
    assert parse_compression_feedback(report) == FeedbackArguments(
        "s", "t", "m", FeedbackKind.WRONG_TOPIC, "abc"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "bad"}, "truncated, missing_example, missing_metadata, wrong_topic, other"),
        ({"missing": ""}, "missing is empty"),
        ({"missing": None}, "missing is missing"),
        ({"missing": "x" * (LONGEST_MISSING + 1)}, "at most 2,000"),
        ({"server": 5}, "must be a text"),
        ({"tool": "t" * 500}, "at most 200"),
    ],
)
def test_a_mistake_in_a_report_says_what_would_be_right(
    change: dict[str, object], says: str
) -> None:
    answer = parse_compression_feedback(
        arguments(**{"server": "s", "tool": "t", "missing": "m", **change})
    )
    assert isinstance(answer, str)
    assert says in answer


@given(st.binary(max_size=60) | st.sampled_from([b"", b"null", b"[]", b"{", b'"x"', b"[" * 5000]))
def test_arguments_that_are_no_object_never_raise(raw: bytes) -> None:
    for parse in (parse_read_more, parse_select_chunks, parse_compression_feedback):
        assert isinstance(parse(raw), str)


def test_an_answer_is_one_text_block_and_holds_any_text() -> None:
    assert text_result("ok") == b'{"content":[{"type":"text","text":"ok"}]}'
    wrong = json.loads(text_result("half \ud800 pair", is_error=True))
    assert wrong == {"content": [{"type": "text", "text": "half \ud800 pair"}], "isError": True}


def test_the_names_cannot_be_mistaken_for_those_of_an_upstream() -> None:
    assert all(name.startswith("stm_") and "__" not in name for name in control_tools.NAMES)


def test_a_report_with_half_a_surrogate_pair_is_taken() -> None:
    report = parse_compression_feedback(b'{"server":"s","tool":"t","missing":"the \\ud83d part"}')
    assert isinstance(report, FeedbackArguments)
    assert report.missing == "the \ud83d part"
