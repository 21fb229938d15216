"""Savings: tables that add up, ranges, and the ways out of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console import format as fmt
from console.screens.dialogs import ChoiceDialog
from console.screens.held import HeldScreen
from console.screens.savings_text import (
    Grouping,
    card_words,
    last_days,
    net_per_day,
    net_tone,
    net_words,
    plain_table,
    row_cells,
    rows_of,
    sum_row,
    summary_of,
)
from console.state import ConsoleState, SavingsTaken, reduce
from console.widgets.tone import Tone
from proxy.answer_model import Savings, SavingsLine, SavingsView
from proxy.commands import ClearCache
from tests.console.driving import console, picture, press, settle, until
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_answers import SAVINGS

still = pytest.mark.usefixtures("still")

_LINES = st.lists(
    st.builds(
        SavingsLine,
        st.sampled_from(["2026-11-01", "2026-11-29", "2026-11-30"]),
        st.sampled_from(["docs", "github", "mms"]),
        st.sampled_from(["", "a", "b"]),
        st.builds(Savings, *[st.integers(0, 10**9)] * 8),
    ),
    max_size=12,
)


@given(_LINES, st.sampled_from(Grouping))
def test_rows_of_every_grouping_add_up_to_the_sum_line(
    lines: list[SavingsLine], grouping: Grouping
) -> None:
    view = SavingsView(tuple(lines), 412, "o200k_base")
    total = Savings()
    for row in rows_of(view, grouping):
        total += row.savings
    summary = summary_of(view, NOW, UTC, 0)
    assert total == sum_row(summary.total).savings == view.total
    assert summary_of(view, NOW, UTC, 0, summary) is summary
    assert summary_of(view, NOW + 86_400, UTC, 0, summary) is not summary


@given(_LINES)
def test_the_days_of_the_chart_add_up_and_end_today(lines: list[SavingsLine]) -> None:
    view = SavingsView(tuple(lines), 412, "o200k_base")
    days = net_per_day(view.by_day(), NOW, UTC, 0)
    assert sum(days) == view.total.net
    if any(line.day == "2026-11-01" for line in lines):
        assert len(days) == 30
    assert net_per_day(view.by_day(), NOW, UTC, 7)[-1] == days[-1]


def test_days_without_calls_are_in_the_chart() -> None:
    assert last_days(NOW, UTC, 3) == ["2026-11-28", "2026-11-29", "2026-11-30"]
    view = SavingsView(
        (SavingsLine("2026-11-29", "docs", "a", Savings(1, 1, 900, 100)),), 0, "o200k_base"
    )
    assert net_per_day(view.by_day(), NOW, UTC, 3) == [0, 800, 0]
    assert net_per_day(view.by_day(), NOW, UTC, 0) == [800, 0]
    odd = SavingsView((SavingsLine("not a day", "docs", "a", Savings()),), 0, "o200k_base")
    assert net_per_day(odd.by_day(), NOW, UTC, 0) == [0]


def test_a_loss_is_said_in_figures_and_words() -> None:
    loss = Savings(calls=3, before=1_000, sent=1_000, control_tools=400)
    assert net_words(loss) == "400 tokens added (-40%)"
    assert net_words(Savings()) == "nothing saved"
    assert net_words(Savings(before=1_000, sent=520)) == "480 tokens saved (48%)"
    assert net_tone(-1) is Tone.BAD
    assert card_words(loss, 7, wide=True) == "7 days -400 (-40%), own tools 400"
    assert len(card_words(Savings(before=9, control_tools=99_999), 7, wide=False)) <= 20


def test_a_row_obeys_the_sum_that_the_screen_states() -> None:
    for row in rows_of(SAVINGS, Grouping.TOOL):
        one = row.savings
        assert one.net == one.before - one.sent - one.fetched - one.control_tools
        assert row_cells(row)[-2].text == fmt.tokens(one.net)
    assert "all together" in plain_table(rows_of(SAVINGS, Grouping.DAY), sum_row(SAVINGS.total))


def test_the_ledger_is_part_of_what_the_console_knows() -> None:
    assert reduce(ConsoleState(), SavingsTaken(SAVINGS)).savings is SAVINGS


# -- on the screen ----------------------------------------------------------------------------


@still
def test_keys_turn_between_tools_servers_days_and_ranges() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "5")
            shown = picture(app)
            assert "by tool, 7 days" in shown
            assert "github/search_code" in shown
            assert "counted with o200k_base" in shown
            week = await station.savings(7)
            assert fmt.tokens(week.total.net) in shown.splitlines()[-3]
            await press(pilot, "s")
            assert "by server, 7 days" in picture(app)
            assert "mms's own tools" in picture(app)
            await press(pilot, "d")
            assert "by day, 7 days" in picture(app)
            assert picture(app).count("2026-11-24") == 2
            await press(pilot, "r")
            assert "by day, 30 days" in picture(app)
            await press(pilot, "r", "t")
            assert "by tool, all time" in picture(app)
            await press(pilot, "r")
            assert "by tool, 7 days" in picture(app)

    asyncio.run(run())


@still
def test_enter_leads_to_the_calls_of_a_tool_but_not_of_our_own_tools() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "5", "G", "enter")
            assert app.current_mode == "savings"
            await press(pilot, "g", "enter")
            assert app.current_mode == "calls"
            assert 'filter: up:"github" tool:"search_code"' in picture(app)

    asyncio.run(run())


@still
def test_held_texts_are_a_key_away_and_the_cache_is_cleared_after_asking() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "5", "C")
            assert isinstance(app.screen, ChoiceDialog)
            await press(pilot, "n")
            assert station.executed == []
            await press(pilot, "C", "y")
            assert station.executed == [ClearCache()]
            assert "3 kept answers of all tools were forgotten." in picture(app)
            await press(pilot, "h")
            assert isinstance(app.screen, HeldScreen)
            await press(pilot, "escape")
            assert "by tool" in picture(app)
            await press(pilot, "y")
            assert app.clipboard.splitlines()[-1].startswith("all together\t")

    asyncio.run(run())


@still
def test_the_overview_has_a_card_that_opens_savings() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await until(pilot, lambda: app.state.savings is not None)
            await settle(pilot)
            today = app.state.savings and app.state.savings.by_day()["2026-11-30"]
            assert today
            assert f"{fmt.count(today.net)} today" in picture(app)
            assert "own 25k" in picture(app)
            await press(pilot, "s")
            assert app.current_mode == "savings"
            await press(pilot, "1", "shift+tab", "enter")
            assert app.current_mode == "savings"

    asyncio.run(run())


@still
def test_the_ledger_is_asked_for_again_after_a_while_and_not_with_every_paint() -> None:
    station = FakeStation()
    now = [NOW]

    async def run() -> None:
        app = console(station, clock=lambda: now[0])
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            for _ in range(3):
                app.paint_soon()
                await settle(pilot)
            assert station.asked.count("savings") == 1
            station.savings_value = replace(station.savings_value, lines=())
            now[0] += 6
            app.paint_soon()
            await until(pilot, lambda: station.asked.count("savings") == 2)
            await until(pilot, lambda: "0 today" in picture(app))

    asyncio.run(run())
