"""The one function through which foreign text passes before a person's terminal sees it.

Names, arguments, answers, error texts and stderr of upstreams and hosts are data. Textual writes
their control characters to the terminal as they are, so a tool could fill the clipboard, rename
the window or draw over the screen. Here every character that acts, hides or reorders gets a visible
form: ``ESC`` becomes ``␛``, a bidi override ``«202E»``. What was said stays readable, nothing is
dropped.

This guards the terminal, not markup: give the result to ``Content``, ``Text`` or a widget with
``markup=False``, never to something that parses ``[...]``.
"""

from __future__ import annotations

import re

_RANGES: tuple[tuple[int, int], ...] = (
    (0x00, 0x1F),  # C0 controls
    (0x7F, 0x9F),  # DEL and C1 controls (0x9B is a one-character CSI)
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),  # combining grapheme joiner
    (0x600, 0x605),  # Arabic number signs, which swallow what follows
    (0x61C, 0x61C),  # Arabic letter mark (bidi)
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x115F, 0x1160),  # Hangul fillers: letters that look like nothing
    (0x17B4, 0x17B5),  # invisible Khmer vowels
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),  # zero width, joiners, left-to-right and right-to-left marks
    (0x2028, 0x202E),  # line and paragraph separators, bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates, deprecated controls
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xDFFF),  # surrogates: they cannot be encoded at all
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFFB),  # unassigned default-ignorables, interlinear annotation
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x13455),  # Egyptian hieroglyph format controls
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags and further variation selectors: whole hidden sentences
)
"""Inclusive ranges of code points that act, hide or reorder."""


def _visible(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return f"«{code:02X}»"


_LINE_TABLE: dict[int, str] = {
    code: _visible(code) for first, last in _RANGES for code in range(first, last + 1)
}
_LINE_TABLE[0x0A] = "↵"
_LINE_TABLE[0x09] = "⇥"
_TEXT_TABLE = {code: form for code, form in _LINE_TABLE.items() if code not in (0x09, 0x0A)}

_CLASS = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in _RANGES[1:])
_IN_TEXT = re.compile(rf"[\x00-\x08\x0b-\x1f{_CLASS}]")
_IN_LINE = re.compile(rf"[\x00-\x1f{_CLASS}]")

CUT = "…"
"""Stands where `limit` cut a text."""


def safe(text: str, limit: int | None = None) -> str:
    """Make every dangerous character of ``text`` visible; newline and tab stay.

    ``limit`` is in characters of the original, 0 or more: a longer text is cut there first (so that
    a huge one costs nothing) and ends in ``…``. Without a limit the function is idempotent.
    """
    return _neutralise(text, limit, _IN_TEXT, _TEXT_TABLE)


def safe_line(text: str, limit: int | None = None) -> str:
    """Like `safe` for a text that must stay on one line: newline shows as ``↵``, tab as ``⇥``."""
    return _neutralise(text, limit, _IN_LINE, _LINE_TABLE)


def _neutralise(
    text: str, limit: int | None, dangerous: re.Pattern[str], table: dict[int, str]
) -> str:
    if limit is not None and len(text) > limit:
        text = text[:limit] + CUT
    if text.isascii() and text.isprintable():
        return text
    if dangerous.search(text) is None:
        return text
    return text.translate(table)
