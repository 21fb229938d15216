"""The lines of a text, found once: CLEAN asks about them, and then they are cut into sentences."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

LARGEST_KEPT = 2_000_000
"""Characters of a text up to which its lines stay in memory until the next text comes."""

Lines = tuple[list[int], list[str]]
"""Where each line begins, and what stands in it without the white space at its end. After the last line
comes an empty one without a place. Not to be changed."""


def lines_and_texts(text: str) -> Lines:
    """The lines between the line feeds of ``text``."""
    return _kept(text) if len(text) <= LARGEST_KEPT else _read(text)


def is_tidy(text: str) -> bool:
    """Whether no line ends in white space, and fewer than three blank ones follow each other."""
    texts = lines_and_texts(text)[1]
    if sum(map(len, texts)) + len(texts) - 2 != len(text):
        return False
    return bytes(map(bool, texts[1:-2])).find(b"\0\0\0") < 0


def _read(text: str) -> Lines:
    raw = text.split("\n")
    starts = list(accumulate([len(line) + 1 for line in raw], initial=0))
    starts.pop()
    texts = list(map(str.rstrip, raw))
    texts.append("")
    return starts, texts


_kept = lru_cache(maxsize=1)(_read)
