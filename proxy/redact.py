"""Hide secrets in text that is stored or shown.

Three ways find them: values that are known to be secret (from settings and environment), formats of
credentials that providers gave a recognisable shape, and fields whose name says that the value is a
secret. Only literal searches run over the whole text, a pattern is tried where one hits, and every
hit either consumes what it looked at or looks at a bounded stretch: time is linear in the text.

Text that only looks like a secret stays: hashes, UUIDs, digests, placeholders. Pure; never raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote

from config.secret_fields import field_spans
from config.secret_formats import format_spans
from config.secret_text import MARK, Span, lowered

SHORTEST_KNOWN = 6
"""A known value with fewer characters is not searched for: it would hide half of every text."""

_MOST_PASSES = 4


class Redactor:
    """Replaces every secret by `MARK`. Redacting twice changes nothing more."""

    def __init__(self, known: frozenset[str] = frozenset()) -> None:
        """``known``: values that are secret whatever they look like."""
        self._known = _variants(known)

    def redact(self, text: str) -> str:
        """``text`` without its secrets."""
        for _ in range(_MOST_PASSES):  # hiding one secret can bare the edge of the next
            redacted = self._once(text)
            if redacted == text:
                break
            text = redacted
        return text

    def _once(self, text: str) -> str:
        spans = [*self._known_spans(text), *format_spans(text)]
        spans += field_spans(text, lowered(text))
        if not spans:
            return text
        parts: list[str] = []
        position = 0
        for start, end in _merged(spans):
            parts += (text[position:start], MARK)
            position = end
        parts.append(text[position:])
        return "".join(parts)

    def _known_spans(self, text: str) -> Iterable[Span]:
        for value in self._known:
            start = text.find(value)
            while start >= 0:
                end = start + len(value)
                yield start, end
                start = text.find(value, end)


def _variants(known: frozenset[str]) -> tuple[str, ...]:
    """Each known value as it is, as JSON writes it, and as a URL writes it; the longest first."""
    found: set[str] = set()
    for value in known:
        if len(value) >= SHORTEST_KNOWN and not set(value) <= set(MARK):
            found |= {
                value,
                json.dumps(value)[1:-1],
                json.dumps(value, ensure_ascii=False)[1:-1],
                quote(value, safe="", errors="replace"),
            }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


def _merged(spans: list[Span]) -> list[Span]:
    """Spans in order, overlapping ones as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
