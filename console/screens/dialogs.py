"""Small questions over a screen: each names what it is about and can be left with Esc."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.safe import safe, safe_line
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


class TypedDialog(ModalScreen[bool]):
    """A question that is answered by typing a given word, so that no repeated key answers it.

    Gives true when exactly that was typed, else false. ``words`` may be long; they scroll.
    """

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str, words: str, expected: str) -> None:
        super().__init__(classes="Dialog")
        self._title = title
        self._words = words
        self._expected = expected

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -danger -typed") as box:
            entitle(box, self._title, "Enter goes on \u00b7 Esc leaves")
            yield Static(Content(safe(self._words, 2000)), classes="words", markup=False)
            yield Static(
                Content(f"Type {safe_line(self._expected)} to go on:"),
                classes="field-label",
                markup=False,
            )
            yield Input(select_on_focus=False)
            yield Static("", classes="problem", markup=False)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._problem("")

    @on(Input.Submitted)
    def _sent(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() == self._expected:
            self.dismiss(True)
        else:
            self._problem(f"That is not {safe_line(self._expected)}; nothing was done.")

    def _problem(self, text: str) -> None:
        line = self.query_one(".problem", Static)
        line.update(Content(text))
        line.set_class(bool(text), "-shown")

    def action_leave(self) -> None:
        """Nothing is done."""
        self.dismiss(False)


def confirm_typed(
    app: ConsoleApp, title: str, words: str, expected: str, deed: Callable[[], None]
) -> None:
    """Ask for a typed word before a deed with a wide effect. Never over another dialog."""
    if isinstance(app.screen, ModalScreen):
        return

    def answered(done: bool | None) -> None:
        if done:
            deed()

    app.push_screen(TypedDialog(title, words, expected), answered)
