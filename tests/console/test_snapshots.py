"""Pictures of every screen in every state. Look at the report before accepting a new one:

``pytest tests/console/test_snapshots.py`` writes ``snapshot_report.html`` when something differs, and
``--snapshot-update`` accepts what is drawn now.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from console.app import QuitChoice
from memory.errors import FaultCode, MemoryFault
from proxy.answer_model import Savings, SavingsLine, SavingsView
from proxy.commands import CommandResult
from proxy.events import CallsRecorded, SettingsApplied, SettingsRejected
from proxy.model import CallDetail, Outcome
from tests.console.driving import LARGE, SMALL, app_of, console, press, settle, until, write
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_data import CALLS, PROBLEMS

pytestmark = pytest.mark.usefixtures("still")

Snap = Callable[..., bool]
Steps = Callable[[Pilot[QuitChoice]], Awaitable[None]]


def snap(
    snap_compare: Snap,
    station: FakeStation,
    *keys: str,
    size: tuple[int, int] = SMALL,
    then: Steps | None = None,
    theme: str = "mms-dark",
) -> bool:
    """Start, settle, press, settle, compare."""

    async def before(pilot: Pilot[QuitChoice]) -> None:
        await pilot.pause()
        await settle(pilot)
        for key in keys:
            await press(pilot, key)
        if then is not None:
            await then(pilot)
            await settle(pilot)
        await pilot.hover(offset=(0, 0))
        await pilot.pause()

    return snap_compare(console(station, theme=theme), terminal_size=size, run_before=before)


SCREENS = {
    "overview": (),
    "upstreams": ("2", "j", "j"),
    "calls": ("3",),
    "call": ("3", "enter"),
    "config": ("4", "j"),
    "call_cut": ("3", "k", "enter"),
    "call_sides": ("3", "k", "enter", "s"),
    "savings": ("5",),
    "held": ("5", "h"),
    "held_text": ("5", "h", "enter"),
    "what_if": ("3", "k", "w"),
    "memory": ("6",),
    "memory_search": ("6", "slash", "g", "a", "t", "e", "w", "a", "y", "enter"),
    "record": ("6", "slash", "g", "a", "t", "e", "w", "a", "y", "enter", "enter"),
    "decisions": ("7",),
    "decisions_duplicate": ("7", "j"),
    "decisions_kept_back": ("7", "j", "j"),
    "forgetting": ("8", "r"),
    "forgetting_record": ("8", "r", "j", "j", "j"),
    "runs": ("8", "h"),
    "surfacing": ("9",),
    "surfacing_event": ("9", "enter"),
    "surfacing_figures": ("9", "f"),
    "tuning": ("9", "T"),
}


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", list(SCREENS))
def test_loaded(snap_compare: Snap, name: str, size: tuple[int, int]) -> None:
    assert snap(snap_compare, FakeStation(), *SCREENS[name], size=size)


@pytest.mark.parametrize(
    "name",
    [
        "overview",
        "upstreams",
        "calls",
        "config",
        "call_sides",
        "savings",
        "held",
        "what_if",
        "memory",
        "decisions",
        "forgetting",
        "runs",
        "surfacing",
    ],
)
def test_narrow(snap_compare: Snap, name: str) -> None:
    assert snap(snap_compare, FakeStation(), *SCREENS[name], size=(62, 18))


def test_narrow_upstream_has_a_page_of_its_own(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(), *SCREENS["upstreams"], "enter", size=(62, 18))


@pytest.mark.parametrize(
    "keys",
    [(), ("2",), ("3",), ("4",), ("5",), ("5", "h"), ("6",), ("7",), ("8",), ("8", "r"), ("9",)],
    ids=[
        "overview",
        "upstreams",
        "calls",
        "config",
        "savings",
        "held",
        "memory",
        "decisions",
        "forgetting",
        "plan",
        "surfacing",
    ],
)
def test_empty(snap_compare: Snap, keys: tuple[str, ...]) -> None:
    assert snap(snap_compare, FakeStation.empty(), *keys)


@pytest.mark.parametrize("name", ["decisions", "forgetting_record"])
def test_narrow_memory_text_has_the_whole_screen(snap_compare: Snap, name: str) -> None:
    assert snap(snap_compare, FakeStation(), *SCREENS[name], "enter", size=(62, 18))


@pytest.mark.parametrize("name", ["overview", "memory", "decisions", "forgetting", "runs"])
def test_memory_unreachable(snap_compare: Snap, name: str) -> None:
    station = FakeStation()
    station.memory.fault = MemoryFault(
        FaultCode.UNAVAILABLE, "The memory is not running.", "mms memory serve starts it."
    )
    assert snap(snap_compare, station, *SCREENS[name])


@pytest.mark.parametrize("key", ["a", "x", "b"])
def test_decided(snap_compare: Snap, key: str) -> None:
    assert snap(snap_compare, FakeStation(), "7", key)


def test_decided_before(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(), "7", "v")


def test_kept_out_of_the_plan(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(), "8", "r", "j", "space")


@pytest.mark.parametrize("theme", ["mms-light", "ansi-dark"])
def test_other_themes_decisions(snap_compare: Snap, theme: str) -> None:
    assert snap(snap_compare, FakeStation(), "7", theme=theme)


@pytest.mark.parametrize("name", ["decisions", "forgetting", "surfacing"])
def test_memory_without_colour(
    snap_compare: Snap, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap(snap_compare, FakeStation(), *SCREENS[name])


@pytest.mark.parametrize("name", list(SCREENS))
def test_hostile(snap_compare: Snap, name: str) -> None:
    station = FakeStation(hostile=True)
    tried = station.what_ifs
    station.what_ifs = lambda query: replace(tried(query), problem="")
    assert snap(snap_compare, station, *SCREENS[name])


def test_hostile_dialog(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(hostile=True), "2", "X")


@pytest.mark.parametrize("name", ["overview", "upstreams", "calls", "config", "savings", "held"])
def test_unreachable(snap_compare: Snap, name: str) -> None:
    station = FakeStation()

    async def then(pilot: Pilot[QuitChoice]) -> None:
        station.unavailable = "The station does not answer on mms.sock. mms status says more."
        app = app_of(pilot)
        app.following.snapshot_soon()
        await until(pilot, lambda: app.state.stale)

    assert snap(snap_compare, station, *SCREENS[name], then=then)


def test_unreachable_from_the_start(snap_compare: Snap) -> None:
    station = FakeStation()
    station.unavailable = "No station runs. mms serve starts one."
    assert snap(snap_compare, station)


@pytest.mark.parametrize("name", ["overview", "config"])
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
def test_settings_rejected(snap_compare: Snap, name: str, size: tuple[int, int]) -> None:
    station = FakeStation()

    async def then(pilot: Pilot[QuitChoice]) -> None:
        station.settings_value = replace(station.settings_value, problems=PROBLEMS)
        station.snapshot_value = replace(
            station.snapshot_value,
            station=replace(station.snapshot_value.station, settings_problems=2),
        )
        station.push(SettingsRejected(NOW, PROBLEMS))
        await until(pilot, lambda: app_of(pilot).state.rejected)

    assert snap(snap_compare, station, *SCREENS[name], size=size, then=then)


def test_settings_applied_notice(snap_compare: Snap) -> None:
    station = FakeStation()

    async def then(pilot: Pilot[QuitChoice]) -> None:
        changes = ("upstream notes is enabled", "proxy.max_in_flight is now 64")
        station.push(SettingsApplied(NOW, changes, ("proxy.http.port",)))
        await until(pilot, lambda: app_of(pilot).state.applied)

    assert snap(snap_compare, station, then=then)


def test_calls_not_recorded(snap_compare: Snap) -> None:
    station = FakeStation()
    station.snapshot_value = replace(station.snapshot_value, unrecorded_calls=17)
    assert snap(snap_compare, station)


def test_calls_paused(snap_compare: Snap) -> None:
    station = FakeStation()

    async def then(pilot: Pilot[QuitChoice]) -> None:
        await press(pilot, "k", "k", "p")
        fresh = tuple(
            replace(CALLS[0], id=CALLS[0].id + number, started_at=NOW - 1)
            for number in range(1, 129)
        )  # ended before the snapshot, so that no figure of it moves until the next one
        station.push(CallsRecorded(fresh))
        await until(pilot, lambda: app_of(pilot).state.calls_seen == 128)

    assert snap(snap_compare, station, "3", then=then)


@pytest.mark.parametrize(
    "words", ["err up:git", "nothing has this", "slow>x"], ids=["some", "none", "wrong"]
)
def test_calls_filter(snap_compare: Snap, words: str) -> None:
    async def then(pilot: Pilot[QuitChoice]) -> None:
        await write(pilot, words)

    assert snap(snap_compare, FakeStation(), "3", "slash", then=then)


def test_config_edit_refused(snap_compare: Snap) -> None:
    station = FakeStation()
    station.answer = lambda command: CommandResult(
        ok=False, message="proxy.call_timeout_seconds must be at least 0.1, got 0."
    )
    assert snap(snap_compare, station, "4", "j", "enter", "enter")


DIALOGS = {
    "quit": ("q",),
    "disable": ("2", "j", "j", "d"),
    "unset": ("4", "j", "u"),
    "add": ("2", "a"),
    "import": ("2", "i"),
    "help": ("3", "question_mark"),
    "palette": ("2", "colon"),
    "drop": ("5", "h", "X"),
    "clear_cache": ("5", "C"),
    "strategies": ("3", "k", "w", "s"),
    "apply": ("3", "k", "w", "minus", "A"),
    "forget": ("8", "r", "D"),
    "expunge": ("6", "enter", "X"),
    "edit_text": ("7", "e", "1"),
    "edit_procedure": ("6", "t", "t", "t", "enter", "e"),
    "archive": ("6", "d"),
    "survivor": ("7", "j", "s"),
    "run_wanted": ("7", "G", "a"),
}


@pytest.mark.parametrize("name", list(DIALOGS))
def test_dialog(snap_compare: Snap, name: str) -> None:
    assert snap(snap_compare, FakeStation(), *DIALOGS[name])


@pytest.mark.parametrize("name", ["servers", "days"])
def test_savings_by(snap_compare: Snap, name: str) -> None:
    assert snap(snap_compare, FakeStation(), "5", name[0])


def test_savings_that_are_costs(snap_compare: Snap) -> None:
    assert snap(snap_compare, costly(), "5")


def test_overview_of_costs(snap_compare: Snap) -> None:
    assert snap(snap_compare, costly())


def costly() -> FakeStation:
    """A station whose own tools cost more than they save."""
    station = FakeStation()
    station.savings_value = SavingsView(
        (
            SavingsLine("2026-11-29", "docs", "search", Savings(9, 1, 5_000, 4_400, 900, 60)),
            SavingsLine("2026-11-30", "docs", "search", Savings(4, 0, 1_200, 1_200)),
            SavingsLine("2026-11-30", "mms", "", Savings(control_tools=2_884)),
        ),
        412,
        "o200k_base",
    )
    return station


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "120x40"])
def test_before_and_after(snap_compare: Snap, size: tuple[int, int]) -> None:
    station = FakeStation()
    record = replace(CALLS[1], outcome=Outcome.OK)
    rows = [{"id": number, "name": f"part {number}", "state": "open"} for number in range(40)]
    cut = [*rows[:2], {"cut": "36 rows, all in rows:3-38"}, *rows[38:]]
    station.call_details[record.id] = CallDetail(
        record,
        "{}",
        json.dumps({"content": [{"type": "text", "text": json.dumps(cut)}]}),
        truncated=False,
        original=json.dumps({"content": [{"type": "text", "text": json.dumps(rows)}]}),
        query="part 38",
        query_source="arguments",
    )
    assert snap(snap_compare, station, "3", "k", "enter", "s", size=size)


def test_what_if_of_a_call_whose_original_is_gone(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(), "3", "w")


def test_what_if_refuses_a_budget_that_is_none(snap_compare: Snap) -> None:
    async def then(pilot: Pilot[QuitChoice]) -> None:
        await press(pilot, "b", "x", "enter")

    assert snap(snap_compare, FakeStation(), "3", "k", "w", then=then)


@pytest.mark.parametrize("theme", ["mms-light", "ansi-dark"])
def test_other_themes_savings(snap_compare: Snap, theme: str) -> None:
    assert snap(snap_compare, FakeStation(), "5", theme=theme)


def test_savings_without_colour(snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap(snap_compare, FakeStation(), "5")


@pytest.mark.parametrize("theme", ["mms-light", "ansi-dark"])
def test_other_themes(snap_compare: Snap, theme: str) -> None:
    assert snap(snap_compare, FakeStation(), theme=theme)


def test_without_colour(snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap(snap_compare, FakeStation())


def test_too_small(snap_compare: Snap) -> None:
    assert snap(snap_compare, FakeStation(), size=(52, 12))
