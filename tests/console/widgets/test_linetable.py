"""The table: its lines as strings, its cursor on items."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.tone import COMPONENTS, Cell
from tests.support.fake_station import HOSTILE

pytestmark = pytest.mark.usefixtures("still")


class Bench(App[None]):
    """Only a table, with the product's style sheet."""

    CSS_PATH = "../../../console/app.tcss"
    COMPONENT_CLASSES = COMPONENTS

    def __init__(self, rows: int, follow: bool = False) -> None:
        super().__init__()
        from console.theme import DARK

        self.register_theme(DARK)
        self.theme = DARK.name
        self.table: LineTable[int] = LineTable(
            (Column("n", 5, right=True), Column("name", 6, flex=1)),
            lambda item: (Cell(str(item)), Cell(f"row {item}")),
            lambda item: item,
            empty="nothing\nhere",
        )
        self.rows = rows
        self.moved: list[object] = []
        self.opened: list[object] = []
        self.table.set_reactive(LineTable.follow, follow)

    def compose(self) -> ComposeResult:
        yield self.table

    def on_mount(self) -> None:
        self.table.show(range(self.rows))
        self.table.focus()

    def on_line_table_moved(self, event: LineTable.Moved) -> None:
        self.moved.append(event.key)

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        self.opened.append(event.key)


def drive(app: Bench, steps: Callable[[Pilot[None]], Awaitable[None]]) -> None:
    async def run() -> None:
        async with app.run_test(size=(30, 8)) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())


def test_header_and_rows_are_aligned_and_the_cursor_has_a_mark() -> None:
    app = Bench(3)

    async def steps(pilot: Pilot[None]) -> None:
        lines = app.table.text_lines()
        assert lines[0].rstrip() == "     n  name"
        assert lines[1].rstrip() == "\u258c    0  row 0"
        assert lines[2].rstrip() == "     1  row 1"
        assert lines[4].strip() == ""
        assert {len(line) for line in lines} == {30}

    drive(app, steps)


def test_keys_move_the_cursor_and_scroll_the_rows() -> None:
    app = Bench(100)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("G")
        await pilot.pause()
        assert app.table.current == 99
        assert app.table.text_lines()[-1].strip().startswith("\u258c   99")
        await pilot.press("g", "j", "j", "k")
        assert app.table.current == 1
        await pilot.press("pagedown")
        assert app.table.current == 8
        await pilot.press("end", "home", "up")
        assert app.table.current == 0
        await pilot.press("enter")
        await pilot.pause()
        assert app.opened == [0]

    drive(app, steps)


def test_the_cursor_stays_on_its_item_when_rows_come_and_go() -> None:
    app = Bench(10)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("j", "j", "j")
        app.table.show([7, 8, 3, 1])
        assert app.table.current == 3
        app.table.show([1, 2])
        await pilot.pause()
        assert app.table.current == 2
        assert app.moved[-1] == 2
        app.table.show([])
        assert app.table.current is None
        await pilot.press("j", "k", "G", "g", "pagedown", "enter")
        assert app.table.current is None
        assert [line.strip() for line in app.table.text_lines()[:3]] == ["", "nothing", "here"]

    drive(app, steps)


def test_following_keeps_the_last_row_until_the_cursor_moves_up() -> None:
    app = Bench(50, follow=True)

    async def steps(pilot: Pilot[None]) -> None:
        assert app.table.current == 49
        app.table.show(range(80))
        await pilot.pause()
        assert app.table.current == 79
        assert "79" in app.table.text_lines()[-1]
        await pilot.press("k")
        assert not app.table.follow
        app.table.show(range(200))
        await pilot.pause()
        assert app.table.current == 78
        app.table.follow = True
        await pilot.pause()
        assert app.table.current == 199
        assert "199" in app.table.text_lines()[-1]

    drive(app, steps)


def test_a_click_moves_the_cursor_and_a_second_one_opens() -> None:
    app = Bench(5)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.click(LineTable, offset=(3, 3))
        assert app.table.current == 2
        await pilot.click(LineTable, offset=(3, 3))
        await pilot.pause()
        assert app.opened == [2]
        await pilot.click(LineTable, offset=(3, 0))
        await pilot.click(LineTable, offset=(3, 7))
        assert app.table.current == 2

    drive(app, steps)


def test_hostile_cells_cannot_widen_a_line_or_leave_it() -> None:
    app = Bench(1)

    async def steps(pilot: Pilot[None]) -> None:
        app.table._cells = lambda item: (Cell(HOSTILE), Cell(HOSTILE))
        for line in app.table.text_lines():
            assert len(line.splitlines()) <= 1
            assert line.isprintable()
        assert {app.table.render_line(y).cell_length for y in range(8)} == {30}

    drive(app, steps)
