"""An editor for the words of one record. Loaded only when somebody edits."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from console.safe import safe, safe_line
from console.screens.base import entitle
from memory.model import Kind, MemoryText, Record


class EditTextDialog(ModalScreen["MemoryText | None"]):
    """Gives the new words, or ``None`` when the person left.

    What acts or hides (control characters, bidi marks) is shown in its visible form and saved like that.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2,ctrl+o", "save", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
    ]

    def __init__(self, record: Record) -> None:
        super().__init__(classes="Dialog")
        self._record = record
        text = record.text
        procedure = record.kind is Kind.PROCEDURAL
        self._fields: dict[str, tuple[str, TextArea]] = {
            "content": ("text", _area(text.content, 5))
        }
        if procedure or text.preconditions:
            area = _area("\n".join(text.preconditions), 3)
            self._fields["preconditions"] = ("preconditions, one per line", area)
        if procedure or text.steps:
            self._fields["steps"] = ("steps, one per line", _area("\n".join(text.steps), 4))
        self._fields["summary"] = ("summary", _area(text.summary, 1))
        self._fields["note"] = ("your own note", _area(text.note, 1))
        self._before = {name: area.text for name, (_, area) in self._fields.items()}
        self._warned = False

    def compose(self) -> ComposeResult:
        hidden = any(
            safe(part) != part
            for part in (
                self._record.text.content,
                self._record.text.summary,
                self._record.text.note,
                *self._record.text.steps,
                *self._record.text.preconditions,
            )
        )
        with Vertical(classes="dialog", id="edit-box") as box:
            entitle(
                box,
                f"edit {safe_line(self._record.id, 40)}",
                "F2 saves \u00b7 Tab next field \u00b7 Esc leaves",
            )
            if hidden:
                yield Static(
                    "\u25b2 Hidden characters are shown in a visible form and saved like that.",
                    classes="hint",
                    markup=False,
                )
            with VerticalScroll(can_focus=False, id="edit-fields"):
                for label, area in self._fields.values():
                    yield Static(label, classes="field-label", markup=False)
                    yield area
            yield Static("", classes="problem", markup=False)

    def on_mount(self) -> None:
        self._fields["content"][1].focus()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._warned = False
        self._problem("")

    def action_save(self) -> None:
        """Give the words back."""
        if not self._fields["content"][1].text.strip():
            self._problem("The text must not be empty.")
            return
        old = self._record.text
        self.dismiss(
            MemoryText(
                content=self._words("content", old.content),
                summary=" ".join(self._words("summary", old.summary).split("\n")),
                steps=self._list("steps", old.steps),
                preconditions=self._list("preconditions", old.preconditions),
                note=self._words("note", old.note),
            )
        )

    def _words(self, name: str, old: str) -> str:
        """An untouched field keeps exactly what it was."""
        text = self._fields[name][1].text
        return old if text == self._before[name] else text.strip("\n")

    def _list(self, name: str, old: tuple[str, ...]) -> tuple[str, ...]:
        if name not in self._fields or self._fields[name][1].text == self._before[name]:
            return old
        lines = (line.strip() for line in self._fields[name][1].text.split("\n"))
        return tuple(line for line in lines if line)

    def action_leave(self) -> None:
        """Leave without a change; what was typed is thrown away only at the second time."""
        changed = any(area.text != self._before[name] for name, (_, area) in self._fields.items())
        if changed and not self._warned:
            self._problem("There are changes: F2 saves them, Esc again throws them away.")
            self._warned = True
            return
        self.dismiss(None)

    def _problem(self, text: str) -> None:
        line = self.query_one(".problem", Static)
        line.update(Content(text))
        line.set_class(bool(text), "-shown")


def _area(text: str, lines: int) -> TextArea:
    area = TextArea(safe(text).expandtabs(4), soft_wrap=True, tab_behavior="focus", compact=True)
    area.cursor_blink = False
    area.styles.height = lines
    return area
