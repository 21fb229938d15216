"""Surfacing at a glance, one line for the Overview. Pure."""

from __future__ import annotations

from console import format as fmt
from console.safe import safe_line
from console.surfacing_words import percent
from console.widgets.textpane import TextLine
from console.widgets.tone import Cell, Tone
from proxy.surface.model import SurfacingGlance

_NARROW = 78


def glance_line(glance: SurfacingGlance, key: str, *, wide: bool) -> TextLine:
    """What was shown today, how helpful it was lately, what waits for a rating. ``key`` leads there.

    At most `_NARROW` cells unless ``wide``.
    """
    name = Cell("surfacing ", Tone.MUTED)
    source = glance.source
    if source.problem:
        words = safe_line(source.problem, 160 if wide else 50)
        return (name, Cell(f"\u25b2 {words}", Tone.WARN), Cell(f"  {key} shows more", Tone.MUTED))
    if source.name == "off" and not (glance.rated or glance.unrated or glance.events_today):
        return (name, Cell(f"off \u2014 {key} says what it is", Tone.MUTED))
    memories = fmt.count(glance.memories_today)
    shown = f"{memories} today in {fmt.plural(glance.events_today, 'answer')}"
    cells = [name, Cell(shown, Tone.NORMAL if glance.events_today else Tone.MUTED)]
    if wide and glance.tokens_today:
        cells.append(Cell(f", about {fmt.plural(glance.tokens_today, 'token')}", Tone.MUTED))
    if glance.helpfulness is not None:
        tone = Tone.GOOD if glance.helpfulness >= 0.5 else Tone.WARN
        cells.append(Cell(f"  {percent(glance.helpfulness)} helpful", tone))
        cells.append(Cell(f" of {fmt.count(glance.rated)} in 30 days" if wide else "", Tone.MUTED))
    else:
        cells.append(Cell("  no ratings yet", Tone.MUTED))
    if glance.unrated:
        cells.append(Cell(f"  \u25cc{fmt.count(glance.unrated)} unrated", Tone.ACCENT))
        hint = Cell(f" \u2014 {key} rates them", Tone.MUTED)
        if wide or sum(len(cell.text) for cell in (*cells, hint)) <= _NARROW:
            cells.append(hint)
    return tuple(cells)
