"""What-if: one recorded answer under other strategies and budgets, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget

from config.schema import Compression
from console import format as fmt
from console import keys, scopes
from console.safe import safe_line
from console.screens.base import MainScreen, entitle
from console.screens.call_text import pretty
from console.screens.dialogs import confirm
from console.screens.what_if_text import (
    OFFERED,
    Kind,
    TrialRow,
    apply_words,
    fact_lines,
    next_budget,
    read_budget,
    trial_cells,
    trial_rows,
)
from console.state import ConsoleState
from console.trials import LEAST_BUDGET, settings_of
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextLine, TextPane, lines_of
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import EditBar
from proxy.answer_model import WhatIf, WhatIfQuery
from proxy.commands import CommandResult, SetSetting
from proxy.model import CallRecord

COLUMNS = (
    Column("", 1),
    Column("strategy", 14, flex=1, most=36),
    Column("tokens", 8, right=True),
    Column("of all", 6, right=True, drop=2),
    Column("facts kept", 10, right=True),
    Column("to fetch", 8, right=True),
    Column("lost", 5, right=True),
    Column("ms", 6, right=True, drop=1),
)

_SHOWN_CHARACTERS = 128 * 1024
_BUDGET = "budget in tokens"
_QUERY = "looked for"


class WhatIfScreen(MainScreen):
    """See the module's text. While an answer is being tried the last figures stay on the screen."""

    SCOPE = scopes.WHAT_IF
    TAB = scopes.CALLS
    BINDINGS = keys.bindings(scopes.WHAT_IF)

    def __init__(self, record: CallRecord) -> None:
        super().__init__()
        self._record = record
        self._table: LineTable[TrialRow] = LineTable(
            COLUMNS, self._cells, lambda row: row.key, id="main"
        )
        self._facts = TextPane(id="facts-text")
        self._was = TextPane(id="was-text")
        self._text = TextPane(id="variant-text")
        self._edit = EditBar(id="edit")
        self._strategies: tuple[str, ...] = ()
        """Empty: those that suit the content."""
        self._budget: int | None = None
        """``None``: the one in force."""
        self._query: str | None = None
        """``None``: the call's own."""
        self._view: WhatIf | None = None
        self._trying_since: float | None = None

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="trials")
        yield Horizontal(
            Vertical(self._facts, classes="panel", id="trial-facts"),
            Vertical(self._was, classes="panel", id="trial-was"),
            Vertical(self._text, classes="panel", id="trial-text"),
            id="trial-more",
        )
        yield self._edit

    def on_mount(self) -> None:
        super().on_mount()
        self._try()

    def _try(self) -> None:
        """Ask for the variants; a newer question replaces one that is not answered yet."""
        query = WhatIfQuery(self._record.id, self._strategies, self._budget, self._query)
        self._trying_since = self.console.now()

        def got(view: WhatIf) -> None:
            self._trying_since = None
            keep = view.problem and self._view is not None
            if keep:
                self.console.say(view.problem, bad=True)
            else:
                first = self._view is None
                self._view = view
                self.redraw()
                if first and view.variants:
                    self._table.go_to((Kind.VARIANT.value, view.variants[0].asked))
            self.redraw()
            self._draw_row(top=True)

        self.console.fetch(lambda: self.console.station.what_if(query), got, group="what_if")
        self.redraw()

    # -- drawing ------------------------------------------------------------------------------

    def tick(self) -> None:
        super().tick()
        if self._trying_since is not None and self.whole:
            self._draw_title(self.console.state)

    def draw(self, state: ConsoleState) -> None:
        view = self._view
        if state.stale:
            self._trying_since = None
        if view is None:
            self._table.show((), "trying other settings" + fmt.ELLIPSIS)
        elif view.problem:
            self._table.show((), view.problem + "\nEsc goes back.")
        else:
            self._table.show(trial_rows(view))
        self.set_class(view is not None and bool(view.problem), "-none")
        self._draw_title(state)
        self._draw_row()

    def _draw_title(self, state: ConsoleState) -> None:
        record, view = self._record, self._view
        title = f"what if #{record.id}  {record.upstream}.{record.tool}"
        if state.stale:
            title += "   (stale)"
        if self._trying_since is not None:
            lasted = fmt.age(self.console.now() - self._trying_since)
            title += f"   trying{fmt.ELLIPSIS} {lasted}"
        parts: list[str] = []
        if view is not None and view.content:
            parts.append(safe_line(view.content, 30))
        budget = self._present_budget()
        if budget is not None:
            own = "" if self._budget is not None else " (in force)"
            parts.append(f"budget {fmt.count(budget)}{own}")
        if self._query is not None:
            words = safe_line(self._query, 40)
            parts.append(f"looked for: {words}" if words else "no query")
        entitle(self.query_one("#trials"), title, "   ".join(parts))

    def _draw_row(self, *, top: bool = False) -> None:
        row, view = self._table.current, self._view
        if row is None or view is None:
            for pane, panel in (
                (self._facts, "#trial-facts"),
                (self._was, "#trial-was"),
                (self._text, "#trial-text"),
            ):
                pane.show(())
                entitle(self.query_one(panel), "")
            return
        entitle(
            self.query_one("#trial-facts"),
            "facts",
            "f: the text" if self.has_class("-narrow") else "",
        )
        self._facts.show(fact_lines(row), top=top)
        was = view.sent
        entitle(
            self.query_one("#trial-was"),
            "what was sent" if was is not None else "the original",
            fmt.plural(was.tokens if was is not None else view.before_tokens, "token"),
        )
        self._was.show(_preview(was.text if was is not None else view.before_text))
        tokens = fmt.plural(row.variant.tokens, "token")
        hint = "   f: the facts" if self.has_class("-narrow") else ""
        entitle(self.query_one("#trial-text"), row.name, tokens + hint)
        self._text.show(_preview(row.variant.text), top=top)

    def _cells(self, row: TrialRow) -> tuple[Cell, ...]:
        cells = trial_cells(row, self._view.before_tokens if self._view is not None else 0)
        if self._trying_since is None:
            return cells
        return tuple(Cell(cell.text, Tone.MUTED) for cell in cells)

    def _present_budget(self) -> int | None:
        if self._budget is not None:
            return self._budget
        variants = self._view.variants if self._view is not None else ()
        return variants[0].budget_tokens if variants else None

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_row(top=True)
        self.draw_keys()

    @on(LineTable.Opened)
    def _opened(self) -> None:
        self._text.focus()

    @on(EditBar.Sent)
    def _typed(self, event: EditBar.Sent) -> None:
        if event.key == _QUERY:
            self._query = event.value.strip()
        else:
            budget = read_budget(event.value)
            if budget is None:
                self._edit.error(f"A whole number of tokens from {LEAST_BUDGET} on, or 4k.")
                return
            self._budget = budget
        self._edit.close()
        self._table.focus()
        self._try()

    @on(EditBar.Closed)
    def _edit_closed(self) -> None:
        self._table.focus()

    def go_back(self) -> bool:
        if not self._table.has_focus and not self._edit.is_open:
            self._table.focus()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self._table.current
        if action == "apply":
            possible = row is not None and row.kind is not Kind.SENT and self._trying_since is None
            return True if possible else None
        if action in ("more", "less"):
            return True if self._present_budget() is not None else None
        if action == "copy":
            return True if row is not None else None
        if action == "facts":
            return self.has_class("-narrow")
        return super().check_action(action, parameters)

    def typing_words(self) -> tuple[str, str]:
        return "try", "cancel"

    def offers_open(self) -> bool:
        return self._table.has_focus and self._table.current is not None

    def action_more(self) -> None:
        """The next larger budget."""
        self._step(larger=True)

    def action_less(self) -> None:
        """The next smaller budget."""
        self._step(larger=False)

    def _step(self, *, larger: bool) -> None:
        present = self._present_budget()
        if present is not None:
            budget = next_budget(present, larger=larger)
            if budget != present:
                self._budget = budget
                self._try()

    def action_budget(self) -> None:
        """Type a budget."""
        budget = self._present_budget()
        self._edit.open(_BUDGET, "" if budget is None else str(budget))

    def action_query(self) -> None:
        """Type what is looked for."""
        self._edit.open(_QUERY, self._query or "")

    def action_strategies(self) -> None:
        """Choose which strategies to try."""
        if self.modal_open():
            return
        asked = [variant.asked for variant in self._view.variants] if self._view else []
        self.console.push_screen(StrategiesDialog(self._strategies or asked), self._chosen)

    def _chosen(self, names: tuple[str, ...] | None) -> None:
        if names is not None:
            self._strategies = names
            self._try()

    def action_facts(self) -> None:
        """On narrow terminals: the missing facts in place of the text."""
        self.toggle_class("-facts")

    def action_copy(self) -> None:
        """Copy the text under the cursor."""
        row = self._table.current
        if row is not None:
            self.copy(row.variant.text, f"The text ({row.name})")

    def action_apply(self) -> None:
        """Write strategy and budget to the settings, after asking."""
        row, view = self._table.current, self._view
        if row is None or view is None or row.kind is Kind.SENT:
            return
        budget = None if row.kind is Kind.ORIGINAL else self._budget
        changes = settings_of(view.upstream, view.tool, row.variant.asked, budget)
        confirm(
            self.console,
            f"Make {row.variant.asked} the setting?",
            apply_words(changes, row, view.before_tokens),
            "Write it",
            lambda: self.console.perform(lambda: self._write(changes)),
        )

    async def _write(self, changes: Sequence[tuple[str, str]]) -> CommandResult:
        """One key after the other; the first that is refused ends it and is told."""
        written: list[str] = []
        for key, value in changes:
            result = await self.console.station.execute(SetSetting(key, value))
            if not result.ok:
                before = f"{', '.join(written)} was written, but not {key}: " if written else ""
                return CommandResult(ok=False, message=before + result.message)
            written.append(f"{key} = {value}")
        return CommandResult(ok=True, message=f"Written: {'; '.join(written)}.")


class StrategiesDialog(ModalScreen["tuple[str, ...] | None"]):
    """A list with marks; gives the strategies to try. None marked: those that suit the content."""

    AUTO_FOCUS = "LineTable"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("space", "mark", show=False),
    ]

    def __init__(self, marked: Iterable[str]) -> None:
        super().__init__(classes="Dialog")
        self._marked = set(marked)
        self._table: LineTable[Compression] = LineTable(
            (Column("", 3), Column("", 20, flex=1)),
            lambda one: (
                Cell("[x]" if one.value in self._marked else "[ ]", Tone.KEY),
                Cell(one.value),
            ),
            lambda one: one.value,
            header=False,
            id="strategies",
        )

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            entitle(box, "Strategies to try", "Space marks \u00b7 Enter tries \u00b7 Esc leaves")
            yield self._table

    def on_mount(self) -> None:
        self._table.styles.height = len(OFFERED)
        self._table.show(OFFERED)

    def action_mark(self) -> None:
        """Mark the strategy under the cursor, or take the mark away."""
        one = self._table.current
        if one is not None:
            self._marked ^= {one.value}
            self._table.show(OFFERED)
            self._table.cursor += 1

    @on(LineTable.Opened)
    def _opened(self, event: LineTable.Opened) -> None:
        event.stop()
        self.dismiss(tuple(one.value for one in OFFERED if one.value in self._marked))

    def action_leave(self) -> None:
        """Nothing changes."""
        self.dismiss(None)


@lru_cache(maxsize=4)
def _preview(text: str) -> tuple[TextLine, ...]:
    """Made once per text: laying a long JSON out takes longer than a paint may."""
    lines = lines_of(pretty(text)[:_SHOWN_CHARACTERS].strip("\n"))
    if len(text) > _SHOWN_CHARACTERS:
        lines.append((Cell("\u25b2 cut to what a screen can show", Tone.WARN),))
    return tuple(lines)
