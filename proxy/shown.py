"""Texts of calls for a person: laid out, secrets redacted, cut to what a screen takes.

Takes up to 0.1 s for texts of many megabytes: call it off the engine's loop.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.loose_json import indented, readable
from proxy.measure import read_texts

SHOWN_CHARACTERS = 256 * 1024
"""The most that a screen gets of one text."""

_MARGIN = 16 * 1024
"""Characters read beyond what is shown, so that a secret which the cut would split is found whole."""


def shown(raw: bytes, redact: Callable[[str], str]) -> tuple[str, bool]:
    """JSON laid out and redacted, and whether it was cut to `SHOWN_CHARACTERS`."""
    text = indented(raw).decode("utf-8", "replace")
    return _cut(readable(text[: SHOWN_CHARACTERS + _MARGIN]), len(text), redact)


def shown_answer(result: bytes, redact: Callable[[str], str]) -> tuple[str, bool]:
    """What an answer says: its texts with their line ends, JSON in them laid out.

    An answer without texts is shown as it was transmitted.
    """
    found = read_texts(b"", result)
    texts = [text for text in (*found.texts, found.structured) if text]
    if not texts:
        return shown(result, redact)
    text = "\n\n".join(map(_laid_out, texts))
    return _cut(text[: SHOWN_CHARACTERS + _MARGIN], len(text), redact)


def _laid_out(text: str) -> str:
    if not text.lstrip().startswith(("{", "[")):
        return text
    return readable(indented(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace"))


def _cut(text: str, whole: int, redact: Callable[[str], str]) -> tuple[str, bool]:
    """``text``: the first characters of ``whole``."""
    cut = whole > SHOWN_CHARACTERS + _MARGIN
    text = redact(text)
    if cut:
        text = text[: max(0, len(text) - _MARGIN)]
    return text[:SHOWN_CHARACTERS], cut or len(text) > SHOWN_CHARACTERS
