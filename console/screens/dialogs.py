"""Small questions over a screen: each names what it is about and can be left with Esc."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from console.safe import safe
from console.screens.base import entitle
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.tone import Cell, Tone

if TYPE_CHECKING:
    from console.app import ConsoleApp


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer."""

    id: str
    key: str
    """One letter that chooses it."""
    label: str
    danger: bool = False


class ChoiceDialog(ModalScreen["str | None"]):
    """A question with a few answers, one below the other; gives the answer's id, or ``None``.

    The cursor begins on the last answer, which is the harmless one.
    """

    AUTO_FOCUS = "LineTable"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str, words: str, choices: Sequence[Choice]) -> None:
        super().__init__(classes="Dialog")
        self._title = title
        self._words = words
        self._choices = tuple(choices)
        self._table: LineTable[Choice] = LineTable(
            (Column("", 1), Column("", 20, flex=1)),
            lambda choice: (
                Cell(choice.key, Tone.KEY),
                Cell(choice.label, Tone.BAD if choice.danger else Tone.NORMAL),
            ),
            lambda choice: choice.id,
            header=False,
            id="choices",
        )

    def compose(self) -> ComposeResult:
        danger = any(choice.danger for choice in self._choices)
        with Vertical(classes="dialog -danger" if danger else "dialog") as box:
            entitle(box, self._title, "Enter chooses \u00b7 Esc leaves")
            yield Static(Content(safe(self._words, 800)), classes="words", markup=False)
            yield self._table

    def on_mount(self) -> None:
        self._table.styles.height = len(self._choices)
        self._table.show(self._choices)
        self._table.cursor = len(self._choices) - 1

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        event.stop()
        self.dismiss(str(event.key))

    def on_key(self, event: events.Key) -> None:
        for choice in self._choices:
            if event.key == choice.key:
                event.stop()
                self.dismiss(choice.id)
                return

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)


def confirm(app: ConsoleApp, title: str, words: str, verb: str, deed: Callable[[], None]) -> None:
    """Ask before a deed that takes something away. A second dialog is never opened over a first."""
    if isinstance(app.screen, ModalScreen):
        return

    def answered(choice: str | None) -> None:
        if choice == "yes":
            deed()

    app.push_screen(
        ChoiceDialog(
            title,
            words,
            (Choice("yes", "y", verb, danger=True), Choice("no", "n", "Cancel")),
        ),
        answered,
    )
