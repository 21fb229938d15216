"""Calls: following, pausing, filtering, and one call in full."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from console.screens.call import CallScreen
from proxy.events import CallsRecorded
from proxy.model import CallDetail, CallRecord
from tests.console.driving import console, picture, press, settle, until, write
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_data import CALLS

pytestmark = pytest.mark.usefixtures("still")


def fresh(number: int, tool: str = "fresh_tool") -> CallRecord:
    return replace(CALLS[0], id=CALLS[0].id + number, started_at=NOW + number, tool=tool)


def test_the_newest_call_stays_in_view_until_the_cursor_moves_up() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3")
            assert "FOLLOWING" in picture(app)
            station.push(CallsRecorded((fresh(1, "first"),)))
            await until(pilot, lambda: "first" in picture(app))
            await press(pilot, "k")
            station.push(CallsRecorded((fresh(2, "second"), fresh(3, "third"))))
            await until(pilot, lambda: "+2 new" in picture(app))
            assert "third" not in picture(app)
            await press(pilot, "G")
            assert "third" in picture(app)
            assert "FOLLOWING" in picture(app)

    asyncio.run(run())


def test_a_pause_holds_the_list_and_counts_what_waits() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "p")
            station.push(CallsRecorded(tuple(fresh(number) for number in range(1, 129))))
            await until(pilot, lambda: "PAUSED  +128" in picture(app))
            assert "calls 120" in picture(app)
            await press(pilot, "p")
            assert "calls 248" in picture(app)

    asyncio.run(run())


def test_filter_words_narrow_the_list_and_wrong_ones_are_explained() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "slash")
            await write(pilot, "err up:docs")
            shown = picture(app)
            failed = ("tool_error", "error", "timeout", "upstream_lost")
            number = sum(one.outcome.value in failed and one.upstream == "docs" for one in CALLS)
            assert f"calls {number}/120" in shown
            await write(pilot, " in>x")
            assert "in> needs a number (tokens)" in picture(app)
            assert "/120" in picture(app)
            await press(pilot, "escape")
            assert "calls 120" in picture(app)
            await press(pilot, "e")
            assert "filter: err" in picture(app)
            await press(pilot, "e")
            assert "filter" not in picture(app).splitlines()[2]

    asyncio.run(run())


def test_no_match_says_so_and_how_to_get_out() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "slash")
            await write(pilot, "zzz")
            assert "0 of 120 calls match" in picture(app)
            assert "Esc clears the filter" in picture(app)

    asyncio.run(run())


def test_no_calls_at_all_says_how_to_point_a_host_here() -> None:
    async def run() -> None:
        app = console(FakeStation.empty())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3")
            assert "No calls yet." in picture(app)
            assert "mms connect --print claude-code" in picture(app)

    asyncio.run(run())


def test_older_calls_are_read_from_the_store() -> None:
    station = FakeStation()
    old = tuple(replace(CALLS[-1], id=number, tool="ancient") for number in range(50, 0, -1))

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            station.records = (*CALLS, *old)
            await press(pilot, "3", "o")
            assert "calls 170" in picture(app)
            await press(pilot, "g")
            assert "ancient" in picture(app)
            await press(pilot, "o")
            assert "There are no older calls in the store." in picture(app)

    asyncio.run(run())


def test_one_call_shows_what_was_sent_and_what_came_back() -> None:
    station = FakeStation()
    newest = CALLS[0]
    station.call_details[newest.id] = CallDetail(newest, '{"a":1,"b":[2]}', "plain text", True)

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "3", "enter")
            assert isinstance(app.screen, CallScreen)
            shown = picture(app)
            assert '"a": 1,' in shown
            assert "plain text" in shown
            assert "cut to what a screen can show" in shown
            await press(pilot, "y")
            assert app.clipboard == "plain text"
            assert "OSC 52" in picture(app)
            await press(pilot, "a")
            assert app.clipboard == '{"a":1,"b":[2]}'
            await press(pilot, "b")
            assert f"call #{newest.id - 1}" in picture(app)
            await press(pilot, "n")
            assert f"call #{newest.id}" in picture(app)
            await press(pilot, "escape")
            assert "calls 120" in picture(app)

    asyncio.run(run())


def test_a_call_whose_texts_are_gone_says_so() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "g", "enter")
            assert "no longer in the station's memory" in picture(app)

    asyncio.run(run())


CUT = CALLS[1]


def test_the_list_names_saved_tokens_and_the_strategy_and_filters_by_them() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "k")
            assert "4,044 \u2192 1,263 tokens   by lossless" in picture(app)
            assert "2,781  lossless" in picture(app)
            await press(pilot, "slash")
            await write(pilot, "strategy")
            await press(pilot, "colon")
            await write(pilot, "delta saved>9000")
            number = sum(
                one.strategy == "delta"
                and one.before.tokens - one.text.tokens - one.structured.tokens > 9000
                for one in CALLS
            )
            assert number
            assert f"calls {number}/120" in picture(app)

    asyncio.run(run())


def test_the_original_and_before_and_after_are_a_key_away() -> None:
    station = FakeStation()
    station.call_details[CUT.id] = CallDetail(
        CUT, "{}", "kept\n2 lines cut", False, original="kept\ngone\nlost", query="what is kept"
    )

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "k", "enter")
            assert "query  what is kept" in picture(app)
            assert "gone" not in picture(app)
            await press(pilot, "o")
            assert "the original" in picture(app)
            assert "gone" in picture(app)
            await press(pilot, "y")
            assert app.clipboard == "kept\ngone\nlost"
            await press(pilot, "s")
            shown = picture(app)
            assert "before: 4,044 tokens" in shown
            assert "after: 1,263 tokens" in shown
            assert "- gone" in shown
            assert "+ 2 lines cut" in shown
            await press(pilot, "tab", "y")
            assert app.clipboard == "kept\n2 lines cut"
            await press(pilot, "escape")
            assert "arguments" in picture(app)
            await press(pilot, "escape")
            assert "calls 120" in picture(app)

    asyncio.run(run())


def test_an_original_that_left_the_memory_is_read_from_the_held_texts() -> None:
    station = FakeStation()
    station.call_details[CUT.id] = CallDetail(CUT, None, None, False)

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "k", "enter", "o")
            assert "1: a line of postgres list_tables" in picture(app)
            await press(pilot, "h")
            assert f"held text {CUT.held_key}" in picture(app)
            await press(pilot, "escape", "w")
            assert f"what if #{CUT.id}" in picture(app)

    asyncio.run(run())


def test_without_another_original_there_is_nothing_to_turn_to() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3", "enter")
            before = picture(app)
            assert app.screen.check_action("original", ()) is None
            await press(pilot, "o", "s", "h")
            assert picture(app) == before

    asyncio.run(run())


def test_a_burst_of_ten_thousand_calls_leaves_the_console_responsive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.app.PAINTS_PER_SECOND", 8.0)
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "3")
            for batch in range(100):
                first = 1 + batch * 100
                station.push(CallsRecorded(tuple(fresh(n) for n in range(first, first + 100))))
                if batch % 10 == 0:
                    await pilot.pause()
            await until(pilot, lambda: app.state.calls_seen == 10_000)
            await settle(pilot)
            assert "calls 10,000" in picture(app)

    asyncio.run(run())
