"""Calls: the log of finished calls, newest at the bottom, as it grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from textual import on
from textual.containers import Vertical
from textual.widget import Widget

from console import format as fmt
from console import keys, scopes
from console.filters import CallFilter, FilterError, parse_filter
from console.safe import safe_line
from console.screens.answer_text import how_cell, saved_cell, saved_line, sent_tokens
from console.screens.base import MainScreen, entitle
from console.state import CallsLoaded, ConsoleState
from console.widgets.columns import Column
from console.widgets.glyphs import ENDINGS, OUTCOMES
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextLine, TextPane
from console.widgets.tone import Cell, Tone
from console.widgets.typing_bars import FilterBar
from proxy.model import CallRecord, Outcome

COLUMNS = (
    Column("", 1),
    Column("time", 8),
    Column("host", 11, flex=1, drop=6, most=18),
    Column("upstream", 9, flex=1, most=20),
    Column("tool", 14, flex=8, most=32),
    Column("ms", 7, right=True),
    Column("tok in", 6, right=True, drop=5),
    Column("before", 7, right=True, drop=4),
    Column("tok out", 7, right=True),
    Column("saved", 6, right=True, drop=2),
    Column("result", 10, flex=1, most=16, drop=1),
    Column("why", 16, flex=3, drop=7),
)
"""Tokens of the arguments, of the answer as the upstream sent it and as the agent got it, and the
difference; structured content included. The result of a call that ended well is the strategy."""

PAGE = 500
"""Calls read from the store at once."""


class CallsScreen(MainScreen):
    """See the module's text.

    Following keeps the newest call in view and ends when the cursor moves up. Pausing holds the list
    still while calls are still taken in; the title says how many wait.
    """

    SCOPE = scopes.CALLS
    BINDINGS = keys.bindings(scopes.CALLS)

    def __init__(self) -> None:
        super().__init__()
        self._table: LineTable[CallRecord] = LineTable(
            COLUMNS, self._cells, lambda record: record.id, id="main"
        )
        self._table.set_reactive(LineTable.follow, True)
        self._preview = TextPane(id="preview-text")
        self._preview.can_focus = False
        self._filter = FilterBar(
            "err  slow>500  saved>1000  up:github  tool:search*  -not", id="filter"
        )
        self._words = CallFilter()
        self._wrong = ""
        self._held: tuple[CallRecord, ...] | None = None
        """The calls shown while paused."""
        self._held_at = 0
        self._seen: tuple[object, ...] = ()
        self._new_below = 0
        self._count_at = 0
        self._exhausted = False

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._table, classes="panel", id="log")
        yield Vertical(self._preview, classes="panel", id="preview")
        yield self._filter

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        if self.console.wanted_filter is not None:
            words, self.console.wanted_filter = self.console.wanted_filter, None
            self._filter.put(words)
            self._filtered()
            return
        calls = self._held if self._held is not None else state.calls
        version = (calls, self._words, state.loaded)
        if not self._seen or any(a is not b for a, b in zip(version, self._seen, strict=True)):
            self._seen = version
            self._table.show(self._matching(calls), self._empty(state, calls))
            self._draw_preview()
        self._draw_title(state, calls)

    def _matching(self, calls: Sequence[CallRecord]) -> Sequence[CallRecord]:
        if not self._words:
            return calls
        return [record for record in calls if self._words.matches(record)]

    def _empty(self, state: ConsoleState, calls: Sequence[CallRecord]) -> str:
        if not state.loaded and not calls:
            return "waiting for the station" + fmt.ELLIPSIS
        if self._words and calls:
            return (
                f"0 of {fmt.count(len(calls))} calls match \u2014 Esc clears the filter"
                "\no searches older calls in the store"
            )
        return (
            "No calls yet. Point a host here; this prints the snippet for it:\n\n"
            f"    {self.console.connect_hint}"
        )

    def _draw_title(self, state: ConsoleState, calls: Sequence[CallRecord]) -> None:
        shown = len(self._table.items)
        number = fmt.count(shown)
        if self._words or self._wrong:
            number = f"{number}/{fmt.count(len(calls))}"
        title = f"calls {number}"
        if self._filter.text:
            title += f"   filter: {safe_line(self._filter.text, 60)}"
        if state.stale:
            title += "   (stale)"
        entitle(self.query_one("#log"), title, self._mode(state))
        if self._wrong:
            self._filter.note(self._wrong, bad=True)
        elif self._words:
            self._filter.note(number)
        else:
            self._filter.note("")

    def _mode(self, state: ConsoleState) -> str:
        if self._held is not None:
            return f"PAUSED  +{fmt.count(state.calls_seen - self._held_at)}"
        if self._table.follow:
            return "FOLLOWING" if self._table.items else ""
        new = state.calls_seen - self._count_at
        return f"+{fmt.count(new)} new \u2193 G" if new else "f follows"

    def _draw_preview(self) -> None:
        record = self._table.current
        panel = self.query_one("#preview")
        if record is None:
            entitle(panel, "call")
            self._preview.show(())
            return
        entitle(panel, f"#{record.id}  {record.upstream}.{record.tool}", "Enter opens it")
        self._preview.show(summary(record, self.console.now(), self.console.tz), top=True)

    def _cells(self, record: CallRecord) -> tuple[Cell, ...]:
        sign = OUTCOMES[record.outcome]
        out = sent_tokens(record)
        return (
            sign.mark,
            Cell(fmt.clock(record.started_at, self.console.tz), Tone.MUTED),
            Cell(record.host, Tone.MUTED),
            Cell(record.upstream),
            Cell(record.tool, Tone.STRONG),
            Cell(fmt.milliseconds(record.duration_ms)),
            Cell(fmt.count(record.arguments.tokens), Tone.MUTED),
            Cell(fmt.count(record.before.tokens), Tone.MUTED)
            if record.strategy
            else Cell(fmt.NONE, Tone.MUTED),
            Cell(fmt.count(out)),
            saved_cell(record),
            sign.name if record.outcome is not Outcome.OK else how_cell(record),
            Cell(record.error, Tone.MUTED),
        )

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_preview()
        if (
            self._held is None
            and not self._table.follow
            and self._table.items
            and self._table.cursor == len(self._table.items) - 1
        ):
            self._table.follow = True
        self._draw_title(self.console.state, self._calls())

    @on(LineTable.FollowEnded)
    def _follow_ended(self) -> None:
        self._count_at = self.console.state.calls_seen
        self._draw_title(self.console.state, self._calls())

    def _calls(self) -> Sequence[CallRecord]:
        return self._held if self._held is not None else self.console.state.calls

    @on(LineTable.Opened)
    def _opened(self) -> None:
        record = self._table.current
        if record is not None:
            from console.screens.call import CallScreen

            self.console.push_screen(CallScreen(tuple(self._table.items), record.id))

    @on(FilterBar.Changed)
    def _filtered(self) -> None:
        try:
            words = parse_filter(self._filter.text)
            self._wrong = ""
        except FilterError as error:
            words, self._wrong = self._words, str(error)
        self._exhausted = False
        if words != self._words:
            self._words = words
        self.draw(self.console.state)
        self.draw_keys()

    @on(FilterBar.Closed)
    def _filter_closed(self) -> None:
        self._table.focus()
        self.draw(self.console.state)
        if self._words and not self._table.items:
            self.action_older()

    def go_back(self) -> bool:
        if self._filter.text:
            self._filter.action_clear()
            return True
        if self._held is not None:
            self.action_pause()
            return True
        return False

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "older" and self._exhausted:
            return None
        if action in ("copy", "what_if") and not self._table.items:
            return None
        return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return bool(self._table.items)

    def action_filter(self) -> None:
        """Type filter words."""
        self._filter.open()

    def action_errors(self) -> None:
        """Only failed calls; once more shows all."""
        self._filter.put("" if self._filter.text == "err" else "err")

    def action_pause(self) -> None:
        """Hold the list still, or let it go on."""
        state = self.console.state
        if self._held is None:
            self._held, self._held_at = state.calls, state.calls_seen
        else:
            self._held = None
        self.draw(state)
        self.draw_keys()

    def action_follow(self) -> None:
        """Go to the newest call and stay there; ends a pause."""
        self._held = None
        self._table.follow = True
        self.draw(self.console.state)

    def action_older(self) -> None:
        """Read calls from the store that are older than those known."""
        known = self.console.state.calls
        before = known[0].id if known else None
        query = self._words.query(limit=PAGE, before_id=before)

        def got(records: tuple[CallRecord, ...]) -> None:
            self._exhausted = not records
            if records:
                found = sum(self._words.matches(record) for record in records)
                self.console.learn(CallsLoaded(records))
                self.console.say(f"{fmt.plural(found, 'older call')} read from the store.")
                if self._held is not None:
                    self._held = self.console.state.calls
            else:
                what = "that match" if self._words else "in the store"
                self.console.say(f"There are no older calls {what}.")
            self.draw_keys()

        self.console.fetch(lambda: self.console.station.calls(query), got, group="older")

    def action_what_if(self) -> None:
        """The answer of the call under the cursor, under other settings."""
        record = self._table.current
        if record is not None:
            self.console.open_what_if(record)

    def action_copy(self) -> None:
        """Copy the row under the cursor."""
        record = self._table.current
        if record is not None:
            text = " ".join(cell.text for cell in self._cells(record) if cell.text)
            self.copy(text, f"Call #{record.id}")


def summary(record: CallRecord, now: float, tz: tzinfo) -> list[TextLine]:
    """A call in a few lines."""
    sign = OUTCOMES[record.outcome]
    out = sent_tokens(record)
    size = record.text.bytes + record.structured.bytes + record.other_bytes
    extra = f" incl. {fmt.size(record.other_bytes)} binary" if record.other_bytes else ""
    lines: list[TextLine] = [
        (
            sign.both,
            Cell(f"  in {fmt.duration(record.duration_ms)}", Tone.NORMAL),
            Cell(f"   {fmt.moment(record.started_at, now, tz)}", Tone.MUTED),
            Cell(f"   for {safe_line(record.host, 60)}", Tone.MUTED),
        ),
        (
            Cell("tokens ", Tone.MUTED),
            Cell(f"{fmt.count(record.arguments.tokens)} in, {fmt.count(out)} out"),
            Cell("   size ", Tone.MUTED),
            Cell(f"{fmt.size(record.arguments.bytes)} in, {fmt.size(size)} out{extra}"),
        ),
    ]
    if record.error:
        lines.append((Cell(safe_line(record.error, 600), sign.tone),))
    elif record.outcome is not Outcome.OK:
        lines.append((Cell(ENDINGS[record.outcome], Tone.MUTED),))
    saved = saved_line(record)
    return [*lines, saved] if saved else lines
