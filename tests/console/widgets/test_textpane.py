"""Wrapping of toned lines."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from console.widgets.textpane import Flow, TextPane, lines_of, wrap
from console.widgets.tone import COMPONENTS, Cell, Tone


def texts(line: tuple[Cell, ...], width: int) -> list[str]:
    return ["".join(cell.text for cell in piece) for piece in wrap(line, width)]


def test_a_line_breaks_at_spaces_and_keeps_its_indent() -> None:
    assert texts((Cell("  one two three four"),), 12) == ["  one two", "  three four"]


def test_a_label_stays_on_the_first_line_and_the_rest_lines_up() -> None:
    line = (Cell("key ", Tone.MUTED), Cell("alpha beta gamma delta"))
    assert texts(line, 16) == ["key alpha beta", "    gamma delta"]


def test_a_word_without_spaces_is_cut() -> None:
    assert texts((Cell("abcdefghij"),), 4) == ["abcd", "efgh", "ij"]


_TEXT = st.text(max_size=60) | st.text(alphabet="ab 検\u200d", max_size=80)


@given(_TEXT, _TEXT, st.integers(4, 40))
def test_no_piece_is_wider_than_the_pane_and_no_letter_is_lost(
    label: str, text: str, width: int
) -> None:
    line = (Cell(label), Cell(text))
    pieces = texts(line, width)
    assert all(cell_len(piece) <= max(width, 2) for piece in pieces)
    whole = "".join(texts(line, 10_000))
    assert "".join(pieces).replace(" ", "") == whole.replace(" ", "")


def test_in_running_text_every_cell_wraps_and_keeps_its_tone() -> None:
    line = Flow((Cell("  one "), Cell("two three", Tone.BAD), Cell(" four")))
    assert texts(line, 12) == ["  one two", "  three four"]
    assert wrap(line, 12)[1] == (Cell("  "), Cell("three", Tone.BAD), Cell(" four"))


@given(st.lists(_TEXT, max_size=5), st.integers(4, 40))
def test_running_text_fits_and_loses_no_letter(parts: list[str], width: int) -> None:
    line = Flow(Cell(part) for part in parts)
    pieces = texts(line, width)
    assert all(cell_len(piece) <= max(width, 2) for piece in pieces)
    whole = "".join(texts(line, 10_000))
    assert "".join(pieces).replace(" ", "") == whole.replace(" ", "")


def test_a_text_becomes_lines_without_control_characters() -> None:
    assert [line[0].text for line in lines_of("a\tb\n\x1b[31mc\n", indent="> ")] == [
        "> a   b",
        "> \u241b[31mc",
    ]


class Shown(App[None]):
    """Only a pane, hidden at first."""

    COMPONENT_CLASSES = COMPONENTS

    def __init__(self) -> None:
        super().__init__()
        self.pane = TextPane()
        self.pane.display = False

    def compose(self) -> ComposeResult:
        yield self.pane


@pytest.mark.usefixtures("still")
def test_a_text_that_came_while_the_pane_was_hidden_scrolls_once_it_is_shown() -> None:
    async def run() -> None:
        app = Shown()
        async with app.run_test(size=(20, 5)) as pilot:
            app.pane.show([(Cell("word " * 20),)])
            await pilot.pause()
            app.pane.display = True
            await pilot.pause()
            await pilot.pause()
            assert app.pane.show_vertical_scrollbar
            width = app.pane.scrollable_content_region.width - 2
            pieces = wrap((Cell("word " * 20),), width)
            assert app.pane.virtual_size.height == len(pieces) > 5

    asyncio.run(run())
