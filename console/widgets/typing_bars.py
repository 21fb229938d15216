"""Bars in which a person types: the filter of a list, the new value of a setting."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from console.safe import safe_line


class FilterBar(Vertical):
    """``/ words`` with a note at the right. Enter keeps the filter, Esc clears it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", show=False)]

    class Changed(Message):
        """Other words are in force."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Closed(Message):
        """Typing is over; the words stay in force, unless they were cleared before."""

    def __init__(self, placeholder: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        with Horizontal(classes="bar-line"):
            yield Static("/", classes="bar-label", markup=False)
            yield Input(placeholder=self._placeholder, select_on_focus=False)
            yield Static("", classes="bar-note", markup=False)

    @property
    def text(self) -> str:
        """The words in force."""
        return self.query_one(Input).value.strip()

    @property
    def is_open(self) -> bool:
        """True while a person types, or words are kept in force."""
        return self.has_class("-open")

    def open(self) -> None:
        """Show it and take the keys."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def put(self, text: str) -> None:
        """Put words in force without typing."""
        self.query_one(Input).value = text
        self.set_class(bool(text), "-open")

    def note(self, text: str, *, bad: bool = False) -> None:
        """Say how many rows match, or what is wrong with the words."""
        note = self.query_one(".bar-note", Static)
        note.update(Content(safe_line(text)))
        note.set_class(bad, "-bad")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(self.text))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_class(bool(self.text), "-open")
        self.post_message(self.Closed())

    def action_clear(self) -> None:
        """Clear and close."""
        self.put("")
        self.post_message(self.Closed())


class EditBar(Vertical):
    """``key = value`` with the error under it. Enter sends, Esc gives up; an error keeps it open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", show=False)]

    class Sent(Message):
        """A person wants this value."""

        def __init__(self, key: str, value: str) -> None:
            super().__init__()
            self.key = key
            self.value = value

    class Closed(Message):
        """It is closed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._key = ""

    def compose(self) -> ComposeResult:
        with Horizontal(classes="bar-line"):
            yield Static("", classes="bar-label", markup=False)
            yield Input(select_on_focus=False)
        yield Static("", classes="bar-error", markup=False)

    @property
    def is_open(self) -> bool:
        """True while a person types."""
        return self.has_class("-open")

    def open(self, key: str, value: str) -> None:
        """Edit that key, beginning with its present value."""
        self._key = key
        self.query_one(".bar-label", Static).update(Content(f"{safe_line(key)} ="))
        self.error("")
        self.add_class("-open")
        field = self.query_one(Input)
        field.value = safe_line(value)
        field.cursor_position = len(field.value)
        field.focus()

    def close(self) -> None:
        """Close it without a message."""
        self.remove_class("-open")

    def error(self, text: str) -> None:
        """Say why the value was refused; empty takes that away."""
        line = self.query_one(".bar-error", Static)
        line.update(Content("\u2716 " + safe_line(text)) if text else "")
        line.set_class(bool(text), "-shown")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.error("")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Sent(self._key, event.value))

    def action_give_up(self) -> None:
        """Close without a change."""
        self.close()
        self.post_message(self.Closed())
