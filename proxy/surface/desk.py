"""What operators see of surfacing and can do about it: `SurfacingService` over one station's parts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from config.schema import Settings
from proxy.commands import CommandResult
from proxy.progressive_reads import progressive_view
from proxy.store.database import StoreUnavailable
from proxy.store.progressive import ProgressiveStore
from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import (
    Rater,
    Rating,
    SurfacingGlance,
    SurfacingQuery,
    SurfacingView,
    TuningReport,
)
from proxy.surface.rating import Ratings
from proxy.surface.service import NO_PROGRESSIVE
from proxy.surface.statistics import StationFigures, configured_by, read_glance, surfacing_view
from proxy.surface.surfacer import Surfacer
from proxy.surface.tuner import revert, thresholds_in_force
from proxy.telemetry.model import ProgressiveView, SelectionView

_log = logging.getLogger("mms.surfacing")


@dataclass(frozen=True, slots=True)
class DeskParts:
    """What the desk is over."""

    settings: Callable[[], Settings]
    surfacer: Surfacer
    store: SurfacingStore
    ratings: Ratings
    progressive: ProgressiveStore
    progressive_failures: Callable[[], int]
    selection: Callable[[], SelectionView]
    """Reads the log; blocks."""
    advice: Callable[[float, str | None], TuningReport]
    """Reads calls and feedback; blocks."""
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    publish: Callable[[float], None]
    """Tell whoever watches that something changed."""


class SurfacingDesk:
    """Lives on the engine's loop."""

    def __init__(self, parts: DeskParts, *, clock: Callable[[], float] = time.time) -> None:
        self._parts = parts
        self._clock = clock
        self._glance = SurfacingGlance()
        self._glance_wanted = False

    async def load(self) -> None:
        """Take up what was kept: the tuner's steps, and the overview's figures."""
        try:
            steps = await asyncio.to_thread(thresholds_in_force, self._parts.store)
        except StoreUnavailable:  # the store tells its own problem
            return
        self._parts.surfacer.thresholds.update(steps)
        await self._read_glance()

    def changed(self) -> None:
        """Memories were shown, rated or tuned: tell screens, at most twice a second, and count anew."""
        if not self._glance_wanted:
            self._glance_wanted = True
            self._parts.spawn(self._refresh())

    def glance(self) -> SurfacingGlance:
        """For the overview."""
        return replace(self._glance, source=self._parts.surfacer.lookup.status())

    async def view(self, query: SurfacingQuery) -> SurfacingView:
        """Surfacing as a whole."""
        surfacer = self._parts.surfacer
        figures = StationFigures(
            surfacer.lookup.status(), dict(surfacer.counts), surfacer.sampled_out
        )
        configured = configured_by(self._parts.settings())
        return await asyncio.to_thread(
            lambda: surfacing_view(
                self._parts.store, query, configured=configured, figures=figures, now=self._clock()
            )
        )

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        """Advice from recent calls and feedback."""
        return await asyncio.to_thread(self._parts.advice, since_hours, tool)

    async def selection(self) -> SelectionView:
        """The log of tool selections, added up."""
        return await asyncio.to_thread(self._parts.selection)

    async def progressive(self, tool: str) -> ProgressiveView:
        """How progressive answers are read on."""
        store = self._parts.progressive
        try:
            reads = await asyncio.to_thread(store.reads)
        except StoreUnavailable as error:
            return replace(NO_PROGRESSIVE, problem=store.problem or str(error))
        failures = self._parts.progressive_failures()
        return progressive_view(reads, tool=tool, store_failures=failures, problem=store.problem)

    async def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater
    ) -> CommandResult:
        """Rate a shown memory."""
        result = await self._parts.ratings.rate(surfacing_id, memory_id, rating, rater)
        return CommandResult(result.ok, result.message)

    async def revert(self, adjustment: int) -> CommandResult:
        """Take a step of the tuner back."""
        store, surfacer = self._parts.store, self._parts.surfacer
        try:
            result = await asyncio.to_thread(revert, store, adjustment, self._clock())
            steps = await asyncio.to_thread(thresholds_in_force, store)
        except StoreUnavailable as error:
            return CommandResult(False, f"The tuner's steps cannot be read now: {error}.")
        surfacer.thresholds.clear()
        surfacer.thresholds.update(steps)
        self.changed()
        return result

    async def _refresh(self) -> None:
        await asyncio.sleep(0.5)
        self._glance_wanted = False
        await self._read_glance()
        self._parts.publish(self._clock())

    async def _read_glance(self) -> None:
        source = self._parts.surfacer.lookup.status()
        try:
            self._glance = await asyncio.to_thread(
                lambda: read_glance(self._parts.store, source=source, now=self._clock())
            )
        except StoreUnavailable:  # the view tells it
            _log.warning("the figures of surfacing cannot be read", exc_info=True)
