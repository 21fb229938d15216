"""``extract`` for everything but JSON and logs: prose, Markdown, markup, code, diffs, tables.

Spans are ranked, taken best first while they fit, and written in the text's own order with the
headings, table heads and fences that they need.
"""

from __future__ import annotations

from collections.abc import Sequence

from config.schema import Compression
from proxy.compress import notices
from proxy.compress.model import ContentType, Reduction, Task
from proxy.compress.outliers import must_keep
from proxy.compress.segments import Span, split
from proxy.compress.text_render import SHORT, render
from proxy.compress.text_scores import by_place, by_query

_ATTEMPTS = 6


def extract_text(task: Task) -> Reduction | None:
    """What matters of a text. ``None`` when not even the best part fits."""
    if task.budget <= 0:
        return None
    spans = split(task.text, task.content)
    if len(spans) < 2:
        return None
    texts = [task.text[span.start : span.end] for span in spans]
    order = _order(task, spans, texts)
    return _fit(task, spans, texts, order)


def _order(task: Task, spans: Sequence[Span], texts: Sequence[str]) -> list[int]:
    """The spans, most important first."""
    count = len(spans)
    if task.is_error:
        return sorted(range(count), key=lambda index: min(index, 2 * (count - 1 - index)))
    kept = must_keep(
        texts, strict=task.content in (ContentType.PROSE, ContentType.MARKDOWN, ContentType.CODE)
    )
    scores = by_query(task.query, spans, texts) if task.query else [0.0] * count
    if not any(scores):
        scores = by_place(spans, texts)
    top = max(scores)
    for index, weight in kept.items():
        scores[index] += top * weight
    return sorted(range(count), key=lambda index: (-scores[index], index))


def _fit(
    task: Task, spans: Sequence[Span], texts: Sequence[str], order: Sequence[int]
) -> Reduction | None:
    """Take spans in ``order`` until the budget is full."""
    gauge = task.gauge
    sizes = gauge.sizes(texts)
    mark = gauge.size(f" {SHORT} ")
    whole = sum(sizes)
    foot = "\n" + notices.footer(task.key, task.budget, whole, gauge.unit)
    room = task.budget - gauge.size(foot) - 2
    for _ in range(_ATTEMPTS):
        if room <= 0:
            return None
        kept = _take(spans, sizes, order, room, mark)
        if not kept:
            return None
        rendered = render(task, spans, kept, 0)
        foot = "\n" + notices.footer(task.key, task.budget, whole, gauge.unit)
        text = rendered.text + foot
        size, own = gauge.sizes([text, "".join(rendered.own) + foot])
        if size <= task.budget:
            return Reduction(text, Compression.EXTRACT, own)
        room -= size - task.budget + 1
    return None


def _take(
    spans: Sequence[Span], sizes: Sequence[int], order: Sequence[int], room: int, mark: int
) -> list[int]:
    count = len(spans)
    kept = bytearray(count)
    room -= mark
    misses = 0
    for index in order:
        if kept[index]:
            continue
        wanted = [index, *(need for need in spans[index].needs if not kept[need])]
        cost = 0
        for one in wanted:
            before = one == 0 or kept[one - 1]
            after = one == count - 1 or kept[one + 1]
            cost += sizes[one] + (-mark if before and after else 0 if before or after else mark)
        if cost > room:
            misses += 1
            if misses > 60:
                break
            continue
        room -= cost
        for one in wanted:
            kept[one] = 1
    return [index for index in range(count) if kept[index]]
