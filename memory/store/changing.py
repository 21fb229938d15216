"""Storing and changing records: journal, projection, text, words and outbox in one go. Imports SQLAlchemy."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from memory.errors import FaultCode, MemoryFault
from memory.ids import RANDOM_BYTES, new_id
from memory.model import MemoryText, Record, State
from memory.store.journal import (
    EDITED,
    LINK,
    LINKED,
    RECORD,
    STORED,
    UNLINKED,
    FoldedRecord,
    Json,
    canonical,
    text_digest,
    text_values,
)
from memory.store.recording import Recording
from memory.store.rows import folded_record, ids_of, stored
from memory.store.tables import (
    edges,
    models,
    outbox,
    records,
    request_keys,
    run_records,
    supporters,
    texts,
    vectors,
)
from memory.store.values import NewRecord, RecordPatch, new_values
from memory.text import index_text

_LAST_NUM = select(records.c.num).order_by(records.c.num.desc()).limit(bindparam("limit"))
_INSERT_RECORD = insert(records)
_INSERT_TEXT = insert(texts)
_INSERT_KEY = insert(request_keys)
_INSERT_SUPPORTER = insert(supporters)
_INSERT_RUN_RECORD = insert(run_records)
_DROP_RUN_RECORD = delete(run_records).where(
    run_records.c.run_id == bindparam("b_run"), run_records.c.record_id == bindparam("b_record")
)
_ENQUEUE = insert(outbox).from_select(
    ["model_id", "num"], select(models.c.id, bindparam("num", type_=records.c.num.type))
)
_UPDATE = update(records).where(records.c.num == bindparam("b_num"))
_LINKS = select(records.c.num, records.c.superseded_by, records.c.supersedes).where(
    records.c.id == bindparam("id")
)
_DROP_VECTORS = delete(vectors).where(vectors.c.num == bindparam("b_num"))
_DROP_EDGES = delete(edges).where(
    (edges.c.older == bindparam("b_num")) | (edges.c.newer == bindparam("b_num"))
)
SUPERSEDES = "supersedes"


class RecordWriting(Recording):
    """Changes of records."""

    def keyed(self, key: str) -> Record | None:
        """The record that was stored in this space with this idempotency key."""
        return self.keyed_in(self.space, key)

    def add(self, new: NewRecord) -> Record:
        """Store a record in this space. Raises ``INVALID`` when its id or key is used already."""
        if new.recorded_at is not None and new.recorded_at > self.at:
            raise MemoryFault(FaultCode.INVALID, "recorded_at is in the future.")
        id = new.id or new_id(self.at, os.urandom(RANDOM_BYTES))
        num = self._last_num() + 1
        digest = self._keep_text(id, new.text, new.content_hash, new.norm_hash)
        record = new_values(
            new, id=id, num=num, digest=digest, space=self.space, at=self.at, actor=self.actor
        )
        seq = self._journal(STORED, RECORD, id, new.version, record)
        self._project(new, record, seq)
        self._is_to_be_found(num, new.text)
        self._stands_behind(id)
        return folded_record(
            FoldedRecord(record, new.version, self.at, seq),
            new.text,
            new.content_hash,
            new.norm_hash,
        )

    def change(
        self,
        id: str,
        action: str,
        patch: RecordPatch,
        expected_version: int | None = None,
        run_id: str = "",
    ) -> Record:
        """Set fields of a record; always a new version. ``action``: a past participle for the journal.

        ``run_id`` notes that the run did it, for `Reading.run_records`. Raises ``STALE`` when the record
        is not at ``expected_version``, ``REFUSED`` for an expunged one, and ``NOT_FOUND``.
        """
        standing = self._standing(id, expected_version)
        if standing.state is State.EXPUNGED or patch.state is State.EXPUNGED:
            raise MemoryFault(
                FaultCode.REFUSED, f"{id}: only `expunge` erases, and nothing undoes it."
            )
        values = patch.values()
        state = values.get("state")
        if state is not None and state != standing.state.value:
            values.setdefault("state_at", self.at)
        self._set(standing.num, id, action, standing.version + 1, values, run_id)
        if run_id:
            self._connection.execute(_DROP_RUN_RECORD, {"b_run": run_id, "b_record": id})
            self._connection.execute(
                _INSERT_RUN_RECORD,
                {"run_id": run_id, "record_id": id, "version": standing.version + 1},
            )
        return self._still(id)

    def edit_text(
        self,
        id: str,
        text: MemoryText,
        content_hash: str,
        norm_hash: str,
        expected_version: int | None = None,
    ) -> Record:
        """Another text; the one before stays readable by `Reading.text_at`.

        Vectors and neighbours of the record go, unless only its note changed. Faults as `change`.
        """
        standing = self._standing(id, expected_version)
        if standing.state is State.EXPUNGED:
            raise MemoryFault(FaultCode.REFUSED, f"{id} was erased.")
        before = self.text_at(id, standing.digest) or MemoryText("")
        digest = self._keep_text(id, text, content_hash, norm_hash)
        self._set(
            standing.num,
            id,
            EDITED,
            standing.version + 1,
            {"digest": digest},
            unjournaled={"content_hash": content_hash, "norm_hash": norm_hash},
        )
        self._words.remove(self._connection, self.space, standing.num)
        self._words.add(self._connection, self.space, standing.num, index_text(text))
        if replace(before, note="") != replace(text, note=""):
            self.drop_edges(standing.num)
            self.delete_vectors(standing.num)
            self._connection.execute(_ENQUEUE, {"num": standing.num})
        return self._still(id)

    def link(self, older_id: str, newer_id: str, type: str = SUPERSEDES) -> None:
        """Note that ``newer_id`` supersedes ``older_id``. No new version; again: nothing."""
        self._link(LINKED, older_id, newer_id, type)

    def unlink(self, older_id: str, newer_id: str, type: str = SUPERSEDES) -> None:
        """Take a link back; no link: nothing."""
        self._link(UNLINKED, older_id, newer_id, type)

    def delete_vectors(self, num: int) -> None:
        """Delete a record's vectors of all models, and take it off the outbox."""
        self._connection.execute(_DROP_VECTORS, {"b_num": num})
        self._off_outbox(num)

    def drop_edges(self, num: int) -> None:
        """Forget a record's neighbours."""
        self._connection.execute(_DROP_EDGES, {"b_num": num})

    def _last_num(self) -> int:
        return int(self._connection.execute(_LAST_NUM, {"limit": 1}).scalar_one_or_none() or 0)

    def _project(self, new: NewRecord, record: dict[str, Json], seq: int) -> None:
        """Lay a new record down as entry ``seq`` tells it, with its idempotency key."""
        self._connection.execute(
            _INSERT_RECORD,
            {
                **stored(record),
                "version": new.version,
                "content_hash": new.content_hash,
                "norm_hash": new.norm_hash,
                "changed_at": self.at,
                "changed_seq": seq,
            },
        )
        if new.key:
            values = {"space": self.space, "key": new.key, "record_id": record["id"]}
            self._connection.execute(_INSERT_KEY, values)

    def _is_to_be_found(self, num: int, text: MemoryText) -> None:
        """Index a new record's words, and let its text wait for vectors."""
        self._words.add(self._connection, self.space, num, index_text(text))
        self._connection.execute(_ENQUEUE, {"num": num})

    def _keep_text(self, id: str, text: MemoryText, content_hash: str, norm_hash: str) -> str:
        body, salt = canonical(text_values(text)), secrets.token_hex(16)
        digest = text_digest(salt, body)
        self._connection.execute(
            _INSERT_TEXT,
            {
                "record_id": id,
                "digest": digest,
                "salt": salt,
                "body": body,
                "content_hash": content_hash,
                "norm_hash": norm_hash,
            },
        )
        return digest

    def _set(
        self,
        num: int,
        id: str,
        action: str,
        version: int,
        values: dict[str, Json],
        run_id: str = "",
        unjournaled: dict[str, Any] | None = None,
    ) -> int:
        """Journal and project new values of a record."""
        patch: dict[str, Json] = {**values, "run": run_id} if run_id else values
        seq = self._journal(action, RECORD, id, version, patch)
        changed = {"version": version, "changed_at": self.at, "changed_seq": seq}
        columns = {**stored(values), **(unjournaled or {}), **changed}
        self._connection.execute(_UPDATE, {**columns, "b_num": num})
        return seq

    def _link(self, action: str, older_id: str, newer_id: str, type: str) -> None:
        if type != SUPERSEDES:
            raise MemoryFault(FaultCode.INVALID, f"There are no links of the type {type!r}.")
        self._standing(older_id)
        self._standing(newer_id)
        older = self._connection.execute(_LINKS, {"id": older_id}).one()
        newer = self._connection.execute(_LINKS, {"id": newer_id}).one()
        has = newer_id in ids_of(older.superseded_by)
        if has == (action == LINKED):
            return
        ends = (
            (older.num, "superseded_by", older.superseded_by, newer_id),
            (newer.num, "supersedes", newer.supersedes, older_id),
        )
        for num, column, held, other in ends:
            ids = [id for id in ids_of(held) if id != other]
            ids += [other] if action == LINKED else []
            text = json.dumps(ids, separators=(",", ":"))
            self._connection.execute(_UPDATE, {column: text, "b_num": num})
        patch = {"older": older_id, "newer": newer_id, "type": type}
        self._journal(action, LINK, older_id, 0, patch)

    def _stands_behind(self, id: str) -> None:
        name, session = self.actor.name, self.actor.session
        who = {"record_id": id, "actor": name, "session": session}
        self._connection.execute(_INSERT_SUPPORTER, who)
