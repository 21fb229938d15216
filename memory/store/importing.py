"""Taking records and decisions that another memory had, ids, states and times kept. Imports SQLAlchemy.

Everything is journaled as ``imported``; what follows in a record's history is how it came into its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import insert

from memory.model import Instant, MemoryText, Proposal, Run, State
from memory.store.changing import RecordWriting
from memory.store.deciding import DecidedWriting
from memory.store.journal import DISMISSAL, OUTCOME, RECORD, Json
from memory.store.tables import (
    credited_uses,
    dismissals,
    outcomes,
    run_records,
    stale_seen,
    supporters,
)
from memory.store.values import NewRecord, new_values
from memory.text import content_hash, norm_hash

IMPORTED = "imported"

_INSERT_SUPPORTER = insert(supporters)
_INSERT_CREDIT = insert(credited_uses)
_INSERT_OUTCOME = insert(outcomes)
_INSERT_STALE = insert(stale_seen)
_INSERT_DISMISSAL = insert(dismissals)
_INSERT_RUN_RECORD = insert(run_records)


@dataclass(frozen=True, slots=True)
class StateStep:
    """A change of a record's state, validity or text, as its journal told it."""

    action: str
    values: Mapping[str, str | int | None]
    """New values, of `STATE_FIELDS` only."""
    text: MemoryText | None = None
    """The text that it got then; ``None`` in a record that was never edited, and where it stayed."""


STATE_FIELDS = ("state", "state_reason", "state_at", "valid_to")


@dataclass(frozen=True, slots=True)
class KeptOutcome:
    """One use of a procedure."""

    at: Instant
    success: bool
    actor: str = ""
    note: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class KeptCredit:
    """A use that was counted; ``day`` counts UTC days since 1970."""

    session: str
    day: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A pair that the person keeps, with the texts that it had then."""

    first: str
    second: str
    first_hash: str
    second_hash: str
    at: Instant


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A record of another memory, and what was counted for it there."""

    new: NewRecord
    """With its id. Of an expunged one ``content_hash`` is the salted digest, and the text is ignored."""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    path: tuple[StateStep, ...] = ()
    """How it came into its state, oldest first; the first step is how it was stored. May be empty.

    When steps have texts, the first one has one, and the last of them is the record's.
    """
    supporters: frozenset[tuple[str, str]] = frozenset()
    """(actor, session)."""
    credits: tuple[KeptCredit, ...] = ()
    """At most one per session and day."""
    outcomes: tuple[KeptOutcome, ...] = ()
    """Oldest first; no key twice."""
    stale_since: Instant | None = None


class ImportWriting(RecordWriting, DecidedWriting):
    """Taking over. What has an id that is there already must be left out before."""

    def import_record(self, one: ImportedRecord) -> int:
        """Take a record into this space; the number that it gets."""
        new, id = one.new, one.new.id
        num = self._last_num() + 1
        erased = new.state is State.EXPUNGED
        first, *later = one.path or (StateStep(IMPORTED, {}),)
        digest = new.content_hash if erased else self._version(id, first.text or new.text)
        values = new_values(
            new, id=id, num=num, digest=digest, space=self.space, at=self.at, actor=self.actor
        )
        values |= {"superseded_by": list(one.superseded_by), "supersedes": list(one.supersedes)}
        seq = self._journal(IMPORTED, RECORD, id, new.version, {**values, **first.values})
        for step in later:
            patch = dict(step.values)
            if step.text is not None:
                patch["digest"] = values["digest"] = self._version(id, step.text)
            self._journal(step.action, RECORD, id, new.version, patch)
        self._project(new, values, seq)
        if not erased:
            self._is_to_be_found(num, new.text)
        self._import_counts(one, id)
        return num

    def _version(self, id: str, text: MemoryText) -> str:
        return self._keep_text(id, text, content_hash(text), norm_hash(text))

    def import_proposal(self, proposal: Proposal) -> None:
        """Take a proposal in whatever state."""
        self.add_proposal(proposal, IMPORTED)

    def import_run(self, run: Run, changed: Iterable[tuple[str, int]]) -> None:
        """Take a run, and what it changed: (id of a record, version that it got by it)."""
        self.add_run(run, IMPORTED)
        rows = [
            {"run_id": run.id, "record_id": id, "version": version}
            for id, version in dict(changed).items()
        ]
        if rows:
            self._connection.execute(_INSERT_RUN_RECORD, rows)

    def import_dismissal(self, one: Dismissed) -> None:
        """Take a pair that the person keeps."""
        self._connection.execute(
            _INSERT_DISMISSAL,
            {
                "first_id": one.first,
                "second_id": one.second,
                "first_hash": one.first_hash,
                "second_hash": one.second_hash,
                "at": one.at,
            },
        )
        pair = {"first": one.first, "second": one.second}
        self._journal(IMPORTED, DISMISSAL, one.first, 0, pair)

    def _import_counts(self, one: ImportedRecord, id: str) -> None:
        """Who stood behind it and how it was used; the sums of it are in the record already."""
        rows: list[dict[str, Json]] = [
            {"record_id": id, "actor": actor, "session": session}
            for actor, session in sorted(one.supporters)
        ]
        if rows:
            self._connection.execute(_INSERT_SUPPORTER, rows)
        rows = [
            {"record_id": id, "session": each.session, "day": each.day, "source": each.source}
            for each in one.credits
        ]
        if rows:
            self._connection.execute(_INSERT_CREDIT, rows)
        if one.stale_since is not None:
            self._connection.execute(
                _INSERT_STALE,
                {"record_id": id, "space": self.space, "first_at": one.stale_since},
            )
        for each in one.outcomes:
            patch = {"success": each.success, "key": each.key, "happened_at": each.at}
            self._connection.execute(
                _INSERT_OUTCOME,
                {
                    "seq": self._journal(IMPORTED, OUTCOME, id, one.new.version, patch),
                    "record_id": id,
                    "version": one.new.version,
                    "key": each.key or None,
                    "success": each.success,
                    "at": each.at,
                    "actor": each.actor,
                    "note": each.note,
                },
            )
