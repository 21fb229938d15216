"""One call: what was sent, what came back, and what the upstream had answered before it was cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.screens.answer_text import compare, detail_lines, sent_tokens
from console.screens.base import MainScreen, entitle
from console.screens.call_text import Part, pretty, result_parts
from console.screens.calls import summary
from console.state import ConsoleState
from console.widgets.textpane import EMPTY, TextLine, TextPane, lines_of
from console.widgets.tone import Cell, Tone
from proxy.model import CallDetail, CallRecord

_SHOWN_CHARACTERS = 256 * 1024
"""Longer texts are cut on the screen; the copy is not."""


class Side(Enum):
    """Which answer is shown."""

    SENT = "sent"
    """What the agent got, under the arguments."""
    ORIGINAL = "original"
    """What the upstream answered."""
    BOTH = "both"
    """Side by side."""


class CallScreen(MainScreen):
    """Pages through the calls of the list from which it was opened."""

    SCOPE = scopes.CALL
    TAB = scopes.CALLS
    BINDINGS = keys.bindings(scopes.CALL)

    def __init__(self, records: Sequence[CallRecord], call_id: int) -> None:
        super().__init__()
        self._records = records
        self._place = next(i for i, record in enumerate(records) if record.id == call_id)
        self._pane = TextPane(id="main")
        self._before = TextPane(id="before-text")
        self._after = TextPane(id="after-text")
        self._detail: CallDetail | None = None
        self._answered = False
        self._side = Side.SENT
        self._body: list[TextLine] = []
        """Made once per answer: it may be half a megabyte of JSON."""

    @property
    def record(self) -> CallRecord:
        """The call that is shown."""
        return self._records[self._place]

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._pane, classes="panel", id="one")
        yield Horizontal(
            Vertical(self._before, classes="panel", id="before"),
            Vertical(self._after, classes="panel", id="after"),
            id="sides",
        )

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    def _ask(self) -> None:
        number = self.record.id
        self._detail, self._answered = None, False
        self._show_texts()

        async def ask() -> CallDetail | None:
            station = self.console.station
            detail = await station.call(number)
            if detail is None or detail.original is not None or not detail.record.held_key:
                return detail
            held = await station.held_answer(detail.record.held_key)
            return detail if held is None else replace(detail, original=held.text)

        def got(detail: CallDetail | None) -> None:
            if number == self.record.id:
                self._detail, self._answered = detail, True
                self._show_texts()
                self.redraw()

        self.console.fetch(ask, got, group="call")

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        record = self.record
        name = f"call #{record.id}  {record.upstream}.{record.tool}"
        place = f"{self._place + 1} of {fmt.count(len(self._records))}"
        title = name + ("   the original" if self._side is Side.ORIGINAL else "")
        entitle(self.query_one("#one"), title, place)
        before, after = fmt.tokens(record.before.tokens), fmt.tokens(sent_tokens(record))
        entitle(
            self.query_one("#before"), f"#{record.id} before: {before} tokens", "- was not sent"
        )
        entitle(self.query_one("#after"), f"after: {after} tokens", f"+ is mms's   {place}")
        lines = [*summary(record, self.console.now(), self.console.tz)]
        if self._detail is not None:
            lines += detail_lines(self._detail)
        self._pane.show([*lines, EMPTY, *self._body])

    def _show_texts(self) -> None:
        """Make the lines anew; the answer or the side has changed."""
        detail = self._detail
        self.set_class(self._side is Side.BOTH, "-both")
        if self._side is Side.BOTH and detail is not None and detail.original is not None:
            before, after = compare(_whole(detail.original), _whole(detail.result))
            self._before.show(before, top=True)
            self._after.show(after, top=True)
        self._body = self._texts()

    def _texts(self) -> list[TextLine]:
        detail = self._detail
        if not self._answered:
            return [(Cell("\u2026", Tone.MUTED),)]
        if detail is None:
            return [(Cell("The station does not know this call any more.", Tone.MUTED),)]
        lines: list[TextLine] = []
        if self._side is not Side.ORIGINAL:
            lines += [*_part(Part("arguments", detail.arguments and pretty(detail.arguments)))]
            lines.append(EMPTY)
        shown = detail.original if self._side is Side.ORIGINAL else detail.result
        for part in result_parts(shown):
            lines += [*_part(part), EMPTY]
        lines.pop()
        if detail.truncated:
            lines += [EMPTY, (Cell("\u25b2 cut to what a screen can show", Tone.WARN),)]
        return lines

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        detail = self._detail
        if action == "copy_result":
            return True if detail is not None and self._shown_text() is not None else None
        if action == "copy_arguments":
            return True if detail is not None and detail.arguments is not None else None
        if action in ("original", "sides"):
            return True if detail is not None and detail.original is not None else None
        if action == "held":
            return bool(self.record.held_key)
        if action == "newer":
            return True if self._place + 1 < len(self._records) else None
        if action == "older":
            return True if self._place > 0 else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def go_back(self) -> bool:
        if self._side is not Side.SENT:
            self._turn(Side.SENT)
            return True
        return False

    def _turn(self, side: Side) -> None:
        self._side = side
        self._show_texts()
        self._pane.show((), top=True)
        self.redraw()
        (self._before if side is Side.BOTH else self._pane).focus()

    def action_original(self) -> None:
        """The original, or back to what was sent."""
        self._turn(Side.SENT if self._side is Side.ORIGINAL else Side.ORIGINAL)

    def action_sides(self) -> None:
        """Both side by side, or back to what was sent."""
        self._turn(Side.SENT if self._side is Side.BOTH else Side.BOTH)

    def action_what_if(self) -> None:
        """The answer under other settings."""
        self.console.open_what_if(self.record)

    def action_held(self) -> None:
        """The held text of this answer."""
        if self.record.held_key:
            self.console.open_held_text(self.record.held_key)

    def _shown_text(self) -> str | None:
        """The answer that `y` copies: with both on the screen the one that has the focus."""
        detail = self._detail
        if detail is None:
            return None
        original = self._side is Side.ORIGINAL or (
            self._side is Side.BOTH and not self._after.has_focus
        )
        return detail.original if original else detail.result

    def action_copy_result(self) -> None:
        """Copy the answer that is shown."""
        text = self._shown_text()
        if self._detail is not None and text is not None:
            self.copy(text, "The result" if text is self._detail.result else "The original")

    def action_copy_arguments(self) -> None:
        """Copy what was sent."""
        if self._detail is not None and self._detail.arguments is not None:
            self.copy(self._detail.arguments, "The arguments")

    def action_newer(self) -> None:
        """The next call of the list."""
        self._go(self._place + 1)

    def action_older(self) -> None:
        """The call before it."""
        self._go(self._place - 1)

    def _go(self, place: int) -> None:
        if 0 <= place < len(self._records):
            self._place = place
            self._side = Side.SENT
            self._pane.show((), top=True)
            self._pane.focus()
            self._ask()
            self.redraw()


def _whole(text: str | None) -> str:
    """All parts of an answer as one text, cut to what a screen can show."""
    parts = [part.text for part in result_parts(text) if part.text]
    return "\n".join(parts)[:_SHOWN_CHARACTERS]


def _part(part: Part) -> list[TextLine]:
    title: TextLine = (Cell(part.title, Tone.ACCENT),)
    if part.text is None:
        return [title, (Cell("  no longer in the station's memory", Tone.MUTED),)]
    if not part.text.strip():
        return [title, (Cell("  empty", Tone.MUTED),)]
    lines = lines_of(part.text[:_SHOWN_CHARACTERS].strip("\n"), indent="  ")
    if len(part.text) > _SHOWN_CHARACTERS:
        left = fmt.plural(len(part.text) - _SHOWN_CHARACTERS, "more character")
        lines.append((Cell(f"  \u2026 {left}; y copies all", Tone.WARN),))
    return [title, *lines]
