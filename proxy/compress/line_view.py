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


_PASSES = 3
"""How often room that the estimate left over is given to further lines."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    """The line as it would be shown."""
    cost: int
    """Its measure, with its line feed and its note."""


@dataclass(frozen=True, slots=True)
class _View:
    """What does not change while lines are chosen."""

    task: Task
    lines: Sequence[str]
    notes: Mapping[int, str]
    candidates: Mapping[int, _Candidate]
    """By index of the line, in the order of importance."""
    whole: int
    gap: int
    """Measure of one announcement."""
    strategy: Compression


def show_lines(
    task: Task,
    lines: Sequence[str],
    ranked: Iterable[int],
    strategy: Compression,
    notes: Mapping[int, str] | None = None,
    shorter: Mapping[int, str] | None = None,
) -> Reduction | None:
    """The lines that the budget pays for; ``None`` when not one does, or nothing would be saved.

    ``lines``: the task's text split at line feeds. ``ranked``: indexes of lines, the most important
    first; may repeat. ``notes``: words of ours that follow a line when it is shown. ``shorter``: what to
    show of a line instead of all of it, with its cut announced.
    """
    gauge, budget = task.gauge, task.budget
    if len(lines) > 1 and not lines[-1]:
        lines = lines[:-1]  # what follows the last line feed is no line
    whole = gauge.size(task.text)
    section = section_id(task, len(lines), len(lines))
    footer, gap = gauge.sizes(
        [
            "\n" + notices.footer(task.key, whole, whole, gauge.unit, section),
            "\n" + notices.gap(len(lines), "line", section),
        ]
    )
    room = budget - footer - gap
    if room <= 0:
        return None
    candidates = _candidates(task, lines, ranked, room, notes or {}, shorter or {})
    view = _View(task, lines, notes or {}, candidates, whole, gap, strategy)
    best: Reduction | None = None
    for _ in range(_PASSES):
        chosen = _choose(view, room)
        found = _fitting(view, chosen)
        if found is None:
            break
        best, size = found
        left = budget - size
        if left < max(gap, budget // 16) or len(chosen) == len(candidates):
            break
        room += left
    return best


def _fitting(view: _View, order: list[int]) -> tuple[Reduction, int] | None:
    """The chosen lines, without the least important ones if all together are too much after all."""
    task = view.task
    for _ in range(48):
        if not order:
            return None
        reduction = _render(view, order)
        size = task.gauge.size(reduction.text)
        if size <= task.budget:
            return (reduction, size) if size < view.whole else None
        surplus = (size - task.budget) / size
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


def _candidates(
    task: Task,
    lines: Sequence[str],
    ranked: Iterable[int],
    room: int,
    notes: Mapping[int, str],
    shorter: Mapping[int, str],
) -> dict[int, _Candidate]:
    """Lines that have a chance to be shown."""
    limit = max(_LEAST_LINE, room // 2)
    most = room * _CHARACTERS_PER_UNIT
    texts: dict[int, str] = {}
    characters = 0
    for index in ranked:
        if index in texts or not 0 <= index < len(lines):
            continue
        line = shorter.get(index, lines[index])
        if len(line) > limit:
            line = clip(line, limit, section_id(task, index, index))
        texts[index] = line
        characters += len(line) + 1
        if characters > most:
            break
    costs = task.gauge.sizes(
        [
            f"{text}\n{notes[index]}\n" if index in notes else f"{text}\n"
            for index, text in texts.items()
        ]
    )
    return {
        index: _Candidate(text, cost)
        for (index, text), cost in zip(texts.items(), costs, strict=True)
    }


def _choose(view: _View, room: int) -> list[int]:
    """What fits by the sum of its parts, in the order of importance.

    A line away from all others costs an announcement more.
    """
    last = len(view.lines) - 1
    chosen: dict[int, None] = {}
    misses = 0
    for index, candidate in view.candidates.items():
        neighbours = (index == 0 or index - 1 in chosen) + (index == last or index + 1 in chosen)
        cost = candidate.cost + view.gap * (1 - neighbours)
        if cost <= room:
            room -= cost
            chosen[index] = None
            misses = 0
        else:
            misses += 1
            if misses >= _MISSES:
                break
    return list(chosen)


def _render(view: _View, order: Sequence[int]) -> Reduction:
    task, lines, gauge = view.task, view.lines, view.task.gauge
    kept = _with_small_gaps(sorted(order), lines, view.gap, gauge)
    out: list[str] = []
    ours: list[str] = []

    def say(words: str) -> None:
        out.append(words)
        ours.append(words)

    last = -1
    widest = 0
    example = ""
    for index in [*kept, len(lines)]:
        missing = index - last - 1
        if missing:
            section = section_id(task, last + 1, index - 1)
            say(notices.gap(missing, "line", section))
            if missing > widest:
                widest, example = missing, section
        if index < len(lines):
            candidate = view.candidates.get(index)
            out.append(lines[index] if candidate is None else candidate.text)
            if index in view.notes:
                say(view.notes[index])
        last = index
    body = "\n".join(out)
    words, size = gauge.sizes(["\n".join(ours), body])
    footer = notices.footer(task.key, max(0, size - words), view.whole, gauge.unit, example)
    return Reduction(f"{body}\n{footer}", view.strategy, words + gauge.size(footer))


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
