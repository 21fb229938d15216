"""What became of an answer, in lines; and the marks of before and after."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from console.screens.answer_text import (
    cache_words,
    compare,
    detail_lines,
    how_cell,
    saved_cell,
    saved_line,
)
from console.widgets.textpane import TextLine
from console.widgets.tone import Tone
from proxy.model import CallDetail, Outcome, Sizes
from tests.support.sample_data import CALLS

PLAIN = replace(CALLS[0], outcome=Outcome.OK, strategy="", cache="", fault="", held_key="")
CUT = replace(
    PLAIN,
    strategy="extract",
    before=Sizes(tokens=48_120),
    text=Sizes(tokens=3_998),
    structured=Sizes(),
)


def text(line: TextLine) -> str:
    return "".join(cell.text for cell in line)


def test_what_was_relayed_as_it_came_has_no_saving() -> None:
    assert saved_line(PLAIN) == ()
    assert saved_cell(PLAIN).text == "\u2013"
    assert how_cell(PLAIN).text == "ok"
    assert detail_lines(CallDetail(PLAIN, None, None, truncated=False)) == []


def test_a_saving_is_said_with_before_and_after_share_and_strategy() -> None:
    assert text(saved_line(CUT)) == "saved  44,122 (92%)  48,120 \u2192 3,998 tokens   by extract"
    assert saved_cell(CUT).text == "44,122"
    larger = replace(CUT, text=Sizes(tokens=48_620))
    assert saved_cell(larger) == ("-500", Tone.BAD)


def test_how_a_call_ended_names_fault_cache_and_reads_of_held_text() -> None:
    assert how_cell(CUT).text == "extract"
    assert how_cell(replace(CUT, fault="too slow")).text == "extract \u25b2"
    assert how_cell(replace(PLAIN, cache="hit")).text == "cache hit"
    assert how_cell(replace(PLAIN, fetched_upstream="docs")).text == "read held"
    assert cache_words(replace(PLAIN, cache="hit", cache_age_seconds=62)).startswith(
        "kept from 1m before"
    )
    assert "identical call" in cache_words(replace(PLAIN, cache="shared"))


def test_the_detail_names_query_source_own_words_handle_and_fault() -> None:
    record = replace(
        CUT,
        overhead_tokens=41,
        held_key="ab" * 8,
        cache="shared",
        fetched_upstream="docs",
        fetched_tool="read",
        fault="too slow\x1b[2J",
    )
    detail = CallDetail(
        record, None, None, truncated=False, query="where\nis it", query_source="arguments"
    )
    lines = "\n".join(map(text, detail_lines(detail)))
    for words in (
        "where\u21b5is it  from arguments",
        "41 tokens are mms's own words",
        "ab" * 8,
        "shared with an identical call",
        "held text of docs.read",
        "fault  too slow\u241b[2J",
    ):
        assert words in lines, words


def test_marks_tell_what_was_cut_and_what_is_added() -> None:
    before, after = compare(
        '[\n  {\n    "a": 1,\n    "b": 2\n  }\n]', '[\n  {\n    "a": 1\n  }\n]\n(1 line cut)'
    )
    assert [text(line) for line in before if text(line)[0] == "-"] == ['-     "b": 2']
    assert [text(line) for line in after if text(line)[0] == "+"] == ["+ (1 line cut)"]


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_line_is_left_out_of_a_comparison_and_equal_texts_have_no_marks(
    one: str, other: str
) -> None:
    before, after = compare(one, other)
    assert len(before) >= 1 <= len(after)
    same, again = compare(one, one)
    assert same == again
    assert all(text(line).startswith("  ") for line in same)
