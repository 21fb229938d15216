"""What an agent looks for is told by it, or read from this call, or from earlier ones."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import wire
from proxy.query import (
    LONGEST_READ,
    LONGEST_TOLD,
    Query,
    query_of,
    strip_context_query,
)


def read(**arguments: Any) -> str:
    found = query_of(json.dumps(arguments).encode(), [])
    assert found.source == ("arguments" if found.text else "")
    return found.text


def test_what_the_agent_tells_comes_first() -> None:
    arguments = b'{"path":"/a/b.py","_context_query":" where is\\n the  lock? "}'
    assert query_of(arguments, ['{"q":"x"}']) == Query("where is the lock?", "_context_query")


@pytest.mark.parametrize("told", ["", "  \n", 7, None, ["x"]])
def test_an_empty_or_odd_one_is_passed_over(told: Any) -> None:
    arguments = json.dumps({"_context_query": told, "q": "lock file"}).encode()
    assert query_of(arguments, []) == Query("lock file", "arguments")


def test_a_question_is_taken_as_it_is() -> None:
    assert read(query="When was  the treaty signed?") == "When was the treaty signed?"
    assert read(sql="SELECT * FROM users WHERE id = 7") == "SELECT * FROM users WHERE id = 7"


def test_values_follow_in_the_order_of_the_call() -> None:
    assert read(owner="acme", repo="shop", title="broken cart") == "acme shop broken cart"
    assert read(title="broken cart", repo="shop") == "broken cart shop"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/home/somebody/shop/cartTotals.py", "cartTotals.py shop cart Totals py"),
        ("src/http/retry_policy.rs", "retry_policy.rs src http retry policy rs"),
        ("C:\\Users\\somebody\\Tax Report", "C:\\Users\\somebody\\Tax Report"),
        ("C:\\Users\\somebody\\Report.docx", "Report.docx Report docx"),
        (
            "https://me:pw@docs.example.org/3/task-list.html?x=1#cancelling-tasks",
            "task-list.html cancelling tasks docs example org task list html",
        ),
    ],
)
def test_of_paths_and_addresses_the_words_count(path: str, words: str) -> None:
    assert read(path=path) == words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("**/*.test.tsx", "test tsx"),
        ("def\\s+\\w+_handler\\(", "def handler"),
        ("^(Foo|Bar)[0-9]{2,}Error$", "Foo Bar Error"),
        ("src/**/cart*.ts", "src cart ts"),
    ],
)
def test_of_patterns_the_words_count(pattern: str, words: str) -> None:
    assert read(pattern=pattern) == words


@pytest.mark.parametrize(
    "id",
    ["550e8400-e29b-41d4-a716-446655440000", "9f86d081884c7d65", "INV-2031", "T1N", "user:42"],
)
def test_ids_stay_whole(id: str) -> None:
    assert read(key=id) == id


def test_numbers_count_when_they_may_be_ids() -> None:
    assert (
        read(issue_number=42, userId=7, year=1998, limit=1000, maxResults=5000, x=3) == "42 7 1998"
    )
    assert read(ids=[12345, 67890]) == "12345 67890"


def test_switches_page_marks_and_layout_say_nothing() -> None:
    assert (
        read(verbose=True, deep="false", cursor="abc", sort_by="name", format="json", n=None) == ""
    )


def test_of_a_long_text_the_first_sentences_count() -> None:
    first = "The cart shows a wrong total. It happens with two coupons!"
    assert read(body=f"{first} {'Much more is told here ' * 30}") == first
    cut = read(body="word " * 500)
    assert len(cut) <= 200
    assert set(cut.split()) == {"word"}


def test_encoded_data_is_left_out() -> None:
    assert read(blob="QUJD" * 200, name="logo") == "logo"


def test_values_inside_lists_and_objects_count_and_their_names_do_not() -> None:
    assert read(filter={"status": "failed", "tags": ["red", {"x": "blue"}]}) == "failed red blue"


def test_nothing_is_said_twice() -> None:
    assert read(a="lock", b="Lock", c="lock") == "lock"


def test_without_arguments_earlier_calls_speak_newest_first() -> None:
    recent = [
        '{"q":"newest"}',
        "plain words",
        '{"path":"/etc/app.toml"}',
        "{}",
        '{"a":NaN,"q":"old"}',
        '{"q":"x"}',
    ]
    assert query_of(b"{}", recent) == Query(
        "newest plain words app.toml etc app toml old", "recent calls"
    )
    assert query_of(b"", []) == Query("", "")
    assert query_of(b'{"deep":true}', ["{}"]) == Query("", "")


def test_a_query_has_a_bounded_length() -> None:
    assert len(read(**{f"a{n}": f"value number {n}" for n in range(500)})) <= LONGEST_READ
    told = json.dumps({"_context_query": "x" * 100_000}).encode()
    assert len(query_of(told, []).text) == LONGEST_TOLD


@pytest.mark.parametrize("shift", range(12))
def test_escapes_at_the_edge_of_what_is_read_do_no_harm(shift: int) -> None:
    text = "a" * shift + " 漢\n\\" * 3000
    assert read(text=text).startswith("漢" if shift == 0 else "a")
    assert "\\u" not in read(text=text)


@given(st.binary(max_size=200), st.lists(st.text(max_size=50), max_size=7))
def test_no_bytes_are_too_odd(arguments: bytes, recent: list[str]) -> None:
    found = query_of(arguments, recent)
    assert bool(found.text) == bool(found.source)
    assert found == query_of(arguments, recent)


def test_hostile_arguments_take_linear_time() -> None:
    hostile = [
        b'{"a":' * 200_000,
        b'{"a":"' + b"\\\\" * 500_000 + b'"}',
        b'{"a":"' + b"[(*/" * 300_000 + b'"}',
        b'{"a":[' + b'"x",' * 300_000 + b'"x"]}',
        b'"' * 500_000,
    ]
    start = time.process_time()
    for arguments in hostile:
        query_of(arguments, [arguments.decode()] * 5)
    assert time.process_time() - start < 10


def _params(arguments: bytes) -> wire.Members:
    return {"name": wire.Raw(b'"t"'), "arguments": wire.Raw(arguments), "_meta": wire.Raw(b"{ }")}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b'{"a":1.0,"_context_query":"x y"}', b'{"a":1.0}', "x y"),
        (b'{ "_context_query" : "x" , "a":1e5 }', b'{ "a":1e5 }', "x"),
        (b'{"_context_query":"x"}', b"{}", "x"),
        (b'{"_context_query":["x"],"n":NaN}', b'{"n":NaN}', ""),
        (b'{"a":"\\ud800","_context_query":"a \\"b\\"","b":2}', b'{"a":"\\ud800","b":2}', 'a "b"'),
    ],
)
def test_the_query_is_taken_out_and_all_else_stays(before: bytes, after: bytes, told: str) -> None:
    given_ = _params(before)
    params, query = strip_context_query(given_)
    assert query == told
    assert bytes(params["arguments"]) == after
    assert (bytes(params["name"]), bytes(params["_meta"])) == (b'"t"', b"{ }")
    assert list(params) == list(given_)
    assert bytes(given_["arguments"]) == before


@pytest.mark.parametrize(
    "arguments",
    [b"{}", b'{"a":"_context_query"}', b'{"a":{"_context_query":"x"}}', b"[1]", b"null"],
)
def test_without_a_query_of_the_call_itself_nothing_changes(arguments: bytes) -> None:
    given_ = _params(arguments)
    params, query = strip_context_query(given_)
    assert params is given_
    assert query == ""


def test_a_call_without_arguments_has_no_query() -> None:
    assert strip_context_query({}) == ({}, "")
