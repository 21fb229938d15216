"""Finds memories in the source: with a breaker, with what was found lately, without ever raising."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from config.schema import SurfacingSettings
from proxy.breaker import Breaker
from proxy.surface.chance import Chance, Looked
from proxy.surface.model import Decision, SourceStatus
from proxy.surface.source import (
    MemorySource,
    SourceAnswer,
    SourceFailed,
    SourceQuery,
    SourceUnavailable,
)

LONGEST_SEARCH_SECONDS = 20.0
"""A search that no answer waits for any more goes on so long: a cold memory gets warm by it."""
MOST_ABANDONED = 4
"""Such searches at once; further ones are cancelled."""
MOST_CACHED = 200
"""Found answers that are kept to be used again."""
EMPTY_SECONDS = 1.0
"""So long it counts what the source said of being empty: calls of those who keep no memories end here."""
_log = logging.getLogger("mms.surfacing")


@dataclass(slots=True)
class _Trouble:
    """How the source has done lately."""

    breaker: Breaker = field(default_factory=Breaker)
    problem: str = ""
    probing: bool = False
    hint_events: int = 0
    last_hints: int = 0


class Lookup:
    """Searches of one station. Lives on the engine's loop."""

    def __init__(
        self,
        settings: Callable[[], SurfacingSettings],
        source: Callable[[], MemorySource],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._source = source
        self._monotonic = monotonic
        self._found: OrderedDict[tuple[str, str, str], tuple[float, SourceAnswer]] = OrderedDict()
        self._abandoned = 0
        self._empty = False
        self._empty_known_until = 0.0
        self._trouble = _Trouble()

    @property
    def nothing_there(self) -> bool:
        """The source is certainly empty; known for a moment."""
        now = self._monotonic()
        if now >= self._empty_known_until:
            self._empty = self._source().is_empty
            self._empty_known_until = now + EMPTY_SECONDS
        return self._empty

    async def find(self, chance: Chance, limit: int) -> Looked:
        """Ask the source, or what it found for the same query before. Never raises.

        ``limit``: most memories wanted, 1 to 50.
        """
        call, source, begun = chance.call, self._source(), self._monotonic()
        settings, trouble = self._settings(), self._trouble
        key = (source.name, call.caller.space, chance.search.text)
        kept = self._found.get(key)
        if kept is not None and begun - kept[0] <= settings.cache_seconds:
            return Looked(kept[1], cached=True)
        probe = trouble.breaker.wants_probe(begun) and not trouble.probing
        if not trouble.breaker.closed and not probe:
            return Looked(None, Decision.CIRCUIT_OPEN)
        trouble.probing = trouble.probing or probe
        try:
            async with asyncio.timeout(LONGEST_SEARCH_SECONDS):
                answer = await source.search(SourceQuery(chance.search.text, call.caller, limit))
        except TimeoutError:
            self._failed(chance, f"no answer within {LONGEST_SEARCH_SECONDS:.0f} s")
            return Looked(None, Decision.TIMEOUT)
        except SourceUnavailable as error:
            self._failed(chance, str(error))
            return Looked(None, Decision.UNAVAILABLE)
        except SourceFailed as error:
            self._failed(chance, str(error))
            return Looked(None, Decision.FAILED)
        except Exception as error:  # the source's edge: a fault in it costs the memories only
            _log.exception("the search for memories failed inside mms")
            self._failed(chance, f"mms itself failed ({type(error).__name__})")
            return Looked(None, Decision.FAILED)
        finally:
            if probe:
                trouble.probing = False
        if not _judged(chance):
            trouble.breaker = trouble.breaker.succeeded()
            trouble.problem = ""
        if answer.hints:
            trouble.hint_events += 1
            trouble.last_hints = answer.hints
        self._keep(key, answer, settings)
        return Looked(answer, milliseconds=(self._monotonic() - begun) * 1000)

    def abandon(self, looking: asyncio.Task[Looked]) -> None:
        """It took longer than an answer may wait. What it finds may serve the next call."""
        seconds = self._settings().timeout_seconds
        self._count(f"no answer within surfacing.timeout_seconds = {seconds:g}")
        if self._abandoned >= MOST_ABANDONED:
            looking.cancel()
            return
        self._abandoned += 1
        looking.add_done_callback(self._abandoned_ended)

    def clear(self) -> int:
        """Forget what was found lately; returns how many searches that were."""
        count = len(self._found)
        self._found.clear()
        return count

    def source_changed(self) -> None:
        """Another source, or other settings of it: what was learnt of the old one is void."""
        self._found.clear()
        self._trouble = _Trouble()
        self._empty_known_until = 0.0

    def status(self) -> SourceStatus:
        """The source, for a person."""
        source, trouble = self._source(), self._trouble
        name = source.name if self._settings().enabled else "off"
        state, retry = "closed", None
        if not trouble.breaker.closed:
            now = self._monotonic()
            until = trouble.breaker.open_until
            probing = trouble.breaker.wants_probe(now)
            state = "half-open" if probing else "open"
            retry = None if probing or until is None else until - now
        return SourceStatus(
            name,
            state,
            trouble.problem,
            retry,
            source.detail,
            trouble.hint_events,
            trouble.last_hints,
        )

    def _keep(
        self, key: tuple[str, str, str], answer: SourceAnswer, settings: SurfacingSettings
    ) -> None:
        if settings.cache_seconds > 0 and not answer.empty:
            self._found[key] = (self._monotonic(), answer)
            self._found.move_to_end(key)
            while len(self._found) > MOST_CACHED:
                self._found.popitem(last=False)

    def _failed(self, chance: Chance, problem: str) -> None:
        if not _judged(chance):
            self._count(problem)

    def _count(self, problem: str) -> None:
        """A search has failed. While the breaker is open, only the probe's failure says anything new."""
        trouble = self._trouble
        if trouble.breaker.closed or trouble.probing:
            trouble.breaker = trouble.breaker.failed(self._monotonic())
            trouble.problem = problem

    def _abandoned_ended(self, _: asyncio.Task[Looked]) -> None:
        self._abandoned -= 1


def _judged(chance: Chance) -> bool:
    """It was too late for its call, which counted already: how it ends in the end says nothing more."""
    return chance.decision is Decision.TIMEOUT
