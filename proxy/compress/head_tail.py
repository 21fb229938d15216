"""Head and tail of an error: what failed stands at its beginning or at its end, rarely between.

Of a stack trace the first and the last frames are kept, every cause, and the line that names the
exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from config.schema import Compression
from proxy.compress import cuts, notices
from proxy.compress.line_view import section_id, show_lines
from proxy.compress.model import Reduction, Task

_CAUSE = re.compile(
    r"^\s*(?:Caused by\b|Suppressed:|\[?cause\]?:|Traceback \(|thread '|panic:|goroutine \d+ \[running"
    r"|Unhandled |Uncaught |The above exception|During handling of|-{3} End of inner|-+> )"
)
_NAMED = re.compile(
    r"^\s*(?:[A-Za-z_][\w.$]*\.)?(?:[A-Z]\w*)?(?:Error|Exception|Failure|Fault|Panic|Interrupt|Exit)\b"
)
_FEW_LINES = 8
"""Texts of fewer lines are cut by characters."""


def head_tail(task: Task) -> Reduction | None:
    """Head and tail within the budget, the middle announced; ``None`` when the budget is too small."""
    lines = task.text.split("\n")
    if len(lines) >= _FEW_LINES:
        shown = show_lines(task, lines, _ranked(lines), Compression.TRUNCATE)
        if shown is not None:
            return shown
    return _by_characters(task, len(lines))


def _ranked(lines: Sequence[str]) -> Iterator[int]:
    """First and last line, the named exceptions and causes with what follows, then from both ends."""
    count = len(lines)
    tail = count - 1
    while tail > 0 and not lines[tail].strip():
        tail -= 1
    yield from (0, tail)
    named = [i for i, line in enumerate(lines) if len(line) < 4096 and _NAMED.match(line)]
    yield from named[-1:]
    causes = [i for i, line in enumerate(lines) if len(line) < 4096 and _CAUSE.match(line)]
    # A chain's last cause is the root; its first is what the reader met.
    yield from causes[-3:][::-1]
    yield from named[:1]
    yield from named[::-1][:20]
    yield from causes[::-1]
    for step in range(1, 6):
        yield from (i + step for i in causes[-3:] if i + step < count)
    for step in range(count):
        if step > tail - step:
            return
        yield step
        yield tail - step


def _by_characters(task: Task, count: int) -> Reduction | None:
    """The same inside few or very long lines."""
    text, gauge = task.text, task.gauge
    whole = gauge.size(text)
    section = section_id(task, 0, count - 1)
    gap, footer = gauge.sizes(
        [
            "\n" + notices.gap(len(text), "character", section) + "\n",
            "\n" + notices.footer(task.key, whole, whole, gauge.unit),
        ]
    )
    room = task.budget - gap - footer
    for _ in range(12):
        if room < 2:
            return None
        start = cuts.natural_end(text, cuts.fit_prefix(text, room - room * 2 // 5, gauge))
        end = cuts.natural_start(text, len(text) - cuts.fit_suffix(text, room * 2 // 5, gauge))
        if start >= end:
            return None
        missing = notices.gap(end - start, "character", section)
        body_size = sum(gauge.sizes([text[:start], text[end:]]))
        note = notices.footer(task.key, body_size, whole, gauge.unit)
        answer = f"{_line_end(text[:start])}{missing}\n{_line_end(text[end:])}{note}"
        size = gauge.size(answer)
        if size <= task.budget and size < whole:
            return Reduction(answer, Compression.TRUNCATE, max(0, size - body_size))
        room -= max(1, size - task.budget)
    return None


def _line_end(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
