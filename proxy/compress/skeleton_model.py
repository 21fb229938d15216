"""An outline: which lines of a text show its structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from proxy.compress.ranking import scores


def _nothing() -> Mapping[int, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Outline:
    """Lines by importance, the most important first, with what is to be said about them."""

    ranked: Iterable[int]
    """Indexes of lines; may repeat."""
    notes: Mapping[int, str] = field(default_factory=_nothing)
    """Words of ours after a line."""
    shorter: Mapping[int, str] = field(default_factory=_nothing)
    """What is shown of a line instead of all of it."""


def asked_lines(query: str, lines: Sequence[str], most: int = 200) -> list[int]:
    """Indexes of the lines that answer the query, the best first."""
    if not query:
        return []
    values = scores(query, lines)
    found = [index for index, value in enumerate(values) if value > 0]
    found.sort(key=lambda index: (-values[index], index))
    return found[:most]
