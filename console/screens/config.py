"""Config: every setting with its value, where it comes from, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.dialogs import confirm
from console.state import ConsoleState
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import EMPTY, TextLine, TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import EditBar, FilterBar
from proxy.commands import CommandResult, ReloadSettings, SetSetting, UnsetSetting
from proxy.model import SettingProblem, SettingRow, SettingsView

COLUMNS = (
    Column("", 1),
    Column("key", 32, flex=4, most=48),
    Column("value", 12, flex=3, most=40),
    Column("source", 12),
    Column("where", 14, flex=2, drop=3),
    Column("effect", 7, drop=2),
)

_SECRET = ("\u2039", "\u00ab")
"""A redacted value begins with one of these; editing it begins empty."""


class ConfigScreen(MainScreen):
    """See the module's text."""

    SCOPE = scopes.CONFIG
    BINDINGS = keys.bindings(scopes.CONFIG)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[SettingRow] = LineTable(
            COLUMNS, self._cells, lambda row: row.key, id="main"
        )
        self._explain = TextPane(id="explain-text")
        self._filter = FilterBar("part of a key, a value or a source", id="filter")
        self._edit = EditBar(id="edit")
        self._view: SettingsView | None = None
        self._asked_version = -1
        self._only_changed = False

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="settings")
        yield Vertical(self._explain, classes="panel", id="explain")
        yield self._filter
        yield self._edit

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        if not state.stale and self._asked_version != state.settings_version:
            self._asked_version = state.settings_version
            self.console.fetch(self.console.station.settings, self._got, group="settings")
        self._draw_rows(state)

    def _got(self, view: SettingsView) -> None:
        self._view = view
        if self.is_mounted:
            self._draw_rows(self.console.state)
            self.draw_keys()

    def _draw_rows(self, state: ConsoleState) -> None:
        view = self._view
        panel = self.query_one("#settings")
        if view is None:
            self._table.show((), "waiting for the station" + fmt.ELLIPSIS)
            entitle(panel, "settings")
            self._explain.show(())
            return
        rows = [row for row in view.rows if self._wanted(row)]
        narrowed = len(rows) != len(view.rows)
        self._table.show(rows, f"0 of {len(view.rows)} settings match \u2014 Esc clears")
        number = f"{len(rows)}/{len(view.rows)}" if narrowed else f"{len(rows)}"
        title = f"settings {number}"
        if self._only_changed:
            title += "   only changed ones"
        if self._filter.text:
            title += f"   /{self._filter.text}"
            self._filter.note(number)
        if state.stale:
            title += "   (stale)"
        now = self.console.now()
        loaded = f"{view.file}   loaded {fmt.moment(view.loaded_at, now, self.console.tz)}"
        entitle(panel, title, loaded)
        self._draw_explain()

    def _wanted(self, row: SettingRow) -> bool:
        if self._only_changed and row.source == "default":
            return False
        words = self._filter.text.lower().split()
        haystack = f"{row.key} {row.value} {row.source} {row.where}".lower()
        return all(word in haystack for word in words)

    def _draw_explain(self) -> None:
        row = self._table.current
        problems = self._view.problems if self._view else ()
        lines: list[TextLine] = []
        for problem in problems:
            lines += problem_lines(problem)
        if problems and row is not None:
            lines.append(EMPTY)
        if row is not None:
            lines += _row_lines(row)
        panel = self.query_one("#explain")
        if problems:
            number = fmt.plural(len(problems), "problem")
            entitle(panel, f"{number} \u2014 the last good settings stay in force")
        else:
            entitle(panel, row.key if row is not None else "")
        panel.set_class(bool(problems), "-wrong")
        self._explain.show(lines)

    def _cells(self, row: SettingRow) -> tuple[Cell, ...]:
        changed = row.source != "default"
        wrong = self._view is not None and any(one.key == row.key for one in self._view.problems)
        glyph = "\u2716" if wrong else "\u25cf" if changed else " "
        mark = Cell(glyph, Tone.BAD if wrong else Tone.ACCENT)
        effect = Cell("live" if row.live else "restart", Tone.MUTED)
        place = row.where.rpartition("/")[2] if row.source.endswith("file") else row.where
        return (
            mark,
            Cell(row.key, Tone.STRONG if changed else Tone.NORMAL),
            Cell(row.value, Tone.ACCENT if changed else Tone.NORMAL),
            Cell(row.source, Tone.NORMAL if changed else Tone.MUTED),
            Cell(place, Tone.MUTED),
            effect,
        )

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_explain()
        self.draw_keys()

    @on(LineTable.Opened)
    def _opened(self) -> None:
        self.action_edit()

    @on(FilterBar.Changed)
    def _filtered(self) -> None:
        self._draw_rows(self.console.state)

    @on(FilterBar.Closed)
    def _filter_closed(self) -> None:
        self._table.focus()
        self._draw_rows(self.console.state)

    @on(EditBar.Sent)
    def _sent(self, event: EditBar.Sent) -> None:
        def done(result: CommandResult) -> None:
            if not result.ok:
                self._edit.error(result.message)
                return
            self._edit.close()
            self._table.focus()
            self.console.say(result.message)
            self._ask_again()

        self.console.carry_out(SetSetting(event.key, event.value), done)

    @on(EditBar.Closed)
    def _edit_closed(self) -> None:
        self._table.focus()

    def _ask_again(self) -> None:
        self.console.fetch(self.console.station.settings, self._got, group="settings")

    def go_back(self) -> bool:
        if self._explain.has_focus:
            self._table.focus()
            return True
        if self._filter.text:
            self._filter.action_clear()
            return True
        if self._only_changed:
            self.action_changed()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self._table.current
        if action in ("edit", "copy"):
            return None if row is None else True
        if action == "unset":
            return None if row is None or not row.source.startswith("user") else True
        return super().check_action(action, parameters)

    def typing_words(self) -> tuple[str, str]:
        return ("save", "cancel") if self._edit.is_open else super().typing_words()

    def offers_open(self) -> bool:
        return False

    def action_filter(self) -> None:
        """Type what to search for."""
        self._filter.open()

    def action_changed(self) -> None:
        """Only settings that are not at their default; once more shows all."""
        self._only_changed = not self._only_changed
        self._draw_rows(self.console.state)

    def action_edit(self) -> None:
        """Change the value under the cursor."""
        row = self._table.current
        if row is not None:
            hidden = any(sign in row.value for sign in _SECRET)
            self._edit.open(row.key, "" if hidden else row.value)

    def action_unset(self) -> None:
        """Take the key out of the user's file, after asking."""
        row = self._table.current
        if row is None:
            return
        if not row.source.startswith("user"):
            self.console.say(f"{row.key} is not set in your file; it comes from: {row.source}.")
            return
        key = row.key
        confirm(
            self.console,
            f"Unset {key}?",
            f"It is {safe_line(row.value, 120)} now ({safe_line(row.where, 120)}). "
            f"Without it the default holds: {safe_line(row.default, 120) or 'none'}.",
            "Unset",
            lambda: self.console.carry_out(UnsetSetting(key), self._unset_done),
        )

    def _unset_done(self, result: CommandResult) -> None:
        self.console.say(result.message, bad=not result.ok)
        self._ask_again()

    def action_reload(self) -> None:
        """Read the files again now."""

        def done(result: CommandResult) -> None:
            self.console.say(result.message, bad=not result.ok)
            self._ask_again()

        self.console.carry_out(ReloadSettings(), done)

    def action_copy(self) -> None:
        """Copy the row as TOML."""
        row = self._table.current
        if row is not None:
            self.copy(f"{row.key} = {row.value}", row.key)


def problem_lines(problem: SettingProblem) -> list[TextLine]:
    """What is wrong, where, and what to do."""
    place = problem.file.rpartition("/")[2]
    if problem.line is not None:
        place += f":{problem.line}"
    key = f"{safe_line(problem.key, 120)}: " if problem.key else ""
    lines: list[TextLine] = [
        (
            Cell("\u2716 ", Tone.BAD),
            Cell(safe_line(place, 60) + " ", Tone.STRONG),
            Cell(key + safe_line(problem.reason)),
        )
    ]
    if problem.hint:
        lines.append((Cell("  \u2192 ", Tone.ACCENT), Cell(problem.hint)))
    return lines


def _row_lines(row: SettingRow) -> list[TextLine]:
    where = f" ({row.where})" if row.where else ""
    effect = "while the station runs" if row.live else "at the next start of the station"
    return [
        (Cell(row.help),),
        (Cell("value    ", Tone.MUTED), Cell(row.value)),
        (Cell("default  ", Tone.MUTED), Cell(row.default or fmt.NONE)),
        (Cell("source   ", Tone.MUTED), Cell(row.source + where)),
        (Cell("effect   ", Tone.MUTED), Cell(effect)),
    ]
