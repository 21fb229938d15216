"""Vectors and what waits for one."""

from __future__ import annotations

from dataclasses import replace

from memory.model import State
from memory.store.database import Store
from memory.store.reading import ModelCount
from memory.store.writing import RecordPatch
from tests.memory.store.making import AGENT, PERSON, SPACE, START, edit, new, put


def pending(store: Store, model: str = "m", limit: int = 100) -> list[int]:
    with store.reading() as reading:
        found = reading.pending(model, limit)
        assert limit < 100 or reading.pending_count(model) == len(found)
    return [one.num for one in found]


def embed(store: Store, model: str, *nums: int) -> int:
    with store.writing(AGENT, SPACE, START) as writing:
        rows = [(one.num, one.digest, f"{one.num}".encode()) for one in writing.pending(model, 99)]
        return writing.put_vectors(model, [row for row in rows if row[0] in nums])


def test_every_text_is_pending_until_its_vector_is_put(store: Store) -> None:
    put(store, "one", "two", "three")
    assert pending(store) == [1, 2, 3]
    assert embed(store, "m", 1, 3) == 2
    assert pending(store) == [2]
    put(store, "four")
    assert pending(store) == [2, 4]
    assert pending(store, limit=1) == [2]
    assert pending(store, "other") == [1, 2, 3, 4]
    with store.reading() as reading:
        assert reading.pending("m", 1)[0].text.content == "two"
        assert reading.vectors_of("m", [1, 2, 3]) == {1: b"1", 3: b"3"}
        assert reading.vectors_of("other", [1]) == {}
        assert reading.models() == (ModelCount("m", 2),)


def test_a_vector_can_be_put_with_the_text_that_it_belongs_to(store: Store) -> None:
    put(store, "one")
    embed(store, "m", 1)
    with store.writing(AGENT, SPACE, START) as writing:
        record = writing.add(new("two"))
        assert writing.put_vectors("m", [(record.num, record.content_hash, b"v")]) == 1
    assert pending(store) == []


def test_a_vector_of_a_text_that_was_edited_meanwhile_is_left_out(store: Store) -> None:
    (record,) = put(store, "one")
    with store.reading() as reading:
        (waiting,) = reading.pending("m", 9)
    with store.writing(PERSON, SPACE, START) as writing:
        edit(writing, record, "another")
    with store.writing(AGENT, SPACE, START) as writing:
        assert writing.put_vectors("m", [(waiting.num, waiting.digest, b"old")]) == 0
        assert writing.put_vectors("m", [(99, waiting.digest, b"nobody's")]) == 0
        assert writing.vectors_of("m", [1]) == {}
    assert pending(store) == [1]


def test_an_edited_text_waits_for_a_new_vector_but_a_note_does_not(store: Store) -> None:
    (record,) = put(store, "one")
    embed(store, "m", 1)
    embed(store, "n", 1)
    with store.writing(PERSON, SPACE, START) as writing:
        noted = writing.edit_text(
            record.id,
            replace(record.text, note="mine"),
            record.content_hash,
            record.norm_hash,
            record.version,
        )
        assert writing.pending("m", 9) == []
        assert writing.vector_count("m") == 1
        edit(writing, noted, "another")
        assert writing.vectors_of("m", [1]) == {}
    assert pending(store, "m") == [1]
    assert pending(store, "n") == [1]


def test_vectors_are_read_on_from_a_number_and_a_replaced_one_comes_again(store: Store) -> None:
    one, *_ = put(store, "one", "two", "three")
    embed(store, "m", 1, 2, 3)
    with store.reading() as reading:
        rows = reading.vectors("m", 0, 2)
        assert [row.num for row in rows] == [1, 2]
        assert [row.num for row in reading.vectors("m", rows[-1].seq, 9)] == [3]
        last = reading.vectors("m", 0, 9)[-1].seq
        assert reading.vector_count("m") == 3
        assert reading.vector_count("m", up_to=rows[-1].seq) == 2
        assert reading.vectors("other", 0, 9) == []
    with store.writing(PERSON, SPACE, START) as writing:
        edit(writing, one, "another")
    embed(store, "m", 1)
    with store.reading() as reading:
        assert [row.num for row in reading.vectors("m", last, 9)] == [1]


def test_numbers_of_vectors_are_not_given_twice(store: Store) -> None:
    put(store, "one")
    embed(store, "m", 1)
    with store.writing(AGENT, SPACE, START) as writing:
        writing.drop_model("m")
        assert writing.models() == ()
        assert writing.vector_count("m") == 0
    assert pending(store) == [1]
    embed(store, "m", 1)
    with store.reading() as reading:
        assert [row.seq for row in reading.vectors("m", 0, 9)] == [2]


def test_vectors_of_archived_records_are_kept_and_made(store: Store) -> None:
    (record,) = put(store, "one")
    with store.writing(PERSON, SPACE, START) as writing:
        writing.change(record.id, "archived", RecordPatch(state=State.ARCHIVED))
    assert pending(store) == [1]
    embed(store, "m", 1)
    with store.reading() as reading:
        assert reading.vector_count("m") == 1


def test_what_cannot_be_embedded_can_be_taken_off(store: Store) -> None:
    put(store, "one", "two")
    with store.writing(AGENT, SPACE, START) as writing:
        writing.clear_outbox("m", [1])
    assert pending(store) == [2]
    with store.writing(AGENT, SPACE, START) as writing:
        writing.delete_vectors(2)
    assert pending(store) == []


def test_an_expunged_record_is_not_pending(store: Store) -> None:
    one, two = put(store, "one", "two")
    embed(store, "m", 1)
    with store.writing(PERSON, SPACE, START) as writing:
        writing.expunge(one.id, "asked")
        writing.expunge(two.id, "asked")
        assert writing.vectors("m", 0, 9) == []
    assert pending(store) == []
    assert pending(store, "other") == []
