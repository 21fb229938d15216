"""What agents read back is exactly what is held, within the budget."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.compress.model import CharacterGauge, ContentType, Gauge
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN
from proxy.compress.retrieve import read_more, select_chunks
from proxy.compress.sections import sections
from proxy.jobs import Fetched
from tests.proxy.compress.gauges import KEY, STRUCTURED, TEXTS, TokenGauge

GAUGE = CharacterGauge()
TOKENS = TokenGauge()
LINES = "".join(f"line {number}\n" for number in range(1, 1001))
READ_ON = re.compile(r"stm_proxy_read_more\(key=\"\w+\", offset=(\d+), limit=(\d+)\)")


def select(
    text: str, *ids: str, budget: int = 100_000, content: ContentType = ContentType.MIXED
) -> Fetched:
    found = select_chunks(text, content, KEY, ids, budget, GAUGE)
    assert GAUGE.size(found.text) <= budget
    assert found == select_chunks(text, content, KEY, ids, budget, GAUGE)
    return found


def all_chunks(text: str, budget: int, limit: int | None, gauge: Gauge) -> str:
    """The text as an agent puts it together from all chunks."""
    got = ""
    while len(got) < len(text):
        found = read_more(text, KEY, len(got), limit, budget, gauge)
        assert not found.is_error, found.text
        assert gauge.size(found.text) <= budget
        body = found.text.rpartition(PROGRESSIVE_FOOTER_TOKEN)[0]
        assert (found.start, found.end, found.total) == (len(got), len(got) + len(body), len(text))
        assert body
        assert limit is None or len(body) <= max(limit, 2)
        got += body
    return got


@settings(deadline=None)
@given(st.one_of(TEXTS, STRUCTURED), st.integers(150, 400), st.sampled_from([None, 1, 2, 7, 90]))
def test_the_chunks_of_any_text_put_together_are_the_text(
    text: str, budget: int, limit: int | None
) -> None:
    assert all_chunks(text, budget, limit, GAUGE) == text


@settings(deadline=None, max_examples=30)
@given(st.one_of(TEXTS, STRUCTURED), st.integers(60, 120))
def test_the_chunks_put_together_are_the_text_with_tokens_too(text: str, budget: int) -> None:
    assert all_chunks(text, budget, None, TOKENS) == text


def test_a_limit_within_the_budget_is_kept_to_the_character() -> None:
    found = read_more(LINES, KEY, 10, 25, 10_000, GAUGE)
    assert found.text.startswith(LINES[10:35] + PROGRESSIVE_FOOTER_TOKEN)
    assert (found.start, found.end, found.total) == (10, 35, len(LINES))


def test_a_limit_over_the_budget_is_cut_to_the_budget() -> None:
    found = read_more(LINES, KEY, 0, 5_000, 500, GAUGE)
    assert GAUGE.size(found.text) <= 500
    assert f'stm_proxy_read_more(key="{KEY}", offset={found.end})' in found.text


def test_the_last_chunk_says_that_there_is_no_more() -> None:
    found = read_more(LINES, KEY, len(LINES) - 9, None, 4_000, GAUGE)
    assert found.text.endswith("| remaining=0 | has_more=False]")
    assert read_more(LINES, KEY, len(LINES), None, 4_000, GAUGE).text == "(no more content)"
    assert read_more("", KEY, 0, None, 4_000, GAUGE).text == "(no more content)"


@pytest.mark.parametrize(
    ("offset", "limit", "says"),
    [
        (-1, None, "from 0"),
        (len(LINES) + 1, None, f"0 to {len(LINES):,}"),
        (0, 0, "1 or more"),
        (0, -5, "1 or more"),
    ],
)
def test_a_wrong_place_is_an_error_that_says_what_would_be_right(
    offset: int, limit: int | None, says: str
) -> None:
    found = read_more(LINES, KEY, offset, limit, 4_000, GAUGE)
    assert found.is_error
    assert says in found.text


@given(TEXTS, st.integers(-3, 500), st.one_of(st.none(), st.integers(-2, 300)), st.integers(0, 200))
def test_reading_on_keeps_to_any_budget(
    text: str, offset: int, limit: int | None, budget: int
) -> None:
    assert GAUGE.size(read_more(text, KEY, offset, limit, budget, GAUGE).text) <= budget


@settings(deadline=None)
@given(st.one_of(TEXTS, STRUCTURED), st.sampled_from(list(ContentType)))
def test_one_section_alone_comes_back_byte_for_byte(text: str, content: ContentType) -> None:
    for part in sections(text, content):
        found = select(text, part.id, content=content)
        assert found.text == text[part.start : part.end]
        assert not found.is_error
        assert found.total == len(text)


@settings(deadline=None)
@given(
    st.one_of(TEXTS, STRUCTURED),
    st.lists(
        st.sampled_from(
            ["lines:1-3", "lines:2-", "grep:a", "chars:0-50", "none", "json:/a", "preamble"]
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 500),
)
def test_any_sections_fit_any_budget(text: str, ids: list[str], budget: int) -> None:
    select(text, *ids, budget=budget)


@settings(deadline=None, max_examples=40)
@given(STRUCTURED.map(lambda text: text * 5), st.integers(40, 200))
def test_sections_fit_a_budget_of_tokens(text: str, budget: int) -> None:
    found = select_chunks(
        text, ContentType.MIXED, KEY, ("lines:1-", "grep:error", "lines:3"), budget, TOKENS
    )
    assert TOKENS.size(found.text) <= budget


def test_several_sections_are_headed_by_their_ids() -> None:
    found = select(LINES, "lines:3", "lines:900-901")
    assert found.text == "[… lines:3]\nline 3\n\n\n[… lines:900-901]\nline 900\nline 901\n"


def test_lines_over_the_budget_are_cut_at_a_line_and_name_the_ones_that_follow() -> None:
    found = select(LINES, "lines:11-1000", budget=500)
    body, _, notice = found.text.rpartition("\n")
    match = re.fullmatch(r"\[… [\d,]+ characters not shown: lines:(\d+)-1000\]", notice)
    assert match is not None
    assert LINES.startswith(body + "\n", LINES.index("line 11\n"))
    assert body.endswith(f"\nline {int(match[1]) - 1}")


def test_a_value_over_the_budget_is_read_on_by_the_call_that_is_named() -> None:
    text = json.dumps({"rows": [{"id": number} for number in range(500)], "z": 1})
    found = select(text, "json:/rows", budget=900, content=ContentType.JSON_OBJECT)
    body, _, notice = found.text.rpartition("\n")
    match = READ_ON.search(notice)
    assert match is not None
    offset, limit = int(match[1]), int(match[2])
    assert (
        text[text.index("[") : offset] == body.removesuffix("\n")
        or text[text.index("[") : offset] == body
    )
    rest = read_more(text, KEY, offset, limit, 100_000, GAUGE)
    assert rest.text.partition(PROGRESSIVE_FOOTER_TOKEN)[0] == text[offset : text.index("]") + 1]


def test_a_small_section_stays_whole_beside_a_large_one_that_is_cut() -> None:
    found = select(LINES, "lines:1-900", "lines:950-951", budget=700)
    assert "[… lines:950-951]\nline 950\nline 951\n" in found.text
    assert "characters not shown" in found.text


def test_matches_are_numbered_and_headed_by_their_place() -> None:
    found = select(LINES, "grep:line 50", budget=5_000)
    assert found.text.startswith("[… match 1 of 11, line 50: lines:48-52]\nline 48\n")
    assert "[… matches" not in found.text
    assert "[… match 2-11 of 11, line 500: lines:498-511]" in found.text


def test_more_matches_than_are_shown_are_announced_with_how_to_narrow() -> None:
    found = select(LINES, "grep:LINE")
    assert "960 more matches not shown" in found.text
    assert "lines:43-" in found.text


def test_a_match_in_a_very_long_line_comes_with_its_surroundings() -> None:
    text = json.dumps([{"id": number, "name": f"row {number}"} for number in range(20_000)])
    found = select(text, "grep:row 12345", budget=2_000)
    match = re.match(r"\[… match 1 of 1, line 1: (chars:\d+-\d+)\]\n", found.text)
    assert match is not None
    assert '"name": "row 12345"' in found.text
    assert select(text, match[1]).text == found.text[match.end() :]


def test_a_search_without_matches_counts_its_words() -> None:
    found = select(LINES, "grep:line absent")
    assert not found.is_error
    assert "line: 1,000, absent: 0" in found.text


def test_an_unknown_section_alone_is_an_error_and_among_others_a_remark() -> None:
    assert select(LINES, "lines:5000").is_error
    both = select(LINES, "lines:5000", "lines:1")
    assert not both.is_error
    assert "lines:1-1000" in both.text
    assert "[… lines:1]\nline 1\n" in both.text


def test_eight_megabytes_are_searched_and_cut_to_the_budget() -> None:
    text = LINES * 900
    found = select_chunks(
        text, ContentType.LOG, KEY, ("lines:500000-", "grep:line 77"), 4_000, TOKENS
    )
    assert TOKENS.size(found.text) <= 4_000
    assert "line 77" in found.text
