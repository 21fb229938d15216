"""Start the console on a fake station and wait until it shows what it knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC

from textual.pilot import Pilot

from config.schema import ConsoleSettings
from console.app import ConsoleApp, QuitChoice
from console.screens.base import MainScreen
from console.state import Link
from tests.support.fake_station import NOW, FakeStation
from tests.support.run_fake_console import FakeFirstSteps

SMALL = (80, 24)
LARGE = (120, 40)
GROUPS = (
    "upstream",
    "selection",
    "call",
    "settings",
    "older",
    "import",
    "deeds",
    "savings",
    "savings-screen",
    "held",
    "held_text",
    "what_if",
    "surfacing",
    "surfacing-event",
    "surfacing-figures",
    "tuning",
    "memory",
    "memory-deeds",
    "memory-overview",
    "memory-detail",
    "memory-position",
)
"""Of the workers that ask the station something."""


def console(
    station: FakeStation,
    *,
    clock: Callable[[], float] = lambda: NOW,
    keys: Mapping[str, str] | None = None,
    theme: str = "mms-dark",
    first_steps: FakeFirstSteps | None = None,
    on_quit: Callable[[QuitChoice], None] | None = None,
) -> ConsoleApp:
    """A console with a fixed clock and zone."""
    return ConsoleApp(
        station,
        clock=clock,
        tz=UTC,
        on_quit=on_quit,
        first_steps=first_steps if first_steps is not None else FakeFirstSteps(),
        settings=ConsoleSettings(theme=theme, keys=keys or {}),
    )


def app_of(pilot: Pilot[QuitChoice]) -> ConsoleApp:
    """The console under the pilot."""
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    return app


def screen_of(pilot: Pilot[QuitChoice]) -> MainScreen:
    """The main screen that is shown."""
    shown = app_of(pilot)._shown()
    assert shown is not None
    return shown


async def until(pilot: Pilot[QuitChoice], condition: Callable[[], object]) -> None:
    """Wait until something is so; fails after 15 seconds (a busy machine needs some)."""
    async with asyncio.timeout(15):
        while not condition():
            await pilot.pause(0.01)
    await pilot.pause()


async def settle(pilot: Pilot[QuitChoice]) -> None:
    """Wait until the station was heard, questions are answered and everything is drawn."""
    app = app_of(pilot)
    await pilot.pause()

    def quiet() -> bool:
        asking = any(not worker.is_finished for worker in app.workers if worker.group in GROUPS)
        return app.state.link is not Link.CONNECTING and not app._paint_due and not asking

    await until(pilot, quiet)
    await until(pilot, quiet)


async def press(pilot: Pilot[QuitChoice], *keys: str) -> None:
    """Press keys and wait until their effect is drawn."""
    await pilot.press(*keys)
    await settle(pilot)


_NAMED = {" ": "space", ":": "colon", ">": "greater_than_sign", "*": "asterisk", "-": "minus"}


async def write(pilot: Pilot[QuitChoice], text: str) -> None:
    """Type a text."""
    await press(pilot, *(_NAMED.get(character, character) for character in text))


def picture(app: ConsoleApp) -> str:
    """Everything on the screen as text, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in lines[:height])
