"""The filter words, as predicates and as queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.filters import HELP, CallFilter, FilterError, parse_filter, saved_tokens
from proxy.model import CallRecord, Outcome, Sizes
from tests.support.fake_station import FakeStation
from tests.support.sample_data import CALLS


def call(**changes: object) -> CallRecord:
    fields: dict[str, object] = {
        "id": 1,
        "started_at": 0.0,
        "duration_ms": 100.0,
        "host": "claude-code",
        "session": 1,
        "upstream": "github",
        "tool": "search_issues",
        "outcome": Outcome.OK,
        "error": "",
        "arguments": Sizes(tokens=10),
        "text": Sizes(tokens=100),
        "structured": Sizes(tokens=50),
        "other_bytes": 0,
    }
    return CallRecord(**{**fields, **changes})  # type: ignore[arg-type]  # test data


def shrunk(**changes: object) -> CallRecord:
    return call(**{"strategy": "extract", "before": Sizes(tokens=10_000), **changes})


@pytest.mark.parametrize(
    ("words", "matching", "other"),
    [
        ("err", call(outcome=Outcome.TIMEOUT), call()),
        ("err", call(outcome=Outcome.TOOL_ERROR), call(outcome=Outcome.CANCELLED)),
        ("ok", call(), call(outcome=Outcome.ERROR)),
        ("slow>500", call(duration_ms=501), call(duration_ms=500)),
        ("slow", call(duration_ms=1001), call(duration_ms=999)),
        ("slow>1,500", call(duration_ms=1501), call(duration_ms=1000)),
        ("out>149", call(), call(text=Sizes(tokens=99))),
        ("in>9", call(), call(arguments=Sizes(tokens=9))),
        ("saved>9849", shrunk(), shrunk(before=Sizes(tokens=9_999))),
        ("saved>0", shrunk(), call()),
        ("strategy:extract", shrunk(), shrunk(strategy="delta")),
        ("strategy:ex*", shrunk(), call()),
        ("strategy:*", shrunk(), call()),
        ("-strategy:*", call(), shrunk()),
        ("cache:hit", call(cache="hit"), call(cache="shared")),
        ("cache:*", call(cache="shared"), call()),
        ("up:git", call(), call(upstream="docs")),
        ("up:git*", call(), call(upstream="my-github")),
        ("tool:*_issues", call(), call(tool="issues_of")),
        ("tool:SEARCH", call(), call(tool="get")),
        ("host:claude", call(), call(host="cursor")),
        ("denied", call(error="Access Denied"), call()),
        ('"two words"', call(error="has two words"), call(error="words two")),
        ('"up:x"', call(error="saw up:x"), call(upstream="x")),
        ("-err", call(), call(outcome=Outcome.ERROR)),
        ("-up:time", call(), call(upstream="time")),
        ('-host:"claude-code"', call(host="cursor"), call()),
        ("err up:github", call(outcome=Outcome.ERROR), call(outcome=Outcome.ERROR, upstream="x")),
        ("tool:a[b]*", call(tool="a[b]c"), call(tool="abc")),
        ("tool:x?*", call(tool="x?y"), call(tool="xay")),
    ],
)
def test_a_word_matches_what_it_says(words: str, matching: CallRecord, other: CallRecord) -> None:
    parsed = parse_filter(words)
    assert parsed.matches(matching)
    assert not parsed.matches(other)


def test_an_empty_filter_matches_everything_and_is_false() -> None:
    assert parse_filter("   ") == CallFilter()
    assert not parse_filter("")
    assert parse_filter("").matches(call())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("slow>fast", r"slow> needs a number \(ms\)"),
        ("out>", r"out> needs a number \(tokens\)"),
        ("slow>nan", "slow> needs a number"),
        ("size>5", "no size> here"),
        ("upstrem:x", "no upstrem: here"),
        ("up:", "up: needs a name"),
        ("err -", "- needs a word"),
    ],
)
def test_a_wrong_word_is_named_with_what_would_be_right(words: str, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        parse_filter(words)


_WORD = st.sampled_from(
    (
        *("err", "ok", "slow>300", "out>900", "in>20", "up:git", "up:d*", "tool:*_file"),
        *("host:cur", "tool:search", "get", "exit code", "-err", "-up:docs", "-slow>10"),
        '"no answer"',
    )
)


@given(st.lists(_WORD, max_size=4))
def test_the_query_never_misses_a_call_that_matches(words: list[str]) -> None:
    from proxy.store.calls import matches

    parsed = parse_filter(" ".join(words))
    query = parsed.query(limit=1000)
    found = {one.id for one in CALLS if matches(one, query)}
    assert {one.id for one in CALLS if parsed.matches(one)} <= found


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused_with_a_sentence(text: str) -> None:
    try:
        parsed = parse_filter(text)
    except FilterError as error:
        said = str(error)
    else:
        said = f"{parsed.matches(call())}"
    assert said


def test_every_form_that_help_names_can_be_parsed() -> None:
    for form, _ in HELP:
        assert parse_filter(form)


def test_the_fake_station_has_calls_for_these_tests() -> None:
    assert len(FakeStation().records) > 50


def test_an_error_that_was_made_shorter_saved_nothing() -> None:
    before = Sizes(tokens=1000)
    assert saved_tokens(call(strategy="extract", before=before)) == 850
    failed = call(strategy="extract", before=before, outcome=Outcome.TOOL_ERROR)
    assert saved_tokens(failed) == 0
    assert saved_tokens(call(strategy="", before=before)) == 0
