"""Config: provenance, editing in place, problems."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from proxy.commands import CommandResult, ReloadSettings, SetSetting, UnsetSetting
from proxy.events import SettingsRejected
from tests.console.driving import console, picture, press, settle, until, write
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_data import PROBLEMS

pytestmark = pytest.mark.usefixtures("still")


def test_every_row_says_value_source_and_whether_it_is_live() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            await press(pilot, "4")
            lines = picture(app).splitlines()
            timeout = next(line for line in lines if "proxy.call_timeout_seconds" in line)
            for word in ("45.0", "user file", "config.toml:3", "live"):
                assert word in timeout
            http = next(line for line in lines if "proxy.http.enabled" in line)
            assert "environment" in http
            assert "restart" in http

    asyncio.run(run())


def test_a_value_is_edited_in_place_and_a_refusal_keeps_the_bar_open() -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(ok=False, message="must be at least 0.1")

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "4", "j", "enter")
            assert "proxy.call_timeout_seconds = 45.0" in picture(app)
            await press(pilot, *["backspace"] * 4)
            await write(pilot, "0")
            await press(pilot, "enter")
            assert station.executed == [SetSetting("proxy.call_timeout_seconds", "0")]
            assert "\u2716 must be at least 0.1" in picture(app)
            station.answer = None
            await press(pilot, "backspace", "9", "enter")
            assert station.executed[-1] == SetSetting("proxy.call_timeout_seconds", "9")
            assert "proxy.call_timeout_seconds =" not in picture(app)
            line = next(
                line for line in picture(app).splitlines() if "proxy.call_timeout_seconds" in line
            )
            assert " 9 " in line

    asyncio.run(run())


def test_escape_gives_an_edit_up() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "4", "e", "x", "escape")
            assert station.executed == []
            assert app.current_mode == "config"
            await press(pilot, "j", "escape")
            assert app.current_mode == "overview"

    asyncio.run(run())


def test_a_redacted_value_is_not_offered_for_editing() -> None:
    async def run() -> None:
        app = console(FakeStation())
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "4", *["j"] * 6, "e")
            line = next(line for line in picture(app).splitlines() if "TOKEN =" in line)
            assert "secret" not in line

    asyncio.run(run())


def test_unset_asks_and_names_the_key_and_only_works_for_the_users_file() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            await press(pilot, "4", "j", "u")
            assert "Unset proxy.call_timeout_seconds?" in picture(app)
            await press(pilot, "y")
            assert station.executed == [UnsetSetting("proxy.call_timeout_seconds")]
            await press(pilot, "j", "u")
            assert len(station.executed) == 1

    asyncio.run(run())


def test_search_and_changed_narrow_the_rows_and_reload_is_sent() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            await press(pilot, "4", "slash")
            await write(pilot, "http")
            assert "settings 2/9" in picture(app)
            await press(pilot, "escape", "c")
            assert "settings 6/9   only changed ones" in picture(app)
            await press(pilot, "r")
            assert station.executed == [ReloadSettings()]

    asyncio.run(run())


def test_problems_are_listed_with_place_and_hint_while_a_banner_stays() -> None:
    station = FakeStation()

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            station.settings_value = replace(station.settings_value, problems=PROBLEMS)
            station.snapshot_value = replace(
                station.snapshot_value,
                station=replace(station.snapshot_value.station, settings_problems=2),
            )
            station.push(SettingsRejected(NOW, PROBLEMS))
            await until(pilot, lambda: "settings rejected" in picture(app))
            assert "config.toml:3 proxy.call_timeout_second: There is no such key." in picture(app)
            await press(pilot, "4")
            shown = picture(app)
            assert "config.toml:14" in shown
            assert "Did you mean proxy.call_timeout_seconds?" in shown
            assert "settings rejected" in shown

    asyncio.run(run())
