"""Adding upstreams from the screen: the form, the import list, the demo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console import format as fmt
from console.first_steps import ImportCandidate
from console.safe import safe
from console.screens.base import MainScreen, entitle
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.tone import Cell, Tone
from proxy.commands import CommandResult

_FIELDS = (
    ("name", "Name", "letters, digits, - and _"),
    ("target", "Command or URL", "npx -y @scope/server ~/dir   or   https://host/mcp"),
    ("prefix", "Prefix of its tools (optional)", "the name, if empty"),
)


class AddDialog(ModalScreen["tuple[str, Mapping[str, str]] | None"]):
    """A form; gives name and fields. What the settings refuse is shown in it by `refuse`."""

    AUTO_FOCUS = "#field-name"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(
        self, name: str = "", target: str = "", prefix: str = "", problem: str = ""
    ) -> None:
        super().__init__(classes="Dialog")
        self._first = {"name": name, "target": target, "prefix": prefix}
        self._problem = problem

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            entitle(box, "Add an upstream", "Enter goes on \u00b7 Tab moves \u00b7 Esc leaves")
            for key, label, example in _FIELDS:
                yield Static(label, classes="field-label", markup=False)
                yield Input(
                    self._first[key], placeholder=example, id=f"field-{key}", select_on_focus=False
                )
            yield Static("", classes="problem", markup=False)

    def on_mount(self) -> None:
        self._say(self._problem)

    def _value(self, key: str) -> str:
        return self.query_one(f"#field-{key}", Input).value.strip()

    def _say(self, problem: str) -> None:
        line = self.query_one(".problem", Static)
        line.update(Content("\u2716 " + safe(problem, 400)) if problem else "")
        line.set_class(bool(problem), "-shown")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        order = [f"field-{key}" for key, _, _ in _FIELDS]
        place = order.index(event.input.id or "")
        if place == 0 and not self._value("target"):
            self.query_one(f"#{order[1]}", Input).focus()
            return
        if not self._value("name"):
            self._say("A name is needed.")
            self.query_one("#field-name", Input).focus()
            return
        target = self._value("target")
        if not target:
            self._say("A command or a URL is needed.")
            self.query_one("#field-target", Input).focus()
            return
        kind = "url" if target.lower().startswith(("http://", "https://")) else "command"
        fields = {kind: target}
        if self._value("prefix"):
            fields["prefix"] = self._value("prefix")
        self.dismiss((self._value("name"), fields))

    def action_leave(self) -> None:
        """Nothing is added."""
        self.dismiss(None)


class ImportDialog(ModalScreen["tuple[str, ...] | None"]):
    """A list with marks; gives the names to import."""

    AUTO_FOCUS = "#import-list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("space", "mark", show=False),
        Binding("a", "mark_all", show=False),
    ]

    def __init__(self, candidates: Sequence[ImportCandidate]) -> None:
        super().__init__(classes="Dialog")
        self._candidates = tuple(candidates)
        self._marked: set[str] = {one.name for one in candidates if one.importable}
        self._table: LineTable[ImportCandidate] = LineTable(
            (
                Column("", 3),
                Column("name", 12, flex=1, most=24),
                Column("command or url", 20, flex=3),
                Column("from", 14, flex=2, drop=2),
                Column("note", 12, flex=2, drop=1),
            ),
            self._cells,
            lambda one: (one.name, one.source),
            empty=(
                "No host on this machine has MCP servers configured.\n"
                "Looked at Claude Code, Claude Desktop, Cursor, VS Code and Codex."
            ),
            id="import-list",
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="import-box") as box:
            entitle(
                box,
                "Import upstreams",
                "Space marks \u00b7 a all \u00b7 Enter imports \u00b7 Esc leaves",
            )
            yield self._table
            yield Static(
                "The files of the hosts are only read, never changed.", classes="hint", markup=False
            )

    def on_mount(self) -> None:
        self._table.styles.height = max(3, len(self._candidates) + 1)
        self._table.show(self._candidates)

    def _cells(self, one: ImportCandidate) -> tuple[Cell, ...]:
        if not one.importable:
            mark = Cell(" - ", Tone.MUTED)
        elif one.name in self._marked:
            mark = Cell("[x]", Tone.GOOD)
        else:
            mark = Cell("[ ]")
        tone = Tone.NORMAL if one.importable else Tone.MUTED
        return (
            mark,
            Cell(one.name, Tone.STRONG if one.importable else Tone.MUTED),
            Cell(one.target, tone),
            Cell(one.source, Tone.MUTED),
            Cell(one.note, Tone.MUTED),
        )

    def action_mark(self) -> None:
        """Mark or unmark the row and go on to the next one."""
        one = self._table.current
        if one is not None and one.importable:
            self._marked ^= {one.name}
            self._table.cursor += 1
            self._table.refresh()

    def action_mark_all(self) -> None:
        """Mark all, or none when all are marked."""
        every = {one.name for one in self._candidates if one.importable}
        self._marked = every - self._marked if self._marked == every else every
        self._table.refresh()

    @on(LineTable.Opened)
    def _opened(self, event: LineTable.Opened) -> None:
        event.stop()
        names = tuple(one.name for one in self._candidates if one.name in self._marked)
        self.dismiss(names or None)

    def action_leave(self) -> None:
        """Nothing is imported."""
        self.dismiss(None)


class FirstStepsDeeds(MainScreen):
    """The actions add, import and demo, for screens that offer them."""

    def action_add(self) -> None:
        """Open the form."""
        self._open_form(AddDialog())

    def _open_form(self, dialog: AddDialog) -> None:
        steps = self.console.first_steps
        if steps is None or self.modal_open():
            return

        def filled(answer: tuple[str, Mapping[str, str]] | None) -> None:
            if answer is None:
                return
            name, fields = answer

            def done(result: CommandResult) -> None:
                if result.ok:
                    self.console.say(result.message)
                    return
                target = fields.get("command", "") or fields.get("url", "")
                self._open_form(AddDialog(name, target, fields.get("prefix", ""), result.message))

            self.console.perform(lambda: steps.add_upstream(name, fields), done)

        self.console.push_screen(dialog, filled)

    def action_import(self) -> None:
        """Look what hosts have, and show it."""
        steps = self.console.first_steps
        if steps is None or self.modal_open():
            return

        def found(candidates: Sequence[ImportCandidate]) -> None:
            if self.modal_open():
                return

            def chosen(names: tuple[str, ...] | None) -> None:
                if names:
                    self.console.perform(lambda: steps.apply_import(names))

            self.console.push_screen(ImportDialog(candidates), chosen)

        self.console.fetch(steps.preview_import, found, group="import")

    def action_demo(self) -> None:
        """Start the demo."""
        steps = self.console.first_steps
        if steps is None or not steps.has_demo:
            return
        self.console.say("Starting the demo" + fmt.ELLIPSIS)
        self.console.perform(steps.start_demo)
