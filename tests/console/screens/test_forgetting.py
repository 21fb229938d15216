"""Forgetting: the plan record by record, changing it, the typed confirmation, runs and their undo."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC

import pytest

from console.screens.dialogs import ChoiceDialog, TypedDialog
from console.screens.forgetting_runs import RunsScreen
from console.screens.forgetting_text import (
    GUARDS,
    REASONS,
    decision_lines,
    plan_rows,
    row_cells,
    run_lines,
    run_question,
    terms_words,
)
from memory.api import DecisionView, EditRecord, PlanView, PreviewForgetting, RunForgetting, UndoRun
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Guard, Origin, Reason, State
from tests.console.driving import console, picture, press, settle, until
from tests.support.fake_memory import FakeMemory
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_memory import CANDIDATES, POLICY, RECORDS, RUNS

still = pytest.mark.usefixtures("still")
BY_ID = {one.id: one for one in RECORDS}
PERSON = Actor(Origin.OPERATOR, "console")


def previewed(memory: FakeMemory) -> PlanView:
    return asyncio.run(memory.ask(PreviewForgetting(), PERSON))


def words(number: int, **changes: object) -> str:
    one = replace(CANDIDATES[number], **changes)  # type: ignore[arg-type]  # fields by name
    view = DecisionView(one, BY_ID[one.id], BY_ID[one.survivor] if one.survivor else None)
    lines = decision_lines(view, POLICY, NOW, UTC)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


# -- words ------------------------------------------------------------------------------------


def test_a_decision_shows_the_record_and_its_survivor_in_full_with_the_score_in_words() -> None:
    text = words(1)
    assert "would be archived" in text
    assert "duplicate: another record says the same and stays" in text
    assert BY_ID[CANDIDATES[1].id].text.content in text
    assert BY_ID[CANDIDATES[1].survivor or ""].text.content in text
    assert "the same statement in other words  alike 0.95" in text
    assert "needed again within 60 days: 6.0% (above the limit of 2.0%)" in text
    assert "never used, stored 21 days ago, importance 0.40, activation -1.4" in text


def test_a_procedures_success_is_part_of_its_score() -> None:
    assert "works at most 11% of the time (limit 20%, from 10 outcomes on)" in words(4)
    assert len(terms_words(CANDIDATES[0].terms, POLICY)) == 2


@pytest.mark.parametrize("guard", list(Guard))
def test_every_guard_is_told_with_its_reason(guard: Guard) -> None:
    text = words(5, prune=False, guard=guard)
    assert f"stays: {GUARDS[guard][1]}" in text


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_a_word_and_a_meaning(reason: Reason) -> None:
    assert f"{REASONS[reason][0]}: {REASONS[reason][1]}" in words(5, reason=reason)


def test_records_are_grouped_by_reason_under_heads_with_counts() -> None:
    plan = previewed(FakeMemory())
    rows = plan_rows(plan, plan.items)
    heads = [row for row in rows if row.view is None]
    assert [row.reason for row in heads] == [reason for reason, _, _ in plan.by_reason]
    assert len(rows) == len(heads) + len(plan.items)
    assert row_cells(heads[1])[0].text == " duplicate: 1 go, 1 kept"
    assert len({row.key for row in rows}) == len(rows)


def test_the_question_before_a_run_has_the_counts_and_the_whole_hash() -> None:
    plan = previewed(FakeMemory())
    question = run_question(plan)
    assert plan.plan.hash in question
    assert "5 of 16 records are archived, 2 are kept." in question
    assert "replaced 1, duplicate 1, expired 1, failed 1, unneeded 1" in question
    assert "semantic 4, episodic 0, procedural 1" in question


def test_a_run_tells_its_regret_and_its_undo() -> None:
    first, second = (
        "\n".join("".join(cell.text for cell in line) for line in run_lines(run, NOW, UTC))
        for run in RUNS
    )
    assert "3 later searches would have found one of them" in first
    assert "no later search would have found one of them" in second
    assert "undone 2026-09-17 14:03" in second


# -- the screen -------------------------------------------------------------------------------


@still
def test_without_a_plan_it_explains_and_making_one_forgets_nothing() -> None:
    station = FakeStation()
    before = dict(station.memory.records)

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "8")
            assert "No plan yet." in picture(app)
            assert " D Run" not in picture(app)
            await press(pilot, "r")
            shown = picture(app)
            assert station.memory.plan is not None
            assert f"plan {station.memory.plan.hash[:12]}" in shown
            assert "archives 5 of 16" in shown
            assert "expired: 1 go" in shown
            assert station.memory.records == before
            await press(pilot, "1", "8")
            assert "archives 5 of 16" in picture(app)

    asyncio.run(run())


@still
def test_keeping_a_record_makes_another_plan_and_keeping_it_again_the_old_one() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r")
            first = station.memory.plan
            await press(pilot, "j", "space")
            second = station.memory.plan
            assert first is not None
            assert second is not None
            assert second.hash != first.hash
            assert second.exemptions.keep == (CANDIDATES[0].id,)
            shown = picture(app)
            assert second.hash[:12] in shown
            assert "archives 4 of 16" in shown
            assert "you took it out of this plan" in shown
            await press(pilot, "space")
            assert station.memory.plan is not None
            assert station.memory.plan.hash == first.hash

    asyncio.run(run())


@still
def test_another_survivor_and_a_pin_make_new_plans_too() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r", "j", "j", "j", "s")
            chosen = station.memory.requests(PreviewForgetting)[-1].exemptions
            assert chosen.survivors == (CANDIDATES[1].id,)
            await press(pilot, "g", "j", "P")
            assert station.memory.requests(EditRecord)[-1].pinned is True
            assert station.memory.requests(PreviewForgetting)[-1].exemptions == chosen
            assert "you pinned it" in picture(app)
            await press(pilot, "space")
            assert station.memory.requests(PreviewForgetting)[-1].exemptions == chosen

    asyncio.run(run())


@still
def test_running_needs_the_typed_word_and_runs_exactly_the_plan_that_was_shown() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r", "D")
            assert isinstance(app.screen, TypedDialog)
            shown = picture(app)
            assert "Type forget 5 to go on" in shown
            assert memory.plan is not None
            plan = memory.plan
            assert plan.hash[:50] in shown
            await press(pilot, *"forget", "space", "4", "enter")
            assert "nothing was done" in picture(app)
            assert memory.requests(RunForgetting) == []
            await press(pilot, "backspace", "5", "enter")
            assert memory.requests(RunForgetting) == [RunForgetting(plan.hash)]
            assert isinstance(app.screen, RunsScreen)
            assert "5 archived" in picture(app)
            assert memory.records[CANDIDATES[0].id].state is State.ARCHIVED
            await press(pilot, "u")
            assert isinstance(app.screen, ChoiceDialog)
            await press(pilot, "y")
            assert memory.requests(UndoRun) == [UndoRun(memory.runs[0].id)]
            assert memory.records[CANDIDATES[3].id].state is State.ACTIVE
            assert "5 records restored." in picture(app)
            await press(pilot, "escape")
            assert "No plan yet." in picture(app)

    asyncio.run(run())


@still
def test_a_run_is_refused_when_a_record_changed_since_and_the_plan_stays_in_sight() -> None:
    station = FakeStation()
    memory = station.memory

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r", "D")
            changed = CANDIDATES[3].id
            memory.records[changed] = replace(memory.records[changed], version=9)
            await press(pilot, *"forget", "space", "5", "enter")
            shown = picture(app)
            assert "have changed since the preview" in shown
            assert "archives 5 of 16" in shown
            assert len(memory.runs) == len(RUNS)

    asyncio.run(run())


@still
def test_one_reason_at_a_time_further_pages_and_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.screens.forgetting.PAGE", 3)
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r")
            assert "3 of 7 loaded" in picture(app)
            await press(pilot, "m", "m")
            assert "unneeded: 1 go" in picture(app)
            await press(pilot, "g", "t", "t")
            shown = picture(app)
            assert "only duplicate" in shown
            assert "replaced:" not in shown
            await press(pilot, "j", "o", "1")
            assert CANDIDATES[1].id in picture(app)
            await press(pilot, "escape", "escape")
            assert "replaced:" in picture(app)

    asyncio.run(run())


@still
def test_undo_without_the_list_of_runs_takes_the_last_one_back_after_asking() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "8", "u")
            assert f"Take run {RUNS[0].id} back?" in picture(app)
            await press(pilot, "n")
            assert station.memory.requests(UndoRun) == []

    asyncio.run(run())


@still
def test_a_memory_that_cannot_be_reached_is_told_in_place() -> None:
    station = FakeStation()
    station.memory.fault = MemoryFault(
        FaultCode.UNAVAILABLE, "The memory is not running.", "mms memory serve starts it."
    )

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "8")
            assert "\u2716 The memory is not running." in picture(app)
            await press(pilot, "h")
            assert "\u2716 The memory is not running." in picture(app)
            station.memory.fault = None
            await press(pilot, "r")
            assert "runs 2" in picture(app)
            await press(pilot, "escape", "r")
            assert "archives 5 of 16" in picture(app)

    asyncio.run(run())


@still
def test_while_a_plan_is_made_the_old_one_is_dimmed_and_cannot_run() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r", "j")
            station.memory.hold = asyncio.Event()
            await pilot.press("space")
            await until(pilot, lambda: "making a plan" in picture(app))
            await pilot.press("D")
            assert not isinstance(app.screen, TypedDialog)
            station.memory.hold.set()
            await settle(pilot)
            assert "archives 4 of 16" in picture(app)

    asyncio.run(run())


@still
def test_an_empty_memory_has_an_empty_plan_that_cannot_run() -> None:
    async def run() -> None:
        app = console(FakeStation.empty())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "8", "r")
            assert "Nothing would be forgotten." in picture(app)
            await press(pilot, "D")
            assert not isinstance(app.screen, TypedDialog)
            await press(pilot, "h")
            assert "Nothing was ever forgotten." in picture(app)

    asyncio.run(run())
