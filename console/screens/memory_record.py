"""One record of the memory in full: words, provenance, history, outcomes, neighbours, what replaced what."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.memory_desk import fault_words
from console.screens import memory_deeds as deeds
from console.screens.base import MainScreen, entitle
from console.screens.memory_text import detail_lines, fault_lines, whole_text
from console.state import ConsoleState
from console.widgets.memory_glyphs import RECORD_STATES
from console.widgets.textpane import TextPane, lines_of
from console.widgets.tone import Cell, Tone
from memory.api import GetRecord, RecordDetail
from memory.errors import MemoryFault
from memory.model import State


class RecordScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.RECORD
    TAB = scopes.MEMORY
    BINDINGS = keys.bindings(scopes.RECORD)

    def __init__(self, record_id: str) -> None:
        super().__init__()
        self._id = record_id
        self._pane = TextPane(id="main")
        self._detail: RecordDetail | None = None
        self._fault: MemoryFault | None = None

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._pane, classes="panel", id="one")

    def on_mount(self) -> None:
        super().on_mount()
        self._ask()

    def _ask(self) -> None:
        def got(detail: RecordDetail) -> None:
            self._detail, self._fault = detail, None
            self.redraw()

        def failed(fault: MemoryFault) -> None:
            self._fault = fault
            self.redraw()

        self.console.memory.ask(GetRecord(self._id), got, failed, group="memory-detail")

    def draw(self, state: ConsoleState) -> None:
        panel = self.query_one("#one")
        detail = self._detail
        if detail is None:
            entitle(panel, f"record {self._id}")
            if self._fault is not None:
                self._pane.show(lines_of(fault_lines(self._fault, "r"), Tone.WARN))
            else:
                self._pane.show([(Cell("asking the memory" + fmt.ELLIPSIS, Tone.MUTED),)])
            return
        sign = RECORD_STATES[detail.record.state]
        stale = "  (stale)" if self._fault is not None else ""
        below = "\u2716 " + fault_words(self._fault) if self._fault is not None else ""
        entitle(panel, f"{sign.word} {detail.record.kind.value} record{stale}", below)
        self._pane.show(detail_lines(detail, self.console.now(), self.console.tz))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "undo":
            return self.console.memory.undo is not None
        if action in ("edit", "pin", "archive", "restore", "expunge", "copy", "copy_id"):
            if self._detail is None:
                return None
            state = self._detail.record.state
            if action == "archive":
                return state in deeds.ARCHIVABLE
            if action == "restore":
                return state in deeds.RESTORABLE
            if action in ("edit", "pin", "expunge"):
                return state is not State.EXPUNGED
            return True
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    # -- actions ------------------------------------------------------------------------------

    def action_edit(self) -> None:
        """Change its words."""
        if self._detail is not None and self.check_action("edit", ()):
            deeds.edit(self.console, self._detail.record, self._ask)

    def action_pin(self) -> None:
        """Pin it, or take the pin away."""
        if self._detail is not None and self.check_action("pin", ()):
            deeds.toggle_pin(self.console, self._detail.record, self._ask)

    def action_archive(self) -> None:
        """Take it out of search, after asking."""
        if self._detail is not None and self.check_action("archive", ()):
            deeds.archive(self.console, self._detail.record, self._ask)

    def action_restore(self) -> None:
        """Make it active again."""
        if self._detail is not None and self.check_action("restore", ()):
            deeds.restore(self.console, self._detail.record, self._ask)

    def action_expunge(self) -> None:
        """Erase its words for ever, after its id was typed."""
        if self._detail is not None and self.check_action("expunge", ()):
            deeds.expunge(self.console, self._detail.record, self._ask)

    def action_undo(self) -> None:
        """Take your last change back."""
        deeds.take_back(self.console, self._ask)

    def action_copy(self) -> None:
        """Copy the words."""
        if self._detail is not None:
            self.copy(whole_text(self._detail.record.text), "The text")

    def action_copy_id(self) -> None:
        """Copy the id."""
        if self._detail is not None:
            self.copy(self._detail.record.id, "The id")

    def action_reload(self) -> None:
        """Ask again."""
        self._ask()
