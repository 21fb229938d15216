"""What one conversation was shown, and what it does not want to see again. Pure: times are passed in.

A conversation is one session of a host. It begins with nothing: another session sees the same memories
again. All it holds is bounded; what is forgotten first is oldest.
"""

from __future__ import annotations

from collections import OrderedDict

REMEMBERED = 10_000
"""Memories of one conversation."""


class Conversation:
    """The state of one conversation."""

    def __init__(self, dedup_ttl_seconds: float = 0.0) -> None:
        """``dedup_ttl_seconds``: when a memory may come again; 0: never in this conversation."""
        self.dedup_ttl_seconds = dedup_ttl_seconds
        self.shown = 0
        """Memories shown so far, repeated ones counted again."""
        self._seen: OrderedDict[str, float] = OrderedDict()
        self._invalid: OrderedDict[str, None] = OrderedDict()

    def showed(self, memory_ids: tuple[str, ...], now: float) -> None:
        """Memories went out. Also called for held-out ones: they count as seen."""
        self.shown += len(memory_ids)
        for memory_id in memory_ids:
            self._seen[memory_id] = now
            self._seen.move_to_end(memory_id)
        _bound(self._seen)

    def has_seen(self, memory_id: str, now: float) -> bool:
        """It was shown, and not so long ago that it may come again."""
        at = self._seen.get(memory_id)
        if at is None:
            return False
        ttl = self.dedup_ttl_seconds
        return ttl <= 0 or now - at < ttl

    def invalidate(self, memory_id: str) -> None:
        """It was rated away: it never comes again here."""
        self._invalid[memory_id] = None
        self._invalid.move_to_end(memory_id)
        _bound(self._invalid)

    def revalidate(self, memory_id: str) -> None:
        """Another rating took that back."""
        self._invalid.pop(memory_id, None)

    def is_invalid(self, memory_id: str) -> bool:
        """It was rated away."""
        return memory_id in self._invalid


def _bound(kept: OrderedDict[str, None] | OrderedDict[str, float]) -> None:
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
