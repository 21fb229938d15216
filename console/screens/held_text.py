"""One held text: an upstream's whole answer, of which the agent was sent a part."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.call_text import pretty
from console.screens.dialogs import confirm
from console.state import ConsoleState
from console.widgets.textpane import EMPTY, TextLine, TextPane, lines_of
from console.widgets.tone import Cell, Tone
from proxy.answer_model import HeldDetail, HeldView
from proxy.commands import CommandResult, DropHeld

_SHOWN_CHARACTERS = 256 * 1024
"""Longer texts are cut on the screen; the copy is not."""


class HeldTextScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.HELD_TEXT
    TAB = scopes.SAVINGS
    BINDINGS = keys.bindings(scopes.HELD_TEXT)

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key_shown = key
        self._pane = TextPane(id="main")
        self._detail: HeldDetail | None = None
        self._answered = False
        self._body: list[TextLine] = []
        """Made once: it may be long."""

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._pane, classes="panel", id="one")

    def on_mount(self) -> None:
        super().on_mount()

        def got(detail: HeldDetail | None) -> None:
            self._detail, self._answered = detail, True
            self._body = [] if detail is None else _text_lines(detail)
            self.redraw()

        self.console.fetch(
            lambda: self.console.station.held_answer(self._key_shown), got, group="held_text"
        )

    def draw(self, state: ConsoleState) -> None:
        detail = self._detail
        panel = self.query_one("#one")
        title = f"held text {self._key_shown}"
        if detail is None:
            words = "It is not held any more. Esc goes back." if self._answered else fmt.ELLIPSIS
            entitle(panel, title)
            self._pane.show([(Cell(words, Tone.MUTED),)])
            return
        view = detail.view
        entitle(panel, f"{title}  {view.upstream}.{view.tool}" + ("  (stale)" * state.stale))
        head = view_lines(view, self.console.now(), self.console.tz)
        self._pane.show([*head, EMPTY, *self._body])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("copy", "copy_key", "drop"):
            return True if self._detail is not None else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def action_copy_key(self) -> None:
        """Copy the key."""
        self.copy(self._key_shown, "The key")

    def action_copy(self) -> None:
        """Copy the text."""
        copy_text(self, self._detail)

    def action_drop(self) -> None:
        """Delete it, after asking."""
        if self._detail is None:
            return

        def done(result: CommandResult) -> None:
            self.console.say(result.message, bad=not result.ok)
            if result.ok and self.is_current:
                self.console.pop_screen()

        confirm(
            self.console,
            f"Drop the held text {safe_line(self._key_shown, 40)}?",
            drop_question(self._detail.view),
            "Drop it",
            lambda: self.console.carry_out(DropHeld(self._key_shown), done),
        )


def view_lines(view: HeldView, now: float, tz: tzinfo) -> list[TextLine]:
    """What is known of a held text, in two lines."""
    pinned = "pinned: a connected host was given it" if view.pinned else "not pinned"
    return [
        (
            Cell(fmt.size(view.bytes), Tone.STRONG),
            Cell(f" as sent, {fmt.size(view.stored_bytes)} on disk", Tone.MUTED),
            Cell("   fetched back ", Tone.MUTED),
            Cell(f"{fmt.count(view.reads)}\u00d7"),
        ),
        (
            Cell(f"held since {fmt.moment(view.created_at, now, tz)}", Tone.MUTED),
            Cell(f", used {fmt.age(now - view.used_at)} ago", Tone.MUTED),
            Cell(f"   {pinned}", Tone.ACCENT if view.pinned else Tone.MUTED),
        ),
    ]


def drop_question(view: HeldView) -> str:
    """What a person should know before it is deleted."""
    words = (
        f"The whole answer of {safe_line(view.upstream, 60)}.{safe_line(view.tool, 60)} "
        f"({fmt.size(view.bytes)}) is deleted for good."
    )
    if view.pinned:
        words += "\nA connected host was given it: the agent can no longer read what was cut."
    return words


def copy_text(screen: MainScreen, detail: HeldDetail | None) -> None:
    """Copy a held text, and say when it is cut or gone."""
    if detail is None:
        screen.console.say("That text is not held any more.", bad=True)
        return
    what = "The text, cut to what a screen can show," if detail.truncated else "The text"
    screen.copy(detail.text, what)


def _text_lines(detail: HeldDetail) -> list[TextLine]:
    text = detail.text
    lines = lines_of(pretty(text)[:_SHOWN_CHARACTERS].strip("\n"))
    if len(text) > _SHOWN_CHARACTERS:
        left = fmt.plural(len(text) - _SHOWN_CHARACTERS, "more character")
        lines.append((Cell(f"\u2026 {left}; y copies all", Tone.WARN),))
    if detail.truncated:
        lines += [EMPTY, (Cell("\u25b2 cut to what a screen can show", Tone.WARN),)]
    return lines
