"""Show the most important lines of a text, in their order, with every gap announced.

A strategy ranks lines; this module spends the budget on them. It measures only lines that have a
chance, in one call, and verifies the result as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from config.schema import Compression
from proxy.compress import cuts, notices
from proxy.compress.lines import lines_id
from proxy.compress.model import Gauge, Reduction, Task

_LEAST_LINE = 160
"""Characters of a line that are shown before it is cut inside."""
_CHARACTERS_PER_UNIT = 8
"""Candidates are measured until their characters exceed the budget times this."""
_MISSES = 64
"""After so many lines in a row that do not fit, no further one is tried."""
_SMALL_GAP = 100
"""Characters of a gap that may be cheaper to show than to announce."""


@dataclass(frozen=True, slots=True)
class _Costs:
    footer: int
    gap: int


def show_lines(
    task: Task,
    lines: Sequence[str],
    ranked: Iterable[int],
    strategy: Compression,
    notes: Mapping[int, str] | None = None,
    head: str = "",
    shorter: Mapping[int, str] | None = None,
) -> Reduction | None:
    """The lines that the budget pays for; ``None`` when not one does, or nothing would be saved.

    ``lines``: the task's text split at line feeds. ``ranked``: indexes of lines, the most important
    first; may repeat. ``notes``: words of ours that follow a line when it is shown. ``head``: words of
    ours for the first line. ``shorter``: what to show of a line instead of all of it, cut announced.
    """
    gauge, budget = task.gauge, task.budget
    whole = gauge.size(task.text)
    notes = notes or {}
    if len(lines) > 1 and not lines[-1]:
        lines = lines[:-1]  # what follows the last line feed is no line
    costs = _costs(task, len(lines), whole)
    room = budget - costs.footer - costs.gap - (gauge.size(head) + 1 if head else 0)
    if room <= 0:
        return None
    texts = _candidates(task, lines, ranked, room, shorter or {})
    if not texts:
        return None
    chosen = _choose(texts, notes, len(lines), room, costs.gap, gauge)
    order = [index for index in texts if index in chosen]
    for _ in range(48):
        if not order:
            return None
        reduction = _render(task, lines, texts, order, notes, head, whole, strategy, costs.gap)
        size = gauge.size(reduction.text)
        if size <= budget:
            return reduction if size < whole else None
        surplus = (size - budget) / max(1, size)
        order = order[: -max(1, int(len(order) * surplus))]
    return None


def clip(line: str, limit: int, section: str) -> str:
    """The line's beginning and end, when it is longer than ``limit`` characters; the cut is announced.

    A carriage return at the end stays there.
    """
    if len(line) <= limit + limit // 4:
        return line
    start = cuts.safe_start(line, limit * 2 // 3)
    end = cuts.safe_end(line, len(line) - limit // 3)
    return line[:start] + notices.gap(end - start, "character", section) + line[end:]


def section_id(task: Task, first: int, last: int) -> str:
    """The id of lines by their 0-based indexes, both included; empty when nothing can be fetched."""
    return lines_id(first + 1, last + 1) if task.key else ""


def _costs(task: Task, count: int, whole: int) -> _Costs:
    section = section_id(task, count, count)
    footer, gap = task.gauge.sizes(
        [
            "\n" + notices.footer(task.key, whole, whole, task.gauge.unit, section),
            "\n" + notices.gap(count, "line", section),
        ]
    )
    return _Costs(footer, gap)


def _candidates(
    task: Task, lines: Sequence[str], ranked: Iterable[int], room: int, shorter: Mapping[int, str]
) -> dict[int, str]:
    """Lines that may be shown, as they would be shown, in the order of importance."""
    limit = max(_LEAST_LINE, room // 2)
    most = room * _CHARACTERS_PER_UNIT
    found: dict[int, str] = {}
    characters = 0
    for index in ranked:
        if index in found or not 0 <= index < len(lines):
            continue
        line = shorter.get(index, lines[index])
        if len(line) > limit:
            line = clip(line, limit, section_id(task, index, index))
        found[index] = line
        characters += len(line) + 1
        if characters > most:
            break
    return found


def _choose(
    texts: Mapping[int, str],
    notes: Mapping[int, str],
    count: int,
    room: int,
    gap: int,
    gauge: Gauge,
) -> set[int]:
    """What fits by the sum of its parts. A line away from all others costs an announcement more."""
    measured = gauge.sizes(
        [f"{text}\n{notes[i]}\n" if i in notes else f"{text}\n" for i, text in texts.items()]
    )
    chosen: set[int] = set()
    misses = 0
    for index, size in zip(texts, measured, strict=True):
        neighbours = (index == 0 or index - 1 in chosen) + (
            index == count - 1 or index + 1 in chosen
        )
        cost = size + gap * (1 - neighbours)
        if cost <= room:
            room -= cost
            chosen.add(index)
            misses = 0
        else:
            misses += 1
            if misses >= _MISSES:
                break
    return chosen


def _render(
    task: Task,
    lines: Sequence[str],
    texts: Mapping[int, str],
    order: Sequence[int],
    notes: Mapping[int, str],
    head: str,
    whole: int,
    strategy: Compression,
    gap_cost: int,
) -> Reduction:
    gauge = task.gauge
    kept = _with_small_gaps(sorted(order), lines, gap_cost, gauge)
    out: list[str] = []
    ours: list[str] = []

    def say(words: str) -> None:
        out.append(words)
        ours.append(words)

    if head:
        say(head)
    last = -1
    widest = (0, 0, 0)
    for index in [*kept, len(lines)]:
        missing = index - last - 1
        if missing:
            section = section_id(task, last + 1, index - 1)
            say(notices.gap(missing, "line", section))
            widest = max(widest, (missing, -(last + 1), index - 1))
        if index < len(lines):
            out.append(texts.get(index, lines[index]))
            if index in notes:
                say(notes[index])
        last = index
    body = "\n".join(out)
    words, size = gauge.sizes(["\n".join(ours), body])
    example = section_id(task, -widest[1], widest[2]) if widest[0] else ""
    footer = notices.footer(task.key, max(0, size - words), whole, gauge.unit, example)
    return Reduction(f"{body}\n{footer}", strategy, words + gauge.size(footer))


def _with_small_gaps(
    kept: list[int], lines: Sequence[str], gap_cost: int, gauge: Gauge
) -> list[int]:
    """Lines between shown ones are shown too where that costs no more than their announcement."""
    gaps = [
        (before, after)
        for before, after in zip([-1, *kept], [*kept, len(lines)], strict=True)
        if 1 < after - before <= 4 and sum(map(len, lines[before + 1 : after])) <= _SMALL_GAP
    ]
    if not gaps:
        return kept
    sizes = gauge.sizes(["\n".join(lines[before + 1 : after]) for before, after in gaps])
    extra = [
        index
        for (before, after), size in zip(gaps, sizes, strict=True)
        if size + 1 < gap_cost
        for index in range(before + 1, after)
    ]
    return sorted(kept + extra) if extra else kept
