"""Events and opportunities with round figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from proxy.surface.model import (
    Arm,
    Decision,
    Opportunity,
    QueryLevel,
    ShownMemory,
    SurfacingEvent,
)

NOW = 1_700_000_000.0
DAY = 86_400.0


def shown(memory_id: str = "m1", score: float = 0.8, **changes: Any) -> ShownMemory:
    """One memory of an event."""
    return replace(
        ShownMemory(memory_id, score, f"{score:.0%}: deploy", f"What {memory_id} says."), **changes
    )


def event(id: str = "00000000000a", *memories: ShownMemory, **changes: Any) -> SurfacingEvent:
    """An event of ``files/read`` with the memories ``m1`` and ``m2``, if none are given."""
    return replace(
        SurfacingEvent(
            id=id,
            at=NOW - 60,
            conversation="1900a-3",
            host="claude-code",
            call_id=7,
            upstream="files",
            tool="read",
            query="deploy staging",
            level=QueryLevel.KEYS,
            arm=Arm.SHOWN,
            source="memory",
            threshold=0.5,
            tokens=90,
            search_ms=4.5,
            cached=False,
            memories=memories or (shown("m1", 0.8), shown("m2", 0.6)),
        ),
        **changes,
    )


def opportunity(decision: Decision = Decision.SURFACED, **changes: Any) -> Opportunity:
    """A call of ``files/read``."""
    return replace(
        Opportunity(NOW - 60, "files", "read", decision, QueryLevel.KEYS, 4_000, 0.7, 0.5, 3.0),
        **changes,
    )
