"""Records: stored, changed, found by pages; the same in both databases."""

from __future__ import annotations

import math
from typing import Any

import pytest

from memory.api import KindCount, Order, SessionSummary
from memory.errors import FaultCode, MemoryFault
from memory.model import Kind, MemoryText, Origin, Record, State
from memory.store.database import Store
from memory.store.selection import Selection
from memory.store.writing import RecordPatch
from tests.memory.store.making import AGENT, OTHER, PERSON, SPACE, START, edit, new, put


def pages(store: Store, selection: Selection, order: Order, limit: int) -> list[Record]:
    found: list[Record] = []
    after: str | None = None
    while True:
        with store.reading() as reading:
            page, after = reading.find(selection, order=order, limit=limit, after=after)
        assert len(page) <= limit
        found += page
        if after is None:
            return found


def test_what_is_stored_comes_back_field_by_field(store: Store) -> None:
    with store.writing(AGENT, SPACE, START) as writing:
        added = writing.add(
            new(
                "Deploy with care",
                Kind.PROCEDURAL,
                summary="how to deploy",
                steps=("build", "ship \U0001f680"),
                preconditions=("green tests",),
                note="my remark",
                importance=0.25,
                confidence=0.75,
                category="work",
                domain="ops",
                pinned=True,
                flags=("instruction_like",),
                related_ids=("01A", "01B"),
                valid_from=START - 5,
                valid_to=START + 5,
                session_id="talk",
                turn_number=3,
                source_ref="file:1",
                state_reason="why",
            )
        )
    with store.reading() as reading:
        assert reading.record(added.id) == added
        assert reading.records([added.id, "unknown", added.id]) == (added, added)
        assert reading.by_nums([1, 2]) == {1: added}
        assert reading.position == 1
    assert added.num == 1
    assert added.version == 1
    assert added.state is State.ACTIVE
    assert added.text.steps == ("build", "ship \U0001f680")
    assert added.origin is Origin.AGENT
    assert (added.actor, added.session, added.trust) == ("claude-code", "session-1", 2)
    assert added.recorded_at == added.changed_at == added.state_at == START
    assert added.domain == "ops"
    assert added.pinned is True


def test_numbers_are_dense_and_ids_sort_by_time(store: Store) -> None:
    stored = put(store, "one", "two", "three")
    assert [record.num for record in stored] == [1, 2, 3]
    assert sorted(record.id for record in stored) == [record.id for record in stored]


@pytest.mark.parametrize("content", ["\ud800 half", "nul \0 inside", "x" * 300_000, "", "'\"; --"])
def test_any_text_comes_back_as_it_was(store: Store, content: str) -> None:
    (record,) = put(store, content)
    with store.reading() as reading:
        assert reading.record(record.id) == record
        assert record.text.content == content


def test_a_patch_changes_what_it_names_and_makes_a_new_version(store: Store) -> None:
    (record,) = put(store, "a fact", domain="ops", valid_to=START + 1)
    with store.writing(PERSON, SPACE, START + 50) as writing:
        patch = RecordPatch(
            state=State.ARCHIVED, state_reason="old", domain=None, pinned=True, flags=("x",)
        )
        changed = writing.change(record.id, "archived", patch, record.version)
        assert writing.record(record.id) == changed
    assert changed.version == 2
    assert (changed.state, changed.state_reason, changed.state_at) == (
        State.ARCHIVED,
        "old",
        START + 50,
    )
    assert (changed.domain, changed.pinned, changed.flags) == (None, True, ("x",))
    assert changed.valid_to == START + 1
    assert changed.changed_at == START + 50
    assert changed.recorded_at == record.recorded_at
    assert changed.text == record.text


def test_the_time_of_a_state_can_be_given_and_stays_when_the_state_stays(store: Store) -> None:
    (record,) = put(store, "a fact")
    with store.writing(PERSON, SPACE, START + 9) as writing:
        same = writing.change(record.id, "touched", RecordPatch(state=State.ACTIVE))
        assert same.state_at == START
        given = writing.change(
            record.id, "archived", RecordPatch(state=State.ARCHIVED, state_at=START + 3)
        )
        assert given.state_at == START + 3


def test_a_change_of_another_version_is_stale_and_changes_nothing(store: Store) -> None:
    (record,) = put(store, "a fact")

    def change_twice() -> None:
        with store.writing(AGENT, SPACE, START) as writing:
            writing.change(record.id, "edited", RecordPatch(pinned=True), 1)
            writing.change(record.id, "edited", RecordPatch(category="x"), 1)

    with pytest.raises(MemoryFault) as fault:
        change_twice()
    assert fault.value.code is FaultCode.STALE
    with store.reading() as reading:
        assert reading.record(record.id) == record
        assert reading.position == 1


def test_records_of_another_space_cannot_be_changed(store: Store) -> None:
    (record,) = put(store, "a fact", space="theirs")
    with store.writing(AGENT, SPACE, START) as writing:
        for act in (
            lambda: writing.change(record.id, "x", RecordPatch(pinned=True)),
            lambda: writing.repeat(record.id),
            lambda: writing.outcome(record.id, True),
            lambda: writing.credit(record.id, "x"),
            lambda: writing.expunge(record.id, "x"),
            lambda: writing.change("unknown", "x", RecordPatch(pinned=True)),
        ):
            with pytest.raises(MemoryFault) as fault:
                act()
            assert fault.value.code is FaultCode.NOT_FOUND
    with store.reading() as reading:
        assert reading.record(record.id) == record


def test_numbers_that_are_not_finite_are_refused(store: Store) -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(MemoryFault) as fault:
            put(store, "a fact", importance=value)
        assert fault.value.code is FaultCode.INVALID
    with store.reading() as reading:
        assert reading.position == 0


@pytest.mark.parametrize("values", [{"category": "\ud800"}, {"turn_number": 1 << 70}])
def test_values_that_no_database_holds_are_refused(store: Store, values: dict[str, Any]) -> None:
    with pytest.raises(MemoryFault) as fault:
        put(store, "a fact", **values)
    assert fault.value.code is FaultCode.INVALID
    with store.reading() as reading:
        assert reading.position == 0


def test_an_id_can_be_stored_once_only(store: Store) -> None:
    (record,) = put(store, "a fact")
    with pytest.raises(MemoryFault) as fault:
        put(store, "another", id=record.id)
    assert fault.value.code is FaultCode.INVALID
    with pytest.raises(MemoryFault):
        put(store, "from the future", recorded_at=START + 1)


def test_a_record_keeps_what_it_brings_from_elsewhere(store: Store) -> None:
    (record,) = put(
        store, "a fact", id="01" + "A" * 24, recorded_at=7, state_at=8, version=4, support=3,
        use_count=2, first_used=5, last_used=6, successes=1, failures=1, origin=Origin.IMPORT,
        actor="elsewhere", session="", state=State.ARCHIVED,
    )  # fmt: skip
    assert (record.recorded_at, record.state_at, record.version) == (7, 8, 4)
    assert (record.support, record.use_count, record.trust) == (3, 2, 1)
    assert (record.actor, record.session) == ("elsewhere", "")
    with store.reading() as reading:
        assert reading.record(record.id) == record


def test_a_key_leads_to_its_record_in_its_space(store: Store) -> None:
    (record,) = put(store, "a fact", key="k")
    put(store, "another", space="theirs", key="k")
    with store.writing(AGENT, SPACE, START) as writing:
        assert writing.keyed("k") == record
        assert writing.keyed("other") is None
    with pytest.raises(MemoryFault):
        put(store, "a third", key="k")


def test_an_edited_text_is_found_by_its_new_words_and_the_old_one_stays_readable(
    store: Store,
) -> None:
    (record,) = put(store, "the port is eighty")
    with store.writing(PERSON, SPACE, START + 1) as writing:
        edited = edit(writing, record, "the harbour is closed")
    assert edited.version == 2
    assert edited.text == MemoryText("the harbour is closed")
    assert edited.content_hash != record.content_hash
    with store.reading() as reading:
        assert reading.words(["harbour"], Selection(SPACE), 10)[0][0] == record.num
        assert reading.words(["eighty"], Selection(SPACE), 10) == []
        entries = reading.history(record.id)
        assert [entry.action for entry in entries] == ["edited", "stored"]


def test_links_lie_at_both_records_and_can_be_taken_back(store: Store) -> None:
    old, newer, newest = put(store, "old", "newer", "newest")
    with store.writing(PERSON, SPACE, START + 9) as writing:
        writing.link(old.id, newer.id, "supersedes")
        writing.link(old.id, newest.id)
        writing.link(old.id, newer.id)
        position = writing.position
        writing.unlink(newer.id, newest.id)
        assert writing.position == position
    with store.reading() as reading:
        found = reading.record(old.id)
        assert found is not None
        assert found.superseded_by == (newer.id, newest.id)
        assert found.version == 1
        assert reading.records([newer.id])[0].supersedes == (old.id,)
    with store.writing(PERSON, SPACE, START + 9) as writing:
        writing.unlink(old.id, newer.id)
        assert writing.records([old.id])[0].superseded_by == (newest.id,)
        assert writing.records([newer.id])[0].supersedes == ()
        with pytest.raises(MemoryFault):
            writing.link(old.id, newer.id, "likes")


def test_pages_have_every_record_once_in_order(store: Store) -> None:
    for place in range(7):
        turn = None if place % 3 == 0 else 10 - place
        put(store, f"text {place}", now=START + place // 2, session_id="s", turn_number=turn)
    with store.writing(AGENT, SPACE, START + 99) as writing:
        records, _ = writing.find(Selection(SPACE), order=Order.OLDEST)
        writing.change(records[2].id, "touched", RecordPatch(pinned=True))
    for limit in (1, 2, 3, 7, 50):
        selection = Selection(SPACE, session_id="s")
        newest = [record.num for record in pages(store, selection, Order.NEWEST, limit)]
        assert newest == [7, 6, 5, 4, 3, 2, 1]
        oldest = [record.num for record in pages(store, selection, Order.OLDEST, limit)]
        assert oldest == newest[::-1]
        by_turn = [record.num for record in pages(store, selection, Order.TURN, limit)]
        assert by_turn == [6, 5, 3, 2, 1, 4, 7]
        changed = [record.num for record in pages(store, selection, Order.CHANGED, limit)]
        assert changed == [3, 7, 6, 5, 4, 2, 1]


def test_a_page_goes_on_where_it_was_when_records_are_stored_meanwhile(store: Store) -> None:
    put(store, "one", "two", "three")
    with store.reading() as reading:
        page, after = reading.find(Selection(SPACE), limit=2)
    put(store, "four", now=START + 99_000_000)
    with store.reading() as reading:
        rest, end = reading.find(Selection(SPACE), limit=2, after=after)
    assert [record.num for record in (*page, *rest)] == [3, 2, 1]
    assert end is None


@pytest.mark.parametrize("cursor", ["x", "bm9wZQ", "W10", "WyJuZXdlc3QiLDFd", "é"])
def test_a_cursor_of_another_list_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(MemoryFault) as fault, store.reading() as reading:
        reading.find(Selection(SPACE), after=cursor)
    assert fault.value.code is FaultCode.INVALID


def test_a_selection_takes_what_meets_all_its_conditions(store: Store) -> None:
    put(store, "a")
    put(store, "b", kind=Kind.EPISODIC, session_id="s", now=START + 10)
    put(store, "c", state=State.ARCHIVED, valid_from=START, valid_to=START + 5, now=START + 20)
    put(store, "d", by=OTHER, valid_to=START + 9, now=START + 30)
    put(store, "e", by=PERSON, valid_from=START + 9, now=START + 40)
    put(store, "f", space="theirs")
    both = (State.ACTIVE, State.ARCHIVED)
    cases = {
        "abde": Selection(SPACE),
        "abcde": Selection(SPACE, states=()),
        "c": Selection(SPACE, states=(State.ARCHIVED,)),
        "b": Selection(SPACE, kinds=(Kind.EPISODIC,)),
        "abe": Selection(SPACE, states=both, valid_at=START + 9),
        "abcd": Selection(SPACE, states=both, valid_at=START + 4),
        "d": Selection(SPACE, actor="cursor"),
        "e": Selection(SPACE, origin=Origin.OPERATOR),
        "bd": Selection(SPACE, recorded_from=START + 10, recorded_to=START + 40),
        "f": Selection("theirs"),
        "": Selection("nobody's"),
    }
    with store.reading() as reading:
        everything = [
            record
            for space in (SPACE, "theirs")
            for record in reading.find(Selection(space, states=()), order=Order.OLDEST)[0]
        ]
        for expected, selection in cases.items():
            found, _ = reading.find(selection, order=Order.OLDEST)
            assert "".join(record.text.content for record in found) == expected
            taken = [record.text.content for record in everything if selection.takes(record)]
            assert "".join(sorted(taken)) == expected


def test_counts_spaces_and_sessions(store: Store) -> None:
    put(store, "a", "b", space="zoo")
    put(store, "c", state=State.ARCHIVED)
    put(store, "d", "e", kind=Kind.EPISODIC, session_id="one")
    put(store, "f", kind=Kind.EPISODIC, session_id="two", now=START + 99_000_000)
    put(store, "g", kind=Kind.EPISODIC, session_id="gone", state=State.ARCHIVED)
    with store.reading() as reading:
        assert reading.spaces() == (SPACE, "zoo")
        assert reading.count(SPACE) == (
            KindCount(Kind.EPISODIC, State.ACTIVE, 3),
            KindCount(Kind.EPISODIC, State.ARCHIVED, 1),
            KindCount(Kind.SEMANTIC, State.ARCHIVED, 1),
        )
        assert reading.count("nobody's") == ()
        assert reading.sessions(SPACE, 5) == (
            SessionSummary("two", START + 99_000_000, 1),
            SessionSummary("one", START + 1_000_000, 2),
        )
        assert len(reading.sessions(SPACE, 1)) == 1
        assert reading.living_count() == 7


def test_the_same_text_is_found_by_its_hash_the_active_one_first(store: Store) -> None:
    (archived,) = put(store, "Same thing", state=State.ARCHIVED)
    (quarantined,) = put(store, "same  THING", state=State.QUARANTINED)
    (active,) = put(store, "same thing")
    put(store, "same thing", space="theirs")
    put(store, "same thing", kind=Kind.EPISODIC)
    with store.reading() as reading:
        same = reading.same_text(SPACE, Kind.SEMANTIC, active.content_hash)
        assert same == (active, quarantined, archived)
        assert reading.same_text(SPACE, Kind.SEMANTIC, "0" * 64) == ()
        norm = reading.same_norm(SPACE, Kind.SEMANTIC, active.norm_hash, 2)
        assert norm == (archived, quarantined)


def test_records_are_found_by_a_prefix_of_their_id(store: Store) -> None:
    first, second = put(store, "one", "two")
    (theirs,) = put(store, "three", space="theirs")
    with store.reading() as reading:
        assert reading.by_prefix(SPACE, first.id) == (first,)
        assert reading.by_prefix(SPACE, first.id[:4], 5) == (first, second)
        assert reading.by_prefix(SPACE, theirs.id) == ()
        assert reading.by_prefix(SPACE, "") == ()


def test_columns_tell_what_changed_since_a_position(store: Store) -> None:
    one, two = put(store, "one", "two", valid_from=5, valid_to=6)
    with store.reading() as reading:
        first = reading.columns()
        position = reading.position
    assert [(row.num, row.id, row.state) for row in first] == [
        (1, one.id, State.ACTIVE),
        (2, two.id, State.ACTIVE),
    ]
    assert (first[0].valid_from, first[0].valid_to, first[0].kind) == (5, 6, Kind.SEMANTIC)
    with store.writing(PERSON, SPACE, START) as writing:
        writing.outcome(one.id, True)
        writing.change(one.id, "archived", RecordPatch(state=State.ARCHIVED))
    with store.reading() as reading:
        (changed,) = reading.columns(position)
        assert (changed.num, changed.state, changed.changed_seq) == (1, State.ARCHIVED, 4)


def test_the_position_of_a_spaces_records_is_that_of_their_last_change(store: Store) -> None:
    (record,) = put(store, "one")
    put(store, "two", space="theirs")
    with store.writing(PERSON, SPACE, START) as writing:
        assert writing.record_position(SPACE) == 1
        assert writing.record_position("nobody's") == 0
        writing.outcome(record.id, True)
        assert writing.record_position(SPACE) == 1
        writing.change(record.id, "pinned", RecordPatch(pinned=True))
        assert writing.record_position(SPACE) == writing.position == 4


def test_repeats_count_once_per_actor_and_session(store: Store) -> None:
    (record,) = put(store, "a fact")
    with store.writing(AGENT, SPACE, START + 1) as writing:
        assert writing.repeat(record.id) is False
    with store.writing(OTHER, SPACE, START + 2) as writing:
        assert writing.repeat(record.id, "said again") is True
        assert writing.repeat(record.id) is False
        found = writing.record(record.id)
    assert found is not None
    assert found.support == 2
    assert found.version == 1


def test_outcomes_count_once_per_key(store: Store) -> None:
    (record,) = put(store, "do it", kind=Kind.PROCEDURAL)
    with store.writing(AGENT, SPACE, START + 1) as writing:
        assert writing.outcome(record.id, True, key="k", note="went well")
        assert not writing.outcome(record.id, False, key="k")
        assert writing.outcome(record.id, False)
    with store.writing(AGENT, SPACE, START + 2) as writing:
        assert writing.outcome(record.id, False)
        found = writing.record(record.id)
        uses = writing.outcomes(record.id)
    assert found is not None
    assert (found.successes, found.failures, found.use_count, found.version) == (1, 2, 3, 1)
    assert (found.first_used, found.last_used) == (START + 1, START + 2)
    assert [(one.success, one.note) for one in uses] == [
        (False, ""),
        (False, ""),
        (True, "went well"),
    ]
    with store.reading() as reading:
        assert len(reading.outcomes(record.id, 1)) == 1


def test_credits_count_once_per_session_and_day(store: Store) -> None:
    (record,) = put(store, "a fact")
    day = 86_400 * 1_000_000
    with store.writing(AGENT, SPACE, START) as writing:
        assert writing.credit(record.id, "helpful")
        assert not writing.credit(record.id, "helpful")
    with store.writing(OTHER, SPACE, START + 1) as writing:
        assert writing.credit(record.id, "helpful")
    with store.writing(AGENT, SPACE, START + day - 1) as writing:
        assert not writing.credit(record.id, "helpful")
    with store.writing(AGENT, SPACE, START + day) as writing:
        assert writing.credit(record.id, "helpful")
        found = writing.record(record.id)
    assert found is not None
    assert (found.use_count, found.version) == (3, 1)


def test_small_values_are_kept(store: Store) -> None:
    store.put_meta("identity", "mine")
    with store.writing(AGENT, SPACE, START) as writing:
        writing.put_meta("b", "1")
        writing.put_meta("b", "2")
    with store.reading() as reading:
        assert reading.meta("identity") == "mine"
        assert reading.meta("b") == "2"
        assert reading.meta("c") is None
        assert reading.identity == store.identity
    assert len(store.identity) == 32
