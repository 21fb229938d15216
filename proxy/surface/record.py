"""The port to what is kept of surfacing: events, ratings, opportunities, the tuner's steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.surface.model import (
    Adjustment,
    Opportunity,
    RatedScore,
    Rater,
    RateResult,
    Rating,
    SurfacingEvent,
)


@dataclass(frozen=True, slots=True)
class ToolScores:
    """What the tuner needs to know of one tool."""

    rated: tuple[RatedScore, ...]
    """Of the last 30 days, oldest first, at most 500; the person's rating where two differ."""
    offered: tuple[float, ...]
    """Best scores of the last 200 searches for it, shown or not, oldest first."""
    adjustments: tuple[Adjustment, ...]
    """Newest first."""


class SurfacingRecord(Protocol):
    """Notes return at once and are written by a thread; reads see them from the first moment.

    Methods named ``read_…`` block for the disk. `StoreUnavailable` when the file cannot be read.
    """

    @property
    def problem(self) -> str:
        """Why nothing is written, a sentence; empty while all is well."""
        ...

    def note_event(self, event: SurfacingEvent) -> None:
        """Memories were found for a call."""
        ...

    def note_opportunity(self, opportunity: Opportunity) -> None:
        """A call's chance has passed."""
        ...

    def read_event(self, surfacing_id: str) -> SurfacingEvent | None:
        """One event with its ratings; ``None``: there is none of that id (any more)."""
        ...

    def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater, at: float
    ) -> RateResult:
        """Keep a rating; the same again is no change, another one replaces it. Blocking.

        Refused, with a sentence, for an unknown event, a memory that is not in it, and a held-out one.
        """
        ...

    def read_tool(self, upstream: str, tool: str) -> ToolScores:
        """What the tuner needs."""
        ...

    def read_negatives(self, upstream: str, tool: str) -> dict[str, int]:
        """By memory: in how many events of this tool it was rated ``not_relevant``, last 90 days."""
        ...

    def note_adjustment(self, adjustment: Adjustment) -> int:
        """Keep a step of the tuner; its ``id`` is ignored, the new one is returned. Blocking.

        One with ``reverts`` marks the step that it takes back, and those after it, as reverted.
        """
        ...

    def read_adjustments(self, limit: int = 50) -> Sequence[Adjustment]:
        """Newest first."""
        ...
