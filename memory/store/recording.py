"""What all writing has in common: who, where, when, and the entry in the journal. Imports SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Instant, Record, State
from memory.store.current import Head
from memory.store.journal import canonical, entry_hash
from memory.store.prepared import PreparedConnection
from memory.store.reading import Reading
from memory.store.tables import journal, meta, outbox, records
from memory.store.text_index import TextIndex

_ENTRY = insert(journal)
_INSERT_META = insert(meta)
_UPDATE_META = update(meta).where(meta.c.key == bindparam("b_key"))
_STATE = select(
    records.c.num, records.c.version, records.c.state, records.c.space, records.c.digest
).where(records.c.id == bindparam("id"))
_OFF = delete(outbox).where(outbox.c.num == bindparam("b_num"))


class Recording(Reading):
    """A transaction that alone writes, for one actor in one space at one time."""

    def __init__(
        self,
        connection: Connection,
        words: TextIndex,
        identity: str,
        actor: Actor,
        space: str,
        now: Instant,
    ) -> None:
        """``now`` counts as the time of the last entry when it is before that."""
        prepared = PreparedConnection(connection, writes=True)
        super().__init__(cast("Connection", prepared), words, identity)
        self.actor = actor
        self.space = space
        self._last = super()._head()
        self._began = self._last.seq
        words.begin(self._began)
        self.at = max(now, self._last.at)
        """The time of everything that is done here; never before that of an earlier entry."""

    def put_meta(self, key: str, value: str) -> None:
        """Keep a small value for `Session.meta`. Not journaled."""
        self._put("user." + key, value)

    @property
    def lasting_position(self) -> int:
        return self._began

    def _head(self) -> Head:
        return self._last

    def _put(self, key: str, value: str) -> None:
        if not self._connection.execute(_UPDATE_META, {"b_key": key, "value": value}).rowcount:
            self._connection.execute(_INSERT_META, {"key": key, "value": value})

    def _journal(
        self, action: str, entity: str, entity_id: str, version: int, patch: Mapping[str, object]
    ) -> int:
        """Append an entry; its number. Raises `MemoryFault` (INVALID) for a number that is not finite."""
        try:
            text = canonical(patch)
        except ValueError:
            raise MemoryFault(FaultCode.INVALID, "A number is infinite or not a number.") from None
        seq = self._last.seq + 1
        hash_ = entry_hash(
            self._last.hash,
            seq=seq,
            at=self.at,
            space=self.space,
            action=action,
            entity=entity,
            entity_id=entity_id,
            version=version,
            actor=self.actor.name,
            origin=self.actor.origin,
            patch=text,
        )
        self._connection.execute(
            _ENTRY,
            {
                "seq": seq,
                "at": self.at,
                "space": self.space,
                "action": action,
                "entity": entity,
                "entity_id": entity_id,
                "version": version,
                "actor": self.actor.name,
                "origin": self.actor.origin.value,
                "patch": text,
                "hash": hash_,
            },
        )
        self._last = Head(seq, self.at, hash_)
        return seq

    def _standing(self, id: str, expected_version: int | None = None) -> Standing:
        """How a record of this space stands now. Raises ``NOT_FOUND`` and ``STALE``."""
        row = self._connection.execute(_STATE, {"id": id}).one_or_none()
        if row is None or row.space != self.space:
            raise MemoryFault(
                FaultCode.NOT_FOUND, f"There is no memory {id!r} in space {self.space!r}."
            )
        if expected_version is not None and row.version != expected_version:
            raise MemoryFault(
                FaultCode.STALE,
                f"{id} is at version {row.version}, not {expected_version}: it changed meanwhile.",
                "Look at it again.",
            )
        return Standing(id, row.num, row.version, State(row.state), row.digest)

    def _still(self, id: str) -> Record:
        """The record, which is known to be there."""
        record = self.record(id)
        assert record is not None
        return record

    def _off_outbox(self, num: int) -> None:
        self._connection.execute(_OFF, {"b_num": num})


class Standing:
    """How a record stands before a change."""

    __slots__ = ("digest", "id", "num", "state", "version")

    def __init__(self, id: str, num: int, version: int, state: State, digest: str) -> None:
        """``digest``: of its text."""
        self.id = id
        self.num = num
        self.version = version
        self.state = state
        self.digest = digest
