"""Ratings of shown memories: kept, acted upon, and learnt from. By agents, and by the person."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from config.schema import SurfacingSettings
from proxy.store.database import StoreUnavailable
from proxy.surface.conversation import Conversation
from proxy.surface.model import Rater, RateResult, Rating, SurfacingEvent
from proxy.surface.record import SurfacingRecord
from proxy.surface.rules import ToolSurfacing
from proxy.surface.source import MemorySource
from proxy.surface.surfacer import Surfacer
from proxy.surface.tuner import tune_tool

_log = logging.getLogger("mms.surfacing")


class Ratings:
    """Takes ratings. Lives on the engine's loop."""

    def __init__(
        self,
        surfacer: Surfacer,
        record: SurfacingRecord,
        source: Callable[[], MemorySource],
        settings: Callable[[], SurfacingSettings],
        rules_of: Callable[[str, str], ToolSurfacing],
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        changed: Callable[[], None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``rules_of``: an upstream's tool's. ``spawn``: runs work that nobody waits for."""
        self._surfacer = surfacer
        self._record = record
        self._source = source
        self._settings = settings
        self._rules_of = rules_of
        self._spawn = spawn
        self._changed = changed
        self._clock = clock

    async def rate(
        self, surfacing_id: str, memory_id: str, rating: Rating, rater: Rater
    ) -> RateResult:
        """Keep one rating. ``memory_id`` empty: of every memory of the event."""
        (result,) = await self.rate_all(surfacing_id, ((memory_id, rating),), rater)
        return result

    async def rate_all(
        self,
        surfacing_id: str,
        ratings: Sequence[tuple[str, Rating]],
        rater: Rater,
        session_id: str = "",
    ) -> list[RateResult]:
        """Keep ratings by memory, see `rate`, and learn from them together; results in their order.

        ``session_id``: of the agent that rates; it can only rate what it was shown itself.
        """
        try:
            event = await asyncio.to_thread(self._record.read_event, surfacing_id)
        except StoreUnavailable as error:
            text = f"The ratings cannot be read now: {error}. Try again later."
            return [RateResult(False, text)] * len(ratings)
        if event is None or (rater is Rater.AGENT and event.conversation != session_id):
            # Another session's events do not exist for an agent: what they hold is not its business.
            text = (
                f"There is no surfacing {surfacing_id[:64]!r} in this session. Use the id exactly as "
                "the answer gave it."
            )
            return [RateResult(False, text)] * len(ratings)
        results = [await self._rate(event, id, rating, rater) for id, rating in ratings]
        if any(result.ok and not result.repeated for result in results):
            await self._learn(event)
            self._changed()
        return results

    async def _rate(
        self, event: SurfacingEvent, memory_id: str, rating: Rating, rater: Rater
    ) -> RateResult:
        ids = [memory_id] if memory_id else [one.memory_id for one in event.memories]
        results = [await self._rate_one(event, id, rating, rater) for id in ids]
        if len(results) == 1:
            return results[0]
        refused = next((result for result in results if not result.ok), None)
        if refused is not None:
            return refused
        repeated = all(result.repeated for result in results)
        said = "was said before of" if repeated else "recorded for"
        return RateResult(
            True, f"{rating.value} {said} all {len(results)} memories of {event.id}.", repeated
        )

    async def _rate_one(
        self, event: SurfacingEvent, memory_id: str, rating: Rating, rater: Rater
    ) -> RateResult:
        try:
            result = await asyncio.to_thread(
                self._record.rate, event.id, memory_id, rating, rater, self._clock()
            )
        except StoreUnavailable as error:
            return RateResult(False, f"The rating cannot be kept now: {error}. Try again later.")
        if result.ok:
            conversation = self._surfacer.conversation_named(event.conversation)
            if conversation is not None:
                _apply(conversation, memory_id, rating)
            if rating is Rating.HELPFUL and not result.repeated:
                self._spawn(self._source().helped((memory_id,)))
        return result

    async def _learn(self, event: SurfacingEvent) -> None:
        """Let the tuner and the demotions follow. A fault in it loses no rating."""
        upstream, tool = key = (event.upstream, event.tool)
        rules, tuner = self._rules_of(upstream, tool), self._settings().tuner
        try:
            negatives = await asyncio.to_thread(self._record.read_negatives, upstream, tool)
            self._surfacer.negatives[key] = negatives
            if not tuner.enabled or rules.pinned:
                return
            step = await asyncio.to_thread(
                tune_tool, self._record, upstream, tool, rules.min_score, tuner, self._clock()
            )
        except StoreUnavailable:  # the store tells its own problem
            _log.warning("the tuner cannot read the ratings", exc_info=True)
            return
        if step is not None:
            self._surfacer.thresholds[key] = step


def _apply(conversation: Conversation, memory_id: str, rating: Rating) -> None:
    if rating.invalidates:
        conversation.invalidate(memory_id)
    else:
        conversation.revalidate(memory_id)
