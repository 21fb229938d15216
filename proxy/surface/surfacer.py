"""SURFACE: finds memories for a call and puts them into its answer.

The search begins with the call where the tool's answers have been long enough lately, so that it runs
while the upstream works; else with the answer. An answer waits at most ``surfacing.timeout_seconds``
for it. Whatever goes wrong here, the answer goes out as it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from config.schema import SurfacingSettings
from proxy.host_calls import is_tool_error
from proxy.host_tools import Caller
from proxy.surface.chance import Chance, Looked, SurfacedCall
from proxy.surface.choose import choose
from proxy.surface.conversation import Conversation
from proxy.surface.gates import SessionGate
from proxy.surface.insert import insert
from proxy.surface.levels import query_for
from proxy.surface.lookup import Lookup
from proxy.surface.model import (
    Adjustment,
    Arm,
    Decision,
    Opportunity,
    QueryLevel,
    SurfacingEvent,
)
from proxy.surface.record import SurfacingRecord
from proxy.surface.render import render
from proxy.surface.rules import ToolSurfacing, limits_for
from proxy.surface.source import MemorySource, SourceAnswer
from proxy.surface.tuner import threshold_in_force

CANDIDATES = 4
"""So many times as many memories are asked for as may be shown: some are seen, some below the threshold."""
_log = logging.getLogger("mms.surfacing")


@dataclass(frozen=True, slots=True)
class Placed:
    """What goes out."""

    body: bytes
    tokens: int = 0
    """Added, by an upper estimate."""
    surfacing_id: str = ""


@dataclass(slots=True)
class _Session:
    """One conversation."""

    caller: Caller
    conversation: Conversation
    gate: SessionGate
    events: int = 0


class Surfacer:
    """One station's surfacing. Lives on the engine's loop."""

    def __init__(
        self,
        settings: Callable[[], SurfacingSettings],
        source: Callable[[], MemorySource],
        record: SurfacingRecord,
        redact: Callable[[str], str],
        changed: Callable[[], None],
        consumer_model: Callable[[], str],
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``changed``: told when memories were shown."""
        self._settings = settings
        self._source = source
        self._record = record
        self._redact = redact
        self._changed = changed
        self._consumer_model = consumer_model
        self._clock = clock
        self._monotonic = monotonic
        self._group: asyncio.TaskGroup | None = None
        self._sessions: dict[int, _Session] = {}
        self._long: dict[tuple[str, str], bool] = {}
        self.lookup = Lookup(settings, source, monotonic=monotonic)
        self.thresholds: dict[tuple[str, str], Adjustment] = {}
        """Steps of the tuner that are in force, by upstream and tool."""
        self.negatives: dict[tuple[str, str], dict[str, int]] = {}
        """By upstream and tool: in how many events each memory was rated not relevant."""
        self.counts: Counter[Decision] = Counter()
        """Decisions since the start."""
        self.sampled_out = 0

    def start(self, group: asyncio.TaskGroup) -> None:
        """Searches belong to the engine's group."""
        self._group = group

    # a call's way

    @property
    def enabled(self) -> bool:
        """By the settings in force."""
        return self._settings().enabled

    def passes(self) -> bool:
        """There is nothing to show with any call. Counted, but no chance that is worth a note."""
        if self.lookup.nothing_there:
            self.counts[Decision.NO_MEMORIES] += 1
            return True
        return False

    def begin(self, call: SurfacedCall) -> Chance | None:
        """A tool is called. ``None``: its answer is left alone whatever it is."""
        if call.rules.gate is not None:
            self._passed(call, call.rules.gate, QueryLevel.NONE, 0)
            return None
        chance = Chance(call)
        early = call.context_query or self._long.get((call.upstream, call.tool))
        if early and not self.lookup.nothing_there:
            self._look(chance)
        return chance

    def failed(self, chance: Chance) -> None:
        """The call ended without a result."""
        self._decide(chance, Decision.TOOL_ERROR, 0)

    def wants(self, chance: Chance, size: int) -> bool:
        """The answer is there, ``size`` bytes of JSON. False: nothing is to be shown with it."""
        call = chance.call
        long_enough = size >= self._settings().min_answer_chars
        self._long[call.upstream, call.tool] = long_enough
        if chance.decided:
            return False
        if not long_enough and not call.context_query:
            self._decide(chance, Decision.TOO_SHORT, size)
        elif chance.looking is None and self.lookup.nothing_there:
            self._decide(chance, Decision.NO_MEMORIES, size)
        elif chance.looking is None:
            self._look(chance)  # beside the pipeline, which may have work to do first
        return not chance.decided

    async def place(self, chance: Chance, body: bytes) -> Placed:
        """The result with memories in it, or as it was. Never raises."""
        begun = self._monotonic()
        unchanged = Placed(body)
        if chance.decided:
            return unchanged
        if is_tool_error(body):
            self._decide(chance, Decision.TOOL_ERROR, len(body))
            return unchanged
        try:
            return await self._place(chance, body, begun)
        except Exception:  # the stage's edge: it returns its input
            _log.exception("memories could not be shown")
            self._decide(chance, Decision.FAILED, len(body), waited=self._monotonic() - begun)
            return unchanged

    def cancelled(self, chance: Chance) -> None:
        """Nobody waits for the answer any more."""
        self._decide(chance, Decision.CANCELLED, 0)

    def left(self, session: int) -> None:
        """A host has left."""
        self._sessions.pop(session, None)

    # for ratings and views

    def conversation_named(self, session_id: str) -> Conversation | None:
        """By its `Caller.session_id`; ``None`` unless its host is connected and was shown something."""
        for state in self._sessions.values():
            if state.caller.session_id == session_id:
                return state.conversation
        return None

    def threshold(self, upstream: str, tool: str, rules: ToolSurfacing) -> float:
        """The score from which a memory is shown: as set, else as tuned."""
        if rules.pinned:
            return rules.min_score
        return threshold_in_force(self.thresholds.get((upstream, tool)), rules.min_score)

    # insides

    async def _place(self, chance: Chance, body: bytes, begun: float) -> Placed:
        unchanged = Placed(body)
        settings = self._settings()
        looking = chance.looking or self._look(chance)
        if looking is None:
            return unchanged
        done, _ = await asyncio.wait((looking,), timeout=settings.timeout_seconds)
        waited = self._monotonic() - begun
        if chance.decided:  # cancelled meanwhile
            return unchanged
        if not done:
            self._decide(chance, Decision.TIMEOUT, len(body), waited=waited)
            self.lookup.abandon(looking)
            return unchanged
        looked = looking.result()
        if looked.answer is None:
            assert looked.decision is not None
            self._decide(chance, looked.decision, len(body), waited=waited)
            return unchanged
        if looked.answer.empty:
            self._decide(chance, Decision.NO_MEMORIES, len(body), waited=waited)
            return unchanged
        return self._show(chance, body, looked, looked.answer, begun)

    def _show(
        self, chance: Chance, body: bytes, looked: Looked, answer: SourceAnswer, begun: float
    ) -> Placed:
        unchanged = Placed(body)
        settings, call = self._settings(), chance.call
        state = self._session(call)
        now = self._clock()
        threshold = self.threshold(call.upstream, call.tool, call.rules)
        demoted = self.negatives.get((call.upstream, call.tool), {})
        limits = limits_for(settings, self._consumer_model())
        choice = choose(
            answer.memories,
            threshold,
            state.conversation,
            demoted,
            min(limits.memories, settings.max_per_session - state.conversation.shown),
            now,
        )
        if not choice.memories:
            self._decide(
                chance,
                choice.decision,
                len(body),
                best=choice.best_score,
                threshold=threshold,
                waited=self._monotonic() - begun,
            )
            return unchanged
        state.events += 1
        surfacing_id = _digest(f"{call.caller.session_id}/{state.events}")[:12]
        held_out = _drawn(surfacing_id, settings.holdout_rate)
        rendered = render(choice.memories, surfacing_id, limits.tokens, settings.position)
        placed = None
        if rendered is None:
            decision = Decision.EMPTY_RENDER
        elif held_out:
            decision = Decision.HELD_OUT
        else:
            placed = insert(body, rendered.text, settings.position)
            decision = Decision.NOT_TEXT if placed is None else Decision.SURFACED
        waited = self._monotonic() - begun
        self._decide(
            chance, decision, len(body), best=choice.best_score, threshold=threshold, waited=waited
        )
        if rendered is None or decision is Decision.NOT_TEXT:
            return unchanged
        event = SurfacingEvent(
            surfacing_id,
            now,
            call.caller.session_id,
            call.host,
            call.call_id,
            call.upstream,
            call.tool,
            self._kept_query(chance.search.text),
            chance.search.level,
            Arm.HELD_OUT if held_out else Arm.SHOWN,
            self._source().name,
            threshold,
            0 if held_out else rendered.tokens,
            looked.milliseconds,
            looked.cached,
            rendered.shown,
        )
        self._record.note_event(event)
        state.conversation.showed(tuple(one.memory_id for one in rendered.shown), now)
        self._changed()
        if placed is None:
            return unchanged
        return Placed(placed, rendered.tokens, surfacing_id)

    def _look(self, chance: Chance) -> asyncio.Task[Looked] | None:
        """Start the search, unless a gate is closed."""
        call, settings = chance.call, self._settings()
        state, now = self._session(call), self._clock()
        # Before a query is made of the call, which costs more than all else here.
        refusal = state.gate.spent(settings, state.conversation, now)
        if refusal is None:
            chance.search = query_for(
                call.tool, call.upstream, call.rules.template, call.context_query, call.arguments
            )
            refusal = (
                state.gate.admit(settings, call.tool, chance.search.text, state.conversation, now)
                if chance.search.text
                else Decision.NO_QUERY
            )
        if refusal is not None:
            self._decide(chance, refusal, 0)
            return None
        assert self._group is not None
        chance.looking = self._group.create_task(self._find(chance))
        return chance.looking

    async def _find(self, chance: Chance) -> Looked:
        limits = limits_for(self._settings(), self._consumer_model())
        await self._learn_negatives(chance.call)
        return await self.lookup.find(chance, min(50, CANDIDATES * limits.memories))

    def _session(self, call: SurfacedCall) -> _Session:
        state = self._sessions.get(call.session)
        if state is None:
            settings = self._settings()
            state = _Session(call.caller, Conversation(settings.dedup_ttl_seconds), SessionGate())
            self._sessions[call.session] = state
        state.conversation.dedup_ttl_seconds = self._settings().dedup_ttl_seconds
        return state

    async def _learn_negatives(self, call: SurfacedCall) -> None:
        """Know what was rated away for the tool, before its first memories are chosen."""
        key = (call.upstream, call.tool)
        if key not in self.negatives:
            try:
                known = await asyncio.to_thread(self._record.read_negatives, *key)
            except Exception:  # the store tells its own problem; nothing is demoted meanwhile
                _log.warning("ratings cannot be read", exc_info=True)
                return
            self.negatives.setdefault(key, known)

    def _kept_query(self, text: str) -> str:
        """As it is stored: redacted text, or a digest where the text may not be kept."""
        if self._settings().keep_queries and self._redact(text) == text:
            return text
        return "sha256:" + _digest(text)[:12]

    def _decide(
        self,
        chance: Chance,
        decision: Decision,
        size: int,
        *,
        best: float | None = None,
        threshold: float | None = None,
        waited: float = 0.0,
    ) -> None:
        if chance.decided:
            return
        chance.decided = True
        chance.decision = decision
        looking = chance.looking
        if looking is not None and not looking.done() and decision is not Decision.TIMEOUT:
            looking.cancel()
            if decision in (Decision.TOO_SHORT, Decision.TOOL_ERROR):
                self._session(chance.call).gate.refund(chance.call.tool, chance.search.text)
        self._passed(
            chance.call,
            decision,
            chance.search.level,
            size,
            best=best,
            threshold=threshold,
            waited=waited,
        )

    def _passed(
        self,
        call: SurfacedCall,
        decision: Decision,
        level: QueryLevel,
        size: int,
        *,
        best: float | None = None,
        threshold: float | None = None,
        waited: float = 0.0,
    ) -> None:
        """Note what became of a chance."""
        self.counts[decision] += 1
        sampling = self._settings().opportunity_sampling
        if sampling < 1.0 and not _drawn(f"{call.caller.session_id}/{call.call_id}", sampling):
            self.sampled_out += 1
            return
        self._record.note_opportunity(
            Opportunity(
                self._clock(),
                call.upstream,
                call.tool,
                decision,
                level,
                size,
                best,
                self.threshold(call.upstream, call.tool, call.rules)
                if threshold is None
                else threshold,
                waited * 1000,
            )
        )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _drawn(name: str, share: float) -> bool:
    """True for so large a share of all names, always the same for one name."""
    return share > 0 and int(_digest("draw " + name)[:13], 16) < share * 16**13
