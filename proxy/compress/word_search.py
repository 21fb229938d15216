"""Which of many short texts contain one of a few words: one search per word, not per text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

_HEXADECIMAL = b"0123456789abcdef\n"


def containing(texts: Sequence[bytes], wanted: Sequence[bytes]) -> set[int]:
    """Indexes of the texts that contain one of the words in any case. ``wanted`` is in lower case."""
    joined = b"\n".join(texts).lower()
    plain = joined.isascii()
    # Columns of numbers and ids are frequent, and many searches take longer than one look at the letters.
    ids = not joined.translate(None, _HEXADECIMAL)
    found: set[int] = set()
    ends: list[int] = []
    for word in wanted:
        if (plain and not word.isascii()) or (ids and word.translate(None, _HEXADECIMAL)):
            continue
        at = joined.find(word)
        while at >= 0:
            if not ends:
                ends = list(accumulate([len(text) + 1 for text in texts]))
            number = bisect_right(ends, at)
            found.add(number)
            at = joined.find(word, ends[number])
    return found
