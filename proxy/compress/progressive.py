"""Chunk by chunk: the first part of a text, word for word, and a footer that says how to go on.

The chunks of one text, each split from its footer at `notices.PROGRESSIVE_FOOTER_TOKEN`, put together
are the text exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from config.schema import Compression
from proxy.compress.cuts import fit_prefix, safe_start
from proxy.compress.model import ContentType, Gauge, Reduction, Section, Task
from proxy.compress.notices import MARK, progressive_footer
from proxy.compress.sections import sections

_SEARCHED_BACK = 5
"""A fifth of a chunk is given up for a good end."""
_TITLES = 3
_TITLES_SHARE = 0.1
"""Of the budget; titles are a courtesy."""
_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Chunk:
    """One part of a text with its footer."""

    text: str
    end: int
    """One past the last character of the part."""
    footer: str

    @property
    def whole(self) -> str:
        """What the agent is sent."""
        return self.text + self.footer


def progressive(task: Task) -> Reduction | None:
    """The first chunk; ``None`` when not even the footer and one character fit."""
    chunk = chunk_at(task.text, 0, len(task.text), task.key, task.budget, task.gauge)
    if chunk is None:
        return None
    chunk = _titled(task, chunk) or chunk
    if len(chunk.whole) >= len(task.text):
        return None
    return Reduction(chunk.whole, Compression.PROGRESSIVE, task.gauge.size(chunk.footer))


def chunk_at(text: str, start: int, stop: int, key: str, budget: int, gauge: Gauge) -> Chunk | None:
    """The part of ``text`` from ``start``, up to ``stop`` at most, that fits with its footer.

    It reaches to ``stop`` when there is room, else to a natural place. ``None`` when no character fits.
    """
    total = len(text)
    for handle in (key, "") if key else ("",):
        # The longest footer that can come of it: offsets only get shorter than this.
        footer = gauge.size(progressive_footer(start, total - 1, total, handle))
        room = budget - footer - 2
        for _ in range(_ATTEMPTS):
            if room < 1:
                break
            end = _end(text, start, stop, room, gauge)
            if end <= start:
                break
            mark = progressive_footer(start, end, total, handle)
            chunk = Chunk(text[start:end], end, mark)
            size = gauge.size(chunk.whole)
            if size <= budget:
                return chunk
            room = min(room - (size - budget) - 1, room * 15 // 16)
    return None


def _end(text: str, start: int, stop: int, room: int, gauge: Gauge) -> int:
    """Where a chunk of at most ``room`` ends; ``start`` when nothing fits."""
    # A token of plain text is 4 characters or so; white space can be far more.
    window = min(stop, start + room * 16)
    part = text[start:window]
    fitting = fit_prefix(part, room, gauge)
    end = start + fitting
    if end >= stop:
        return stop
    return natural_end(text, start, end)


def natural_end(text: str, start: int, end: int) -> int:
    """The best place to stop at or shortly before ``end``: a blank line, a line's end, a space.

    Always after ``start`` when ``end`` is, except that nothing is torn which belongs together.
    """
    if end >= len(text):
        return len(text)
    lowest = end - (end - start) // _SEARCHED_BACK
    for mark in ("\n\n", "\r\n\r\n", "\n", " "):
        found = text.rfind(mark, lowest, end)
        if found >= 0 and found + len(mark) > start:
            return found + len(mark)
    safe = safe_start(text, end)
    return safe if safe > start else end


def _titled(task: Task, chunk: Chunk) -> Chunk | None:
    """The chunk with the titles of what comes after it; ``None`` when there are none or they cost much."""
    if task.content is not ContentType.MARKDOWN:
        return None
    parts = sections(task.text, task.content)
    titles = _titles_after(parts, chunk.end)
    cost = task.gauge.size(f"\n[Remaining: {titles}]") + 2
    if not titles or cost > task.budget * _TITLES_SHARE:
        return None
    total = len(task.text)
    shorter = chunk_at(task.text, 0, total, task.key, task.budget - cost, task.gauge)
    if shorter is None:
        return None
    titles = _titles_after(parts, shorter.end)
    footer = progressive_footer(0, shorter.end, total, task.key, titles)
    titled = Chunk(shorter.text, shorter.end, footer)
    return titled if task.gauge.size(titled.whole) <= task.budget else None


def _titles_after(parts: Sequence[Section], end: int) -> str:
    titles = [part.title for part in parts if part.start >= end]
    shown = ", ".join(f'"{title}"' for title in titles[:_TITLES])
    return f"{shown}, {MARK} {len(titles) - _TITLES} more" if len(titles) > _TITLES else shown
