"""``extract`` for everything but JSON and logs: prose, Markdown, markup, code, diffs, tables.

Spans are ranked, taken best first while they fit, and written in the text's own order with the
headings, table heads and fences that they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from config.schema import Compression
from proxy.compress import notices
from proxy.compress.model import ContentType, Reduction, Task
from proxy.compress.outliers import must_keep
from proxy.compress.ranking import Places, mentions
from proxy.compress.segments import Span, split
from proxy.compress.text_failures import reported
from proxy.compress.text_render import SHORT, Rendered, render
from proxy.compress.text_scores import by_ends, by_place, by_query
from proxy.compress.text_select import Choice, candidates

_REST = 0.001
"""Weight of a place beside a relevance; both are about 0 to 20."""
_ATTEMPTS = 8
_ANNOUNCED_SHARE = 0.05
"""Of the budget, for full announcements of the largest gaps."""
_FOOTER_SHARE = 0.2
"""Of the budget; a footer that would cost more is written short."""
_FOCUS_FROM = 60_000
"""Characters. In longer texts only paragraphs that mention the query are cut into sentences."""
_CANDIDATES = 3
"""Times the characters that fill the budget: so much of the best is measured and chosen from."""
_WRITTEN_BY_PEOPLE = frozenset({ContentType.PROSE, ContentType.MARKDOWN, ContentType.MIXED})
_NEVER_ODD = frozenset({ContentType.CODE, ContentType.DIFF, ContentType.HTML, ContentType.XML})


def extract_text(task: Task) -> Reduction | None:
    """What matters of a text. ``None`` when not even its best part fits."""
    if task.budget <= 0 or not task.text:
        return None
    places = Places(task.text.lower())
    spans = _spans(task, places)
    if len(spans) < 2:
        return None
    order = _order(task, spans, places)
    return _Fit(task, spans, _choice(task, spans, order)).best()


def _characters(task: Task) -> int:
    """About how many characters fill the budget, at most."""
    return task.budget * (6 if task.gauge.unit == "tokens" else 1)


def _spans(task: Task, places: Places) -> list[Span]:
    longest = max(120, min(1200, _characters(task) // 6))
    focus = None
    if len(task.text) > _FOCUS_FROM:
        same = len(places.text) == len(task.text)  # a few letters change their length
        focus = [] if not task.query else mentions(task.query, places) if same else None
    return split(task.text, task.content, longest=longest, focus=focus)


def _order(task: Task, spans: Sequence[Span], places: Places) -> list[int]:
    """The spans, most important first."""
    if task.is_error:
        scores = by_ends(len(spans))
    else:
        scores = by_place(spans, task.text)
        if task.query:
            found = by_query(task.query, spans, task.text, places)
            if any(found):  # what does not answer comes after what does, by its place
                scores = [_REST * place + score for place, score in zip(scores, found, strict=True)]
    if task.content not in _NEVER_ODD:
        kept = _must_keep(task, spans, places.text)
        top = max(scores)
        room = _characters(task) * 0.5
        for index in sorted(kept, key=lambda index: (-kept[index], -scores[index], index)):
            room -= spans[index].end - spans[index].start
            if room < 0:
                break
            scores[index] += top * kept[index]
    # Stable: the first ones first.
    return sorted(range(len(spans)), key=scores.__getitem__, reverse=True)


def _texts(task: Task, spans: Sequence[Span]) -> list[str]:
    text = task.text
    return [text[start:end] for start, end, _, _, _ in spans]


def _must_keep(task: Task, spans: Sequence[Span], lowered: str) -> dict[int, float]:
    """What reports a failure or is unlike the rest, with weights."""
    if task.content in _WRITTEN_BY_PEOPLE:
        return reported(task.text, lowered, [span[0] for span in spans])
    return must_keep(_texts(task, spans))


def _choice(task: Task, spans: Sequence[Span], order: Sequence[int]) -> Choice:
    """What can come into question: the best spans, several times what fits."""
    room = _CANDIDATES * _characters(task) + 4000
    mark = task.gauge.size(f" {SHORT} ")
    return Choice(spans, candidates(spans, order, room), mark, task.text, task.gauge)


@dataclass(slots=True)
class _Fit:
    """Fills the budget: takes, writes, measures, and corrects the estimate."""

    task: Task
    spans: Sequence[Span]
    choice: Choice

    def best(self) -> Reduction | None:
        """The fullest answer that was found to fit."""
        task, gauge = self.task, self.task.gauge
        whole = gauge.size(task.text)
        announced, each = self._announcements()
        room = task.budget - gauge.size(self._footer(task.budget, whole)) - announced * each - 1
        found: Reduction | None = None
        filled = 0
        caution = 2  # doubled each time, since a smaller room may give the same choice
        for _ in range(_ATTEMPTS):
            if room <= 0:
                break
            kept = self.choice.take(room)
            if not kept or len(kept) == len(self.spans):
                break
            rendered = render(task, self.spans, kept, announced)
            text, size, own = self._measured(rendered, whole)
            if size <= task.budget and size > filled and size < whole:
                found, filled = Reduction(text, Compression.EXTRACT, own), size
            if task.budget >= size >= task.budget - max(12, task.budget // 50):
                break
            if found is not None and size > task.budget:
                break  # more was tried than fits
            room += task.budget - size - caution
            caution *= 2
        return found

    def _announcements(self) -> tuple[int, int]:
        """How many gaps are announced in full, and what each costs more than the short mark."""
        example = notices.gap(123, "sentence", "lines:1234-1256")
        each = max(1, self.task.gauge.size(example) - self.choice.mark)
        return int(self.task.budget * _ANNOUNCED_SHARE) // each, each

    def _measured(self, rendered: Rendered, whole: int) -> tuple[str, int, int]:
        """The answer with its footer, its measure, and that of our own words in it."""
        gauge = self.task.gauge
        body, marks = gauge.sizes([rendered.text, "\n".join(rendered.own)])
        footer = self._footer(body, whole)
        between = "" if rendered.text.endswith("\n") else "\n"
        text = f"{rendered.text}{between}{footer}" if footer else rendered.text
        return text, gauge.size(text), marks + gauge.size(footer)

    def _footer(self, shown: int, whole: int) -> str:
        task = self.task
        full = notices.footer(task.key, shown, whole, task.gauge.unit)
        if task.gauge.size(full) <= _FOOTER_SHARE * task.budget:
            return full
        if not task.key:
            return ""
        return f'[{notices.MARK} {notices.READ_MORE}(key="{task.key}")]'
