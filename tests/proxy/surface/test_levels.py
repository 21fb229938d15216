"""What is searched for at a call, and where the words came from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.levels import LONGEST, NO_SEARCH, SurfacingSearch, query_for
from proxy.surface.model import QueryLevel


def _search(
    arguments: object = None,
    *,
    tool: str = "t",
    upstream: str = "u",
    template: str = "",
    told: str = "",
) -> SurfacingSearch:
    raw = b"" if arguments is None else json.dumps(arguments).encode()
    return query_for(tool, upstream, template, told, raw)


def test_the_levels_win_in_their_order() -> None:
    arguments = {"path": "src/billing/rounding.py", "query": "release branch rules"}
    names = {"tool": "list_incidents", "upstream": "pagerduty"}
    filled = _search(arguments, template="{server} {arg.query}", told="rounding", **names)
    assert filled == SurfacingSearch("pagerduty release branch rules", QueryLevel.TEMPLATE)
    told = _search(arguments, told="rounding", **names)
    assert told == SurfacingSearch("rounding", QueryLevel.CONTEXT_QUERY)
    paths = _search(arguments, **names)
    assert paths == SurfacingSearch("rounding.py billing rounding", QueryLevel.PATHS)
    del arguments["path"]
    keys = _search(arguments, **names)
    assert keys == SurfacingSearch("release branch rules", QueryLevel.KEYS)
    name = _search({}, **names)
    assert name == SurfacingSearch("pagerduty incidents", QueryLevel.TOOL_NAME)
    assert _search({}, tool="read_file", upstream="filesystem") == NO_SEARCH


def test_a_template_is_filled_once_and_from_the_arguments_alone() -> None:
    arguments = {"a": "{server} x", "n": 4711, "on": True, "many": ["p", {"q": "r"}], "b.c": "d"}
    search = _search(
        arguments, template="{tool_name}: {arg.a} {arg.n} {arg.on} {arg.many} {arg.b.c} {other}"
    )
    assert search == SurfacingSearch("t: {server} x 4711 p r d {other}", QueryLevel.TEMPLATE)


def test_a_template_that_yields_nothing_falls_through() -> None:
    assert _search({}, template="{arg.x} - {arg.y}", told="why") == SurfacingSearch(
        "why", QueryLevel.CONTEXT_QUERY
    )
    assert _search({}, template="- {arg.x}", told=" \n. ") == NO_SEARCH


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"path": "/home/al/shop/src/invoice_rounding.py"},
            "invoice_rounding.py shop invoice rounding",
        ),
        ({"file": "C:\\Users\\al\\shop\\TaxRules.cs"}, "TaxRules.cs shop Tax Rules"),
        (
            {"url": "https://docs.acme.io/deploy/staging?token=Zx81&page=2#canary"},
            "staging canary docs acme deploy",
        ),
        ({"url": "https://x.io/rotating/keys#access_token=Zx81.secret_part"}, "keys rotating"),
        ({"url": "https://x.io/find?q=staging+deploy&key=1"}, "deploy staging"),
        ({"pattern": "**/*.billing.test.ts", "path": "."}, "billing"),
        ({"paths": ["a/release.md", "b/canary.md"]}, "release.md release canary.md canary"),
        ({"options": {"path": "docs/release/canary.md"}}, "canary.md docs release canary"),
        (
            {"path": "/srv/My Documents/quarterly plan.xlsx"},
            "quarterly_plan.xlsx quarterly plan xlsx",
        ),
    ],
)
def test_paths_urls_and_patterns_give_their_words(arguments: object, text: str) -> None:
    search = _search(arguments)
    if text == "billing":  # one plain word is too little
        assert search == NO_SEARCH
    else:
        assert search == SurfacingSearch(text, QueryLevel.PATHS)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"title": "Login fails on Safari", "id": "a" * 8}, "Login fails on Safari"),
        ({"search_query": "staging deploy"}, "staging deploy"),
        ({"issueTitle": "Login fails"}, "Login fails"),
        ({"filter": {"issue": {"title": "Login fails"}}}, "Login fails"),
        ({"name": "kubernetes"}, "kubernetes"),
        ({"symbol": "handle_login"}, "handle_login"),
        ({"error": "ERR-4711"}, "ERR-4711"),
        ({"query": "\u5982\u4f55\u90e8\u7f72"}, "\u5982\u4f55\u90e8\u7f72"),
        ({"text": "Deploys broke. " + "More words follow here. " * 40}, None),
    ],
)
def test_arguments_that_carry_meaning_give_their_opening(
    arguments: object, text: str | None
) -> None:
    search = _search(arguments)
    assert search.level is QueryLevel.KEYS
    if text is None:
        assert search.text.startswith("Deploys broke. More words")
        assert len(search.text) <= 200
    else:
        assert search.text == text


@pytest.mark.parametrize(
    "scope",
    [
        {"repo": "acme/ledgerline"},
        {"path": "/srv/ledgerline/services"},
        {"directory": "ledgerline/services", "repository": "ledgerline"},
    ],
)
def test_where_something_is_looked_for_gives_way_to_what_for(scope: dict[str, str]) -> None:
    alone = _search(scope)
    assert alone.level is QueryLevel.PATHS
    assert "ledgerline" in alone.text
    asked = _search({**scope, "query": "mandate rejected"})
    assert asked == SurfacingSearch("mandate rejected", QueryLevel.KEYS)
    file = _search({**scope, "query": "mandate rejected", "file": "sepa/mandates.py"})
    assert file == SurfacingSearch("mandates.py sepa mandates", QueryLevel.PATHS)
    assert _search({**scope, "query": "what?"}) == alone


def test_names_in_camel_case_are_also_searched_for_in_words() -> None:
    assert _search({"symbol": "cartReducer"}).text == "cartReducer cart Reducer"
    assert _search({"query": "why does cartReducer fail"}).text == (
        "why does cartReducer fail cart Reducer"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        [],
        "staging deploy",
        {"query": "how do I do that?"},
        {"query": "billing"},
        {"query": "3fa85f64-5717-4562-b3fc-2c963f66afa6"},
        {"query": "9c1f02ab7711", "message": "deadbeef00"},
        {"query": "01JB3K6Q8ZC4V9W2M7X5T1R0NE"},
        {"query": True, "title": 471147114711, "text": "2026-11-02T10:00:00Z"},
        {"path": "src/main.py"},
        {"path": "."},
        {"path": "/"},
        {"cwd": "/srv/billing/rounding"},
        {"api_token": "staging/deploy/rules", "password": "correct horse battery staple"},
        {"session_title": "staging deploy"},
        {"mime_type": "application/vnd.ms-excel"},
        {"username": "margarethe_lindqvist"},
        {"anything": "staging deploy rules"},
        {"data": "aGVsbG8gd29ybGQgdGhpcyBpcyBkYXRh" * 40},
    ],
)
def test_what_says_nothing_is_not_searched_for(arguments: object) -> None:
    assert _search(arguments) == NO_SEARCH


def test_words_of_names_need_two_that_mean_something() -> None:
    assert _search(tool="searchPullRequests", upstream="u").text == "Pull Requests"
    assert _search(tool="get_file_contents", upstream="github") == NO_SEARCH
    assert _search(tool="incidents", upstream="incidents") == NO_SEARCH
    assert _search(tool="get_invoice", upstream="billing").text == "billing invoice"


def test_a_context_query_that_is_an_argument_of_the_tool_itself_is_not_read_again() -> None:
    assert _search({"_context_query": "staging deploy rules"}) == NO_SEARCH


def test_queries_are_one_bounded_line() -> None:
    search = _search(told="word\x00\n\ttwo \ud800 " + "long " * 400)
    assert search.text.startswith("word two \ufffd long long")
    assert search.text.endswith(" long")
    assert len(search.text) <= LONGEST
    assert len(_search(told="x" * 5000).text) == LONGEST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["query", "path", "title", "url", "x", "token", "pattern"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def _is_sound(search: SurfacingSearch) -> bool:
    text = search.text
    return (
        len(text) <= LONGEST
        and (text == "") == (search.level is QueryLevel.NONE)
        and " ".join(text.split()) == text
        and text.encode().decode() == text
        and not any(ord(character) < 32 for character in text)
    )


@given(JSON, st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_any_arguments_give_a_sound_query(
    arguments: Any, tool: str, upstream: str, template: str
) -> None:
    raw = json.dumps(arguments).encode()
    first = query_for(tool, upstream, "{arg.x}" + template, "", raw)
    assert _is_sound(first)
    assert first == query_for(tool, upstream, "{arg.x}" + template, "", raw)


@given(st.binary(max_size=80), st.text(max_size=20))
def test_any_bytes_as_arguments_give_a_sound_query(arguments: bytes, told: str) -> None:
    assert _is_sound(query_for("tool", "up", "", told, arguments))
    assert _is_sound(query_for("tool", "up", "{arg.query}", "", b'{"query":"' + arguments + b'"}'))


def test_huge_and_deep_arguments_take_bounded_work() -> None:
    deep = b'{"query":' + b"[" * 20_000 + b"]" * 20_000 + b',"title":"staging deploy"}'
    assert query_for("t", "u", "", "", deep).text == "staging deploy"
    long = json.dumps({"text": "staging deploy " * 20_000, "path": "a/" * 20_000}).encode()
    assert query_for("t", "u", "", "", long).level is QueryLevel.KEYS
    many = json.dumps({f"title{number}": "x" for number in range(20_000)}).encode()
    assert query_for("t", "u", "", "", many) == NO_SEARCH
