"""What all parts of the memory's service share: the store, the indexes, the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from config.schema import MemorySettings
from memory.columns import Columns
from memory.errors import FaultCode, MemoryFault
from memory.ids import new_id
from memory.model import Actor, ForgettingPolicy, Instant, Record
from memory.semantic_index import SemanticIndex
from memory.store.database import Store
from memory.store.reading import Reading

LIMIT = 500
"""Most items of a page."""


@dataclass(slots=True)
class Core:
    """The parts; owned by `memory.service.MemoryService`."""

    directory: Path
    store: Store
    index: SemanticIndex
    settings: MemorySettings
    environ: Mapping[str, str]
    columns: Columns = field(default_factory=Columns)

    def policy(self) -> ForgettingPolicy:
        """The settings' rules of forgetting."""
        rules = self.settings.policy
        return ForgettingPolicy(
            superseded_after_days=rules.superseded_after_days,
            min_age_days=rules.min_age_days,
            stale_need=rules.stale_need,
            max_share=rules.max_share,
            max_records=rules.max_records,
        )


def fresh_id(now: Instant) -> str:
    """A new ULID."""
    return new_id(now, os.urandom(10))


def need_operator(actor: Actor, what: str) -> None:
    """Raises ``NEEDS_OPERATOR`` for anybody but the person."""
    if not actor.is_operator:
        raise MemoryFault(
            FaultCode.NEEDS_OPERATOR,
            f"Only the person at the console may {what}.",
            "Ask them, or propose it.",
        )


def need_record(reading: Reading, id: str, space: str, name: str = "id") -> Record:
    """The record of that id in that space. Raises ``NOT_FOUND``, naming the argument ``name``."""
    found = reading.record(id)
    if found is None or found.space != space:
        raise MemoryFault(
            FaultCode.NOT_FOUND,
            f"There is no memory {id!r} in space {space!r} ({name}).",
            "Take an id from memory_query or from the console's Memory screen.",
        )
    return found


def page_limit(limit: int) -> int:
    """``limit`` if it is 1 to 500. Raises ``INVALID``."""
    if not 1 <= limit <= LIMIT:
        raise MemoryFault(
            FaultCode.INVALID, f"limit is {limit}, but a page has 1 to {LIMIT} items."
        )
    return limit
