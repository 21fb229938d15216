"""The memory at a glance, for the Overview. Pure."""

from __future__ import annotations

from console import format as fmt
from console.safe import safe_line
from console.widgets.memory_glyphs import RECORD_STATES
from console.widgets.textpane import TextLine
from console.widgets.tone import Cell, Tone
from memory.api import IndexStatus, OverviewResult
from memory.errors import MemoryFault
from memory.model import Kind, State

_ASIDE = (State.QUARANTINED, State.SUPERSEDED, State.ARCHIVED)


def memory_title(overview: OverviewResult | None, fault: MemoryFault | None) -> str:
    """The panel's head: how many decisions wait."""
    if overview is None:
        return "memory"
    stale = " (stale)" if fault is not None else ""
    waiting = overview.open_proposals
    return "memory" + (f" \u25c6{fmt.count(waiting)} wait" if waiting else "") + stale


def overview_lines(overview: OverviewResult | None, fault: MemoryFault | None) -> list[TextLine]:
    """Weightiest first; the panel may show only the first four lines."""
    if overview is None:
        if fault is None:
            return [(Cell(fmt.ELLIPSIS, Tone.MUTED),)]
        lines: list[TextLine] = [(Cell(f"\u25b2 {safe_line(fault.message, 200)}", Tone.WARN),)]
        if fault.hint:
            lines.append((Cell(safe_line(fault.hint, 200), Tone.MUTED),))
        return lines
    counts = {(one.kind, one.state): one.count for one in overview.counts}
    lines = [
        (
            Cell(f"{fmt.count(counts.get((kind, State.ACTIVE), 0)):>6} ", Tone.STRONG),
            Cell(kind.value),
        )
        for kind in Kind
    ]
    lines.append(index_line(overview.index))
    for state in _ASIDE:
        number = sum(counts.get((kind, state), 0) for kind in Kind)
        sign = RECORD_STATES[state]
        lines.append((sign.mark, Cell(f" {fmt.count(number)} {sign.word}", Tone.MUTED)))
    if overview.would_have_hit:
        words = fmt.plural(overview.would_have_hit, "search missed", "searches missed")
        lines.append((Cell("\u25b2 ", Tone.WARN), Cell(f"{words} what was forgotten")))
    lines.append((Cell(f"{fmt.size(overview.bytes_on_disk)} on disk", Tone.MUTED),))
    return lines


def index_line(index: IndexStatus) -> TextLine:
    """Whether search is by meaning, and how far the vectors are."""
    if index.problem:
        return (Cell("\u25b2 ", Tone.WARN), Cell(safe_line(index.problem, 120)))
    if index.building:
        share = fmt.percent(index.built, index.to_build)
        return (Cell("\u25cc ", Tone.ACCENT), Cell(f"index {share} made"))
    if index.pending:
        return (Cell("\u25cc ", Tone.ACCENT), Cell(f"index: {fmt.count(index.pending)} wait"))
    if not index.model:
        return (Cell("\u25b2 ", Tone.WARN), Cell("by words alone"))
    return (Cell("\u25cf ", Tone.GOOD), Cell("index ready"))
