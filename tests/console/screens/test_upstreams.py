"""Upstreams: what each key sends, and what it asks first."""

from __future__ import annotations

import asyncio

import pytest

from console.screens.dialogs import ChoiceDialog
from console.screens.upstream import UpstreamScreen
from proxy.commands import CommandResult, ReconnectUpstream, RemoveUpstream, SetUpstreamEnabled
from tests.console.driving import console, picture, press, settle, write
from tests.support.fake_station import FakeStation

pytestmark = pytest.mark.usefixtures("still")

# Order on the screen: jira, postgres, github, linear, docs, filesystem, browser, notes.


def test_reconnect_without_calls_in_flight_goes_out_at_once() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "R")
            assert station.executed == [ReconnectUpstream("postgres")]
            assert "postgres was started again." in picture(app)

    asyncio.run(run())


def test_reconnect_with_calls_in_flight_asks_and_names_the_upstream() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "j", "R")
            assert isinstance(app.screen, ChoiceDialog)
            assert "Reconnect github?" in picture(app)
            assert "2 calls are in flight" in picture(app)
            await press(pilot, "enter")
            assert station.executed == []
            await press(pilot, "R", "escape")
            assert station.executed == []
            await press(pilot, "R", "y")
            assert station.executed == [ReconnectUpstream("github")]

    asyncio.run(run())


def test_disable_asks_enable_does_not_and_remove_asks() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "d")
            assert "Disable postgres?" in picture(app)
            await press(pilot, "n")
            assert station.executed == []
            await press(pilot, "d", "y")
            assert station.executed == [SetUpstreamEnabled("postgres", enabled=False)]
            await press(pilot, "G", "e")
            assert station.executed[-1] == SetUpstreamEnabled("postgres", enabled=True)
            await press(pilot, "g", "X")
            assert "Remove " in picture(app)
            await press(pilot, "y")
            assert isinstance(station.executed[-1], RemoveUpstream)

    asyncio.run(run())


def test_a_refusal_becomes_a_notice() -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(ok=False, message="[/b] Not now: \x1b[2J")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "2", "R")
            assert "[/b] Not now: \u241b[2J" in picture(app)

    asyncio.run(run())


def test_the_detail_has_stderr_tools_withheld_and_instructions() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 60)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "j")
            shown = picture(app)
            for words in (
                "create_gist",
                "create_gist  invalid_schema",
                "its input schema does not describe an object",
                "1 invalid_schema, 1 config_hidden",
                "56 of 58 advertised",
                "descriptions of arguments left out",
                "56 of 206 logged",
                "p50 12 ms, p95 80 ms",
                "secondary rate limit",
                "gh__search_code",
                "instructions to the model",
                "p95 8.2 s",
            ):
                assert words in shown, words

    asyncio.run(run())


def test_a_filter_narrows_the_list_and_escape_clears_it() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "slash")
            await write(pilot, "ready")
            assert "upstreams 2/8" in picture(app)
            await press(pilot, "enter", "j")
            assert "filesystem" in picture(app)
            await press(pilot, "escape")
            assert "upstreams 8" in picture(app)
            await press(pilot, "slash")
            await write(pilot, "zzz")
            assert "0 of 8 match" in picture(app)

    asyncio.run(run())


def test_on_a_narrow_terminal_enter_opens_a_page_of_its_own() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(64, 20)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "j")
            assert "4 of the last 10" not in picture(app)
            await press(pilot, "enter")
            assert isinstance(app.screen, UpstreamScreen)
            assert "4 of the last 10 calls timed out." in picture(app)
            await press(pilot, "escape")
            assert "upstreams 8" in picture(app)

    asyncio.run(run())


def test_c_shows_the_calls_of_the_upstream() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "2", "j", "j", "c")
            assert app.current_mode == "calls"
            assert "filter: up:github" in picture(app)

    asyncio.run(run())
