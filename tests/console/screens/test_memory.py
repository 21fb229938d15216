"""Memory: search as an agent, browsing, the record page and what a person does to a record."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.screens.dialogs import ChoiceDialog, TypedDialog
from console.screens.memory_overview import index_line, memory_title, overview_lines
from console.screens.memory_record import RecordScreen
from console.screens.memory_text import (
    SHOWN_CHARACTERS,
    day,
    days,
    record_lines,
    text_lines,
    title_of,
    whole_text,
)
from memory.api import (
    ArchiveRecord,
    EditRecord,
    ExpungeRecord,
    GetOverview,
    GetPlan,
    IndexStatus,
    ListProposals,
    ListRecords,
    Order,
    RestoreRecord,
    Search,
)
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Kind, MemoryText, Origin, State
from tests.console.driving import console, picture, press, settle, write
from tests.support.fake_memory import FakeMemory
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_memory import INDEX, RECORDS

still = pytest.mark.usefixtures("still")
PROCEDURE = next(one for one in RECORDS if one.kind is Kind.PROCEDURAL)
GATEWAY = RECORDS[0]
OLD_NETWORK = next(one for one in RECORDS if one.state is State.ARCHIVED)


# -- words ------------------------------------------------------------------------------------


def test_a_procedure_is_shown_with_preconditions_and_numbered_steps() -> None:
    text = whole_text(PROCEDURE.text)
    assert "Preconditions:\n1. The cluster answers." in text
    assert "Steps:\n1. Find the last green revision" in text


def test_a_huge_text_is_cut_on_the_screen_and_says_so() -> None:
    lines = text_lines(MemoryText("x" * (SHOWN_CHARACTERS + 5)))
    assert len(lines[0][0].text) == SHOWN_CHARACTERS
    assert lines[1][0].text == "\u2026 5 more characters; y copies all"


@given(st.integers(-(10**19), 10**19))
def test_any_instant_has_words(at: int) -> None:
    assert day(at, UTC)


@pytest.mark.parametrize(
    ("number", "text"), [(1.0, "1 day"), (211.0, "211 days"), (0.3, "0.3 days"), (12.4, "12 days")]
)
def test_days_are_counted_in_words(number: float, text: str) -> None:
    assert days(number) == text


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: f"{one.num}")
def test_every_record_has_lines_with_its_words_state_and_id(record: object) -> None:
    one = next(known for known in RECORDS if known is record)
    text = "\n".join("".join(cell.text for cell in line) for line in record_lines(one, NOW, UTC))
    assert one.text.content in text
    assert one.state.value in text
    assert one.id in text


def test_an_erased_record_has_a_title() -> None:
    erased = replace(GATEWAY, state=State.EXPUNGED, text=MemoryText(""))
    assert title_of(erased) == "(erased)"


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (INDEX, "index: 2 wait"),
        (replace(INDEX, pending=0), "index ready"),
        (replace(INDEX, problem="Chroma is being rebuilt."), "Chroma is being rebuilt."),
        (replace(INDEX, building="new", built=5, to_build=10), "index 50% made"),
        (IndexStatus("", "brute", 0, 0), "by words alone"),
    ],
)
def test_the_overview_tells_how_the_index_is(index: IndexStatus, words: str) -> None:
    assert words in "".join(cell.text for cell in index_line(index))


def test_the_overview_counts_kinds_and_what_waits() -> None:
    actor = Actor(Origin.OPERATOR)
    overview = asyncio.run(FakeMemory().ask(GetOverview(), actor))
    assert memory_title(overview, None) == "memory \u25c64 wait"
    text = "\n".join("".join(cell.text for cell in line) for line in overview_lines(overview, None))
    assert "     9 semantic\n     2 episodic\n     2 procedural" in text
    assert "3 searches missed what was forgotten" in text
    fault = MemoryFault(FaultCode.UNAVAILABLE, "Gone.", "Start it.")
    assert memory_title(overview, fault).endswith("(stale)")
    gone = overview_lines(None, fault)
    assert [line[0].text for line in gone] == ["\u25b2 Gone.", "Start it."]


# -- the screen -------------------------------------------------------------------------------


@still
def test_browsing_by_kind_state_and_order() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "6")
            assert "all kinds, active, newest 13" in picture(app)
            await press(pilot, "t", "t", "t")
            assert "procedural, active, newest 2" in picture(app)
            await press(pilot, "t", "s", "s")
            assert "all kinds, archived, newest 1" in picture(app)
            assert "The old office network" in picture(app)
            await press(pilot, "s", "s", "o")
            assert "any state, oldest 16" in picture(app)
            asked = station.memory.requests(ListRecords)[-1]
            assert asked.order is Order.OLDEST
            assert set(asked.states) == set(State)

    asyncio.run(run())


@still
def test_searching_is_what_an_agent_gets_with_parts_and_warnings() -> None:
    station = FakeStation()
    station.memory.degraded = "the model is not there"

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "6", "slash")
            await write(pilot, "gateway port")
            assert station.memory.requests(Search) == []
            await press(pilot, "enter")
            assert station.memory.requests(Search) == [Search("gateway port", top_k=25)]
            shown = picture(app)
            assert "by words alone: the model is not there" in shown
            assert "disputed: contradicted by another record" in shown
            assert "no vectors, words 1.00, recency 0.62" in shown
            await press(pilot, "s", "s")
            assert station.memory.requests(Search)[-1].include_archived
            await press(pilot, "slash")
            await write(pilot, " zzz nothing")
            await press(pilot, "escape")
            assert "all kinds, archived" in picture(app)
            assert "/gateway" not in picture(app)

    asyncio.run(run())


@still
def test_a_search_without_hits_says_how_to_leave_it() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "6", "slash")
            await write(pilot, "zebra")
            await press(pilot, "enter")
            assert "Nothing like that is remembered." in picture(app)
            await press(pilot, "escape")
            assert "newest 13" in picture(app)

    asyncio.run(run())


@still
def test_the_record_page_has_history_outcomes_neighbours_and_what_replaced_what() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            for record, expected in (
                (GATEWAY, ("says something alike", "port 9090", "#1201", "decisions about it")),
                (PROCEDURE, ("how it went", "the health check never turned green", "8 of 9")),
                (RECORDS[13], ("what replaced what", "spreadsheet")),
            ):
                app.open_record(record.id)
                await settle(pilot)
                assert isinstance(app.screen, RecordScreen)
                shown = picture(app)
                assert record.id in shown
                assert all(words in shown for words in expected), expected
                await press(pilot, "escape")

    asyncio.run(run())


@still
@pytest.mark.parametrize("on_its_own_page", [False, True])
def test_archiving_asks_restoring_does_not_and_both_can_be_taken_back(
    on_its_own_page: bool,
) -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "6", "G")
            newest = memory.requests(ListRecords)[-1]
            assert newest.order is Order.NEWEST
            oldest = min(
                (one for one in RECORDS if one.state is State.ACTIVE),
                key=lambda one: one.recorded_at,
            )
            await press(pilot, *(["enter"] if on_its_own_page else []), "d")
            assert isinstance(app.screen, ChoiceDialog)
            assert oldest.id in picture(app)
            await press(pilot, "n")
            assert memory.requests(ArchiveRecord) == []
            await press(pilot, "d", "y")
            assert memory.records[oldest.id].state is State.ARCHIVED
            await press(pilot, "u")
            assert memory.records[oldest.id].state is State.ACTIVE
            app.open_record(OLD_NETWORK.id)
            await settle(pilot)
            if not on_its_own_page:
                await press(pilot, "R")
                assert memory.requests(RestoreRecord)[-1].id == OLD_NETWORK.id
                assert memory.records[OLD_NETWORK.id].state is State.ACTIVE

    asyncio.run(run())


@still
def test_a_pin_goes_on_and_off_and_copies_go_to_the_clipboard() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            app.open_record(GATEWAY.id)
            await settle(pilot)
            await press(pilot, "P")
            assert "pinned" in picture(app)
            await press(pilot, "u")
            edits = station.memory.requests(EditRecord)
            assert edits == [
                EditRecord(GATEWAY.id, 1, pinned=True),
                EditRecord(GATEWAY.id, 2, pinned=False),
            ]
            await press(pilot, "c")
            assert app.clipboard == GATEWAY.id
            await press(pilot, "y")
            assert app.clipboard == GATEWAY.text.content

    asyncio.run(run())


@still
def test_editing_a_procedure_keeps_its_lists_and_can_be_taken_back() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            app.open_record(PROCEDURE.id)
            await settle(pilot)
            await press(pilot, "e", "X", "tab", "Y", "f2")
            text = memory.records[PROCEDURE.id].text
            assert text.content == "X" + PROCEDURE.text.content
            assert text.preconditions[0] == "Y" + PROCEDURE.text.preconditions[0]
            assert text.steps == PROCEDURE.text.steps
            await press(pilot, "u")
            assert memory.records[PROCEDURE.id].text == PROCEDURE.text

    asyncio.run(run())


@still
def test_an_untouched_field_keeps_characters_that_cannot_be_shown() -> None:
    station = FakeStation(hostile=True)
    memory = station.memory
    record = memory.records[next(iter(memory.records))]

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            app.open_record(record.id)
            await settle(pilot)
            await press(pilot, "e")
            assert "Hidden characters are shown in a visible form" in picture(app)
            await press(pilot, "tab", "Z", "f2")
            text = memory.records[record.id].text
            assert text.content == record.text.content
            assert text.summary.startswith("Z[/b]")
            assert "\x1b" not in text.summary

    asyncio.run(run())


@still
def test_expunging_needs_the_end_of_the_id_and_says_that_it_cannot_be_undone() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            app.open_record(GATEWAY.id)
            await settle(pilot)
            await press(pilot, "X")
            assert isinstance(app.screen, TypedDialog)
            shown = picture(app)
            assert "This cannot be undone." in shown
            assert GATEWAY.id in shown
            await press(pilot, "y", "enter")
            assert memory.requests(ExpungeRecord) == []
            await press(pilot, "backspace", *GATEWAY.id[-8:], "enter")
            assert [one.id for one in memory.requests(ExpungeRecord)] == [GATEWAY.id]
            assert "expunged" in picture(app)
            assert "R Restore" not in picture(app)

    asyncio.run(run())


@still
def test_a_record_that_is_gone_and_a_memory_that_is_gone_are_told_in_place() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            app.open_record("01NOSUCH")
            await settle(pilot)
            assert "There is no record 01NOSUCH." in picture(app)
            await press(pilot, "escape")
            station.memory.fault = MemoryFault(FaultCode.UNAVAILABLE, "The memory is gone.")
            await press(pilot, "6")
            assert "\u2716 The memory is gone." in picture(app)
            station.memory.fault = None
            await press(pilot, "r")
            assert "newest 13" in picture(app)

    asyncio.run(run())


@still
def test_further_pages_come_at_the_end_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.screens.memory.PAGE", 5)
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "6")
            assert "newest 5+" in picture(app)
            await press(pilot, "G")
            assert "newest 10+" in picture(app)
            await press(pilot, "m")
            assert "newest 13 " in picture(app)

    asyncio.run(run())


@still
def test_the_overview_panel_leads_to_what_waits_or_to_the_memory() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            assert "9 semantic" in picture(app)
            app.screen.query_one("#memory-card").focus()
            await press(pilot, "enter")
            assert app.current_mode == "decisions"
            app.memory.waiting = 0
            await press(pilot, "1", "enter")
            assert app.current_mode == "memory"

    asyncio.run(run())


@still
def test_another_space_can_be_looked_at_and_all_screens_follow() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "7", "6", "S")
            assert "There is only the space default." in picture(app)
            memory.spaces = ("default", "website")
            app.memory.refresh()
            await settle(pilot)
            await press(pilot, "S", "1")
            assert "website: all kinds" in picture(app)
            assert memory.requests(ListRecords)[-1].space == "website"
            await press(pilot, "7")
            assert memory.requests(ListProposals)[-1].space == "website"
            await press(pilot, "8")
            assert memory.requests(GetPlan)[-1].space == "website"

    asyncio.run(run())
