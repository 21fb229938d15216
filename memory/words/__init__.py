"""Word lists of our own making, and the stems of English words. Data and small pure functions only."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(words.split())


def ordered(words: str) -> tuple[str, ...]:
    """The words of a text in order."""
    return tuple(words.split())
