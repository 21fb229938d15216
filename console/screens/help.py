"""Help: every key that works here, what the glyphs mean, the words of the filter. Typing narrows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from console import filters, keys, scopes
from console.screens.base import entitle
from console.widgets.glyphs import ENDINGS, MEANINGS, OUTCOMES, STATES
from console.widgets.memory_glyphs import (
    PROPOSAL_KINDS,
    PROPOSAL_MEANINGS,
    RECORD_MEANINGS,
    RECORD_STATES,
)
from console.widgets.surfacing_glyphs import RATING_MEANINGS, RATINGS
from console.widgets.textpane import EMPTY, TextLine, TextPane
from console.widgets.tone import Cell, Tone

if TYPE_CHECKING:
    from console.app import ConsoleApp


class HelpScreen(ModalScreen[None]):
    """Built from the registry of actions, so that it cannot say anything else than what works."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "leave", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(12)", show=False),
        Binding("pageup", "scroll(-12)", show=False),
    ]

    def __init__(self, scope: str) -> None:
        super().__init__(classes="Dialog")
        self._scope = scope
        self._pane = TextPane(id="help-text")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="help-box") as box:
            entitle(
                box, f"help: {scopes.TITLES[self._scope]}", "\u2191\u2193 scroll \u00b7 Esc closes"
            )
            yield Input(placeholder="type to search", select_on_focus=False)
            yield self._pane

    def on_mount(self) -> None:
        self._pane.can_focus = False
        self._show("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value.strip().lower())

    def _show(self, words: str) -> None:
        app = cast("ConsoleApp", self.app)  # pyright: ignore[reportUnknownMemberType]  # Textual leaves App's result type open
        lines: list[TextLine] = []
        for title, entries in help_sections(self._scope, app.keymap, wide=self.size.width >= 100):
            hits = [
                entry
                for entry in entries
                if not words or words in " ".join(cell.text for cell in entry).lower()
            ]
            if hits:
                lines += [*([EMPTY] if lines else []), (Cell(title, Tone.ACCENT),), *hits]
        if not lines:
            lines = [(Cell("Nothing here has these letters.", Tone.MUTED),)]
        self._pane.show(lines, top=True)

    def action_scroll(self, lines: int) -> None:
        """Scroll the text while typing goes on."""
        self._pane.scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)


def help_sections(
    scope: str, keymap: keys.Keymap, *, wide: bool
) -> Iterator[tuple[str, list[TextLine]]]:
    """Title and lines: this screen first, then lists, everywhere, glyphs, memory, filter, other screens.

    ``wide``: the ids of actions get a column of their own.
    """
    for name in (scope, scopes.LISTS, scopes.EVERYWHERE):
        title = f"{scopes.TITLES[name]} (this screen)" if name == scope else scopes.TITLES[name]
        yield title, [_entry(action, keymap, wide) for action in keys.actions(name)]
    yield (
        "states of an upstream",
        [
            (Cell(f"  {sign.glyph} {sign.word:<11}", sign.tone), Cell(MEANINGS[state]))
            for state, sign in STATES.items()
        ],
    )
    yield (
        "how a call ended",
        [
            (Cell(f"  {sign.glyph} {sign.word:<11}", sign.tone), Cell(ENDINGS[outcome]))
            for outcome, sign in OUTCOMES.items()
        ],
    )
    yield (
        "states of a record of the memory",
        [
            (Cell(f"  {sign.glyph} {sign.word:<11}", sign.tone), Cell(RECORD_MEANINGS[state]))
            for state, sign in RECORD_STATES.items()
        ],
    )
    yield (
        "what waits on Decisions",
        [
            (Cell(f"  {sign.glyph} {sign.word:<11}", sign.tone), Cell(PROPOSAL_MEANINGS[kind]))
            for kind, sign in PROPOSAL_KINDS.items()
        ],
    )
    yield (
        "ratings of shown memories",
        [
            (Cell(f"  {sign.glyph} {sign.word:<12}", sign.tone), Cell(RATING_MEANINGS[rating]))
            for rating, sign in RATINGS.items()
        ],
    )
    yield (
        "filter words of Calls",
        [(Cell(f"  {form:<14}", Tone.KEY), Cell(meaning)) for form, meaning in filters.HELP],
    )
    for name, title in scopes.TITLES.items():
        if name not in (scope, scopes.LISTS, scopes.EVERYWHERE):
            yield title, [_entry(action, keymap, wide) for action in keys.actions(name)]


def _entry(action: keys.Action, keymap: keys.Keymap, wide: bool) -> TextLine:
    shown = keymap.shown(action, all_keys=True)
    key = Cell(f"  {shown:<10} ", Tone.KEY)
    if wide:
        return (key, Cell(f"{action.help:<56} "), Cell(action.id, Tone.MUTED))
    return (key, Cell(f"{action.help} ({action.id})"))
