"""An export taken into an empty memory gives the same memory."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.api import (
    AddRecord,
    ArchiveRecord,
    Decide,
    Decision,
    EditRecord,
    Export,
    ExpungeRecord,
    GetRecord,
    Import,
    ImportResult,
    ListProposals,
    ListRuns,
    PreviewForgetting,
    RecordOutcome,
    Resolve,
    RestoreRecord,
    RunForgetting,
    Search,
    UndoRun,
    Verify,
)
from memory.core import Core
from memory.errors import FaultCode, MemoryFault
from memory.exchange import export_page, give
from memory.model import (
    DAY,
    Exemptions,
    ForgettingPolicy,
    Instant,
    Kind,
    MemoryText,
    Plan,
    Record,
    State,
)
from memory.plan import make_plan
from memory.store.check import projection
from tests.memory.opening import AGENT, OTHER, PERSON, Opened, opened


def core_of(memory: Opened) -> Core:
    """The parts of an open memory."""
    return memory.service._core  # pyright: ignore[reportPrivateUsage]


def exported(memory: Opened, *, limit: int = 500, space: str = "default") -> list[str]:
    lines: list[str] = []
    after = ""
    while True:
        page = memory.ask(Export(space, limit, after), PERSON)
        lines += page.lines
        if not page.next:
            return lines
        assert page.lines
        after = page.next


def imported(
    memory: Opened, lines: list[str], *, page: int = 500, space: str = "default"
) -> ImportResult:
    added = repeated = 0
    refused: tuple[str, ...] = ()
    for start in range(0, len(lines), page):
        result = memory.ask(Import(tuple(lines[start : start + page]), space), PERSON)
        added += result.added
        repeated += result.repeated
        refused += result.refused
    return ImportResult(added, repeated, refused)


def records_of(memory: Opened) -> list[Record]:
    """All records, without what each store counts for itself."""
    with core_of(memory).store.reading() as reading:
        return [replace(one, changed_at=0) for one in projection(reading)]


def plan_of(memory: Opened, now: Instant) -> Plan:
    with core_of(memory).store.reading() as reading:
        return make_plan(
            reading.plan_rows("default", now),
            reading.edges("default"),
            ForgettingPolicy(),
            Exemptions(),
            space="default",
            position=1,
            now=now,
            archived_lately=reading.archived_since("default", now - DAY),
            kept_apart=reading.dismissed_pairs("default"),
        )


def fill(memory: Opened) -> None:
    """One of everything."""
    old = memory.fact("The staging database listens on port 5432.").record
    new = memory.fact("The staging database listens on port 6432.").record
    memory.ask(Resolve(new.id, old.id), PERSON)
    memory.fact("The staging database listens on port 6432.", OTHER)
    for text in ("We deploy on Tuesdays.", "we deploy on tuesdays"):
        memory.fact(text)
    one = memory.fact("The office is open until 18:00.")
    other = memory.fact("The office is open until 19:00.")
    assert other.contradictions
    memory.ask(
        Decide(other.contradictions[0].proposal_id, Decision.KEEP_BOTH, reason="two offices"),
        PERSON,
    )
    memory.ask(ArchiveRecord(one.record.id, reason="moved"), PERSON)
    how = memory.procedure("Release the app", "Tag it.", "Push the tag.").record
    memory.ask(RecordOutcome(how.id, True, key="k1", note="went well"))
    memory.ask(RecordOutcome(how.id, False))
    memory.episode("We talked about ports.", "s1", 1)
    gone = memory.fact("A thing to erase.").record
    memory.ask(ExpungeRecord(gone.id, "asked for"), PERSON)
    edited = memory.fact("Lunch is at noon.").record
    memory.ask(EditRecord(edited.id, edited.version, text=MemoryText("Lunch is at one.")), PERSON)
    memory.wait(40)
    memory.ask(PreviewForgetting(), PERSON)
    assert memory.ask(RunForgetting(), PERSON).run is not None


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path / "source") as memory:
        yield memory


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Opened]:
    with opened(tmp_path / "target") as memory:
        memory.wait(100)
        yield memory


def test_everything_arrives_and_the_same_would_be_forgotten(source: Opened, target: Opened) -> None:
    fill(source)
    lines = exported(source)
    result = imported(target, lines)
    assert result.refused == ()
    assert result.added == len(lines) - 1
    assert records_of(target) == records_of(source)
    for days in (0.0, 10.0, 200.0):
        now = target.now + round(days * DAY)
        assert plan_of(target, now).hash == plan_of(source, now).hash
    assert plan_of(target, target.now + 200 * DAY).decisions
    assert target.ask(Verify(), PERSON).problems == ()
    everything = ListProposals(states=(), limit=500)
    mine, theirs = (one.ask(everything, PERSON) for one in (source, target))
    assert {one.proposal for one in mine.items} == {one.proposal for one in theirs.items}
    assert target.ask(ListRuns(), PERSON) == source.ask(ListRuns(), PERSON)
    assert [_bare(line) for line in exported(target)] == [_bare(line) for line in lines]


def _bare(line: str) -> Any:
    """A line without what the import itself is: the last change and the first entry."""
    value: Any = json.loads(line)
    if "record" in value:
        del value["record"]["changed_at"]
        for step in value["path"][:1]:
            del step["action"]
    return value


def test_small_pages_give_the_same_lines(source: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(source)
    whole = exported(source)
    assert exported(source, limit=1) == whole
    assert exported(source, limit=3) == whole
    monkeypatch.setattr(give, "PAGE_SIZE", 10)
    assert exported(source) == whole


def texts_of(memory: Opened, id: str) -> list[str]:
    """All texts that a record ever had, newest first."""
    with core_of(memory).store.reading() as reading:
        digests = [json.loads(one.patch).get("digest") for one in reading.history(id)]
        found = [reading.text_at(id, digest) for digest in digests if digest]
    return [one.content for one in found if one is not None]


def test_earlier_texts_of_a_memory_arrive_and_are_erased_with_it(
    source: Opened, target: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = source.fact("Lunch is at noon.").record
    for text in ("Lunch is at one.", "Lunch is at noon.", "Lunch is at two."):
        record = source.ask(EditRecord(record.id, record.version, text=MemoryText(text)), PERSON)
        record = source.ask(ArchiveRecord(record.id, reason="x"), PERSON)
        record = source.ask(RestoreRecord(record.id), PERSON)
    lines = exported(source)
    assert imported(target, lines).refused == ()
    assert texts_of(target, record.id) == texts_of(source, record.id)
    assert len(texts_of(target, record.id)) == 4
    assert records_of(target) == records_of(source)
    target.ask(ExpungeRecord(record.id, "asked for"), PERSON)
    assert texts_of(target, record.id) == []
    assert target.ask(Verify(), PERSON).problems == ()
    monkeypatch.setattr(give, "MOST_VERSIONS", 20)
    assert "noon" not in "".join(exported(source))
    assert '"restored"' in "".join(exported(source))


def test_the_same_file_again_adds_nothing(source: Opened, target: Opened) -> None:
    fill(source)
    lines = exported(source)
    imported(target, lines, page=4)
    before = records_of(target), target.ask(Verify(), PERSON).entries
    again = imported(target, lines, page=4)
    assert (again.added, again.repeated, again.refused) == (0, len(lines) - 1, ())
    assert (records_of(target), target.ask(Verify(), PERSON).entries) == before


def test_decisions_can_be_undone_after_the_move(source: Opened, target: Opened) -> None:
    fill(source)
    imported(target, exported(source))
    (run,) = target.ask(ListRuns(), PERSON).runs
    mine, theirs = (one.ask(UndoRun(run.id), PERSON) for one in (source, target))
    assert theirs.restored == mine.restored != ()
    assert theirs.conflicts == mine.conflicts == ()
    (old,) = (one for one in records_of(target) if "port 5432" in one.text.content)
    assert old.state is State.SUPERSEDED
    assert old.valid_to is not None
    restored = target.ask(RestoreRecord(old.id), PERSON)
    assert (restored.state, restored.valid_to) == (State.ACTIVE, None)
    assert target.ask(Verify(), PERSON).problems == ()


def test_the_journal_of_the_new_memory_says_that_it_was_imported(
    source: Opened, target: Opened
) -> None:
    id = source.fact("The build takes four minutes.").record.id
    imported(target, exported(source))
    detail = target.ask(GetRecord(id), PERSON)
    assert [(one.action, one.actor) for one in detail.history] == [("imported", PERSON.name)]
    assert detail.record.actor == AGENT.name
    assert target.ask(Search("how long does the build take"), PERSON).hits[0].record.id == id


def test_what_counts_once_counts_once_in_the_new_memory_too(source: Opened, target: Opened) -> None:
    stored = AddRecord(Kind.SEMANTIC, MemoryText("The build takes four minutes."), key="once")
    id = source.ask(stored).record.id
    how = source.procedure("Release the app", "Tag it.").record
    with core_of(source).store.writing(AGENT, "default", source.now) as writing:
        assert writing.credit(id, "helpful")
    source.ask(RecordOutcome(how.id, True, key="k1"))
    imported(target, exported(source))
    again = target.ask(stored)
    assert (again.repeated, again.record.id, again.record.support) == (True, id, 1)
    assert target.ask(RecordOutcome(how.id, True, key="k1")).successes == 1
    assert [_bare(line) for line in exported(target)] == [_bare(line) for line in exported(source)]


def test_a_move_into_another_space_of_the_same_memory_is_refused_line_by_line(
    source: Opened,
) -> None:
    source.fact("The build takes four minutes.")
    result = imported(source, exported(source), space="other")
    assert (result.added, result.repeated) == (0, 0)
    assert len(result.refused) == 1
    assert result.refused[0].startswith("line 2: ")
    assert "in space 'default' already" in result.refused[0]


def test_spaces_are_exported_alone(source: Opened) -> None:
    source.fact("Here.", space="default")
    source.fact("There.", space="other")
    assert "There." not in "\n".join(exported(source))
    assert "There." in "\n".join(exported(source, space="other"))


def test_only_the_person_imports(target: Opened) -> None:
    with pytest.raises(MemoryFault) as caught:
        target.ask(Import(()), AGENT)
    assert caught.value.code is FaultCode.NEEDS_OPERATOR


def test_a_foreign_cursor_is_refused(source: Opened) -> None:
    for cursor in ("x", "[]", "[9]", '[0,["a"]]', "[0,[99999999999999999999]]", "\ud800"):
        with pytest.raises(MemoryFault) as caught:
            export_page(core_of(source), Export(after=cursor))
        assert caught.value.code is FaultCode.INVALID


TEXTS = st.sampled_from(
    [
        "The port of {} is {}.",
        "{} is run by team {}",
        "We never restart {} before {} o'clock",
        "注文 {} は {} に届く",
    ]
)
FACTS = st.builds(str.format, TEXTS, st.sampled_from(["web", "mail"]), st.integers(1, 3))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fact"), FACTS),
        st.tuples(st.just("again"), FACTS),
        st.tuples(
            st.sampled_from(["archive", "expunge", "approve", "keep_both", "pin"]),
            st.integers(0, 9),
        ),
        st.tuples(st.sampled_from(["wait", "forget"]), st.integers(1, 60)),
    ),
    max_size=14,
)


@given(STEPS)
@hypothesis_settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_was_done_the_memory_that_arrives_is_the_same(
    steps: list[tuple[str, Any]],
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Path(folder) / "a") as mine,
        opened(Path(folder) / "b") as theirs,
    ):
        for what, value in steps:
            # A step that is refused leaves the memory as it was.
            with contextlib.suppress(MemoryFault):
                do(mine, what, value)
        theirs.now = mine.now + DAY
        assert imported(theirs, exported(mine), page=3).refused == ()
        assert records_of(theirs) == records_of(mine)
        assert theirs.ask(Verify(), PERSON).problems == ()
        later = theirs.now + 90 * DAY
        assert plan_of(theirs, later).hash == plan_of(mine, later).hash


def do(memory: Opened, what: str, value: Any) -> None:
    """One step of a memory's life."""
    records = records_of(memory)
    one = records[value % len(records)] if records and isinstance(value, int) else None
    waiting = memory.ask(ListProposals(), PERSON).items
    match what:
        case "fact" | "again":
            memory.fact(str(value), AGENT if what == "fact" else OTHER)
        case "wait":
            memory.wait(value)
        case "forget":
            memory.wait(value)
            memory.ask(PreviewForgetting(), PERSON)
            memory.ask(RunForgetting(), PERSON)
        case "approve" | "keep_both" if waiting:
            id = waiting[value % len(waiting)].proposal.id
            memory.ask(Decide(id, Decision(what)), PERSON)
        case "archive" if one is not None:
            memory.ask(ArchiveRecord(one.id), PERSON)
        case "expunge" if one is not None:
            memory.ask(ExpungeRecord(one.id, "asked for"), PERSON)
        case "pin" if one is not None:
            memory.ask(EditRecord(one.id, one.version, pinned=True), PERSON)
        case _:
            pass
