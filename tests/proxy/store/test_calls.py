"""Calls in the database: what goes in comes out, queries, totals, retention."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.model import CallQuery, CallRecord, Outcome, Sizes, Totals
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import (
    RETENTION_SLICE,
    StoredTotals,
    add_to_days,
    clean,
    count_calls,
    delete_old,
    insert_calls,
    matches,
    read_call,
    read_calls,
    read_history,
    read_totals,
    select_calls,
)
from proxy.store.database import close_writer, open_for_writing, transaction
from proxy.sums import totals_by_day, totals_by_minute
from tests.proxy.store.conftest import make_record

Make = Callable[..., CallRecord]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


@pytest.fixture
def connection(file: Path) -> Iterator[sqlite3.Connection]:
    connection = open_for_writing(file, MIGRATIONS).connection
    yield connection
    close_writer(file, connection)


def insert(connection: sqlite3.Connection, *records: CallRecord) -> int:
    with transaction(connection):
        return insert_calls(connection, records)


def test_a_call_comes_out_as_it_went_in(
    file: Path, connection: sqlite3.Connection, record: Make
) -> None:
    calls = tuple(
        record(
            number,
            outcome=outcome,
            error="why ü",
            session=2**40,
            started_at=1.25,
            strategy="extract",
            before=Sizes(1, 2, 3),
            overhead_tokens=4,
            held_key="0123456789abcdef",
            fetched_upstream="docs",
            fetched_tool="get",
            cache="hit",
            cache_age_seconds=1.5,
            fault="slow ü",
        )
        for number, outcome in enumerate(Outcome, start=1)
    )
    assert insert(connection, *calls) == len(calls)
    assert read_calls(file, CallQuery()) == calls[::-1]
    assert read_call(file, 2) == calls[1]
    assert read_call(file, 99) is None
    assert read_call(file, 2**70) is None


def test_nothing_recorded_reads_as_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "none" / "calls.db"
    assert read_calls(missing, CallQuery()) == ()
    assert read_call(missing, 1) is None
    assert read_totals(missing, now=0.0) == StoredTotals(Totals(), Totals())
    assert read_history(missing, since=0.0).last_call_id == 0


def test_odd_text_and_numbers_are_stored_as_near_as_possible(
    file: Path, connection: sqlite3.Connection, record: Make
) -> None:
    insert(connection, record(1, tool="a\0b\ud800c", duration_ms=float("nan"), other_bytes=2**70))
    (stored,) = read_calls(file, CallQuery())
    assert stored.tool == "a\ufffdb\ufffdc"
    assert stored.duration_ms == 0.0
    assert stored.other_bytes == 2**63 - 1


def test_an_id_that_is_there_keeps_its_call(
    file: Path, connection: sqlite3.Connection, record: Make
) -> None:
    insert(connection, record(1, tool="first"))
    assert insert(connection, record(1, tool="second"), record(2)) == 1
    assert read_call(file, 1) == record(1, tool="first")


def test_pages_follow_each_other(file: Path, connection: sqlite3.Connection, record: Make) -> None:
    insert(connection, *(record(number) for number in range(1, 26)))
    seen: list[int] = []
    before: int | None = None
    while page := read_calls(file, CallQuery(limit=10, before_id=before)):
        seen += [call.id for call in page]
        before = page[-1].id
    assert seen == list(range(25, 0, -1))


@pytest.mark.parametrize(("limit", "expected"), [(-5, 1), (0, 1), (3, 3), (10**9, 12)])
def test_a_limit_out_of_range_is_brought_into_it(
    file: Path, connection: sqlite3.Connection, record: Make, limit: int, expected: int
) -> None:
    insert(connection, *(record(number) for number in range(12)))
    assert len(read_calls(file, CallQuery(limit=limit))) == expected


CALLS = (
    make_record(1, tool="read_file", upstream="files", host="cursor"),
    make_record(2, tool="read[1]?", upstream="files", duration_ms=900.0),
    make_record(3, tool="search", upstream="web", outcome=Outcome.TIMEOUT, error="No 100% answer_"),
    make_record(4, tool="Search", upstream="web", outcome=Outcome.TOOL_ERROR, error="bad Ä"),
    make_record(5, tool="", upstream="", host="", outcome=Outcome.CANCELLED),
)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (CallQuery(upstream="files"), [2, 1]),
        (CallQuery(host="cursor"), [1]),
        (CallQuery(tool="search"), [3]),
        (CallQuery(tool="read*"), [2, 1]),
        (CallQuery(tool="*e*r*"), [4, 3]),
        (CallQuery(tool="read[1]?"), [2]),
        (CallQuery(tool="read[1]*"), [2]),
        (CallQuery(tool="rea?_file*"), []),
        (CallQuery(tool="*"), [5, 4, 3, 2, 1]),
        (CallQuery(errors_only=True), [4, 3]),
        (CallQuery(slower_than_ms=100), [2]),
        (CallQuery(text="SEARCH"), [4, 3]),
        (CallQuery(text="100%"), [3]),
        (CallQuery(text="0_"), []),
        (CallQuery(text="answer_"), [3]),
        (CallQuery(text="ä"), []),
        (CallQuery(text="claude"), [4, 3, 2]),
        (CallQuery(text="x' OR 1=1 --"), []),
        (CallQuery(before_id=3), [2, 1]),
        (CallQuery(before_id=-1), []),
        (CallQuery(before_id=2**80), [5, 4, 3, 2, 1]),
        (CallQuery(upstream="web", text="bad", errors_only=True), [4]),
    ],
)
def test_queries_find_what_they_ask_for(
    file: Path, connection: sqlite3.Connection, query: CallQuery, ids: list[int]
) -> None:
    insert(connection, *CALLS)
    assert [call.id for call in read_calls(file, query)] == ids
    assert [call.id for call in reversed(CALLS) if matches(call, query)] == ids


WORDS = st.text(alphabet="aAbB*?[]%_\\'\"äÄ \ufffd", max_size=5)


@given(
    calls=st.lists(st.tuples(WORDS, WORDS, st.sampled_from(Outcome), st.floats(0, 10)), max_size=8),
    tool=WORDS,
    text=WORDS,
    slower=st.floats(0, 10),
    errors=st.booleans(),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_database_and_the_memory_answer_alike(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[tuple[str, str, Outcome, float]],
    tool: str,
    text: str,
    slower: float,
    errors: bool,
) -> None:
    records = [
        make_record(number, tool=name, error=error, outcome=outcome, duration_ms=duration)
        for number, (name, error, outcome, duration) in enumerate(calls)
    ]
    with sqlite3.connect(":memory:", isolation_level=None) as connection:
        for migration in MIGRATIONS:
            for statement in migration.statements:
                connection.execute(statement)
        insert_calls(connection, records)
        query = CallQuery(tool=tool, text=text, slower_than_ms=slower, errors_only=errors)
        found = select_calls(connection, query)
    connection.close()
    assert [call.id for call in found] == [r.id for r in reversed(records) if matches(r, query)]


@given(st.text())
def test_cleaned_text_is_what_sqlite_takes(text: str) -> None:
    cleaned = clean(text + "\ud800")
    cleaned.encode()
    assert "\0" not in cleaned
    assert clean(cleaned) == cleaned


def test_totals_are_added_per_day(file: Path, connection: sqlite3.Connection, record: Make) -> None:
    noon = 1_700_049_600.0
    first = (record(1, started_at=noon), record(2, started_at=noon, outcome=Outcome.TIMEOUT))
    second = (record(3, started_at=noon), record(4, started_at=noon - 86_400))
    for batch in (first, second):
        with transaction(connection):
            insert_calls(connection, batch)
            add_to_days(connection, totals_by_day(totals_by_minute(batch)))
    one = Totals(calls=1, errors=0, tokens_in=4, tokens_out=38, bytes_out=127)
    totals = read_totals(file, now=noon + 60)
    assert totals.today == Totals(3, 1, 3 * one.tokens_in, 3 * one.tokens_out, 3 * one.bytes_out)
    assert totals.all_time == Totals(4, 1, 4 * one.tokens_in, 4 * one.tokens_out, 4 * one.bytes_out)
    history = read_history(file, since=noon - 10)
    assert history.last_call_id == 4
    assert {int(noon // 60 * 60): totals.today} == history.minutes


def test_retention_deletes_in_slices_oldest_first(
    file: Path, connection: sqlite3.Connection, record: Make
) -> None:
    insert(connection, *(record(number, started_at=float(number)) for number in range(1, 1301)))
    deleted = []
    while not deleted or deleted[-1]:
        with transaction(connection):
            deleted.append(
                delete_old(connection, before=701.0, surplus=count_calls(connection) - 100)
            )
    assert deleted == [RETENTION_SLICE, 200, 500, 0]
    assert [call.id for call in read_calls(file, CallQuery(limit=10_000))] == list(
        range(1300, 1200, -1)
    )


def test_ids_go_on_after_every_row_was_deleted(
    file: Path, connection: sqlite3.Connection, record: Make
) -> None:
    insert(connection, record(41))
    with transaction(connection):
        delete_old(connection, before=2e9, surplus=0)
    assert read_calls(file, CallQuery()) == ()
    assert read_history(file, since=0.0).last_call_id == 41


def test_a_page_of_a_large_history_is_read_without_a_scan(connection: sqlite3.Connection) -> None:
    plan = connection.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM calls WHERE id < 5 ORDER BY id DESC LIMIT 5"
    ).fetchall()
    assert len(plan) == 1
    assert "PRIMARY KEY" in plan[0][3]
