"""Which calls need no upstream: an answer is kept from before, or an identical call is under way.

Only tools that the settings and their own annotations allow. A call that may write makes every answer of
its upstream old, from its beginning to its end.
"""

from __future__ import annotations

from proxy.answer_cache import AnswerCache, Flights, KeptAnswer, cache_key
from proxy.exchange import Answer, Failure
from proxy.host_calls import HostCall, is_tool_error

_GENERATION_BYTES = 8


class SharedAnswers:
    """The kept answers and the calls that share one."""

    def __init__(self, cache: AnswerCache) -> None:
        self.cache = cache
        self._flights: Flights[HostCall] = Flights()

    def begun(self, call: HostCall) -> None:
        """A call begins whose answer is not shared. It has to ask."""
        call.writes = call.traits.writes
        if call.writes:
            self.cache.invalidate(call.upstream.name)

    def admit(self, call: HostCall, now: float) -> KeptAnswer | bool:
        """A call begins whose answer may be shared.

        True: it has to ask; False: it waits for an identical one's answer.
        """
        key = cache_key(call.upstream.name, call.label, call.arguments)
        kept = self.cache.get(key, now)
        if kept is not None:
            call.cache, call.cache_age_seconds = "hit", now - kept.stored_at
            return kept
        generation = self.cache.generation(call.upstream.name)
        call.shared_as = key + generation.to_bytes(_GENERATION_BYTES, "big")
        asks = self._flights.join(call.shared_as, call)
        if not asks:
            call.cache = "shared"
        return asks

    def answered(self, call: HostCall, answer: Answer, now: float) -> tuple[HostCall, ...]:
        """A call has its answer; returns the calls that get the same one."""
        if call.writes:
            self.cache.invalidate(call.upstream.name)  # what was read while it wrote is old, too
        if call.shared_as is None:
            return ()
        shared_as, call.shared_as = call.shared_as, None
        key, generation = shared_as[:-_GENERATION_BYTES], shared_as[-_GENERATION_BYTES:]
        followers = self._flights.landed(shared_as, call)
        for follower in followers:
            follower.shared_as = None
        assert call.rules is not None
        if isinstance(answer, Failure) or "result" not in answer:
            return followers
        body = bytes(answer["result"])
        now_at = self.cache.generation(call.upstream.name).to_bytes(_GENERATION_BYTES, "big")
        if generation == now_at and not is_tool_error(body):
            self.cache.put(key, body, now, call.rules.cache_ttl_seconds)
        return followers

    def withdrawn(self, call: HostCall) -> HostCall | None:
        """Nobody wants this call any more; returns the one that has to ask in its place."""
        if call.shared_as is None:
            return None
        successor = self._flights.leave(call.shared_as, call)
        if successor is not None:
            successor.cache = ""
        return successor
