"""Foreign text as data in one line: what is quoted cannot look like anything but a quotation. Pure.

Memories may hold what a web page or another agent said. Nothing of it may end the line it stands on, or
read as markup, as a notice of ours, or as nothing at all.
"""

from __future__ import annotations

import re

from proxy.compress.notices import MARK

_UNSEEN = frozenset(
    [
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    ]
)
"""Printable by their category, though nothing is seen of them: fillers and variation selectors."""
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_FENCE = re.compile(r"`{3,}|~{3,}")
_NOTICE = re.compile(rf"\[(?={MARK}|->|progressive: chars=)")
_LOOKED_AT = 4
"""So many times the wanted length is read: white space and unseen characters go."""


def quoted(text: str, longest: int) -> str:
    """The text on one line, at most ``longest`` characters of it; empty when nothing is left.

    White space becomes one space; control, format, bidi, unassigned and invisible characters and lone
    surrogates go; ``<`` before a tag's name becomes ``\u2039``, three and more backticks or tildes become
    ``'''``, and the beginning of a notice of a cut or of more to read becomes ``(``. Idempotent for a
    text that is not too long.
    """
    text = text[: longest * _LOOKED_AT]
    if not (text.isascii() and text.isprintable()):
        text = "".join(map(_plain, text))
    text = _NOTICE.sub("(", _FENCE.sub("'''", _TAG.sub("\u2039", " ".join(text.split()))))
    return text[:longest].rstrip()


def _plain(character: str) -> str:
    if character.isprintable():
        return "" if character in _UNSEEN else character
    return " " if character.isspace() else ""
