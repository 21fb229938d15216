"""What is told of a record that is to be stored or changed. Pure: standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, cast

from memory.model import TRUST, Actor, Instant, Kind, MemoryText, Origin, State
from memory.store.journal import Json


class Unset(Enum):
    """Marks a value of a `RecordPatch` that stays as it is."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class NewRecord:
    """What is known of a record before it is stored. The fields mean what they mean in `Record`.

    ``id``, ``recorded_at``, ``state_at`` and the counts are for records that were stored elsewhere
    before; ``recorded_at`` must not be after the time of the writing.
    """

    kind: Kind
    text: MemoryText
    content_hash: str
    norm_hash: str
    state: State = State.ACTIVE
    origin: Origin | None = None
    """``None``: that of the actor who writes; likewise ``actor``, ``session`` and ``trust``."""
    actor: str | None = None
    session: str | None = None
    trust: int | None = None
    source_ref: str = ""
    importance: float = 0.5
    confidence: float = 1.0
    category: str = "general"
    domain: str | None = None
    pinned: bool = False
    flags: tuple[str, ...] = ()
    related_ids: tuple[str, ...] = ()
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    session_id: str | None = None
    turn_number: int | None = None
    state_reason: str = ""
    key: str = ""
    """Idempotency key, unique in the space; see `Writing.keyed`."""
    id: str = ""
    """A new ULID; empty: the store makes one."""
    version: int = 1
    recorded_at: Instant | None = None
    state_at: Instant | None = None
    support: int = 1
    use_count: int = 0
    first_used: Instant | None = None
    last_used: Instant | None = None
    successes: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class RecordPatch:
    """New values of some of a record's fields. Texts change by `Writing.edit_text`, links by `link`."""

    state: State | Unset = UNSET
    state_reason: str | Unset = UNSET
    state_at: Instant | Unset = UNSET
    """The time of the writing when a new state comes without it."""
    importance: float | Unset = UNSET
    confidence: float | Unset = UNSET
    category: str | Unset = UNSET
    domain: str | Unset | None = UNSET
    pinned: bool | Unset = UNSET
    flags: tuple[str, ...] | Unset = UNSET
    related_ids: tuple[str, ...] | Unset = UNSET
    valid_from: Instant | Unset | None = UNSET
    valid_to: Instant | Unset | None = UNSET
    session_id: str | Unset | None = UNSET
    turn_number: int | Unset | None = UNSET
    source_ref: str | Unset = UNSET
    trust: int | Unset = UNSET

    def values(self) -> dict[str, Json]:
        """The new values as they lie in the journal."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: _plain(value) for name, value in values.items() if value is not UNSET}


def new_values(
    new: NewRecord, *, id: str, num: int, digest: str, space: str, at: Instant, actor: Actor
) -> dict[str, Json]:
    """All of a new record's fields as they lie in the journal."""
    actual = actor.origin if new.origin is None else new.origin
    return {
        "num": num,
        "id": id,
        "kind": new.kind.value,
        "space": space,
        "state": new.state.value,
        "digest": digest,
        "recorded_at": at if new.recorded_at is None else new.recorded_at,
        "origin": actual.value,
        "actor": actor.name if new.actor is None else new.actor,
        "session": actor.session if new.session is None else new.session,
        "source_ref": new.source_ref,
        "trust": TRUST[actual] if new.trust is None else new.trust,
        "importance": float(new.importance),
        "confidence": float(new.confidence),
        "category": new.category,
        "domain": new.domain,
        "pinned": new.pinned,
        "flags": list(new.flags),
        "related_ids": list(new.related_ids),
        "valid_from": new.valid_from,
        "valid_to": new.valid_to,
        "session_id": new.session_id,
        "turn_number": new.turn_number,
        "state_reason": new.state_reason,
        "state_at": at if new.state_at is None else new.state_at,
        "superseded_by": [],
        "supersedes": [],
        "support": new.support,
        "use_count": new.use_count,
        "first_used": new.first_used,
        "last_used": new.last_used,
        "successes": new.successes,
        "failures": new.failures,
    }


def _plain(value: object) -> Json:
    if isinstance(value, Enum):
        return cast("Json", value.value)
    return cast("Json", list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value)
