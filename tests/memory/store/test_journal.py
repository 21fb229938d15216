"""The journal: its chain, and that records are what it adds up to, after any operations, at any prefix."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from memory.errors import MemoryFault
from memory.model import Actor, Instant, Origin, Record, State
from memory.store import check
from memory.store.database import Store
from memory.store.journal import canonical, chain_problems
from memory.store.writing import RecordPatch, Writing
from tests.memory.store.making import AGENT, OTHER, PERSON, SPACE, START, edit, new, proposal, put
from tests.support.postgres import fast_folder

ACTORS = (AGENT, OTHER, PERSON, Actor(Origin.EXTERNAL, "tool", "s"))
CONTENTS = ("apples", "pears", "plums are blue", "\u6771\u4eac", "", "\ud800")
STATES = (State.ACTIVE, State.ARCHIVED, State.SUPERSEDED, State.QUARANTINED)


def act(writing: Writing, action: int, one: int, other: int) -> None:
    """One operation on records chosen by number."""
    records = check.projection(writing)
    if action == 0 or not records:
        writing.add(new(CONTENTS[other % len(CONTENTS)], importance=(one % 8) / 7))
        return
    record, second = records[one % len(records)], records[other % len(records)]
    acts: list[Callable[[], Any]] = [
        lambda: writing.change(
            record.id,
            "changed",
            RecordPatch(
                state=STATES[other % 4],
                state_reason=f"r{other}",
                valid_to=other,
                pinned=bool(other % 2),
            ),
        ),
        lambda: edit(writing, record, CONTENTS[other % len(CONTENTS)]),
        lambda: writing.link(record.id, second.id),
        lambda: writing.unlink(record.id, second.id),
        lambda: writing.repeat(record.id),
        lambda: writing.outcome(record.id, bool(other % 2), key=f"k{other % 3}"),
        lambda: writing.credit(record.id, "helpful"),
        lambda: writing.dismiss(record.id, second.id) if record is not second else None,
        lambda: writing.add_proposal(proposal(f"p{writing.position}", record, second)),
        lambda: writing.expunge(record.id, "asked"),
    ]
    acts[(action - 1) % len(acts)]()


OPERATION = st.tuples(
    st.integers(0, 12).map(lambda number: 0 if number > 10 else number),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(0, len(ACTORS) - 1),
    st.integers(-50, 50),
)


@settings(max_examples=15, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(operations=st.lists(OPERATION, max_size=14))
def test_records_are_what_the_journal_adds_up_to_at_any_prefix(
    operations: list[tuple[int, int, int, int, int]],
) -> None:
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        store = Store.open(f"sqlite:///{folder}/memory.db")
        seen: dict[int, tuple[Record, ...]] = {0: ()}
        stored: set[str] = set()
        for action, one, other, actor, minutes in operations:
            try:
                with store.writing(ACTORS[actor], SPACE, START + minutes * 60_000_000) as writing:
                    act(writing, action, one, other)
            except MemoryFault:
                pass  # a rule forbade it: then nothing may have changed
            with store.reading() as reading:
                assert check.verify(reading) == ()
                seen[reading.position] = check.projection(reading)
                stored |= {record.id for record in seen[reading.position]}
        with store.reading() as reading:
            now = check.projection(reading)
            for position, records in seen.items():
                rebuilt = check.rebuild(reading, position)
                assert [as_now(reading.record(one.id), one) for one in rebuilt] == [
                    as_now(reading.record(one.id), one) for one in records
                ]
            assert {record.id for record in now} == stored  # nothing is ever lost
            times = [entry.at for entry in reading.journal()]
            assert times == sorted(times)
            known_at_the_end(reading.position, times, now, store)
        store.close()


def as_now(now: Record | None, record: Record) -> Record:
    """A record of the past without its text, when that was erased since."""
    if now is not None and now.state is State.EXPUNGED:
        return replace(record, text=now.text, content_hash="", norm_hash="")
    return record


def known_at_the_end(
    position: int, times: list[Instant], now: tuple[Record, ...], store: Store
) -> None:
    from memory.api import Order
    from memory.store.selection import Selection

    if not position:
        return
    with store.reading() as reading:
        everything = Selection(SPACE, states=(), known_at=times[-1])
        found, _ = reading.find(everything, order=Order.OLDEST, limit=99)
    assert sorted(found, key=lambda record: record.num) == list(now)


def test_every_entry_is_chained_to_the_one_before(store: Store) -> None:
    put(store, "one", "two", "three")
    with store.reading() as reading:
        entries = list(reading.journal())
        assert check.verify(reading) == ()
    identity = store.identity
    assert chain_problems(identity, entries) == []
    assert chain_problems("another database", entries)
    assert chain_problems(identity, [entries[0], entries[2]])
    assert chain_problems(identity, entries[1:])
    assert chain_problems(identity, [entries[0], entries[2], entries[1]])
    for change in (
        {"patch": "{}"},
        {"at": START + 1},
        {"actor": "somebody"},
        {"version": 9},
        {"origin": Origin.OPERATOR},
        {"space": "x"},
        {"action": "x"},
        {"entity_id": "x"},
        {"hash": "0" * 64},
    ):
        changed = [entries[0], replace(entries[1], **change), entries[2]]
        assert chain_problems(identity, changed), change


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE journal SET patch = '{}' WHERE seq = 2", "does not match its hash"),
        ("DELETE FROM journal WHERE seq = 2", "is missing"),
        (
            "UPDATE records SET importance = 0.9 WHERE num = 1",
            "differs from the journal: importance",
        ),
        ("UPDATE records SET state = 'archived' WHERE num = 1", "differs from the journal: state"),
        ("DELETE FROM records WHERE num = 3", "but no record"),
        ('UPDATE texts SET body = \'{"content":"lie"}\'', "does not match its digest"),
        ("UPDATE texts SET content_hash = 'x'", "differs from the journal: content_hash"),
        ("DELETE FROM texts", "The text of"),
        ("DELETE FROM {words}", "missing in the index of words"),
    ],
)
def test_what_was_changed_behind_the_journals_back_is_told(
    store: Store, statement: str, problem: str
) -> None:
    put(store, "one", "two", "three")
    backend = store.backend
    with backend.engine.connect() as connection:
        backend.begin_writing(connection)
        named = statement.replace("{words}", "words" if store.is_shared else "words_1")
        connection.execute(text(named.replace(":", "\\:")))
        connection.exec_driver_sql("COMMIT")
    with store.reading() as reading:
        found = check.verify(reading)
    assert any(problem in one for one in found), found


def test_a_record_that_no_entry_tells_of_is_told(store: Store) -> None:
    put(store, "one", "two")
    backend = store.backend
    with backend.engine.connect() as connection:
        backend.begin_writing(connection)
        connection.exec_driver_sql("DELETE FROM journal WHERE seq = 2")
        connection.exec_driver_sql("DELETE FROM texts WHERE record_id IN (SELECT id FROM records)")
        connection.exec_driver_sql("UPDATE records SET state = 'expunged' WHERE num = 1")
        connection.exec_driver_sql("COMMIT")
    with store.reading() as reading:
        found = check.verify(reading)
    assert any("is not in the journal" in one for one in found)
    assert any("has 2 records that have no text" in one for one in found)


def test_canonical_json_is_one_text_for_one_value() -> None:
    assert canonical({"b": 1, "a": ["\xe9", 0.1, None]}) == '{"a":["\\u00e9",0.1,null],"b":1}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical(float("nan"))


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    (record,) = put(store, "one")

    def fail() -> None:
        with store.writing(PERSON, SPACE, START) as writing:
            writing.add(new("two"))
            writing.change(record.id, "pinned", RecordPatch(pinned=True))
            writing.put_vectors("m", [(1, record.content_hash, b"v")])
            writing.put_meta("key", "value")
            raise RuntimeError("on the way")

    with pytest.raises(RuntimeError, match="on the way"):
        fail()
    with store.reading() as reading:
        assert check.projection(reading) == (record,)
        assert reading.position == 1
        assert reading.models() == ()
        assert reading.meta("key") is None
        assert check.verify(reading) == ()


def test_replaying_requests_with_keys_changes_nothing(store: Store) -> None:
    def play() -> None:
        with store.writing(AGENT, SPACE, START + 5) as writing:
            record = writing.keyed("store") or writing.add(new("a fact", key="store"))
            writing.outcome(record.id, True, key="first")
            writing.outcome(record.id, False, key="second")
            writing.repeat(record.id)
            writing.credit(record.id, "helpful")

    play()
    with store.reading() as reading:
        before, position = check.projection(reading), reading.position
    for _ in range(2):
        play()
    with store.reading() as reading:
        assert check.projection(reading) == before
        assert reading.position == position


def test_a_reader_sees_one_state_while_others_write(store: Store) -> None:
    put(store, "one")
    with store.reading() as reading:
        assert reading.position == 1
        put(store, "two")
        assert reading.position == 1
        assert len(check.projection(reading)) == 1
    with store.reading() as reading:
        assert reading.position == 2


def test_a_file_keeps_everything_over_restarts(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memory.db'}"
    store = Store.open(url)
    (record,) = put(store, "one")
    identity = store.identity
    store.close()
    store = Store.open(url)
    assert store.identity == identity
    with store.reading() as reading:
        assert reading.record(record.id) == record
        assert check.verify(reading) == ()
    store.close()
