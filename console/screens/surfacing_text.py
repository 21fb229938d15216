"""An answer with memories in words: its lines in the list, and everything about it. Pure."""

from __future__ import annotations

from datetime import tzinfo

from console import format as fmt
from console.safe import safe_line
from console.screens.surfacing_rows import Row
from console.surfacing_words import (
    DECISIONS,
    LEVELS,
    percent,
    query_words,
    reason_words,
    tool_name,
    unrated_in,
)
from console.widgets.columns import Column
from console.widgets.surfacing_glyphs import sign_of
from console.widgets.textpane import EMPTY, Flow, TextLine, lines_of
from console.widgets.tone import Cell, Tone
from proxy.surface.model import (
    Arm,
    Decision,
    Rater,
    ShownMemory,
    SurfacingEvent,
    SurfacingView,
)

MEMORY_COLUMNS = (
    Column("", 1),
    Column("rating", 12),
    Column("score", 5, right=True),
    Column("memory", 32, flex=5),
    Column("why", 14, flex=2, most=36, drop=2),
    Column("by", 16, flex=1, most=21, drop=1),
)
"""Of a list of shown memories; see `row_cells`."""
_RATERS = {Rater.PERSON: "you", Rater.AGENT: "agent"}
_REASONS = 4
"""So many reasons are named where nothing was shown yet."""


def row_cells(row: Row, now: float, tz: tzinfo) -> tuple[Cell, ...]:
    """A memory: glyph, rating, score, text, why, who rated. An answer: fewer cells, over the whole width."""
    event, memory = row.event, row.memory
    if memory is None:
        return (
            Cell(f" {fmt.moment(event.at, now, tz)}  ", Tone.MUTED),
            Cell(tool_name(event.upstream, event.tool), Tone.STRONG),
            Cell(f"  {query_words(event)}", Tone.ACCENT),
            Cell(f"  {safe_line(event.host, 40)}", Tone.MUTED),
        )
    sign = sign_of(memory.rating)
    return (
        sign.mark,
        sign.name,
        Cell(percent(memory.score)),
        Cell(memory.preview, Tone.STRONG if memory.rating is None else Tone.NORMAL),
        Cell(reason_words(memory), Tone.MUTED),
        Cell(raters_words(memory), Tone.WARN if memory.conflict else Tone.MUTED),
    )


def raters_words(memory: ShownMemory) -> str:
    """Who rated it: ``agent``, ``you``; both where they agree; ``▲ agent: helpful`` where not."""
    if memory.conflict:
        agent = next(one for one in memory.ratings if one.rater is Rater.AGENT)
        return f"\u25b2 agent: {sign_of(agent.rating).word}"
    return ", ".join(_RATERS[one.rater] for one in memory.ratings)


def preview_lines(row: Row, now: float, tz: tzinfo) -> list[TextLine]:
    """Under the list: the memory's text, or the answer's facts."""
    if row.memory is None:
        return fact_lines(row.event, now, tz)
    return [*memory_head(row.memory, row.event, now), *lines_of(row.memory.preview)]


def memory_head(memory: ShownMemory, event: SurfacingEvent, now: float) -> list[TextLine]:
    """Its rating by whom, its score and why it was shown."""
    cells = [sign_of(memory.rating).both, Cell("  ")]
    for one in sorted(memory.ratings, key=lambda one: one.rater is Rater.AGENT):
        word = sign_of(one.rating).word
        cells.append(
            Cell(f"{_RATERS[one.rater]}: {word} {fmt.age(now - one.at)} ago  ", Tone.MUTED)
        )
    if memory.conflict:
        cells.append(Cell("\u25b2 you differ; your word counts  ", Tone.WARN))
    above = f"{percent(memory.score)} (shown from {percent(event.threshold)} on)"
    cells.append(Cell(f"{above}  {safe_line(reason_words(memory), 200)}", Tone.MUTED))
    return [Flow(cells)]


def fact_lines(event: SurfacingEvent, now: float, tz: tzinfo) -> list[TextLine]:
    """For which call, by which words, and what it cost."""
    waits = unrated_in(event)
    rated = f"{waits} of {len(event.memories)} unrated" if waits else "all rated"
    source = {"memory": "the memory of mms", "ltm": "the external memory"}.get(
        event.source, safe_line(event.source, 40)
    )
    again = ", found before by the same words" if event.cached else ""
    out: list[TextLine] = [
        _labelled(
            "call",
            f"#{event.call_id}  {tool_name(event.upstream, event.tool)}  for "
            f"{safe_line(event.host, 60)}, {fmt.moment(event.at, now, tz)} "
            f"({fmt.age(now - event.at)} ago)",
        ),
        _labelled("query", f"{query_words(event)}  from {LEVELS[event.level]}"),
        _labelled(
            "found",
            f"{fmt.plural(len(event.memories), 'memory', 'memories')} from {percent(event.threshold)} "
            f"on, {rated}; in {source} within {fmt.duration(event.search_ms)}{again}",
        ),
        _labelled("cost", f"about {fmt.plural(event.tokens, 'token')} added to the answer"),
    ]
    if event.arm is Arm.HELD_OUT:
        out.append(_labelled("trial", DECISIONS[Decision.HELD_OUT], Tone.WARN))
    return out


def event_lines(event: SurfacingEvent, chosen: str, now: float, tz: tzinfo) -> list[TextLine]:
    """Everything about an answer with memories; the memory of the id ``chosen`` is marked."""
    lines = fact_lines(event, now, tz)
    lines.append(
        _labelled(
            "id",
            f"{safe_line(event.id, 40)}  conversation {safe_line(event.conversation, 60)}",
            Tone.MUTED,
        )
    )
    for memory in event.memories:
        here = memory.memory_id == chosen
        lines.append(EMPTY)
        lines.append(
            (
                Cell("\u25b8 " if here else "  ", Tone.ACCENT),
                Cell(safe_line(memory.memory_id, 64), Tone.STRONG if here else Tone.MUTED),
            )
        )
        lines += [Flow((Cell("  "), *line)) for line in memory_head(memory, event, now)]
        lines += lines_of(memory.preview, indent="  ")
    return lines


def empty_words(view: SurfacingView, *, filtered: bool) -> str:
    """In place of the list: that the filter hides all, or what surfacing is and why there is none yet."""
    if filtered:
        return "No shown memory has these words \u2014 Esc clears the filter"
    if view.source.name == "off":
        return (
            "Surfacing is off.\n\n"
            "When it is on, mms adds memories that matter for a call to its answer.\n"
            "Set surfacing.enabled to true on Config (4)."
        )
    lines = [
        "No memory was shown with an answer yet.",
        "",
        "When a tool answers, mms looks in the memory for what matters for the",
        "call and adds it to the answer. What was shown stands here, and your",
        "ratings teach mms what to show.",
        "",
        "Store memories on Memory (6), or let agents do it; then call a tool.",
    ]
    missed = [(one, number) for one, number in view.decisions if one is not Decision.SURFACED]
    if missed:
        lines += ["", "Why nothing was shown so far (f shows all):"]
        lines += [f"{fmt.count(number):>7}  {DECISIONS[one]}" for one, number in missed[:_REASONS]]
    return "\n".join(lines)


def problem_words(view: SurfacingView) -> str:
    """What is wrong, a sentence or two; empty while all is well."""
    source = view.source
    parts: list[str] = []
    if view.problem:
        parts.append(safe_line(view.problem, 300))
    if source.problem:
        words = safe_line(source.problem, 300)
        if source.retry_in_seconds is not None:
            words = f"{words.rstrip('.')}; tried again in {fmt.age(source.retry_in_seconds)}."
        parts.append(f"No memories are shown now: {words}")
    return " ".join(parts)


def _labelled(label: str, words: str, tone: Tone = Tone.NORMAL) -> TextLine:
    return (Cell(f"{label:<7}", Tone.MUTED), Cell(words, tone))
