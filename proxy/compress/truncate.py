"""The strategy ``truncate``, and everybody's last resort: the beginning of the text, cut where it is natural.

It succeeds for every text and every budget: with the whole announcement, else with a short one, else
with the bare beginning, at last with nothing.
"""

from __future__ import annotations

from config.schema import Compression
from proxy.compress import cuts, notices
from proxy.compress.lines import count_lines, lines_id
from proxy.compress.model import JSON_TYPES, Reduction, Task

_LEAST_BODY = 3
"""Times the footer's measure that the body must have before a short footer is preferred to none."""


def truncate(task: Task) -> Reduction:
    """The head of the text within the budget, with a footer. JSON stays JSON where that is possible.

    A text that is within its budget comes back as it is.
    """
    whole = task.gauge.size(task.text)
    if whole <= task.budget:
        return Reduction(task.text, Compression.TRUNCATE, 0, complete=True)
    if task.content in JSON_TYPES:
        from proxy.compress.extract_json import truncate_json

        shorter = truncate_json(task)
        if shorter is not None and task.gauge.size(shorter.text) <= task.budget:
            return shorter
    return _cut(task, whole)


def _cut(task: Task, whole: int) -> Reduction:
    gauge = task.gauge
    unit = gauge.unit
    example = "lines:99999-99999"
    full = gauge.size("\n" + notices.footer(task.key, whole, whole, unit, example))
    if full < task.budget:
        reduction = _with_footer(task, whole, task.key, task.budget - full)
        if reduction is not None:
            return reduction
    short = gauge.size("\n" + notices.footer("", whole, whole, unit))
    if task.key and short * _LEAST_BODY < task.budget:
        reduction = _with_footer(task, whole, "", task.budget - short)
        if reduction is not None:
            return reduction
    return _bare(task)


def _with_footer(task: Task, whole: int, key: str, room: int) -> Reduction | None:
    """Head and footer; ``None`` when they do not fit after all."""
    text, gauge = task.text, task.gauge
    for _ in range(8):
        if room <= 0:
            break
        end = cuts.natural_end(text, cuts.fit_prefix(text, room, gauge))
        body = text[:end]
        shown = gauge.size(body)
        gap = "" if not body or body.endswith("\n") else "\n"
        note = notices.footer(key, shown, whole, gauge.unit, _rest(text, end) if key else "")
        answer = body + gap + note
        size = gauge.size(answer)
        if size <= task.budget and size < whole:
            return Reduction(answer, Compression.TRUNCATE, max(0, size - shown))
        room = min(room - 1, room - (size - task.budget))
    return None


def _rest(text: str, end: int) -> str:
    """The id of the lines that were cut off; empty when only the line that is shown would answer to it."""
    last = count_lines(text)
    first = text.count("\n", 0, end) + 1
    return lines_id(first, last) if 1 < first <= last else ""


def _bare(task: Task) -> Reduction:
    """What fits without a word of ours, marked as cut when there is room for the mark."""
    text, gauge = task.text, task.gauge
    mark = gauge.size(notices.MARK)
    for room in (task.budget - mark, task.budget - mark - 1):
        end = cuts.safe_start(text, cuts.fit_prefix(text, room, gauge))
        answer = text[:end] + notices.MARK
        if end and gauge.size(answer) <= task.budget and len(answer) <= len(text):
            return Reduction(answer, Compression.TRUNCATE, mark)
    end = cuts.safe_start(text, cuts.fit_prefix(text, task.budget, gauge))
    while end > 0 and gauge.size(text[:end]) > task.budget:
        end = cuts.safe_start(text, end // 2)
    return Reduction(text[:end], Compression.TRUNCATE, 0)
