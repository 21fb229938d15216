"""What a person does to one record, the same from every screen: pin, archive, restore, edit, expunge.

Each asks where something goes away, says what was done, and leaves at the desk how to take it back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from console.memory_desk import Undo
from console.safe import safe_line
from console.screens.dialogs import Choice, ChoiceDialog, confirm, confirm_typed
from console.screens.memory_text import TAIL, title_of
from memory.api import ArchiveRecord, EditRecord, ExpungeRecord, Receipt, RestoreRecord
from memory.model import MemoryText, Record, State

if TYPE_CHECKING:
    from console.app import ConsoleApp

RESTORABLE = (State.ARCHIVED, State.SUPERSEDED)
ARCHIVABLE = (State.ACTIVE, State.QUARANTINED, State.SUPERSEDED)

_REASON = "asked for in the console"


def named(record: Record) -> str:
    """A record in a sentence: its first words and the end of its id."""
    return f"\u201c{safe_line(title_of(record), 60)}\u201d (\u2026{safe_line(record.id[-TAIL:])})"


def toggle_pin(app: ConsoleApp, record: Record, then: Callable[[], None]) -> None:
    """Pin it, or take the pin away."""
    wanted = not record.pinned

    def done(changed: Record) -> None:
        what = "pinned; no plan forgets it" if wanted else "no longer pinned"
        back = EditRecord(record.id, changed.version, pinned=not wanted)
        _done(app, f"{named(record)} is {what}.", back, then)

    app.memory.do(EditRecord(record.id, record.version, pinned=wanted), done, _then(then))


def archive(app: ConsoleApp, record: Record, then: Callable[[], None]) -> None:
    """Take it out of search, after asking."""

    def done(_: Record) -> None:
        _done(app, f"{named(record)} is archived.", RestoreRecord(record.id), then)

    confirm(
        app,
        f"Archive {safe_line(record.id, 40)}?",
        f"{named(record)}\nAgents no longer find it. It is kept in full; R restores it.",
        "Archive it",
        lambda: app.memory.do(ArchiveRecord(record.id, reason=_REASON), done, _then(then)),
    )


def restore(app: ConsoleApp, record: Record, then: Callable[[], None]) -> None:
    """Make it active again."""

    def done(_: Record) -> None:
        back = ArchiveRecord(record.id, reason=_REASON)
        _done(app, f"{named(record)} is active again.", back, then)

    app.memory.do(RestoreRecord(record.id), done, _then(then))


def edit(app: ConsoleApp, record: Record, then: Callable[[], None]) -> None:
    """Change its words in an editor."""
    from console.screens.memory_edit import EditTextDialog

    if isinstance(app.screen, ModalScreen):
        return

    def done(changed: Record) -> None:
        back = EditRecord(record.id, changed.version, text=record.text)
        _done(app, f"{named(changed)} is changed.", back, then)

    def answered(text: MemoryText | None) -> None:
        if text is not None and text != record.text:
            app.memory.do(EditRecord(record.id, record.version, text=text), done, _then(then))

    app.push_screen(EditTextDialog(record), answered)


def expunge(app: ConsoleApp, record: Record, then: Callable[[], None]) -> None:
    """Erase its words for ever, after its id was typed."""

    def done(receipt: Receipt) -> None:
        app.memory.undo = None
        problems = " ".join(safe_line(one, 200) for one in receipt.problems)
        places = f"{len(receipt.places)} places"
        app.say(f"The text of \u2026{record.id[-TAIL:]} is erased in {places}. {problems}".strip())
        if receipt.problems:
            app.say(problems, bad=True)
        then()

    confirm_typed(
        app,
        f"Expunge {safe_line(record.id, 40)}",
        f"{named(record)}\n"
        f"id {safe_line(record.id, 60)}\n\n"
        "Its words and its vector are erased everywhere, for ever. This cannot be undone.\n"
        "Only that a record was here is kept. To put it out of the way, archive it (d) instead.",
        record.id[-TAIL:],
        lambda: app.memory.do(ExpungeRecord(record.id, _REASON), done, _then(then)),
    )


def take_back(app: ConsoleApp, then: Callable[[], None]) -> None:
    """Undo the last change to a record."""
    undo = app.memory.undo
    if undo is None:
        return
    app.memory.undo = None

    def done(_: Record) -> None:
        app.say(f"Taken back: {undo.words}")
        then()

    app.memory.do(undo.request, done, _then(then))


def choose_record(
    app: ConsoleApp,
    title: str,
    words: str,
    records: tuple[Record, ...],
    chosen: Callable[[Record], None],
) -> None:
    """Ask which of a few records; with one only, it is that."""
    if len(records) == 1:
        chosen(records[0])
        return
    if not records or isinstance(app.screen, ModalScreen):
        return
    letters = "123456789"
    choices = [
        Choice(record.id, letter, f"{title_of(record)}")
        for letter, record in zip(letters, records, strict=False)
    ]

    def answered(choice: str | None) -> None:
        record = next((one for one in records if one.id == choice), None)
        if record is not None:
            chosen(record)

    app.push_screen(ChoiceDialog(title, words, choices), answered)


def _done(
    app: ConsoleApp,
    words: str,
    back: EditRecord | ArchiveRecord | RestoreRecord,
    then: Callable[[], None],
) -> None:
    app.memory.undo = Undo(words, back)
    app.memory.refresh()
    app.say(f"{words} u takes it back.")
    then()


def _then(then: Callable[[], None]) -> Callable[[Exception], None]:
    return lambda _: then()
