"""A source of memories for tests: a list of texts, found by the share of the query's words in them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from proxy.surface.model import FoundMemory
from proxy.surface.source import (
    NewMemory,
    ProposalsUnsupported,
    Proposed,
    SourceAnswer,
    SourceQuery,
)


@dataclass
class FakeSource:
    """`proxy.surface.source.MemorySource`. What it does can be changed while it is in use."""

    memories: list[FoundMemory] = field(default_factory=list[FoundMemory])
    """Their own scores do not count."""
    failure: Exception | None = None
    """Raised by searches and proposals; see `proxy.surface.source` for what may be."""
    gate: asyncio.Event | None = None
    """If set, every search and proposal waits for it."""
    takes_proposals: bool = True
    hints: int = 0
    name: str = "memory"
    detail: str = "a list of memories"
    queries: list[SourceQuery] = field(default_factory=list[SourceQuery])
    helpful: list[str] = field(default_factory=list[str])
    proposals: dict[str, NewMemory] = field(default_factory=dict[str, NewMemory])
    """By idempotency key."""
    cancelled: int = 0
    """Searches that nobody waited for to their end."""

    @property
    def is_empty(self) -> bool:
        """There are no memories."""
        return not self.memories

    async def search(self, query: SourceQuery) -> SourceAnswer:
        """The memories with words in common, those with most first."""
        self.queries.append(query)
        await self._wait()
        if not self.memories:
            return SourceAnswer((), empty=True, hints=self.hints)
        wanted = dict.fromkeys(_words(query.text))
        found: list[FoundMemory] = []
        for one in self.memories:
            there = set(_words(one.text))
            common = [word for word in wanted if word in there]
            if common:
                common.sort(key=len, reverse=True)
                score = len(common) / len(wanted)
                found.append(
                    FoundMemory(
                        one.id,
                        one.text,
                        score,
                        one.kind,
                        one.created_at,
                        one.notes,
                        tuple(common[:3]),
                    )
                )
        found.sort(key=lambda one: -one.score)
        return SourceAnswer(tuple(found[: query.limit]), hints=self.hints)

    async def helped(self, memory_ids: tuple[str, ...]) -> None:
        """Note them."""
        self.helpful.extend(memory_ids)

    async def propose(self, memory: NewMemory) -> Proposed:
        """Note it; the same key again is the same proposal."""
        await self._wait()
        if not self.takes_proposals:
            raise ProposalsUnsupported("This source takes no proposals.")
        known = memory.idempotency_key in self.proposals
        self.proposals.setdefault(memory.idempotency_key, memory)
        number = list(self.proposals).index(memory.idempotency_key) + 1
        return Proposed(
            f"candidate-{number}", "pending", "2026-03-01T12:00:00+00:00", known, "Review it."
        )

    async def _wait(self) -> None:
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if self.failure is not None:
            raise self.failure


def memories(texts: Iterable[str]) -> list[FoundMemory]:
    """Memories with the ids ``m1``, ``m2``, …"""
    return [
        FoundMemory(f"m{number}", text, 0.0, "semantic") for number, text in enumerate(texts, 1)
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
