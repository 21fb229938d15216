"""How well surfacing does, in words and bars: source, ratings, tools, days, why nothing was shown. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from console import format as fmt
from console.safe import safe_line
from console.surfacing_words import (
    DECISIONS,
    bar,
    breaker_words,
    percent,
    source_words,
    threshold_words,
    tool_name,
    verdict_words,
)
from console.widgets.surfacing_glyphs import RATINGS, VERDICTS
from console.widgets.textpane import EMPTY, Flow, TextLine
from console.widgets.tone import Cell, Tone
from proxy.surface.model import Decision, SurfacingView, ToolHelpfulness

_BAR = 10
_TOOL_BAR = 8
_DECISION_BAR = 6
_NAME = 22
"""Cells of a tool's name; the whole of it is in ``mms surfacing``."""


def answering_lines(view: SurfacingView) -> list[TextLine]:
    """The source, and what the ratings say: in all, by tool, by day."""
    lines = [*_source(view), EMPTY, *_ratings(view)]
    if view.tools:
        lines += [EMPTY, _title("helpfulness by tool"), *(_tool(one) for one in view.tools)]
    if view.days:
        lines += [EMPTY, _title("helpfulness by day"), *_days(view)]
    return lines


def decision_lines(view: SurfacingView) -> list[TextLine]:
    """What became of calls: those on record, and all since the station's start."""
    held = fmt.plural(view.withheld, "answer")
    lines: list[TextLine] = [
        _title("what became of calls"),
        (
            Cell("  withheld  ", Tone.MUTED),
            Cell(f"{held}, to measure what showing does; not counted as shown"),
        ),
    ]
    kept = f"{fmt.plural(view.opportunities, 'call')} on record"
    if view.sampled_out:
        kept += f", {fmt.count(view.sampled_out)} more not written down"
    lines += [(Cell(f"  {kept}", Tone.MUTED),), *_decisions(view.decisions)]
    if view.since_start:
        lines += [EMPTY, _title("since this station's start"), *_decisions(view.since_start)]
    return lines


def _source(view: SurfacingView) -> list[TextLine]:
    source, verdict = view.source, view.verdict
    lines: list[TextLine] = [
        _title("where memories come from"),
        (Cell("  source   ", Tone.MUTED), Cell(source_words(source))),
    ]
    if source.name != "off":
        lines += [
            (
                Cell("  verdict  ", Tone.MUTED),
                Cell(f"{verdict.value}: {verdict_words(verdict)}", VERDICTS[verdict]),
            ),
            (
                Cell("  breaker  ", Tone.MUTED),
                Cell(breaker_words(source), Tone.NORMAL if source.state == "closed" else Tone.WARN),
            ),
        ]
    if source.hint_events:
        lines.append(
            (
                Cell("  hints    ", Tone.MUTED),
                Cell(
                    f"{fmt.plural(source.hint_events, 'answer')} of it with hints about searching, "
                    f"the last one with {fmt.count(source.last_hints)}"
                ),
            )
        )
    for problem in (source.problem, view.problem):
        if problem:
            lines.append((Cell("  \u25b2 ", Tone.WARN), Cell(safe_line(problem, 400), Tone.WARN)))
    return lines


def _ratings(view: SurfacingView) -> list[TextLine]:
    counts = dict(view.ratings)
    cells: list[Cell] = [Cell("  ")]
    for rating, sign in RATINGS.items():
        cells += [sign.both, Cell(f" {fmt.count(counts.get(rating, 0))}  ", Tone.STRONG)]
    return [
        _title("ratings"),
        (
            Cell("  shown    ", Tone.MUTED),
            Cell(
                f"with {fmt.plural(view.events_total, 'answer')} of "
                f"{fmt.plural(view.distinct_tools, 'tool')}, about "
                f"{fmt.plural(view.tokens, 'token')} in all"
            ),
        ),
        (
            Cell("  rated    ", Tone.MUTED),
            Cell(
                f"{fmt.plural(view.feedback_total, 'time')}; {fmt.count(view.unrated)} of the last "
                "30 days unrated"
            ),
        ),
        Flow(cells),
    ]


def _tool(line: ToolHelpfulness) -> TextLine:
    share = line.helpfulness
    name = fmt.fit(tool_name(line.upstream, line.tool), _NAME)
    return (
        Cell(f"  {name} "),
        Cell(bar(share, _TOOL_BAR), Tone.GOOD),
        Cell(f" {percent(share):>4}", Tone.STRONG),
        Cell(
            f"  {fmt.count(line.rated)}/{fmt.count(line.memories)} rated  \u2265{threshold_words(line)}",
            Tone.MUTED,
        ),
    )


def _days(view: SurfacingView) -> list[TextLine]:
    return [
        (
            Cell(f"  {safe_line(one.day, 10)}  ", Tone.MUTED),
            Cell(bar(one.helpfulness, _BAR * 2), Tone.GOOD),
            Cell(f" {percent(one.helpfulness):>4}", Tone.STRONG),
            Cell(f"  {fmt.count(one.rated)} rated, {fmt.plural(one.events, 'answer')}", Tone.MUTED),
        )
        for one in reversed(view.days)
    ]


def _decisions(decisions: Sequence[tuple[Decision, int]]) -> list[TextLine]:
    most = max((number for _, number in decisions), default=0)
    lines: list[TextLine] = []
    for decision, number in decisions:
        tone = (
            Tone.BAD
            if decision.fault
            else Tone.GOOD
            if decision is Decision.SURFACED
            else Tone.ACCENT
        )
        length = max(1, round(number * _DECISION_BAR / most)) if number else 0
        lines.append(
            (
                Cell(f"  {fmt.count(number):>6} ", Tone.STRONG),
                Cell(("\u2588" * length).ljust(_DECISION_BAR), tone),
                Cell(f" {DECISIONS[decision]}", Tone.BAD if decision.fault else Tone.NORMAL),
            )
        )
    return lines or [(Cell("  none yet", Tone.MUTED),)]


def _title(words: str) -> TextLine:
    return (Cell(words, Tone.ACCENT),)
