"""What happened, and what the memory knew at a time."""

from __future__ import annotations

from memory.api import Order
from memory.model import MemoryText, Record, State
from memory.store.database import Store
from memory.store.selection import Selection
from memory.store.writing import RecordPatch
from tests.memory.store.making import AGENT, PERSON, SPACE, START, edit, put


def story(store: Store) -> list[Record]:
    """Stored at +0, +10, +20; at +30 the first is superseded by the third, at +40 the second is edited."""
    first, *_ = put(store, "apples are red")
    (second,) = put(store, "pears are green", now=START + 10)
    (third,) = put(store, "apples are yellow", now=START + 20)
    put(store, "elsewhere", space="theirs", now=START + 25)
    with store.writing(PERSON, SPACE, START + 30) as writing:
        patch = RecordPatch(state=State.SUPERSEDED, valid_to=START + 20)
        writing.change(first.id, "superseded", patch)
        writing.link(first.id, third.id)
    with store.writing(PERSON, SPACE, START + 40) as writing:
        edit(writing, second, "pears are brown")
        writing.outcome(third.id, True)
    return [first, second, third]


def texts(store: Store, at: int, **conditions: object) -> list[str]:
    selection = Selection(SPACE, known_at=START + at, **conditions)  # type: ignore[arg-type]
    with store.reading() as reading:
        found, _ = reading.find(selection, order=Order.OLDEST)
    return [record.text.content for record in found]


def test_records_are_as_they_were_known(store: Store) -> None:
    first, second, third = story(store)
    assert texts(store, -1) == []
    assert texts(store, 0) == ["apples are red"]
    assert texts(store, 29) == ["apples are red", "pears are green", "apples are yellow"]
    assert texts(store, 30) == ["pears are green", "apples are yellow"]
    assert texts(store, 40) == ["pears are brown", "apples are yellow"]
    assert texts(store, 30, states=(State.SUPERSEDED,)) == ["apples are red"]
    assert texts(store, 29, valid_at=START + 25) == texts(store, 29)
    with store.reading() as reading:
        assert reading.known_record(first.id, START + 29) == first
        assert reading.known_record(first.id, START + 99) == reading.record(first.id)
        assert reading.known_record(second.id, START + 39) == second
        assert reading.known_record(third.id, START + 19) is None
        assert reading.known_record("unknown", START) is None
        before = reading.known_record(third.id, START + 39)
        assert before is not None
        assert (before.use_count, before.supersedes) == (0, (first.id,))


def test_the_past_comes_in_pages_and_orders_like_the_present(store: Store) -> None:
    story(store)
    for order in Order:
        for limit in (1, 2, 5):
            found: list[Record] = []
            after: str | None = ""
            while after is not None:
                with store.reading() as reading:
                    known = Selection(SPACE, states=(), known_at=START + 99)
                    page, after = reading.find(known, order=order, limit=limit, after=after)
                    found += page
            with store.reading() as reading:
                now, _ = reading.find(Selection(SPACE, states=()), order=order)
            assert tuple(found) == now


def test_states_and_validity_as_they_were_known(store: Store) -> None:
    story(store)
    with store.reading() as reading:
        assert reading.known_states(SPACE, START + 15) == {
            1: (State.ACTIVE, None, None),
            2: (State.ACTIVE, None, None),
        }
        assert reading.known_states(SPACE, START + 30)[1] == (State.SUPERSEDED, None, START + 20)
        assert reading.known_states("theirs", START + 30) == {4: (State.ACTIVE, None, None)}


def test_words_find_what_was_known_then(store: Store) -> None:
    story(store)
    with store.reading() as reading:
        hits = reading.words(["apples"], Selection(SPACE, known_at=START + 29), 10)
        assert {num for num, _ in hits} == {1, 3}
        hits = reading.words(["apples"], Selection(SPACE, known_at=START + 10), 10)
        assert [num for num, _ in hits] == [1]
        hits = reading.words(["apples"], Selection(SPACE, known_at=START + 30), 10)
        assert [num for num, _ in hits] == [3]


def test_history_tells_a_records_changes_newest_first(store: Store) -> None:
    first, second, _ = story(store)
    with store.reading() as reading:
        entries = reading.history(first.id)
        assert [entry.action for entry in entries] == ["linked", "superseded", "stored"]
        assert [entry.version for entry in entries] == [0, 2, 1]
        assert [entry.action for entry in reading.history(first.id, 1)] == ["linked"]
        earlier = reading.history(first.id, 5, before_seq=entries[0].seq)
        assert [entry.action for entry in earlier] == ["superseded", "stored"]
        assert entries[1].at == START + 30
        assert entries[1].origin is PERSON.origin
        edited = reading.history(second.id)[0]
        assert "pears" not in edited.patch


def test_the_journal_is_read_by_numbers_and_by_space(store: Store) -> None:
    story(store)
    with store.reading() as reading:
        everything = reading.journal()
        assert [entry.seq for entry in everything] == list(range(1, reading.position + 1))
        assert reading.journal(2, 2) == everything[2:4]
        assert tuple(reading.whole_journal()) == everything
        newest = reading.last_entries(SPACE, 3)
        assert [entry.seq for entry in newest] == [8, 7, 6]
        assert [entry.space for entry in reading.last_entries("theirs", 3)] == ["theirs"]


def test_old_texts_stay_readable_by_the_digest_in_the_journal(store: Store) -> None:
    import json

    _, second, _ = story(store)
    with store.reading() as reading:
        digests = [json.loads(entry.patch)["digest"] for entry in reading.history(second.id)]
        assert [reading.text_at(second.id, digest) for digest in digests] == [
            MemoryText("pears are brown"),
            MemoryText("pears are green"),
        ]
        assert reading.text_at(second.id, "0" * 64) is None


def test_a_clock_that_goes_back_never_reorders_the_journal(store: Store) -> None:
    put(store, "later", now=START + 1_000)
    (record,) = put(store, "earlier", now=START)
    assert record.recorded_at == START + 1_000
    with store.writing(AGENT, SPACE, 0) as writing:
        assert writing.at == START + 1_000
        changed = writing.change(record.id, "archived", RecordPatch(state=State.ARCHIVED))
        writing.outcome(record.id, True)
    assert changed.changed_at == changed.state_at == START + 1_000
    with store.reading() as reading:
        times = [entry.at for entry in reading.journal()]
    assert times == sorted(times)
