"""The navigation: all titles, short ones, or numbers, as there is room; and clicks find their screen."""

from __future__ import annotations

import asyncio

import pytest
from textual.app import App, ComposeResult

from console import scopes
from console.widgets.bars import NavBar
from console.widgets.tone import COMPONENTS, Cell, Tone

pytestmark = pytest.mark.usefixtures("still")
BADGES = {
    scopes.UPSTREAMS: Cell("\u25b29", Tone.WARN),
    scopes.DECISIONS: Cell("\u25c69", Tone.WARN),
}


class Bar(App[None]):
    """Only the navigation."""

    COMPONENT_CLASSES = COMPONENTS

    def __init__(self, present: str) -> None:
        super().__init__()
        self.bar = NavBar(present)
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.bar

    def on_nav_bar_chosen(self, event: NavBar.Chosen) -> None:
        self.chosen.append(event.screen_id)


@pytest.mark.parametrize("present", [scopes.OVERVIEW, scopes.DECISIONS])
@pytest.mark.parametrize(
    ("width", "expected"),
    [(120, "Decisions \u25c69"), (80, "Decide\u25c69"), (60, "7\u25c69")],
)
def test_every_screen_has_a_place_at_every_width(width: int, expected: str, present: str) -> None:
    async def run() -> None:
        app = Bar(present)
        async with app.run_test(size=(width, 4)) as pilot:
            app.bar.show(BADGES)
            await pilot.pause()
            line = app.bar.render_line(0).text
            assert "\u2026" not in line
            title = next(screen.title for screen in scopes.SCREENS if screen.id == present)
            if present != scopes.DECISIONS:
                assert expected in line
            assert ("[" in line) is ("]" in line) is True
            shown = line[line.index("[") + 1 : line.index("]")]
            assert title in shown or width == 80
            for screen in scopes.SCREENS:
                place = line.rindex(screen.number)  # a badge may show the same digit before
                await pilot.click(NavBar, offset=(place, 0))
                await pilot.pause()
                assert app.chosen[-1] == screen.id

    asyncio.run(run())
