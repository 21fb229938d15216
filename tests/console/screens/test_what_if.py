"""What-if: trying settings on a recorded answer, and writing one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.screens.dialogs import ChoiceDialog
from console.screens.what_if import StrategiesDialog, WhatIfScreen
from console.screens.what_if_text import (
    BUDGETS,
    Kind,
    fact_lines,
    next_budget,
    read_budget,
    trial_cells,
    trial_rows,
)
from proxy.answer_model import FactCounts, Variant, WhatIf, WhatIfQuery
from proxy.commands import Command, CommandResult, SetSetting
from tests.console.driving import console, picture, press, settle, until, write
from tests.support.fake_station import FakeStation
from tests.support.sample_answers import what_if
from tests.support.sample_data import CALLS

still = pytest.mark.usefixtures("still")
CUT = CALLS[1]
OPEN = ("3", "k", "w")
KEY = f"upstreams.{CUT.upstream}.tools.{CUT.tool}"


# -- the texts --------------------------------------------------------------------------------


def test_rows_begin_with_the_original_and_what_was_sent() -> None:
    rows = trial_rows(what_if(WhatIfQuery(CUT.id)))
    assert [row.kind for row in rows[:3]] == [Kind.ORIGINAL, Kind.SENT, Kind.VARIANT]
    original = rows[0].variant
    assert original.tokens == CUT.before.tokens
    assert original.facts.retained == original.facts.total > 0
    assert len({row.key for row in rows}) == len(rows)
    assert trial_rows(replace(what_if(WhatIfQuery(CUT.id)), sent=None, variants=())) == []


def test_a_fallback_is_named_and_a_variant_over_its_budget_is_marked() -> None:
    facts = FactCounts(9, 4, 3, 2, ("ERROR x",), ("/a/b",))
    one = Variant("extract", "lossless", 100, 200, "", facts, 1.0)
    row = trial_rows(WhatIf(1, "u", "t", "log", 400, "", None, (one,)))[1]
    assert row.name == "lossless \u2192 extract"
    assert trial_cells(row, 400)[0].text == "\u2716"
    kept = replace(one, facts=FactCounts(9, 9, 0, 0))
    row = trial_rows(WhatIf(1, "u", "t", "log", 400, "", None, (kept,)))[1]
    assert trial_cells(row, 400)[0].text == "\u25b2"
    lines = ["".join(cell.text for cell in line) for line in fact_lines(row)]
    assert not any("for good" in line for line in lines)


@given(st.integers(100, 10**6))
def test_budget_steps_go_one_way_and_end(present: int) -> None:
    assert next_budget(present, larger=True) >= present
    assert next_budget(present, larger=False) <= present
    assert next_budget(BUDGETS[-1], larger=True) == BUDGETS[-1]
    assert next_budget(BUDGETS[0], larger=False) == BUDGETS[0]


@pytest.mark.parametrize(
    ("text", "budget"),
    [("4000", 4000), ("4,000", 4000), (" 4k ", 4000), ("100", 100), ("99", None), ("", None)]
    + [(bad, None) for bad in ("x", "-5", "1.5k", "k", "\u0664", "9" * 30)],
)
def test_a_typed_budget_is_read_or_refused(text: str, budget: int | None) -> None:
    assert read_budget(text) == budget


# -- on the screen ----------------------------------------------------------------------------


@still
def test_variants_stand_side_by_side_and_the_cursor_shows_text_and_facts() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN)
            shown = picture(app)
            assert f"what if #{CUT.id}" in shown
            assert "was sent: lossless" in shown
            assert "budget 4,000 (in force)" in shown
            assert "what was sent" in shown
            assert "as extract" in shown
            await press(pilot, "G")
            assert "ERROR 14:03:07 disk full" in picture(app)
            assert "as truncate" in picture(app)
            await press(pilot, "y")
            assert app.clipboard.startswith("as truncate")
            await press(pilot, "enter", "escape")
            assert isinstance(app.screen, WhatIfScreen)
            await press(pilot, "escape")
            assert not isinstance(app.screen, WhatIfScreen)

    asyncio.run(run())


@still
def test_budget_query_and_strategies_are_tried_anew() -> None:
    station = FakeStation()
    asked: list[WhatIfQuery] = []
    station.what_ifs = lambda query: asked.append(query) or what_if(query)

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN, "minus")
            assert asked[-1] == WhatIfQuery(CUT.id, (), 2000)
            assert "budget 2,000" in picture(app)
            await press(pilot, "plus", "plus")
            assert asked[-1].budget_tokens == 8000
            await press(pilot, "b", *["backspace"] * 4)
            await write(pilot, "99")
            await press(pilot, "enter")
            assert "A whole number of tokens from 100 on" in picture(app)
            await write(pilot, "9")
            await press(pilot, "enter")
            assert asked[-1].budget_tokens == 999
            await press(pilot, "e")
            await write(pilot, "who")
            await press(pilot, "enter")
            assert asked[-1] == WhatIfQuery(CUT.id, (), 999, "who")
            assert "looked for: who" in picture(app)
            await press(pilot, "s")
            assert isinstance(app.screen, StrategiesDialog)
            await press(pilot, "space", "enter")
            assert asked[-1].strategies == ("auto", "truncate", "selective", "lossless", "extract")
            await press(pilot, "s", "escape")
            assert len(asked) == 7

    asyncio.run(run())


@still
def test_applying_asks_with_the_keys_and_writes_them() -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(ok=True, message="written")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN, "A")
            assert isinstance(app.screen, ChoiceDialog)
            assert f"{KEY}.compression" in picture(app)
            assert "max_result_tokens" not in picture(app)
            await press(pilot, "n")
            assert station.executed == []
            await press(pilot, "minus", "A")
            assert f"{KEY}.max_result_tokens" in picture(app)
            await press(pilot, "y")
            expected: list[Command] = [
                SetSetting(f"{KEY}.compression", '"extract"'),
                SetSetting(f"{KEY}.max_result_tokens", "2000"),
            ]
            assert station.executed == expected
            assert "Written:" in picture(app)

    asyncio.run(run())


@still
def test_a_refused_key_ends_the_writing_and_is_told_with_what_was_written() -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(
        ok=isinstance(command, SetSetting) and "compression" in command.key, message="No such tool."
    )

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN, "minus", "A", "y")
            shown = picture(app)
            assert "was written, but not" in shown
            assert "No such tool." in shown

    asyncio.run(run())


@still
def test_the_original_can_be_made_the_setting_and_what_was_sent_cannot() -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(ok=True, message="written")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN, "g", "j", "A")
            assert not isinstance(app.screen, ChoiceDialog)
            await press(pilot, "k", "A")
            assert "Its answers go out whole" in picture(app)
            await press(pilot, "y")
            assert station.executed == [SetSetting(f"{KEY}.compression", '"none"')]

    asyncio.run(run())


@still
def test_a_slow_trial_shows_that_it_runs_and_holds_nothing_up() -> None:
    station = FakeStation()
    gate = asyncio.Event()
    now = [0.0]

    async def slow(query: WhatIfQuery) -> WhatIf:
        station.asked.append("what_if")
        if query.budget_tokens is not None:
            await gate.wait()
        return what_if(query)

    station.what_if = slow  # type: ignore[method-assign]  # waits for the gate

    async def run() -> None:
        app = console(station, clock=lambda: now[0])
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN)
            await pilot.press("minus")
            await until(pilot, lambda: "trying\u2026 0s" in picture(app))
            now[0] += 3
            app._tick()
            await until(pilot, lambda: "trying\u2026 3s" in picture(app))
            assert "extract" in picture(app)
            await pilot.press("j")
            await until(pilot, lambda: "as lossless" in picture(app))
            await pilot.press("A")
            await pilot.pause()
            assert not isinstance(app.screen, ChoiceDialog)
            await pilot.press("1")
            await until(pilot, lambda: app.current_mode == "overview")
            gate.set()
            await settle(pilot)
            await press(pilot, "3")
            assert "budget 2,000" in picture(app)
            assert "trying" not in picture(app)

    asyncio.run(run())


@still
def test_a_call_that_cannot_be_tried_says_why_and_a_later_problem_keeps_the_figures() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "3", "w")
            assert "The original of this call is not held." in picture(app)
            await press(pilot, "plus", "A", "y", "escape", "k", "w")
            assert "selective" in picture(app)
            station.what_ifs = lambda query: replace(what_if(query), problem="The worker died.")
            await press(pilot, "minus")
            assert "The worker died." in picture(app)
            assert "selective" in picture(app)

    asyncio.run(run())


@still
def test_a_narrow_terminal_turns_between_text_and_facts() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(62, 24)) as pilot:
            await settle(pilot)
            await press(pilot, *OPEN)
            assert "as extract" in picture(app)
            await press(pilot, "f")
            assert "facts that can be checked" in picture(app)
            assert "as extract" not in picture(app)

    asyncio.run(run())
