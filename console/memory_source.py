"""The embedded memory as a source of what is shown with answers.

Searching is reading: no support, use or state of a record changes by it. The station imports this at its
start, so what only a search needs is imported by the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from config.paths import Paths
from config.schema import MemorySettings
from proxy.host_tools import Caller
from proxy.surface.calibration import Embedding, Overlap, overlaps_of, probability
from proxy.surface.model import FoundMemory
from proxy.surface.source import (
    NewMemory,
    Proposed,
    SourceAnswer,
    SourceFailed,
    SourceQuery,
    SourceUnavailable,
)

if TYPE_CHECKING:
    from memory.api import MemoryPort, Request
    from memory.api.base import R
    from memory.errors import MemoryFault
    from memory.model import Hit, Record, State

DATABASE = "memory.sqlite3"
"""`memory.service.DATABASE`, whose module is too heavy to be imported here."""
SPARE_HITS = 10
"""Asked for beyond what is wanted: some may be unfit to be shown, and the memory's order is not that of how
probably each matters."""
_INSTRUCTION_LIKE = "instruction_like"


class EmbeddedSource:
    """`proxy.surface.source.MemorySource` over the memory's port."""

    name = "memory"

    def __init__(
        self,
        memory: Callable[[], MemoryPort],
        paths: Paths,
        settings: Callable[[], MemorySettings],
    ) -> None:
        """``settings``: those in force at the time of each search."""
        self._memory = memory
        self._paths = paths
        self._settings = settings
        self._detail = ""

    @property
    def detail(self) -> str:
        """By what it searches; empty before the first search."""
        return self._detail

    @property
    def is_empty(self) -> bool:
        """Nothing was ever stored in any space."""
        return not self._any_memory()

    async def search(self, query: SourceQuery) -> SourceAnswer:
        """Active memories of the caller's space. Raises `SourceUnavailable` or `SourceFailed`.

        Where nothing was ever stored, no process is started for it. Memories that speak to their reader as
        an injected instruction would are left out.
        """
        if not self._any_memory():
            return SourceAnswer((), empty=True)
        text = query.text.encode("utf-8", "replace").decode()
        if not text.strip():
            return SourceAnswer(())
        from memory.api import Search

        asked = Search(text, self._space(query.caller), top_k=query.limit + SPARE_HITS)
        result = await self._ask(asked, query.caller)
        embedding = _embedding(result.model)
        self._detail = result.degraded or f"meaning and words, by {result.model}"
        fit = [hit for hit in result.hits if _is_fit(hit)]
        overlaps = overlaps_of(text, [_whole(hit.record) for hit in fit])
        found = [
            _found(hit, overlap, embedding) for hit, overlap in zip(fit, overlaps, strict=True)
        ]
        found.sort(key=lambda memory: -memory.score)  # stable: equals stay in the memory's order
        return SourceAnswer(tuple(found[: query.limit]))

    async def helped(self, memory_ids: tuple[str, ...]) -> None:
        """Nothing: the memory counts outcomes of procedures only; ratings are kept with the events."""

    async def propose(self, memory: NewMemory) -> Proposed:
        """Store it in quarantine: it waits on the console's Decisions.

        Raises `SourceUnavailable`, or `SourceFailed` for what the memory refuses, such as a secret.
        """
        import hashlib

        from memory.api import AddRecord
        from memory.model import Kind, MemoryText

        # Keys of proposals may be longer than those of the memory, and are no others' keys.
        digest = hashlib.sha256(memory.idempotency_key.encode("utf-8", "surrogatepass")).hexdigest()
        request = AddRecord(
            Kind.SEMANTIC,
            MemoryText(memory.content.encode("utf-8", "replace").decode()),
            self._space(memory.caller),
            source_ref=memory.source_ref.encode("utf-8", "replace").decode(),
            quarantine=True,
            key=f"proposal:{digest}",
        )
        stored = await self._ask(request, memory.caller)
        status, hint = _standing(stored.record)
        created = datetime.fromtimestamp(stored.record.recorded_at / 1_000_000, UTC)
        return Proposed(
            stored.record.id, status, created.isoformat(timespec="seconds"), stored.repeated, hint
        )

    def _any_memory(self) -> bool:
        """Whether something may have been stored; a database elsewhere is not looked at."""
        return bool(self._settings().url) or (self._paths.memory_directory / DATABASE).exists()

    def _space(self, caller: Caller) -> str:
        return caller.space or self._settings().space

    async def _ask(self, request: Request[R], caller: Caller) -> R:
        from memory.errors import MemoryFault
        from memory.model import Actor, Origin

        try:
            return await self._memory().ask(
                request, Actor(Origin.AGENT, caller.host, caller.session_id)
            )
        except MemoryFault as fault:
            raise _failure(fault) from fault


def _failure(fault: MemoryFault) -> SourceUnavailable | SourceFailed:
    from memory.errors import FaultCode

    gone = fault.code in (FaultCode.UNAVAILABLE, FaultCode.BUSY)
    return SourceUnavailable(str(fault)) if gone else SourceFailed(str(fault))


def _is_fit(hit: Hit) -> bool:
    from memory.model import State

    return hit.record.state is State.ACTIVE and _INSTRUCTION_LIKE not in hit.warnings


def _found(hit: Hit, overlap: Overlap, embedding: Embedding) -> FoundMemory:
    record = hit.record
    return FoundMemory(
        record.id,
        _whole(record),
        probability(hit.parts.raw_similarity, overlap, embedding),
        record.kind.value,
        record.recorded_at / 1_000_000,
        hit.warnings,
        overlap.common,
    )


def _whole(record: Record) -> str:
    """The words of a record for a reader: a procedure is nothing without its steps."""
    text = record.text
    parts = [text.content]
    parts += [f"Before: {one}" for one in text.preconditions]
    parts += [f"{number}. {step}" for number, step in enumerate(text.steps, 1)]
    return "\n".join(parts)


def _embedding(model: str) -> Embedding:
    """The kind of vectors, by the id of the model that made them."""
    if not model:
        return Embedding.NONE
    if model.startswith("minilm-"):
        return Embedding.MINILM
    if model.startswith("hashing-"):
        return Embedding.HASHING
    return Embedding.OTHER


def _standing(record: Record) -> tuple[str, str]:
    """Status of a candidate, and what a person has to do with it."""
    from memory.model import State

    state: State = record.state
    if state is State.QUARANTINED:
        return "pending", "It waits on the screen Decisions of the console (mms)."
    if state is State.ACTIVE:
        return "approved", "It is remembered already; there is nothing to decide."
    if state is State.ARCHIVED and record.state_reason == "rejected":
        return "rejected", "A person has rejected it before; it is not proposed again."
    return state.value, "It was remembered once; it can be restored on the screen Memory of mms."
