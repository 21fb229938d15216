"""Which words of two texts differ, marked so that it reads without colour: ``[-old-]`` and ``{+new+}``.

A value such as ``eu-west-1``, ``10.0.0.7:8080`` or ``v2.3`` is one word; punctuation after it is not part
of it. Pure; standard library only.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_WORDS = 3000
"""Longer middles (what is left when the common beginning and end are taken off) are marked as a whole."""

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]"  # scripts without spaces: a character is a word
    rf"|[^\W{_UNSPACED}]+(?:[.:/@_+,'\u2019-]+[^\W{_UNSPACED}]+)*"
    r"|\s+"
    r"|[^\w\s]"
)


class Piece(NamedTuple):
    """A run of a text that is in both, or only in this one."""

    text: str
    changed: bool


def compare(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces; the pieces of a text joined are that text.

    Differences of white space alone count as none.
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    words_before = [place for place, token in enumerate(before) if not token.isspace()]
    words_after = [place for place, token in enumerate(after) if not token.isspace()]
    kept = _common(
        [before[place] for place in words_before], [after[place] for place in words_after]
    )
    kept_before = {words_before[one] for one, _ in kept}
    kept_after = {words_after[other] for _, other in kept}
    return _pieces(before, kept_before), _pieces(after, kept_after)


def marked(pieces: tuple[Piece, ...], opening: str, closing: str) -> str:
    """The text with its changed pieces between marks: ``marked(pieces, "[-", "-]")``."""
    return "".join(f"{opening}{text}{closing}" if changed else text for text, changed in pieces)


def _common(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Places (in both) of a common subsequence, in order."""
    first = 0
    shorter = min(len(before), len(after))
    while first < shorter and before[first] == after[first]:
        first += 1
    last = 0
    while last < shorter - first and before[-1 - last] == after[-1 - last]:
        last += 1
    out = [(place, place) for place in range(first)]
    middle_before, middle_after = (
        before[first : len(before) - last],
        after[first : len(after) - last],
    )
    if max(len(middle_before), len(middle_after)) <= MOST_WORDS:
        for one, other, size in SequenceMatcher(
            None, middle_before, middle_after
        ).get_matching_blocks():
            out += [(first + one + step, first + other + step) for step in range(size)]
    out += [(len(before) - step, len(after) - step) for step in range(last, 0, -1)]
    return out


def _pieces(tokens: list[str], kept: set[int]) -> tuple[Piece, ...]:
    """Runs of equal kind; white space between two changed words belongs to the change."""
    out: list[Piece] = []
    text, changed, space = "", False, ""
    for place, token in enumerate(tokens):
        if token.isspace():
            space += token
            continue
        differs = place not in kept
        if differs is changed:
            text += space + token
        else:
            if changed:
                out += [Piece(text, True)] if text else []
                text = space + token
            else:
                out += [Piece(text + space, False)] if text + space else []
                text = token
            changed = differs
        space = ""
    if changed:
        out += [Piece(text, True)] if text else []
        text, changed = "", False
    if text + space:
        out.append(Piece(text + space, False))
    return tuple(out)
