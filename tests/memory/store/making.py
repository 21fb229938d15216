"""Records, actors and proposals for tests of the store."""

from __future__ import annotations

from typing import Any

from memory.model import (
    DAY,
    Actor,
    Instant,
    Kind,
    MemoryText,
    Origin,
    PairClass,
    PairEvidence,
    Proposal,
    ProposalKind,
    ProposalState,
    Record,
)
from memory.store.database import Store
from memory.store.writing import NewRecord, Writing
from memory.text import content_hash, norm_hash

AGENT = Actor(Origin.AGENT, "claude-code", "session-1")
OTHER = Actor(Origin.AGENT, "cursor", "session-2")
PERSON = Actor(Origin.OPERATOR)
SPACE = "default"
START: Instant = 20_000 * DAY


def new(content: str, kind: Kind = Kind.SEMANTIC, **values: Any) -> NewRecord:
    """A record to store."""
    names = ("summary", "steps", "preconditions", "note")
    text = MemoryText(content, **{name: values.pop(name) for name in names if name in values})
    return NewRecord(kind, text, content_hash(text), norm_hash(text), **values)


def put(
    store: Store,
    *contents: str,
    now: Instant = START,
    by: Actor = AGENT,
    space: str = SPACE,
    **values: Any,
) -> list[Record]:
    """Store records, each in a transaction of its own, a second apart."""
    stored: list[Record] = []
    for place, content in enumerate(contents):
        with store.writing(by, space, now + place * 1_000_000) as writing:
            stored.append(writing.add(new(content, **values)))
    return stored


def edit(writing: Writing, record: Record, content: str) -> Record:
    """Give a record another content."""
    text = MemoryText(content)
    return writing.edit_text(record.id, text, content_hash(text), norm_hash(text), record.version)


def proposal(id: str, keep: Record, *replace: Record, **values: Any) -> Proposal:
    """An open proposal, with words of both texts as evidence."""
    evidence = PairEvidence(
        PairClass.VALUE, 0.8, tuple(replace[0].text.content.split()) if replace else (), ("new",)
    )
    defaults: dict[str, Any] = {
        "kind": ProposalKind.SUPERSEDE,
        "state": ProposalState.OPEN,
        "evidence": evidence,
        "similarity": 0.7,
        "proposer": "engine",
        "created_at": START,
    }
    return Proposal(
        id=id,
        space=keep.space,
        keep=(keep.id,),
        replace=tuple(one.id for one in replace),
        versions=tuple((one.id, one.version) for one in (keep, *replace)),
        **(defaults | values),
    )
