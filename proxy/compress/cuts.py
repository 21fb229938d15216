"""Where a text may be cut, and how much of it fits: the arithmetic below every last resort.

A cut never separates the halves of a surrogate pair, a carriage return from its line feed, or a mark
from the letter that carries it. Counting is expensive, so the place is estimated from small pieces and
then verified, with a logarithmic number of counts on ever shorter prefixes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from proxy.compress.model import Gauge

_PIECES = 48
"""Pieces of a text that are measured at once to find where the room ends."""
_ROUNDS = 3
"""How often the room that is left over is searched again."""
_MARKS_BACK = 64
"""Characters that are walked back to find what a mark belongs to; longer chains are cut anyway."""
_JOINER = "\u200d"
_SENTENCE_END = re.compile(
    r"[.!?\u3002\uff01\uff1f\u0964][\"')\]\u201d\u2019]?(?=\s)|[\u3002\uff01\uff1f]"
)


def safe_start(text: str, at: int) -> int:
    """The nearest offset at or before ``at`` that separates nothing that belongs together."""
    if at <= 0:
        return 0
    if at >= len(text):
        return len(text)
    lowest = max(0, at - _MARKS_BACK)
    place = at
    while place > lowest and _belongs(text, place):
        place -= 1
    if place > lowest or lowest == 0:
        return place
    return at - 1 if _torn(text, at) else at


def safe_end(text: str, at: int) -> int:
    """The nearest offset at or after ``at`` that separates nothing that belongs together."""
    if at <= 0:
        return 0
    if at >= len(text):
        return len(text)
    highest = min(len(text), at + _MARKS_BACK)
    place = at
    while place < highest and _belongs(text, place):
        place += 1
    if place < highest or highest == len(text):
        return place
    return at + 1 if _torn(text, at) else at


def _torn(text: str, at: int) -> bool:
    """A cut here makes two broken things out of one character or one line end."""
    before, after = text[at - 1], text[at]
    if before == "\r":
        return after == "\n"
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


def _belongs(text: str, at: int) -> bool:
    """The character at ``at`` belongs to the one before it."""
    after = text[at]
    before = text[at - 1]
    if after < "\u0300" and before != "\r":
        return before == _JOINER
    if _torn(text, at) or before == _JOINER or after == _JOINER:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\u1160" <= after <= "\u11ff":
        return True  # skin tones; vowels and finals of Hangul
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        return _flags_before(text, at) % 2 == 1
    return unicodedata.category(after)[0] == "M"


def _flags_before(text: str, at: int) -> int:
    """How many regional indicators stand right before ``at`` (two make a flag)."""
    count = 0
    while (
        count < _MARKS_BACK
        and at - count > 0
        and "\U0001f1e6" <= text[at - count - 1] <= "\U0001f1ff"
    ):
        count += 1
    return count


def natural_end(text: str, at: int) -> int:
    """A good end for ``text[:at]``: a blank line, a line's end, a sentence's or a word's, if one is near.

    At most a quarter of the part is given up for a blank line, less for the lesser boundaries.
    """
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    blank = text.rfind("\n\n", at - at // 8, at)
    if blank >= 0:
        return blank + 2
    line = text.rfind("\n", at - at // 4, at)
    if line >= 0:
        return line + 1
    near = at - min(at // 5, 600)
    sentence = 0
    for found in _SENTENCE_END.finditer(text, near, at):
        sentence = found.end()
    if sentence:
        return safe_start(text, sentence)
    space = max(text.rfind(" ", near, at), text.rfind("\t", near, at))
    if space > 0:
        return safe_start(text, space + 1)
    return safe_start(text, at)


def natural_start(text: str, at: int) -> int:
    """A good beginning for ``text[at:]``: after a line's end, a sentence's or a word's, if one is near."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    size = len(text) - at
    line = text.find("\n", at - 1, at + size // 4)
    if line >= 0:
        return line + 1
    near = at + min(size // 5, 600)
    found = _SENTENCE_END.search(text, at, near)
    if found is not None:
        return safe_end(text, found.end())
    space = text.find(" ", at, near)
    if space >= 0:
        return safe_end(text, space + 1)
    return safe_end(text, at)


def fit_prefix(text: str, room: int, gauge: Gauge) -> int:
    """How many characters from the start measure at most ``room``. Not yet a natural boundary."""
    return _fit(text, room, gauge, from_end=False)


def fit_suffix(text: str, room: int, gauge: Gauge) -> int:
    """How many characters up to the end measure at most ``room``."""
    return _fit(text, room, gauge, from_end=True)


def _fit(text: str, room: int, gauge: Gauge, *, from_end: bool) -> int:
    if room <= 0 or not text:
        return 0
    total = len(text)

    def part(start: int, end: int) -> str:
        """Characters counted from the fixed end of the text."""
        return text[total - end : total - start] if from_end else text[start:end]

    low, used = 0, 0
    for _ in range(_ROUNDS):
        end = _estimate(part, low, total, room - used, gauge)
        size = gauge.size(part(0, end))
        if size > room:
            break
        low, used = end, size
        if low == total or room - used <= room // 64:
            return low
    else:
        return low
    # The sum of parts is close to the measure of the whole, not equal to it: give way.
    for _ in range(64):
        end = min(end - 1, max(low, end * room // size))
        if end <= low:
            return low
        size = gauge.size(part(0, end))
        if size <= room:
            return end
    return low


def _estimate(
    part: Callable[[int, int], str], low: int, total: int, room: int, gauge: Gauge
) -> int:
    """Up to where the parts after ``low`` measure ``room``, by the sum of small pieces."""
    high = min(total, low + max(64, room * 6))
    used = 0
    while high > low:
        step = max(1, -(-(high - low) // _PIECES))
        starts = range(low, high, step)
        sizes = gauge.sizes([part(start, min(high, start + step)) for start in starts])
        for start, size in zip(starts, sizes, strict=True):
            if used + size > room:
                low, high = start, min(high, start + step)
                break
            used += size
        else:
            low, high = high, min(total, high + max(64, (high - low) * 4))
            continue
        if high - low <= 1:
            break
    return low
