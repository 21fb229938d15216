"""The app: its link to the station, leaving, notices, palette, help, and what must never happen."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace

import pytest
from textual import events
from textual.command import CommandPalette

from console.app import ConsoleApp, QuitChoice
from console.screens.dialogs import ChoiceDialog
from console.screens.help import HelpScreen
from console.state import Link
from console.widgets.bars import StatusBar, TooSmall
from proxy.commands import ReconnectUpstream
from proxy.events import EventsLost, SettingsApplied, StationStopping
from tests.console.driving import (
    LARGE,
    SMALL,
    app_of,
    console,
    picture,
    press,
    screen_of,
    settle,
    until,
    write,
)
from tests.console.test_safe import _dangerous
from tests.support.fake_station import NOW, FakeStation

pytestmark = pytest.mark.usefixtures("still")


def test_an_unreachable_station_is_said_and_its_return_is_seen() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            station.unavailable = "The station does not answer."
            await press(pilot, "2", "R")
            await until(pilot, lambda: app.state.link is Link.LOST)
            await until(pilot, lambda: "station unreachable" in picture(app))
            shown = picture(app)
            assert "\u2716 station unreachable \u2014 retrying" in shown
            assert "The station does not answer." in shown
            assert "jira" in shown
            assert "(stale)" in shown
            station.unavailable = ""
            app.following.snapshot_soon()
            await until(pilot, lambda: app.state.link is Link.LIVE)
            await until(pilot, lambda: "unreachable" not in picture(app))

    asyncio.run(run())


def test_a_station_that_is_away_at_the_start_is_found_later() -> None:
    station = FakeStation()
    station.unavailable = "No station runs."

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await until(pilot, lambda: "No station runs." in picture(app))
            station.unavailable = ""
            await until(pilot, lambda: app.state.loaded and app.state.calls)
            await until(pilot, lambda: "filesystem" in picture(app))

    asyncio.run(run())


def test_lost_events_bring_a_fresh_snapshot_and_fresh_calls() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            station.asked.clear()
            station.push(EventsLost(5))
            await until(pilot, lambda: {"snapshot", "calls"} <= set(station.asked))

    asyncio.run(run())


def test_applied_settings_are_a_notice_with_what_changed() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await settle(pilot)
            changes = ("upstream github added", "[/b] odd \x1b]0;x\x07 name")
            station.push(SettingsApplied(NOW, changes, ("proxy.http.port",)))
            await until(pilot, lambda: "Settings applied" in picture(app))
            shown = picture(app)
            assert "upstream github added" in shown
            assert "proxy.http.port" in shown
            assert "[/b] odd \u241b]0;x\u2407 name" in shown

    asyncio.run(run())


@pytest.mark.parametrize(
    ("key", "choice"), [("k", QuitChoice.KEEP), ("s", QuitChoice.STOP), ("c", None)]
)
def test_leaving_asks_while_hosts_are_connected(key: str, choice: QuitChoice | None) -> None:
    told: list[QuitChoice] = []

    async def run() -> QuitChoice | None:
        app = console(FakeStation(), on_quit=told.append)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            await press(pilot, "q")
            assert isinstance(app.screen, ChoiceDialog)
            assert "3 hosts are connected: claude-code, cursor, mcp-inspector." in picture(app)
            await press(pilot, "q")
            await pilot.press(key)
            await pilot.pause()
            if choice is None:
                assert app.is_running
                assert not isinstance(app.screen, ChoiceDialog)
        return app.return_value

    assert asyncio.run(run()) is choice
    assert told == ([choice] if choice else [])


@pytest.mark.parametrize(
    ("attached", "choice"), [(True, QuitChoice.LEAVE), (False, QuitChoice.STOP)]
)
def test_leaving_does_not_ask_when_nobody_is_concerned(attached: bool, choice: QuitChoice) -> None:
    station = FakeStation(attached=attached)
    if not attached:
        station.snapshot_value = replace(station.snapshot_value, hosts=())

    async def run() -> QuitChoice | None:
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            await pilot.press("q")
            await pilot.pause()
        return app.return_value

    assert asyncio.run(run()) is choice


def test_our_own_station_stopping_closes_the_console_and_another_ones_does_not() -> None:
    async def run(attached: bool) -> QuitChoice | None:
        station = FakeStation(attached=attached)
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            station.push(StationStopping("Stopped on request."))
            if attached:
                await until(pilot, lambda: app.state.link is not Link.LIVE)
                assert app.is_running
            else:
                await until(pilot, lambda: app._leaving)
        return app.return_value

    assert asyncio.run(run(attached=False)) is QuitChoice.STOP
    assert asyncio.run(run(attached=True)) is None


def test_numbers_switch_screens_and_escape_leads_back_without_leaving() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            for key, mode in (
                ("5", "savings"),
                ("4", "config"),
                ("3", "calls"),
                ("2", "upstreams"),
                ("1", "overview"),
            ):
                await press(pilot, key)
                assert app.current_mode == mode
            await press(pilot, "3", "enter", "3")
            assert len(app.screen_stack) == 1
            await press(pilot, "escape", "escape", "escape")
            assert app.current_mode == "overview"
            assert app.is_running

    asyncio.run(run())


def test_help_lists_this_screen_first_and_typing_narrows_it() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            await press(pilot, "3", "question_mark")
            assert isinstance(app.screen, HelpScreen)
            assert "Calls (this screen)" in picture(app)
            await write(pilot, "older")
            assert "read 500 older calls" in picture(app)
            assert "Calls (this screen)" in picture(app)
            assert "a page down" not in picture(app)
            await write(pilot, "zzz")
            assert "Nothing here has these letters." in picture(app)
            await press(pilot, "escape")
            assert not isinstance(app.screen, HelpScreen)

    asyncio.run(run())


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
def test_the_palette_finds_and_runs_a_command(key: str) -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            await press(pilot, key)
            assert isinstance(app.screen, CommandPalette)
            await write(pilot, "reconnect docs")
            await until(pilot, lambda: "upstream: reconnect docs" in picture(app))
            await pilot.press("down", "enter")
            await until(pilot, lambda: station.executed == [ReconnectUpstream("docs")])

    asyncio.run(run())


def test_a_key_given_in_the_settings_works_and_is_shown() -> None:
    async def run() -> None:
        app = console(FakeStation(), keys={"calls.pause": "z", "nonsense": "x"})
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await settle(pilot)
            assert "there is no action 'nonsense'" in picture(app)
            await press(pilot, "3")
            assert "z Pause" in picture(app)
            await press(pilot, "z")
            assert "PAUSED" in picture(app)
            await press(pilot, "p")
            assert "PAUSED" in picture(app)

    asyncio.run(run())


def test_an_unknown_theme_is_said_and_the_default_is_used() -> None:
    async def run() -> None:
        app = console(FakeStation(), theme="nope")
        async with app.run_test(size=LARGE, notifications=True) as pilot:
            await settle(pilot)
            assert app.theme == "mms-dark"
            assert "there is no theme 'nope'" in picture(app)

    asyncio.run(run())


@pytest.mark.parametrize("size", [(59, 24), (80, 15), (20, 5)])
def test_a_terminal_that_is_too_small_gets_one_line(size: tuple[int, int]) -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            lines = [line.strip() for line in picture(app).splitlines() if line.strip()]
            assert " ".join(lines) == f"needs 60\u00d716, have {size[0]}\u00d7{size[1]}"
            await pilot.resize_terminal(80, 24)
            await settle(pilot)
            assert "upstreams ready" in picture(app)

    asyncio.run(run())


def test_a_failing_task_becomes_a_notice_and_not_the_end() -> None:
    station = FakeStation()

    async def broken(name: str) -> None:
        raise RuntimeError("secret-value-in-a-message")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=SMALL, notifications=True) as pilot:
            await settle(pilot)
            station.upstream = broken  # type: ignore[assignment,method-assign]  # breaks it
            await press(pilot, "2")
            await until(pilot, lambda: "Internal error (RuntimeError)" in picture(app))
            assert "secret-value" not in picture(app)
            assert app.is_running

    asyncio.run(run())


def test_a_crash_prints_no_local_variables(capfd: pytest.CaptureFixture[str]) -> None:
    class Crashing(ConsoleApp):
        def action_go(self, screen_id: str) -> None:
            password = "local-secret"
            raise RuntimeError(f"{len(password)}")

    async def run() -> None:
        app = Crashing(FakeStation(), clock=lambda: NOW)
        async with app.run_test(size=SMALL) as pilot:
            await pilot.pause()
            await pilot.press("2")
            await pilot.pause()

    with pytest.raises(RuntimeError):
        asyncio.run(run())
    printed = capfd.readouterr()
    assert "local-secret" not in printed.out + printed.err
    assert "the console failed (RuntimeError)" in printed.err


@pytest.mark.parametrize("size", [SMALL, (62, 17)])
def test_hostile_text_reaches_no_screen_unchanged_and_breaks_none(size: tuple[int, int]) -> None:
    station = FakeStation(hostile=True)
    tried = station.what_ifs
    station.what_ifs = lambda query: replace(tried(query), problem="")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            tours: tuple[tuple[str, ...], ...] = (
                (),
                ("2", "j", "enter"),
                ("2", "R"),
                ("escape", "X"),
                ("escape", "3"),
                ("enter",),
                ("y", "4"),
                ("e",),
                ("escape", "u"),
                ("escape", "3", "escape", "k", "enter", "s"),
                ("escape", "o", "y"),
                ("escape", "w"),
                ("A",),
                ("escape", "s"),
                ("escape", "5"),
                ("s", "y"),
                ("h", "X"),
                ("escape", "enter", "y"),
                ("escape", "escape", "q"),
                ("escape", "6"),
                ("y", "slash"),
                ("escape", "enter", "P"),
                ("e",),
                ("escape", "X"),
                ("escape", "7", "enter"),
                ("s",),
                ("escape", "escape", "slash", "x"),
                ("escape", "a"),
                ("8", "r", "j", "enter"),
                ("y", "escape", "D"),
                ("escape", "h"),
                ("u",),
                ("escape", "colon"),
            )
            for tour in tours:
                await press(pilot, *tour)
                shown = picture(app)
                bad = {character for character in shown if _dangerous(character)} - {"\n"}
                assert bad == set(), (tour, bad)
                assert app.is_running

    asyncio.run(run())


def test_a_tick_of_the_clock_before_a_screen_is_there_does_no_harm() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            for mode in (
                "upstreams",
                "calls",
                "config",
                "memory",
                "decisions",
                "forgetting",
                "overview",
            ):
                app.action_go(mode)
                app._tick()
                app._paint()
                await settle(pilot)
            assert app.is_running

    asyncio.run(run())


def test_pasted_text_is_neutralised_before_a_field_shows_it() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            await press(pilot, "3", "slash")
            app.post_message(events.Paste("[/b] \x1b]52;c;eA==\x07\u202e\tx\nq\nq"))
            await until(pilot, lambda: "[/b]" in picture(app))
            assert "[/b] \u241b]52;c;eA==\u2407\u00ab202E\u00bb x" in picture(app)
            assert app.is_running

    asyncio.run(run())


def test_a_screen_that_is_being_taken_apart_is_not_drawn() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            screen = screen_of(pilot)
            assert screen.whole
            for widget in (TooSmall, StatusBar):
                await screen.query_one(widget).remove()
                app._tick()
                app._paint()
                assert not screen.whole

    asyncio.run(run())


def test_resizing_through_all_sizes_keeps_the_console_alive() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=SMALL) as pilot:
            await settle(pilot)
            for key in ("1", "2", "3", "5", "4"):
                await press(pilot, key)
                for size in ((200, 60), (61, 16), (1, 1), (76, 30), (110, 16), SMALL):
                    await pilot.resize_terminal(*size)
                    await pilot.pause()
            assert "upstreams ready" in picture(app)
            assert screen_of(pilot).SCOPE == "config"
            assert app_of(pilot) is app

    asyncio.run(run())


def test_importing_the_console_brings_no_heavy_package_but_textual() -> None:
    code = (
        "import sys, console.app; "
        "print(*sorted({'mcp', 'pydantic', 'chromadb', 'numpy', 'httpx2', 'uvicorn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
