"""A JSON text within a budget: cut it, close it with a footer, check it, and try again smaller."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from config.schema import Compression
from proxy.compress import json_tree, notices
from proxy.compress.json_cut import mark_key
from proxy.compress.json_tree import Document, quoted
from proxy.compress.model import ContentType, Reduction, Task

ATTEMPTS = 7
"""How often a cut is tried with another size before the strategy gives up."""
LARGEST_KEPT = 2_000_000
"""Characters of a text up to which it stays in memory, read, until the next one comes."""
FOOTER_FROM = 2
"""How many times larger than the footer a budget must be for the text to have one."""
FULL = 0.93
"""A text that fills less than this share of its budget is tried once more with more room."""


@dataclass(frozen=True, slots=True)
class Source:
    """The JSON of a task."""

    document: Document
    lines: Sequence[int] | None
    """The line numbers of the items when the text is JSON Lines."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What a cutter made."""

    body: bytes
    """One JSON value, or lines."""
    notes: Sequence[str]
    root_gap: str = ""
    """To be said in the outermost object."""
    example: str = ""
    """A section id worth trying."""


def read(task: Task) -> Source | None:
    """The task's text as JSON; ``None`` when it is no object, array or JSON Lines."""
    lines = task.content is ContentType.JSON_LINES
    if len(task.text) <= LARGEST_KEPT:
        return _read_again(task.text, lines)
    return _read(task.text, lines)


def _read(text: str, lines: bool) -> Source | None:
    if lines:
        return _read_lines(text)
    document = json_tree.parse(text)
    if document is None or not (document.is_object(0) or document.is_array(0)):
        return None
    return Source(document, None)


_read_again = lru_cache(maxsize=1)(_read)
"""The strategies that are tried for a text read it in turn."""


def _read_lines(text: str) -> Source | None:
    lines = text.removeprefix("\ufeff").split("\n")
    numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    document = json_tree.parse(f"[{','.join(lines[number - 1] for number in numbers)}]")
    if document is None or len(document.children(0, len(document.raw))) != len(numbers):
        return None
    return Source(document, numbers)


def within(
    task: Task, source: Source, strategy: Compression, cut: Callable[[int], Cut | None]
) -> Reduction | None:
    """The best of several attempts; ``None`` when none keeps to the budget."""
    gauge = task.gauge
    whole = gauge.size(task.text)
    limit = min(task.budget, whole - 1)
    closing = gauge.size(_footer_text(task, whole, whole, "")) + 12
    with_footer = closing * FOOTER_FROM <= limit
    room = limit - (closing if with_footer else 0)
    best: Reduction | None = None
    for _ in range(ATTEMPTS):
        if room <= 0:
            break
        made = cut(room)
        if made is None:
            break
        reduction = _closed(task, source, strategy, made, whole, footer=with_footer)
        size = gauge.size(reduction.text)
        if size <= limit:
            if best is not None and len(best.text) >= len(reduction.text):
                break
            best = reduction
            if size >= FULL * limit:
                break
            room += int((limit - size) * 0.9)
        elif best is not None:
            break
        else:
            room = min(room - 1, int(room * limit / size) - 1)
    return best


def once(task: Task, source: Source, strategy: Compression, made: Cut) -> Reduction | None:
    """One cut closed with its footer; ``None`` when that is over the budget or no smaller."""
    whole = task.gauge.size(task.text)
    limit = min(task.budget, whole - 1)
    closing = task.gauge.size(_footer_text(task, whole, whole, "")) + 12
    reduction = _closed(task, source, strategy, made, whole, footer=closing * FOOTER_FROM <= limit)
    return reduction if task.gauge.size(reduction.text) <= limit else None


def _closed(
    task: Task, source: Source, strategy: Compression, made: Cut, whole: int, *, footer: bool
) -> Reduction:
    """The text with its footer."""
    body = made.body.decode("utf-8", "surrogatepass")
    shown = task.gauge.size(body)
    words = list(made.notes)
    said = [made.root_gap] if made.root_gap else []
    if footer:
        said.append(_footer_text(task, shown, whole, made.example))
    if said:
        closing = _encoded("; ".join(said))
        words.append("; ".join(said))
        if source.lines is not None:
            body = f'{body}\n{{"{notices.JSON_MARK}":{closing}}}' if body else closing
        elif body.startswith("["):
            body = f"{body[:-1]}{',' if len(body) > 2 else ''}{closing}]"
        else:
            keys = source.document.children(0, len(source.document.raw)).keys
            name = _encoded(mark_key(keys))
            body = f"{body[:-1]}{',' if len(body) > 2 else ''}{name}:{closing}}}"
    return Reduction(body, strategy, sum(task.gauge.sizes(words)))


def _footer_text(task: Task, shown: int, whole: int, example: str) -> str:
    return notices.json_footer(task.key, shown, whole, task.gauge.unit, example)


def _encoded(text: str) -> str:
    return quoted(text).decode()


def tiny(task: Task, strategy: Compression) -> Reduction | None:
    """Valid JSON for budgets in which nothing of the text fits."""
    opening = task.text.lstrip("\ufeff \t\r\n")[:1]
    empty = {"{": "{}", "[": "[]"}.get(opening)
    if empty is None:
        return None
    note = json.dumps(notices.MARK, ensure_ascii=False)
    marked = f'{{"{notices.JSON_MARK}":{note}}}' if opening == "{" else f"[{note}]"
    whole = task.gauge.size(task.text)
    # A member of that name could be the upstream's.
    taken = opening == "{" and f'"{notices.JSON_MARK}' in task.text
    for text in (empty,) if taken else (marked, empty):
        size = task.gauge.size(text)
        if size <= task.budget and size < whole:
            return Reduction(text, strategy, size)
    return None
