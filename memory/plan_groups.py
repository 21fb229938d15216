"""The rows that a forgetting plan is made from, and which of them are duplicates of each other."""

from __future__ import annotations

from dataclasses import dataclass

from memory.model import Instant, Kind, Origin, State


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What a plan needs to know of one record; the fields mean what they mean in `memory.model.Record`."""

    num: int
    id: str
    kind: Kind
    version: int
    state: State
    content_hash: str
    norm_hash: str
    recorded_at: Instant
    state_at: Instant
    importance: float
    pinned: bool
    origin: Origin
    trust: int
    support: int
    use_count: int
    first_used: Instant | None
    last_used: Instant | None
    successes: int
    failures: int
    valid_to: Instant | None
    state_reason: str = ""
    successors: tuple[str, ...] = ()
    """Ids of the direct successors that are active, superseded or archived; not of expunged ones."""
    open_proposal: bool = False
    """An open proposal would keep or replace it."""
    stale_before: bool = False
    """An earlier plan, at least a day ago, found it stale, and so did every plan since."""
