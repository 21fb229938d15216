"""After `expunge` and `purge_files` no byte of the text is left."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.errors import FaultCode, MemoryFault
from memory.model import Edge, PairClass, ProposalState, State
from memory.store import check
from memory.store.database import Store
from memory.store.selection import Selection
from memory.store.sqlite import SqliteBackend
from memory.store.writing import RecordPatch
from memory.text import content_hash, norm_hash
from tests.memory.store.making import AGENT, PERSON, SPACE, START, edit, new, proposal, put

SECRETS = (
    "zanzibarquux",
    "wobblyknoll",
    "frumiousglade",
    "quibblestone",
    "slithytove",
    "borogovian",
)


def tell_secrets(store: Store) -> str:
    """A record whose secrets went everywhere; its id."""
    put(store, *(f"common words {place}" for place in range(60)))
    with store.writing(AGENT, SPACE, START) as writing:
        record = writing.add(
            new("the zanzibarquux plan", summary="wobblyknoll", steps=("frumiousglade",))
        )
        other = writing.add(new("another zanzib plan"))
        writing.put_vectors("m", [(record.num, record.content_hash, b"vector-bytes-of-it")])
        writing.put_edges([Edge(record.num, other.num, 0.9, PairClass.VALUE, 0.9, "m")])
        writing.outcome(record.id, True, note="quibblestone went well")
        writing.add_proposal(proposal("open", other, record))
        writing.add_proposal(proposal("done", other, record, state=ProposalState.REJECTED))
        writing.dismiss(record.id, other.id)
    with store.writing(PERSON, SPACE, START + 1) as writing:
        edited = edit(writing, writing.records([record.id])[0], "now slithytove instead")
        text = type(edited.text)("now slithytove instead", note="borogovian remark")
        writing.edit_text(record.id, text, content_hash(text), norm_hash(text), edited.version)
        writing.link(record.id, other.id)
        writing.put_vectors("m", [(record.num, content_hash(text), b"vector-bytes-of-it")])
        writing.mark_stale(SPACE, [record.id])
    return record.id


def traces(folder: Path, *needles: bytes) -> list[str]:
    """Files that hold any of the needles, in any case."""
    return [
        f"{path.name}: {needle.decode()}"
        for path in folder.rglob("*")
        if path.is_file()
        for needle in needles
        if needle in path.read_bytes().lower()
    ]


NEEDLES = (*(word[:9].encode() for word in SECRETS), b"vector-bytes-of-it")


def test_no_byte_of_an_erased_text_is_in_any_file(folder: Path) -> None:
    store = Store.open(f"sqlite:///{folder}/memory.db")
    id = tell_secrets(store)
    with store.reading() as reading:
        record = reading.records([id])[0]
    hashes = (record.content_hash.encode(), record.norm_hash.encode())
    assert len(traces(folder, *NEEDLES)) >= len(NEEDLES)
    with store.writing(PERSON, SPACE, START + 2) as writing:
        receipt = writing.expunge(id, "asked for it")
    assert store.purge_due
    assert store.purge_files() == ()
    assert not store.purge_due
    assert traces(folder, *NEEDLES, *hashes) == []
    assert receipt.id == id
    assert "Texts: 3 versions." in receipt.places
    assert "Evidence of proposals: 2." in receipt.places
    with store.reading() as reading:
        assert check.verify(reading) == ()
    store.close()
    assert traces(folder, *NEEDLES, *hashes) == []


def test_an_erased_record_leaves_a_tombstone_and_links(store: Store) -> None:
    id = tell_secrets(store)
    with store.reading() as reading:
        before = reading.records([id])[0]
    with store.writing(PERSON, SPACE, START + 2) as writing:
        writing.expunge(id, "asked for it")
    store.purge_files()
    with store.reading() as reading:
        after = reading.records([id])[0]
        assert (after.state, after.state_reason) == (State.EXPUNGED, "asked for it")
        assert after.text.content == after.text.summary == after.text.note == ""
        assert after.text.steps == ()
        assert after.content_hash not in ("", before.content_hash)
        assert after.norm_hash == ""
        assert after.version == before.version + 1
        assert after.superseded_by == before.superseded_by
        (other,) = reading.records(before.superseded_by)
        assert other.supersedes == (id,)
        assert reading.same_text(SPACE, before.kind, before.content_hash) == ()
        everything = Selection(SPACE, states=())
        assert reading.words(["slithytove", "zanzibarquux"], everything, 9) == []
        assert len(reading.words(["common"], everything, 99)) == 60
        assert reading.edges_of(before.num) == []
        assert reading.vectors_of("m", [before.num]) == {}
        assert [one.note for one in reading.outcomes(id)] == [""]
        assert not reading.dismissed(id, other.id)
        known = reading.known_record(id, START + 61_000_000)
        assert known is not None
        assert known.text.content == ""
        assert check.verify(reading) == ()
        by_id = {one.id: one for one in reading.proposals_of(id)}
        assert by_id["open"].state is ProposalState.STALE
        assert by_id["done"].state is ProposalState.REJECTED
        assert all(not one.evidence.older_words for one in by_id.values())
        assert reading.record(id) == check.rebuild(reading)[before.num - 1]


def test_nothing_brings_an_erased_record_back(store: Store) -> None:
    (record,) = put(store, "a fact")
    with store.writing(PERSON, SPACE, START) as writing:
        writing.expunge(record.id, "asked")
        for act in (
            lambda: writing.expunge(record.id, "again"),
            lambda: writing.change(record.id, "restored", RecordPatch(state=State.ACTIVE)),
            lambda: edit(writing, writing.records([record.id])[0], "back"),
        ):
            with pytest.raises(MemoryFault) as fault:
                act()
            assert fault.value.code is FaultCode.REFUSED
    (other,) = put(store, "another")
    with pytest.raises(MemoryFault), store.writing(PERSON, SPACE, START) as writing:
        writing.change(other.id, "expunged", RecordPatch(state=State.EXPUNGED))


def test_files_that_could_not_be_cleared_are_cleared_when_the_store_opens_again(
    folder: Path,
) -> None:
    url = f"sqlite:///{folder}/memory.db"
    store = Store.open(url)
    id = tell_secrets(store)
    with store.reading() as reading:
        assert reading.position
        with store.writing(PERSON, SPACE, START + 2) as writing:
            writing.expunge(id, "asked")
        with impatient(store):
            (problem,) = store.purge_files()
    assert "memory.db-wal" in problem
    assert store.purge_due
    store.close()
    store = Store.open(url)
    assert not store.purge_due
    assert traces(folder, *NEEDLES) == []
    store.close()


@contextmanager
def impatient(store: Store) -> Generator[None]:
    """Connections that are opened inside do not wait for readers."""
    from sqlalchemy import event

    backend = store.backend
    assert isinstance(backend, SqliteBackend)

    def no_wait(connection: object, *_: object) -> None:
        connection.execute("PRAGMA busy_timeout=0")  # type: ignore[attr-defined]

    event.listen(backend.engine, "checkout", no_wait)
    yield
    event.remove(backend.engine, "checkout", no_wait)
