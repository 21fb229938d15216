"""Reading the journal: what happened, and what this memory knew at a time. Imports SQLAlchemy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import bindparam, select

from memory.api import Order
from memory.model import Instant, JournalEntry, MemoryText, Record, State
from memory.store import selection as selecting
from memory.store.current import RecordReading
from memory.store.journal import LINK, OUTCOME, RECORD, SEEN_AGAIN, Fold, FoldedRecord
from memory.store.rows import StoredText, entry_of, folded_with, text_of
from memory.store.selection import Selection
from memory.store.tables import journal, texts

BATCH = 1_000
"""Journal entries that are in memory at once while the journal is read through."""

_AFTER = (
    select(journal)
    .where(journal.c.seq > bindparam("after"))
    .order_by(journal.c.seq)
    .limit(bindparam("limit"))
)
_OF_ENTITY = (
    select(journal)
    .where(journal.c.entity_id == bindparam("id"), journal.c.seq < bindparam("before"))
    .order_by(journal.c.seq.desc())
    .limit(bindparam("limit"))
)
_SPACE_UNTIL = (
    select(journal)
    .where(
        journal.c.space == bindparam("space"),
        journal.c.at <= bindparam("at"),
        journal.c.entity.in_((RECORD, OUTCOME, LINK)),
    )
    .order_by(journal.c.seq)
)
_STATES_UNTIL = (
    select(journal.c.entity_id, journal.c.patch)
    .where(
        journal.c.space == bindparam("space"),
        journal.c.at <= bindparam("at"),
        journal.c.entity == RECORD,
        journal.c.action != SEEN_AGAIN,
    )
    .order_by(journal.c.seq)
)
_TEXT_AT = select(texts.c.body).where(
    texts.c.record_id == bindparam("id"), texts.c.digest == bindparam("digest")
)
_TEXTS_OF = select(
    texts.c.record_id, texts.c.digest, texts.c.body, texts.c.content_hash, texts.c.norm_hash
)
_MAX_SEQ = (1 << 63) - 1


class PastReading(RecordReading):
    """The journal and the memory as it was."""

    def history(
        self, entity_id: str, limit: int = 200, before_seq: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """What happened to a record, proposal or run, newest first.

        A link between records is in the history of the older one.
        """
        before = _MAX_SEQ if before_seq is None else before_seq
        values = {"id": entity_id, "before": before, "limit": limit}
        return tuple(map(entry_of, self.rows(_OF_ENTITY, values)))

    def journal(self, after_seq: int = 0, limit: int = 500) -> tuple[JournalEntry, ...]:
        """The entries after a number, oldest first."""
        return tuple(map(entry_of, self.rows(_AFTER, {"after": after_seq, "limit": limit})))

    def whole_journal(self) -> Iterator[JournalEntry]:
        """All entries, oldest first, a batch at a time in memory."""
        seq = 0
        while batch := self.journal(seq, BATCH):
            yield from batch
            seq = batch[-1].seq

    def text_at(self, record_id: str, digest: str) -> MemoryText | None:
        """A text that a record has or had, by the digest in a patch (``digest``); ``None`` once erased."""
        values = {"id": record_id, "digest": digest}
        body = self._connection.execute(_TEXT_AT, values).scalar_one_or_none()
        return None if body is None else text_of(body)

    def known_states(
        self, space: str, at: Instant
    ) -> dict[int, tuple[State, Instant | None, Instant | None]]:
        """State and validity of every record of the space as of a time, by number."""
        found: dict[str, dict[str, Any]] = {}
        for entity_id, patch in self.rows(_STATES_UNTIL, {"space": space, "at": at}):
            values: dict[str, Any] = json.loads(patch)
            found.setdefault(entity_id, {}).update(
                (name, values[name])
                for name in ("num", "state", "valid_from", "valid_to")
                if name in values
            )
        return {
            one["num"]: (State(one["state"]), one["valid_from"], one["valid_to"])
            for one in found.values()
        }

    def known_record(self, id: str, at: Instant) -> Record | None:
        """One record as of a time; ``None`` when it was stored later."""
        record = self.record(id)
        if record is None:
            return None
        folded = self._fold_until(record.space, at).records.get(id)
        return None if folded is None else self._with_texts([folded])[0][0]

    def _fold_until(self, space: str, at: Instant) -> Fold:
        fold = Fold()
        # With its parameters inside, it is read row by row: a journal can be long.
        for row in self._connection.execute(_SPACE_UNTIL.params(space=space, at=at)):
            fold.apply(entry_of(row))
        return fold

    def _with_texts(self, folded: list[FoldedRecord]) -> list[tuple[Record, int]]:
        kept: dict[tuple[str, str], StoredText] = {}
        ids = [str(one.values["id"]) for one in folded]
        for start in range(0, len(ids), 500):
            query = _TEXTS_OF.where(texts.c.record_id.in_(ids[start : start + 500]))
            for record_id, digest, *rest in self.rows(query):
                kept[record_id, digest] = StoredText(*rest)
        return [
            (
                folded_with(one, kept.get((str(one.values["id"]), str(one.values["digest"])))),
                one.changed_seq,
            )
            for one in folded
        ]

    def _find_past(
        self, selection: Selection, order: Order, after: tuple[int, ...] | None
    ) -> list[tuple[Record, int]]:
        """All records of a selection with ``known_at`` that come after a key, in order."""
        at = selection.known_at
        fold = self._fold_until(selection.space, _MAX_SEQ if at is None else at)
        chosen = [
            (selecting.key_of(order, record, seq), record, seq)
            for record, seq in self._with_texts(list(fold.records.values()))
            if selection.takes(record)
        ]
        if after is not None:
            chosen = [one for one in chosen if selecting.is_behind(order, one[0], after)]
        chosen.sort(key=lambda one: one[0], reverse=selecting.sort_backwards(order))
        return [(record, seq) for _, record, seq in chosen]
