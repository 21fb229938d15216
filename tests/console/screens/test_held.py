"""Held texts: the list, one text, copying and dropping."""

from __future__ import annotations

import asyncio

import pytest

from console.screens.dialogs import ChoiceDialog
from console.screens.held import HeldScreen
from console.screens.held_text import HeldTextScreen
from proxy.commands import DropHeld
from tests.console.driving import console, picture, press, settle, write
from tests.support.fake_station import FakeStation
from tests.support.sample_answers import HELD

pytestmark = pytest.mark.usefixtures("still")
FIRST = HELD.answers[0]


def test_the_list_says_how_full_the_store_is_and_what_is_pinned() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "5", "h")
            shown = picture(app)
            assert f"held texts {len(HELD.answers)}" in shown
            assert "of 268 MB, 3 evicted, 9 pinned" in shown
            assert FIRST.key in shown
            await press(pilot, "slash")
            await write(pilot, "docs")
            number = sum(one.upstream == "docs" for one in HELD.answers)
            assert f"held texts {number}/{len(HELD.answers)}" in picture(app)
            await write(pilot, " zzz")
            assert "Esc clears the filter" in picture(app)
            await press(pilot, "escape")
            assert f"held texts {len(HELD.answers)} " in picture(app)

    asyncio.run(run())


def test_enter_shows_the_text_and_both_pages_copy_key_and_text() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "5", "h", "c")
            assert app.clipboard == FIRST.key
            await press(pilot, "y")
            assert app.clipboard.startswith("1: a line of")
            await press(pilot, "enter")
            assert isinstance(app.screen, HeldTextScreen)
            assert f"held text {FIRST.key}" in picture(app)
            assert "pinned: a connected host was given it" in picture(app)
            await press(pilot, "c")
            assert app.clipboard == FIRST.key
            await press(pilot, "escape")
            assert isinstance(app.screen, HeldScreen)

    asyncio.run(run())


@pytest.mark.parametrize("on_its_own_page", [False, True])
def test_dropping_asks_with_the_key_and_takes_the_text_away(on_its_own_page: bool) -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "5", "h", *(["enter"] if on_its_own_page else []), "X")
            assert isinstance(app.screen, ChoiceDialog)
            shown = picture(app)
            assert FIRST.key in shown
            assert f"{FIRST.upstream}.{FIRST.tool}" in shown
            await press(pilot, "n")
            assert station.executed == []
            await press(pilot, "X", "y")
            assert station.executed == [DropHeld(FIRST.key)]
            assert isinstance(app.screen, HeldScreen)
            await settle(pilot)
            assert f"held texts {len(HELD.answers) - 1}" in picture(app)
            assert "is deleted" in picture(app)

    asyncio.run(run())


def test_a_text_that_went_away_meanwhile_says_so() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "5", "h")
            station.held_details.clear()
            await press(pilot, "y")
            assert "That text is not held any more." in picture(app)
            await press(pilot, "enter")
            assert "It is not held any more. Esc goes back." in picture(app)
            await press(pilot, "X", "y")
            assert station.executed == []

    asyncio.run(run())


def test_the_palette_opens_held_texts_from_anywhere() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            app.open_held()
            await settle(pilot)
            assert isinstance(app.screen, HeldScreen)
            assert app.current_mode == "savings"
            app.open_held()
            await settle(pilot)
            assert len(app.screen_stack) == 2

    asyncio.run(run())
