"""Rows and values: how a record, its text, a proposal, a plan and a run lie in the database.

Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import msgspec
from sqlalchemy import Join, Select, select

from memory.model import (
    Instant,
    JournalEntry,
    Kind,
    MemoryText,
    Origin,
    PairEvidence,
    Plan,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    Record,
    Run,
    State,
)
from memory.store.journal import FoldedRecord, Json
from memory.store.tables import records, texts
from memory.text import storable

LISTS = frozenset({"flags", "related_ids", "superseded_by", "supersedes"})
"""Columns of a record that hold a list as JSON."""


def stored(values: Mapping[str, Json]) -> dict[str, Any]:
    """Journal values as column values."""
    return {
        name: json.dumps(value, separators=(",", ":")) if name in LISTS else value
        for name, value in values.items()
    }


_COLUMNS = (
    "id", "num", "kind", "space", "version", "state", "content_hash", "norm_hash", "recorded_at",
    "changed_at", "origin", "actor", "session", "source_ref", "trust", "importance", "confidence",
    "category", "domain", "pinned", "flags", "related_ids", "valid_from", "valid_to", "session_id",
    "turn_number", "state_reason", "state_at", "superseded_by", "supersedes", "support", "use_count",
    "first_used", "last_used", "successes", "failures",
)  # fmt: skip


def select_records() -> Select[*tuple[Any, ...]]:
    """Selects whole records for `record_of`, with `changed_seq` and the text's digest at the end."""
    columns = [records.c[name] for name in _COLUMNS]
    return select(texts.c.body, *columns, records.c.changed_seq, records.c.digest).select_from(
        _with_text()
    )


def _with_text() -> Join:
    return records.outerjoin(
        texts, (texts.c.record_id == records.c.id) & (texts.c.digest == records.c.digest)
    )


def record_of(row: Sequence[Any]) -> Record:
    """A row of `select_records` as a value. A record without text has an empty one."""
    (
        body, id_, num, kind, space, version, state, content_hash, norm_hash, recorded_at, changed_at,
        origin, actor, session, source_ref, trust, importance, confidence, category, domain, pinned,
        flags, related_ids, valid_from, valid_to, session_id, turn_number, state_reason, state_at,
        superseded_by, supersedes, *counts, _seq, _digest,
    ) = row  # fmt: skip
    return Record(
        id_, num, _KINDS[kind], space, version, _STATES[state], text_of(body), content_hash, norm_hash,
        recorded_at, changed_at, _ORIGINS[origin], actor, session, source_ref, trust, importance,
        confidence, category, domain, pinned, ids_of(flags), ids_of(related_ids), valid_from, valid_to,
        session_id, turn_number, state_reason, state_at, ids_of(superseded_by), ids_of(supersedes),
        *counts,
    )  # fmt: skip


class Saying(NamedTuple):
    """What a record says, and when that holds."""

    num: int
    text: MemoryText
    norm_hash: str
    valid_from: Instant | None
    valid_to: Instant | None


class Standing(NamedTuple):
    """What a record's place among others depends on; see `memory.ranking.Rankable`."""

    id: str
    num: int
    kind: Kind
    norm_hash: str
    recorded_at: Instant
    importance: float
    trust: int
    flags: tuple[str, ...]


def select_sayings() -> Select[*tuple[Any, ...]]:
    """Selects what `saying_of` takes."""
    names = ("num", "norm_hash", "valid_from", "valid_to")
    return select(texts.c.body, *(records.c[name] for name in names)).select_from(_with_text())


def saying_of(row: Sequence[Any]) -> Saying:
    """A row of `select_sayings`."""
    body, num, *rest = row
    return Saying(num, text_of(body), *rest)


def select_standings() -> Select[*tuple[Any, ...]]:
    """Selects what `standing_of` takes."""
    return select(*(records.c[name] for name in Standing._fields))


def standing_of(row: Sequence[Any]) -> Standing:
    """A row of `select_standings`."""
    id_, num, kind, norm_hash, recorded_at, importance, trust, flags = row
    return Standing(
        id_, num, _KINDS[kind], norm_hash, recorded_at, importance, trust, ids_of(flags)
    )


@dataclass(frozen=True, slots=True)
class StoredText:
    """A row of ``texts``."""

    body: str
    content_hash: str
    norm_hash: str


def folded_record(
    folded: FoldedRecord, text: MemoryText, content_hash: str, norm_hash: str
) -> Record:
    """A record as the journal tells it, with its text."""
    values: dict[str, Any] = {
        name: tuple(cast("list[str]", value)) if name in LISTS else value
        for name, value in folded.values.items()
        if name != "digest"
    }
    values["kind"] = Kind(values["kind"])
    values["state"] = State(values["state"])
    values["origin"] = Origin(values["origin"])
    return Record(
        **values,
        version=folded.version,
        changed_at=folded.changed_at,
        text=text,
        content_hash=content_hash,
        norm_hash=norm_hash,
    )


def folded_with(folded: FoldedRecord, text: StoredText | None) -> Record:
    """`folded_record` with a row of ``texts``; as a tombstone when that is gone."""
    if text is None:
        return folded_record(folded, _NO_TEXT, str(folded.values["digest"]), "")
    return folded_record(folded, text_of(text.body), text.content_hash, text.norm_hash)


_KINDS = {kind.value: kind for kind in Kind}
_STATES = {state.value: state for state in State}
_ORIGINS = {origin.value: origin for origin in Origin}
_NO_TEXT = MemoryText("")
_decode_text = msgspec.json.Decoder(MemoryText).decode
_decode_evidence = msgspec.json.Decoder(PairEvidence).decode
_decode_plan = msgspec.json.Decoder(Plan).decode
_decode_reasons = msgspec.json.Decoder(tuple[tuple[Reason, int], ...]).decode
_decode_ids = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_versions = msgspec.json.Decoder(tuple[tuple[str, int], ...]).decode


def text_of(body: str | None) -> MemoryText:
    """A text from its JSON; an empty one from nothing."""
    if body is None:
        return _NO_TEXT
    try:
        return _decode_text(body)
    except msgspec.DecodeError:  # a lone surrogate, which msgspec refuses and the json module takes
        values: dict[str, Any] = json.loads(body)
        steps, preconditions = tuple(values["steps"]), tuple(values["preconditions"])
        return MemoryText(
            values["content"], values["summary"], steps, preconditions, values["note"]
        )


def dump(value: object) -> str:
    """A value of the model as JSON, for the `..._of` functions here."""
    return msgspec.json.encode(value).decode()


def entry_of(row: Sequence[Any]) -> JournalEntry:
    """A row of ``journal`` (all columns in order)."""
    seq, at, space, action, entity, entity_id, version, actor, origin, patch, hash_ = row
    return JournalEntry(
        seq, at, space, action, entity, entity_id, version, actor, _ORIGINS[origin], patch, hash_
    )


def proposal_of(row: Sequence[Any]) -> Proposal:
    """A row of ``proposals`` (all columns in order)."""
    id_, kind, state, space, keep, replace, versions, evidence, *rest, _members = row
    return Proposal(
        id_,
        ProposalKind(kind),
        ProposalState(state),
        space,
        _decode_ids(keep),
        _decode_ids(replace),
        _decode_versions(versions),
        _decode_evidence(evidence),
        *rest,
    )


def proposal_values(proposal: Proposal) -> dict[str, Any]:
    """A proposal as column values."""
    return {
        "id": proposal.id,
        "kind": proposal.kind.value,
        "state": proposal.state.value,
        "space": proposal.space,
        "keep": dump(proposal.keep),
        "replace": dump(proposal.replace),
        "versions": dump(proposal.versions),
        "evidence": dump(_storable(proposal.evidence)),
        "similarity": proposal.similarity,
        "proposer": proposal.proposer,
        "created_at": proposal.created_at,
        "agent_verdict": proposal.agent_verdict,
        "valid_to": proposal.valid_to,
        "plan_hash": proposal.plan_hash,
        "decided_at": proposal.decided_at,
        "decided_by": proposal.decided_by,
        "reason": proposal.reason,
        "members": members_of((*proposal.keep, *proposal.replace)),
    }


def members_of(ids: Sequence[str]) -> str:
    """The key of a set of records, in whatever order they are named."""
    return dump(sorted(set(ids)))


def plan_of(body: str) -> Plan:
    """A plan from its JSON."""
    return _decode_plan(body)


def run_of(row: Sequence[Any]) -> Run:
    """A row of ``runs`` (all columns in order)."""
    id_, space, plan_hash, at, actor, archived, by_reason, undone_at, would_have_hit = row
    return Run(
        id_,
        space,
        plan_hash,
        at,
        actor,
        archived,
        _decode_reasons(by_reason),
        undone_at,
        would_have_hit,
    )


def _storable(evidence: PairEvidence) -> PairEvidence:
    """Evidence quotes texts, which may hold halves of characters."""
    return replace(
        evidence,
        older_words=tuple(map(storable, evidence.older_words)),
        newer_words=tuple(map(storable, evidence.newer_words)),
    )


def ids_of(text: str) -> tuple[str, ...]:
    """A column that holds a list as JSON."""
    return () if text == "[]" else _decode_ids(text)
