"""What operators can ask about surfacing, selection and progressive answers: the port behind the service."""

from __future__ import annotations

from typing import Protocol

from proxy.commands import CommandResult
from proxy.surface.model import (
    Rater,
    Rating,
    SourceStatus,
    SurfacingGlance,
    SurfacingQuery,
    SurfacingView,
    TuningReport,
    Verdict,
)
from proxy.telemetry.model import ProgressiveView, SelectionView


class SurfacingService(Protocol):
    """Used on the engine's loop."""

    def glance(self) -> SurfacingGlance:
        """For the overview; from memory, returns at once."""
        ...

    async def view(self, query: SurfacingQuery) -> SurfacingView:
        """Surfacing as a whole."""
        ...

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        """Advice."""
        ...

    async def selection(self) -> SelectionView:
        """The log of tool selections."""
        ...

    async def progressive(self, tool: str) -> ProgressiveView:
        """How progressive answers are read on."""
        ...

    async def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater
    ) -> CommandResult:
        """Rate a shown memory."""
        ...

    async def revert(self, adjustment: int) -> CommandResult:
        """Take a step of the tuner back."""
        ...


NO_SURFACING = SurfacingView(
    SourceStatus("off", "closed"),
    Verdict.UNKNOWN,
    0,
    0,
    0,
    tuple((rating, 0) for rating in Rating),
    (),
    (),
    (),
    0,
    0,
    0,
    (),
    (),
    (),
    0,
    0,
)
"""Nothing has happened."""
NO_SELECTION = SelectionView(
    False, "", 0, 0, 0, 0, (), (), (), 0, 0, None, 0, (), (), 0, 0, 0, 0, 0
)
NO_PROGRESSIVE = ProgressiveView(0, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, ())
