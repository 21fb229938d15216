"""One call: what was sent and what came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys
from console.screens.base import MainScreen, entitle
from console.screens.call_text import Part, pretty, result_parts
from console.screens.calls import summary
from console.state import ConsoleState
from console.widgets.textpane import EMPTY, TextLine, TextPane, lines_of
from console.widgets.tone import Cell, Tone
from proxy.model import CallDetail, CallRecord

_SHOWN_CHARACTERS = 256 * 1024
"""Longer texts are cut on the screen; the copy is not."""


class CallScreen(MainScreen):
    """Pages through the calls of the list from which it was opened."""

    SCOPE = keys.CALL
    TAB = keys.CALLS
    BINDINGS = keys.bindings(keys.CALL)

    def __init__(self, records: Sequence[CallRecord], call_id: int) -> None:
        super().__init__()
        self._records = records
        self._place = next(i for i, record in enumerate(records) if record.id == call_id)
        self._pane = TextPane(id="main")
        self._detail: CallDetail | None = None
        self._answered = False
        self._body: list[TextLine] = []
        """Made once per answer: it may be half a megabyte of JSON."""

    @property
    def record(self) -> CallRecord:
        """The call that is shown."""
        return self._records[self._place]

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._pane, classes="panel", id="one")

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    def _ask(self) -> None:
        number = self.record.id
        self._detail, self._answered = None, False
        self._body = self._texts()

        def got(detail: CallDetail | None) -> None:
            if number == self.record.id:
                self._detail, self._answered = detail, True
                self._body = self._texts()
                self.redraw()

        self.console.fetch(lambda: self.console.station.call(number), got, group="call")

    def draw(self, state: ConsoleState) -> None:
        record = self.record
        entitle(
            self.query_one("#one"),
            f"call #{record.id}  {record.upstream}.{record.tool}",
            f"{self._place + 1} of {fmt.count(len(self._records))}",
        )
        lines = [*summary(record, self.console.now(), self.console.tz), EMPTY, *self._body]
        self._pane.show(lines)

    def _texts(self) -> list[TextLine]:
        detail = self._detail
        if not self._answered:
            return [(Cell("\u2026", Tone.MUTED),)]
        if detail is None:
            return [(Cell("The station does not know this call any more.", Tone.MUTED),)]
        lines = _part(Part("arguments", detail.arguments and pretty(detail.arguments)))
        for part in result_parts(detail.result):
            lines += [EMPTY, *_part(part)]
        if detail.truncated:
            lines += [EMPTY, (Cell("\u25b2 cut to what a screen can show", Tone.WARN),)]
        return lines

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        detail = self._detail
        if action == "copy_result":
            return True if detail is not None and detail.result is not None else None
        if action == "copy_arguments":
            return True if detail is not None and detail.arguments is not None else None
        if action == "newer":
            return True if self._place + 1 < len(self._records) else None
        if action == "older":
            return True if self._place > 0 else None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def action_copy_result(self) -> None:
        """Copy what came back."""
        if self._detail is not None and self._detail.result is not None:
            self.copy(self._detail.result, "The result")

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
            self._pane.show((), top=True)
            self._ask()
            self.redraw()


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
