"""Tuning: the steps that the tuner made, each revertible, and what would serve better by recent calls."""

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
from console.surfacing_words import step_state, tool_name
from console.widgets.columns import Column
from console.widgets.linetable import LineTable
from console.widgets.textpane import TextLine, TextPane
from console.widgets.tone import Cell, Tone
from proxy.commands import CommandResult, RevertAdjustment, SetSetting
from proxy.surface.model import (
    Adjustment,
    Recommendation,
    SurfacingQuery,
    SurfacingView,
    TuningReport,
)

STEPS = (
    Column("#", 4, right=True, drop=3),
    Column("when", 12, drop=2),
    Column("tool", 16, flex=4, most=44),
    Column("from", 5, right=True),
    Column("to", 5, right=True),
    Column("rated", 5, right=True, drop=1),
    Column("", 11, flex=1, most=20),
)
ADVICE = (
    Column("tool", 16, flex=3, most=44),
    Column("setting", 18, flex=2),
    Column("now", 8, right=True),
    Column("better", 8, right=True),
    Column("sure", 6),
    Column("by", 5, right=True, drop=1),
)
SPANS = ((24.0, "a day"), (168.0, "a week"), (720.0, "a month"))
"""Hours of calls that advice looks at, and how a person calls them."""


class TuningScreen(MainScreen):
    """See the module's text. Nothing is changed before the person confirms it."""

    SCOPE = scopes.TUNING
    TAB = scopes.SURFACING
    BINDINGS = keys.bindings(scopes.TUNING)

    def __init__(self) -> None:
        super().__init__()
        self._steps: LineTable[Adjustment] = LineTable(
            STEPS, self._step_cells, lambda step: step.id, id="main"
        )
        self._advice: LineTable[Recommendation] = LineTable(
            ADVICE, advice_cells, lambda one: one.key, quiet=True, id="tuning-advice"
        )
        self._why = TextPane(id="tuning-why-text")
        self._why.can_focus = False
        self._view: SurfacingView | None = None
        self._report: TuningReport | None = None
        self._span = 0
        self._version = -1

    def body(self) -> Iterable[Widget]:
        yield Vertical(self._steps, classes="panel", id="tuning-steps")
        yield Vertical(self._advice, classes="panel", id="tuning-more")
        yield Vertical(self._why, classes="panel", id="tuning-why")

    # -- asking -------------------------------------------------------------------------------

    def _ask(self) -> None:
        hours = SPANS[self._span][0]

        async def ask() -> tuple[SurfacingView, TuningReport]:
            station = self.console.station
            view = await station.surfacing(SurfacingQuery(limit=0))
            return view, await station.tuning(hours, None)

        def got(both: tuple[SurfacingView, TuningReport]) -> None:
            if hours == SPANS[self._span][0]:
                self._view, self._report = both
                self.redraw()

        self.console.fetch(ask, got, group="tuning")

    # -- drawing ------------------------------------------------------------------------------

    def draw(self, state: ConsoleState) -> None:
        if state.loaded and not state.stale and state.surfacing_version != self._version:
            self._version = state.surfacing_version
            self._ask()
        stale = "   (stale)" if state.stale else ""
        steps, more = self.query_one("#tuning-steps"), self.query_one("#tuning-more")
        span = SPANS[self._span][1]
        view, report = self._view, self._report
        if view is None or report is None:
            self._steps.show((), "waiting for the station" + fmt.ELLIPSIS)
            self._advice.show((), "")
            entitle(steps, "steps of the tuner" + stale)
            entitle(more, f"advice by the calls of {span}")
            self._draw_why()
            return
        self._steps.show(
            view.adjustments,
            "The tuner has changed nothing yet. It moves the threshold of a tool when\n"
            "enough of its memories were rated; every step can be taken back.",
        )
        self._advice.show(
            report.recommendations,
            f"Nothing would serve better, by the calls of {fmt.plural(report.tools_seen, 'tool')}."
            if report.tools_seen
            else "No calls in that time. s looks at a longer one.",
        )
        entitle(steps, "steps of the tuner" + stale)
        number = len(report.recommendations)
        entitle(
            more,
            f"advice by the calls of {span}" + (f": {fmt.count(number)}" if number else ""),
            "\u25b2 " + safe_line(report.problem, 200)
            if report.problem
            else ("mms tune shows the same" if number else ""),
        )
        self._draw_why()

    def _draw_why(self) -> None:
        panel = self.query_one("#tuning-why")
        if self._advice.has_focus:
            one = self._advice.current
            entitle(panel, "why", "A writes it to the settings" if one else "")
            self._why.show(advice_lines(one) if one else (), top=True)
            return
        step = self._steps.current
        revertible = step is not None and can_revert(step)
        entitle(panel, "why", "u takes it back" if revertible else "")
        self._why.show(step_lines(step, self.console.now()) if step else (), top=True)

    def _step_cells(self, step: Adjustment) -> tuple[Cell, ...]:
        done = not can_revert(step)
        tone = Tone.MUTED if done else Tone.NORMAL
        return (
            Cell(str(step.id), Tone.MUTED),
            Cell(fmt.moment(step.at, self.console.now(), self.console.tz), Tone.MUTED),
            Cell(tool_name(step.upstream, step.tool), tone if done else Tone.STRONG),
            Cell(f"{step.before:.2f}", tone),
            Cell(f"{step.after:.2f}", tone if done else Tone.STRONG),
            Cell(fmt.count(step.ratings), Tone.MUTED),
            Cell(
                ("\u21b6 " if done else "\u25cf ") + step_state(step), tone if done else Tone.GOOD
            ),
        )

    # -- events -------------------------------------------------------------------------------

    @on(LineTable.Moved)
    def _moved(self) -> None:
        self._draw_why()
        self.draw_keys()

    def on_descendant_focus(self) -> None:
        super().on_descendant_focus()
        self._draw_why()

    # -- actions ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "revert":
                step = self._steps.current
                usable = step is not None and can_revert(step) and not self._advice.has_focus
                return True if usable else None
            case "apply":
                report = self._report
                return True if report is not None and report.recommendations else None
            case "copy":
                return True if self._view is not None else None
            case _:
                return super().check_action(action, parameters)

    def offers_open(self) -> bool:
        return False

    def action_revert(self) -> None:
        """Take the step under the cursor back, after asking."""
        step = self._steps.current
        if step is None or not self.check_action("revert", ()):
            return
        confirm(
            self.console,
            f"Take step {step.id} of the tuner back?",
            f"{tool_name(step.upstream, step.tool)} shows memories from {step.before:.2f} on again, "
            f"not from {step.after:.2f}. Later steps for this tool go, too.",
            "Take it back",
            lambda: self.console.carry_out(RevertAdjustment(step.id), self._done),
        )

    def action_apply(self) -> None:
        """Write the advice under the lower list's cursor to the settings, after asking."""
        one = self._advice.current
        if one is None:
            return
        confirm(
            self.console,
            f"Set {safe_line(one.key, 200)} to {safe_line(one.proposed, 60)}?",
            f"It is {safe_line(one.current, 60)} now. {safe_line(one.reason, 300)}\n"
            "It is written to your settings file and used at once; Config (4) changes it again.",
            "Write it",
            lambda: self.console.carry_out(SetSetting(one.key, one.proposed), self._done),
        )

    def _done(self, result: CommandResult) -> None:
        self.console.say(result.message, bad=not result.ok)
        self._ask()

    def action_span(self) -> None:
        """Advice of a longer time, then of a day again."""
        self._span = (self._span + 1) % len(SPANS)
        self._report = None
        self.redraw()
        self._ask()

    def action_reload(self) -> None:
        """Ask the station again."""
        self._ask()

    def action_copy(self) -> None:
        """Copy both lists, with the reasons."""
        view, report = self._view, self._report
        if view is None or report is None:
            return
        steps = [
            f"{step.id}\t{step.upstream}/{step.tool}\t{step.before:.2f}\t{step.after:.2f}\t"
            f"{step_state(step)}\t{step.reason}"
            for step in view.adjustments
        ]
        advice = [
            f"{one.key}\t{one.current}\t{one.proposed}\t{one.confidence}\t{one.reason}"
            for one in report.recommendations
        ]
        self.copy("\n".join(safe_line(line) for line in (*steps, *advice)), "Steps and advice")


def can_revert(step: Adjustment) -> bool:
    """It is in force, and no taking back itself."""
    return step.reverted_at is None and step.reverts is None


def advice_cells(one: Recommendation) -> tuple[Cell, ...]:
    """Tool, the last name of the setting, value now, better value, confidence, samples."""
    return (
        Cell(tool_name(one.upstream, one.tool), Tone.STRONG),
        Cell(one.key.rpartition(".")[2]),
        Cell(one.current, Tone.MUTED),
        Cell(one.proposed, Tone.GOOD),
        Cell(one.confidence),
        Cell(fmt.count(one.samples), Tone.MUTED),
    )


def step_lines(step: Adjustment, now: float) -> list[TextLine]:
    """Why a step was made, and what has become of it."""
    lines: list[TextLine] = [
        (Cell(safe_line(step.reason, 400)),),
        (
            Cell(
                f"{tool_name(step.upstream, step.tool)}: from {step.before:.2f} to {step.after:.2f}, "
                f"by {fmt.plural(step.ratings, 'rating')}, {fmt.age(now - step.at)} ago",
                Tone.MUTED,
            ),
        ),
    ]
    if step.reverted_at is not None:
        lines.append((Cell(f"taken back {fmt.age(now - step.reverted_at)} ago", Tone.WARN),))
    return lines


def advice_lines(one: Recommendation) -> list[TextLine]:
    """Why another value would serve better."""
    return [
        (Cell(safe_line(one.reason, 400)),),
        (
            Cell(
                f"{safe_line(one.key, 200)}: {safe_line(one.current, 60)} \u2192 "
                f"{safe_line(one.proposed, 60)}, by {fmt.plural(one.samples, 'sample')}",
                Tone.MUTED,
            ),
        ),
    ]
