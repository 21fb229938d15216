"""The journal's form: canonical JSON, the chain of hashes, and the fold from entries to records' values.

An entry's hash is the SHA-256 of the hash before it and the canonical JSON of the entry, so that no entry
can be changed, removed or put between others unseen. A patch holds the new values of the fields that
changed, never increments and never the text: a text stands for itself in ``texts``, and the patch has
only its salted digest. Pure: standard library only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from memory.model import Instant, JournalEntry, MemoryText, Origin, State

Json: TypeAlias = "str | int | float | bool | list[str] | None"
"""What a field of a record is in a patch."""

STORED = "stored"
SEEN_AGAIN = "seen_again"
EDITED = "edited"
EXPUNGED = "expunged"
LINKED = "linked"
UNLINKED = "unlinked"

RECORD = "record"
PROPOSAL = "proposal"
RUN = "run"
OUTCOME = "outcome"
DISMISSAL = "dismissal"
LINK = "link"

FIELDS = frozenset(
    {
        "num", "id", "kind", "space", "state", "digest", "recorded_at", "origin", "actor", "session",
        "source_ref", "trust", "importance", "confidence", "category", "domain", "pinned", "flags",
        "related_ids", "valid_from", "valid_to", "session_id", "turn_number", "state_reason", "state_at",
        "superseded_by", "supersedes", "support", "use_count", "first_used", "last_used", "successes",
        "failures",
    }
)  # fmt: skip
"""The fields of a record that patches may have. Others in a patch tell about the act itself."""


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted names, no spaces, ASCII. Raises `ValueError` for NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def text_values(text: MemoryText) -> dict[str, Json]:
    """The fields of a text as JSON values."""
    return {
        "content": text.content,
        "summary": text.summary,
        "steps": list(text.steps),
        "preconditions": list(text.preconditions),
        "note": text.note,
    }


def text_digest(salt: str, body: str) -> str:
    """The salted digest (64 hex digits) of a text's canonical JSON."""
    return hashlib.sha256(f"{salt}\n{body}".encode()).hexdigest()


def first_hash(identity: str) -> str:
    """What the first entry of the database ``identity`` is chained to."""
    return hashlib.sha256(f"mms-memory\n{identity}".encode()).hexdigest()


def entry_hash(
    previous: str,
    *,
    seq: int,
    at: Instant,
    space: str,
    action: str,
    entity: str,
    entity_id: str,
    version: int,
    actor: str,
    origin: Origin,
    patch: str,
) -> str:
    """The hash of an entry after the one with hash ``previous``."""
    fields = [seq, at, space, action, entity, entity_id, version, actor, origin.value, patch]
    return hashlib.sha256(f"{previous}{canonical(fields)}".encode()).hexdigest()


def chain_problems(identity: str, entries: Iterable[JournalEntry]) -> list[str]:
    """What is wrong with a journal, which has to start at its first entry; empty: nothing."""
    problems: list[str] = []
    previous, seq, at = first_hash(identity), 0, 0
    for entry in entries:
        if entry.seq != seq + 1:
            problems.append(f"Journal entry {seq + 1} is missing: {entry.seq} follows {seq}.")
        if entry.at < at:
            problems.append(f"Journal entry {entry.seq} is older than the one before it.")
        expected = entry_hash(
            previous,
            seq=entry.seq,
            at=entry.at,
            space=entry.space,
            action=entry.action,
            entity=entry.entity,
            entity_id=entry.entity_id,
            version=entry.version,
            actor=entry.actor,
            origin=entry.origin,
            patch=entry.patch,
        )
        if expected != entry.hash:
            problems.append(f"Journal entry {entry.seq} does not match its hash.")
        previous, seq, at = entry.hash, entry.seq, max(at, entry.at)
    return problems


@dataclass(slots=True)
class FoldedRecord:
    """A record's values as the entries so far tell them."""

    values: dict[str, Json]
    version: int
    changed_at: Instant
    changed_seq: int

    @property
    def state(self) -> State:
        """The state."""
        return State(str(self.values["state"]))


@dataclass(slots=True)
class Fold:
    """The records that entries add up to. Apply entries in the order of their numbers."""

    records: dict[str, FoldedRecord] = field(default_factory=dict[str, FoldedRecord])

    def apply(self, entry: JournalEntry) -> None:
        """Take one more entry. Entries about other things than records change nothing."""
        if entry.entity == LINK:
            patch: Mapping[str, Json] = json.loads(entry.patch)
            self._link(entry.action, str(patch["older"]), str(patch["newer"]))
        elif entry.entity in (RECORD, OUTCOME):
            self._patch(entry, json.loads(entry.patch))

    def _patch(self, entry: JournalEntry, patch: Mapping[str, Json]) -> None:
        values = {name: value for name, value in patch.items() if name in FIELDS}
        folded = self.records.get(entry.entity_id)
        if folded is None:
            self.records[entry.entity_id] = FoldedRecord(values, entry.version, entry.at, entry.seq)
            return
        folded.values.update(values)
        if entry.version != folded.version:
            folded.version, folded.changed_at, folded.changed_seq = (
                entry.version,
                entry.at,
                entry.seq,
            )

    def _link(self, action: str, older: str, newer: str) -> None:
        for one, name, other in ((older, "superseded_by", newer), (newer, "supersedes", older)):
            folded = self.records.get(one)
            if folded is None:
                continue
            held = folded.values[name]
            ids = [each for each in (held if isinstance(held, list) else []) if each != other]
            folded.values[name] = [*ids, other] if action == LINKED else ids
