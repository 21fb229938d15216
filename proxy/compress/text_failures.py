"""Where a text that people wrote reports what a program said, found by few looks at it.

The same as `proxy.compress.outliers.failures_in` with ``strict``, which searches the whole text for each
word. Here only the sentences that have a sign are given to it: a word in capitals or with a capital inside,
or one that a colon or a bracket follows. Such signs begin or end with characters that are rare in texts,
and single characters are found many times as fast as words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from proxy.compress.outliers import failures, failures_in

_BEGINNINGS = {
    "E": ("ERROR", "Error", "Exception"),
    "F": ("FATAL", "FAILED", "FAILURE"),
    "C": ("CRITICAL",),
    "P": ("PANIC",),
    "T": ("Traceback (most",),
}
_NAMES = ("fatal", "panic", "critical", "traceback", "error", "exception", "fail", "fehler")
_LAST = frozenset("s").union(name[-1] for name in _NAMES)
_LONGEST = 20
"""Characters before a colon that are looked at."""
_FEW_LOOKS = 200
_CHARACTERS_A_LOOK = 150
"""In a text with more rare characters than one in so many, searching for the words is as fast."""


def reported(text: str, lowered: str, starts: Sequence[int]) -> dict[int, float]:
    """The segments that report a failure, with weights; they begin at ``starts`` (ascending).

    ``lowered``: the text in small letters.
    """
    signs = _signs(text, lowered) if text.isascii() else None
    if signs is None:
        return failures_in(text, lowered, starts, strict=True)
    if not signs:
        return {}
    numbers = sorted({max(0, bisect_right(starts, at) - 1) for at in signs})
    ends = [*starts[1:], len(text)]
    found = failures([text[starts[number] : ends[number]] for number in numbers], strict=True)
    return {numbers[index]: weight for index, weight in found.items()}


def _signs(text: str, lowered: str) -> list[int] | None:
    """Places of a text that may be a report; ``None`` when there would be too many to look at."""
    looks = _FEW_LOOKS + len(text) // _CHARACTERS_A_LOOK
    found: list[int] = []
    for letter, words in _BEGINNINGS.items():
        at = text.find(letter)
        while at >= 0:
            looks -= 1
            if text.startswith(words, at):
                found.append(at)
            at = text.find(letter, at + 1) if looks > 0 else -1
    for mark in ":]":
        at = text.find(mark)
        while at >= 0:
            looks -= 1
            if lowered[at - 1] in _LAST:
                before = lowered[max(0, at - _LONGEST) : at].rstrip("s")
                if before.endswith(_NAMES):
                    found.append(at - 1)
            at = text.find(mark, at + 1) if looks > 0 else -1
    at = text.find("panicked at")
    while at >= 0:
        found.append(at)
        at = text.find("panicked at", at + 1)
    return found if looks > 0 else None
