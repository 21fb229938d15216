"""Filters see what their transaction sees, and nothing of one that was rolled back."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memory.columns import Columns
from memory.model import State
from memory.store.database import Store
from memory.store.reading import Reading
from memory.store.selection import Selection
from memory.store.writing import RecordPatch, Writing
from tests.memory.store.making import AGENT, SPACE, START, new, put

STATES = (State.ACTIVE, State.ARCHIVED)


class GivenUpError(Exception):
    """Rolls a transaction back."""


@contextmanager
def given_up(store: Store, space: str = SPACE) -> Generator[Writing]:
    """A transaction that is rolled back in the end."""
    with suppress(GivenUpError), store.writing(AGENT, space, START) as writing:
        yield writing
        raise GivenUpError


@pytest.fixture
def store() -> Generator[Store]:
    with tempfile.TemporaryDirectory(prefix="mms-") as folder:
        store = Store.open(f"sqlite:///{Path(folder) / 'memory.db'}")
        yield store
        store.close()


def allowed(
    columns: Columns, reading: Reading, space: str = SPACE, state: State = State.ACTIVE
) -> list[int]:
    columns.refresh(reading)
    found = columns.mask(Selection(space, states=(state,)))
    return [num for num, passes in enumerate(found) if passes]


def test_a_record_that_was_rolled_back_lends_its_number_but_not_its_space(store: Store) -> None:
    columns = Columns()
    (first,) = put(store, "a fact")
    with given_up(store, "secret") as writing:
        added = writing.add(new("given up"))
        assert allowed(columns, writing, "secret") == [added.num]
    (second,) = put(store, "another fact")
    assert second.num == added.num
    with store.reading() as reading:
        assert allowed(columns, reading, "secret") == []
        assert allowed(columns, reading) == [first.num, second.num]


def test_a_record_that_was_rolled_back_is_nowhere(store: Store) -> None:
    columns = Columns()
    with given_up(store) as writing:
        added = writing.add(new("given up"))
        assert allowed(columns, writing) == [added.num]
    with store.reading() as reading:
        assert allowed(columns, reading) == []


def test_a_change_that_was_rolled_back_leaves_everything_as_it_was(store: Store) -> None:
    columns = Columns()
    kept, changed = put(store, "a fact", "another fact")
    with store.reading() as reading:
        assert allowed(columns, reading) == [kept.num, changed.num]
    with given_up(store) as writing:
        writing.change(changed.id, "archived", RecordPatch(state=State.ARCHIVED))
        assert allowed(columns, writing) == [kept.num]
        assert allowed(columns, writing, state=State.ARCHIVED) == [changed.num]
    with store.reading() as reading:
        assert allowed(columns, reading) == [kept.num, changed.num]
        assert allowed(columns, reading, state=State.ARCHIVED) == []


def test_what_was_committed_stays_and_is_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = Columns()
    read: list[int] = []
    whole = Reading.columns

    def noted(self: Reading, since_seq: int = 0) -> object:
        found = whole(self, since_seq)
        read.append(len(found))
        return found

    monkeypatch.setattr(Reading, "columns", noted)
    for number in range(5):
        with store.writing(AGENT, SPACE, START + number) as writing:
            writing.add(new(f"fact {number}"))
            assert len(allowed(columns, writing)) == number + 1
    with store.reading() as reading:
        assert len(allowed(columns, reading)) == 5
        assert len(allowed(columns, reading)) == 5
    assert read == [1, 2, 2, 2, 2, 1, 0]
