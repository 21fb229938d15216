"""Overview and the first start."""

from __future__ import annotations

import asyncio

import pytest

from console.screens.dialogs import ChoiceDialog
from console.screens.first_steps import AddDialog, ImportDialog
from tests.console.driving import app_of, console, picture, press, screen_of, settle, write
from tests.support.fake_station import FakeStation
from tests.support.run_fake_console import FakeFirstSteps

pytestmark = pytest.mark.usefixtures("still")


def test_the_sick_come_first_with_state_reason_and_figures() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            lines = picture(app).splitlines()
            names = [line for line in lines if "jira" in line or "filesystem " in line]
            assert "failed" in names[0]
            assert "The program mcp-jira was not found" in names[0]
            assert any("filesystem" in line and "1,843" in line and "12" in line for line in lines)
            assert "2/7 upstreams ready" in lines[0]

    asyncio.run(run())


def test_enter_opens_the_upstream_under_the_cursor() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "j", "j", "enter")
            assert app.current_mode == "upstreams"
            assert "4 of the last 10 calls timed out." in picture(app)
            await press(pilot, "escape")
            assert app.current_mode == "overview"

    asyncio.run(run())


def test_a_first_start_offers_three_ways() -> None:
    steps = FakeFirstSteps()

    async def run() -> None:
        app = console(FakeStation.empty(), first_steps=steps)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            shown = picture(app)
            for word in ("Try the demo", "Import", "Add", "mms connect --print claude-code"):
                assert word in shown
            await press(pilot, "d")
            assert steps.done == [("demo", None)]
            await press(pilot, "i")
            assert isinstance(app.screen, ImportDialog)
            await press(pilot, "space", "enter")
            assert steps.done[-1] == ("import", ("my-notes", "linear"))
            await press(pilot, "a")
            assert isinstance(app.screen, AddDialog)
            await press(pilot, "escape")
            assert not isinstance(app.screen, AddDialog)

    asyncio.run(run())


def test_the_form_sends_name_and_command_and_shows_why_it_was_refused() -> None:
    steps = FakeFirstSteps()
    steps.refusal = "There is already an upstream notes."

    async def run() -> None:
        app = console(FakeStation.empty(), first_steps=steps)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "a", "enter")
            assert isinstance(app.screen, AddDialog)
            await write(pilot, "uvx mcp-notes")
            await press(pilot, "enter")
            assert "A name is needed." in picture(app)
            await write(pilot, "notes")
            await press(pilot, "enter")
            assert steps.done == [("add", ("notes", {"command": "uvx mcp-notes"}))]
            assert isinstance(app.screen, AddDialog)
            shown = picture(app)
            assert "There is already an upstream notes." in shown
            assert "uvx mcp-notes" in shown
            steps.refusal = ""
            await press(pilot, "tab")
            await press(pilot, *["backspace"] * 13)
            await write(pilot, "https")
            await press(pilot, "colon", "slash", "slash", "x", "enter")
            assert steps.done[-1] == ("add", ("notes", {"url": "https://x"}))

    asyncio.run(run())


def test_an_attention_item_leads_to_its_upstream_and_a_host_to_its_calls() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "tab", "j", "enter")
            assert app.current_mode == "upstreams"
            assert "the handshake" in picture(app)
            await press(pilot, "1", "tab", "tab", "enter")
            assert app.current_mode == "calls"
            assert 'filter: host:"claude-code"' in picture(app)

    asyncio.run(run())


def test_demo_and_add_keys_do_nothing_once_there_are_upstreams() -> None:
    steps = FakeFirstSteps()

    async def run() -> None:
        app = console(FakeStation(), first_steps=steps)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "d", "a", "i")
            assert steps.done == []
            assert screen_of(pilot) is app.screen
            assert not isinstance(app_of(pilot).screen, (AddDialog, ChoiceDialog))

    asyncio.run(run())
