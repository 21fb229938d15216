"""Storing, editing, archiving, erasing, and outcomes of procedures."""

from __future__ import annotations

from dataclasses import dataclass

from memory.api.base import Request
from memory.model import DEFAULT_SPACE, Instant, Kind, MemoryText, PairEvidence, Record


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored record that the new one contradicts or repeats."""

    record: Record
    similarity: float
    evidence: PairEvidence
    proposal_id: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a text that was to be stored."""

    record: Record
    repeated: bool
    """True: it was there already; the record is the one that was there, its support counts one more."""
    contradictions: tuple[Candidate, ...] = ()
    """At most five, surest first."""
    duplicates: tuple[Candidate, ...] = ()
    degraded: str = ""
    """Why candidates were looked for by words alone; a sentence."""
    redacted: int = 0
    """Secrets that were replaced in the text."""


@dataclass(frozen=True, slots=True)
class AddRecord(Request[Stored]):
    """Store a memory."""

    kind: Kind
    text: MemoryText
    space: str = DEFAULT_SPACE
    importance: float = 0.5
    confidence: float = 1.0
    category: str = "general"
    domain: str | None = None
    related_ids: tuple[str, ...] = ()
    supersedes: str | None = None
    """Id of a record that this one shall replace: a proposal, or at once, by the approval policy."""
    session_id: str | None = None
    turn_number: int | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    source_ref: str = ""
    quarantine: bool = False
    """Keep it back for review whatever its channel."""
    key: str = ""
    """Idempotency key: the same key again stores nothing and answers the same record."""


@dataclass(frozen=True, slots=True)
class EditRecord(Request[Record]):
    """Change a record; ``None`` leaves a field as it is. Person only."""

    id: str
    version: int
    space: str = DEFAULT_SPACE
    text: MemoryText | None = None
    importance: float | None = None
    pinned: bool | None = None
    category: str | None = None
    valid_to: Instant | None = None


@dataclass(frozen=True, slots=True)
class ArchiveRecord(Request[Record]):
    """Take a record out of search. Person only."""

    id: str
    space: str = DEFAULT_SPACE
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RestoreRecord(Request[Record]):
    """Make an archived or superseded record active again. Person only."""

    id: str
    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased where."""

    id: str
    places: tuple[str, ...]
    """One sentence per place: texts, full-text index, vectors, Chroma, write-ahead log, …"""
    problems: tuple[str, ...] = ()
    """What could not be erased, and what to do."""


@dataclass(frozen=True, slots=True)
class ExpungeRecord(Request[Receipt]):
    """Erase text and vectors for ever. Person only."""

    id: str
    reason: str
    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class RecordOutcome(Request[Record]):
    """A procedure was used."""

    id: str
    success: bool
    space: str = DEFAULT_SPACE
    key: str = ""
    """Idempotency key; empty: every call counts."""
    note: str = ""
