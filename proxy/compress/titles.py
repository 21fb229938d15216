"""Short names for parts of a text: one-line titles and ids made of a heading's words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

LONGEST_TITLE = 72
"""Characters."""
_LONGEST_SLUG = 48
_NAMED = 6
"""Names that are told when one is unknown."""
_COMPARED = 400
"""Names that are looked at to find the nearest ones."""
_NOT_A_WORD = re.compile(r"[\W_]+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")
_GRAMMAR = ("lines:", "chars:", "grep:", "json:", "xml:")
"""Ids that begin so are read as a place, never as a name."""


def one_line(text: str, longest: int = LONGEST_TITLE) -> str:
    """The first words of a text on one line, without control characters."""
    words = " ".join(_UNPRINTABLE.sub(" ", text[: longest * 6]).split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "\u2026"


def slug(title: str) -> str:
    """A heading's words as an id: ``Install on Linux`` becomes ``install-on-linux``. May be empty."""
    return _NOT_A_WORD.sub("-", title[:200].casefold()).strip("-")[:_LONGEST_SLUG].rstrip("-")


def unique(name: str, taken: dict[str, int]) -> str:
    """``name``, or with ``-2``, ``-3`` … when that is taken already. Notes it in ``taken``."""
    if name.startswith(_GRAMMAR):
        name = "-" + name
    count = taken.get(name, 0) + 1
    taken[name] = count
    if count == 1:
        return name
    numbered = f"{name}-{count}"
    while numbered in taken:
        count += 1
        numbered = f"{name}-{count}"
    taken[name] = count
    taken[numbered] = 1
    return numbered


def nearest(wanted: str, names: Sequence[str]) -> list[str]:
    """Names to suggest for an unknown one: those that are spelled alike first, then the first ones."""
    names = names[:_COMPARED]
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], _NAMED, 0.5)
    rest = [name for name in names if name not in near]
    return (near + rest)[:_NAMED]


def quote(text: str) -> str:
    """What somebody sent, as it is quoted in an error: one short line."""
    return one_line(text, 60)
