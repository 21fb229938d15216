"""A table of contents instead of the text: every section's id and size, small ones word for word.

It is never longer than the text, and shrinks by grouping neighbours until it fits the budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from config.schema import Compression
from proxy.compress.contents import SizeMap, Table, likely, tables
from proxy.compress.contents_json import RICH_TO_BARE, JsonContents, JsonOutline
from proxy.compress.json_sections import json_sections
from proxy.compress.json_spans import NotJson, quoted
from proxy.compress.model import JSON_TYPES, ContentType, Reduction, Section, Task
from proxy.compress.notices import MARK, footer, json_footer
from proxy.compress.sections import sections

_INLINE = {"tokens": 40, "characters": 160}
"""Sections of at most this size stand in the first table word for word."""
_HEADING = "[{mark} contents: section id | {unit} | title]"


def selective(task: Task) -> Reduction | None:
    """The table of contents; ``None`` when the text has no parts or no table fits."""
    if not task.text or task.budget < 1:
        return None
    sizes = SizeMap(task.text, task.gauge)
    if task.content in JSON_TYPES and task.content is not ContentType.JSON_LINES:
        try:
            return _json(task, sizes)
        except NotJson:
            return None
    parts = listed(sections(task.text, task.content))
    if len(parts) < 2:
        return None
    hints = likely(task.text, parts, task.query)
    example = hints[0] if hints else parts[0].id
    for table in tables(task.text, parts, sizes, task, inline=_INLINE[task.gauge.unit]):
        found = _text(task, table, sizes, hints, example)
        if found is not None:
            return found
    return None


def listed(parts: Sequence[Section]) -> list[Section]:
    """The sections worth listing: without one that is just the whole text."""
    if len(parts) > 1 and parts[0].end >= parts[-1].end and parts[0].level < parts[1].level:
        whole = parts[0]
        if all(part.level > whole.level for part in parts[1:]):
            return list(parts[1:])
    return list(parts)


def hint_line(hints: Sequence[str]) -> str:
    """Which sections fit the query best."""
    return f"{MARK} likely: {', '.join(hints)}"


def _text(
    task: Task, table: Table, sizes: SizeMap, hints: Sequence[str], example: str
) -> Reduction | None:
    end = (task.key, table.inlined, sizes.total, task.gauge.unit, example)
    if task.content is ContentType.JSON_LINES:
        lines = [*table.lines, *([quoted(hint_line(hints))] if hints else [])]
        text = "\n".join([*lines, quoted(json_footer(*end))])
    else:
        head = _HEADING.format(mark=MARK, unit=task.gauge.unit)
        lines = [head, *table.lines, *([f"[{hint_line(hints)}]"] if hints else []), footer(*end)]
        text = "\n".join(lines)
    size = task.gauge.size(text)
    if size > task.budget or size >= sizes.total or len(text) >= len(task.text):
        return None
    return Reduction(text, Compression.SELECTIVE, max(0, size - table.inlined))


def _json(task: Task, sizes: SizeMap) -> Reduction | None:
    hints: list[str] = []
    if task.query:
        hints = likely(task.text, listed(json_sections(task.text)), task.query)

    def end(contents: JsonContents) -> str:
        example = hints[0] if hints else contents.first_hidden
        told = json_footer(task.key, contents.inlined, sizes.total, task.gauge.unit, example)
        return f"{told}; {hint_line(hints)}" if hints else told

    outline = JsonOutline(task.text)
    for shape in RICH_TO_BARE:
        contents = JsonContents(outline, sizes, task.gauge.unit, shape)
        text = contents.write(end)
        if not contents.first_hidden or len(text) >= len(task.text):
            continue  # nothing is hidden, or it grew
        size = task.gauge.size(text)
        if size <= task.budget and size < sizes.total:
            return Reduction(text, Compression.SELECTIVE, max(0, size - contents.inlined))
    return None
