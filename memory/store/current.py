"""Records as they are now: one by one, by pages, by words. Loads SQLAlchemy and numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, case, func, select

from memory.api import KindCount, Order, SessionSummary
from memory.model import Instant, JournalEntry, Kind, Record, State
from memory.store import selection as selecting
from memory.store.journal import first_hash
from memory.store.rows import (
    Saying,
    Standing,
    entry_of,
    record_of,
    saying_of,
    select_records,
    select_sayings,
    select_standings,
    standing_of,
)
from memory.store.selection import Selection, Shape
from memory.store.tables import journal, meta, records, request_keys
from memory.store.text_index import TextIndex

T = TypeVar("T")

PAGE = 500
"""Values of one ``IN``."""


class RecordColumns(NamedTuple):
    """What masks and vector indexes need of a record; small and cheap, for many at once."""

    num: int
    id: str
    space: str
    kind: Kind
    state: State
    valid_from: Instant | None
    valid_to: Instant | None
    recorded_at: Instant
    changed_seq: int


@dataclass(frozen=True, slots=True)
class Head:
    """The journal's last entry."""

    seq: int
    at: Instant
    hash: str


_LAST = (
    select(journal.c.seq, journal.c.at, journal.c.hash)
    .order_by(journal.c.seq.desc())
    .limit(bindparam("limit"))
)
_META = select(meta.c.value).where(meta.c.key == bindparam("key"))
_RECORD = select_records().where(records.c.id == bindparam("id"))
_RECORDS = select_records().where(records.c.id.in_(bindparam("ids", expanding=True)))
_AMONG = records.c.num.in_(bindparam("nums", expanding=True))
_NUMBERED = select_records().where(_AMONG)
_SAYINGS = select_sayings().where(_AMONG)
_STANDINGS = select_standings().where(_AMONG)
_PREFIXED = (
    select_records()
    .where(
        records.c.space == bindparam("space"),
        records.c.id >= bindparam("low"),
        records.c.id < bindparam("high"),
    )
    .order_by(records.c.id)
    .limit(bindparam("limit"))
)
_COUNT = (
    select(records.c.kind, records.c.state, func.count())
    .where(records.c.space == bindparam("space"))
    .group_by(records.c.kind, records.c.state)
)
_SPACES = select(records.c.space).distinct().order_by(records.c.space)
_LAST_TIME = func.max(records.c.recorded_at)
_SESSIONS = (
    select(records.c.session_id, _LAST_TIME, func.count())
    .where(
        records.c.space == bindparam("space"),
        records.c.session_id.is_not(None),
        records.c.state == State.ACTIVE.value,
    )
    .group_by(records.c.session_id)
    .order_by(_LAST_TIME.desc(), records.c.session_id)
    .limit(bindparam("limit"))
)
_SAME_TEXT = (
    select_records()
    .where(
        records.c.space == bindparam("space"),
        records.c.kind == bindparam("kind"),
        records.c.content_hash == bindparam("hash"),
    )
    .order_by(
        case(
            (records.c.state == State.ACTIVE.value, 0),
            (records.c.state == State.QUARANTINED.value, 1),
            (records.c.state == State.SUPERSEDED.value, 2),
            else_=3,
        ),
        records.c.num,
    )
    .limit(bindparam("limit"))
)
_SAME_NORM = (
    select_records()
    .where(
        records.c.space == bindparam("space"),
        records.c.kind == bindparam("kind"),
        records.c.norm_hash == bindparam("hash"),
    )
    .order_by(records.c.num)
    .limit(bindparam("limit"))
)
_EVERYTHING = 1 << 62
"""Above every journal number."""
_COLUMNS = select(*(records.c[name] for name in RecordColumns._fields))
_CHANGED = _COLUMNS.where(records.c.changed_seq > bindparam("since")).order_by(
    records.c.changed_seq
)
_COLUMNS_OF = _COLUMNS.where(_AMONG)
_RECORD_POSITION = select(func.coalesce(func.max(records.c.changed_seq), 0)).where(
    records.c.space == bindparam("space")
)
_LIVING = select(func.count()).select_from(records).where(records.c.state != State.EXPUNGED.value)
_KEYED = select(request_keys.c.record_id).where(
    request_keys.c.space == bindparam("space"), request_keys.c.key == bindparam("key")
)
_KINDS = {kind.value: kind for kind in Kind}
_STATES = {state.value: state for state in State}


class Session:
    """One transaction: its connection and what belongs to the database."""

    def __init__(self, connection: Connection, words: TextIndex, identity: str) -> None:
        """``words``: the index of words of the same database."""
        self._connection = connection
        self._words = words
        self.identity = identity

    def rows(
        self, query: Select[*tuple[Any, ...]], values: dict[str, Any] | None = None
    ) -> Sequence[Any]:
        """All rows of a query on `memory.store.tables`."""
        return self._connection.execute(query, values or {}).all()

    def _head(self) -> Head:
        row = self._connection.execute(_LAST, {"limit": 1}).one_or_none()
        return Head(0, 0, first_hash(self.identity)) if row is None else Head(*row)

    @property
    def position(self) -> int:
        """The journal's last number; 0 before the first entry."""
        return self._head().seq

    @property
    def lasting_position(self) -> int:
        """What is seen up to this journal number can't be rolled back any more."""
        return _EVERYTHING

    def meta(self, key: str) -> str | None:
        """A value that `Writing.put_meta` kept."""
        return self._connection.execute(_META, {"key": f"user.{key}"}).scalar_one_or_none()


class RecordReading(Session):
    """Records as they are now."""

    def record(self, id: str) -> Record | None:
        """One record, of any space and state."""
        row = self._connection.execute(_RECORD, {"id": id}).one_or_none()
        return None if row is None else record_of(row)

    def records(self, ids: Iterable[str]) -> tuple[Record, ...]:
        """Records in the order asked; unknown ids are left out."""
        asked = list(ids)
        found: dict[str, Record] = {}
        for some in chunks(list(dict.fromkeys(asked))):
            for row in self.rows(_RECORDS, {"ids": some}):
                record = record_of(row)
                found[record.id] = record
        return tuple(found[id] for id in asked if id in found)

    def by_nums(self, nums: Iterable[int]) -> dict[int, Record]:
        """Records by their numbers."""
        found: dict[int, Record] = {}
        for some in chunks([int(num) for num in nums]):
            for row in self.rows(_NUMBERED, {"nums": some}):
                record = record_of(row)
                found[record.num] = record
        return found

    def sayings(self, nums: Iterable[int]) -> dict[int, Saying]:
        """What records say, by their numbers: a third of the work of `by_nums`."""
        found: dict[int, Saying] = {}
        for some in chunks([int(num) for num in nums]):
            for row in self.rows(_SAYINGS, {"nums": some}):
                saying = saying_of(row)
                found[saying.num] = saying
        return found

    def standings(self, nums: Iterable[int]) -> dict[int, Standing]:
        """What places of records depend on, by their numbers."""
        found: dict[int, Standing] = {}
        for some in chunks([int(num) for num in nums]):
            for row in self.rows(_STANDINGS, {"nums": some}):
                standing = standing_of(row)
                found[standing.num] = standing
        return found

    def by_prefix(self, space: str, prefix: str, limit: int = 2) -> tuple[Record, ...]:
        """Records of the space whose id begins with ``prefix`` (not empty), by id."""
        if not prefix:
            return ()
        high = prefix + "\U0010ffff"
        values = {"space": space, "low": prefix, "high": high, "limit": limit}
        return tuple(map(record_of, self.rows(_PREFIXED, values)))

    def keyed_in(self, space: str, key: str) -> Record | None:
        """The record that was stored in the space with this idempotency key."""
        values = {"space": space, "key": key}
        id = self._connection.execute(_KEYED, values).scalar_one_or_none()
        return None if id is None else self.record(id)

    def find(
        self,
        selection: Selection,
        *,
        order: Order = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[tuple[Record, ...], str | None]:
        """A page of records and the cursor of the next page, ``None`` after the last.

        The work is that of the page, not of the pages before it. Raises `MemoryFault` (INVALID) for a
        cursor of another list.
        """
        key = selecting.parse_cursor(order, after) if after else None
        if selection.known_at is not None:
            found = self._find_past(selection, order, key)[: limit + 1]
        else:
            values = {**selection.values(), "limit": limit + 1}
            if key is not None:
                values |= selecting.key_values(key)
            query = _page(selection.shape, order, key is not None)
            found = [(record_of(row), int(row[-2])) for row in self.rows(query, values)]
        page = tuple(record for record, _ in found[:limit])
        if len(found) <= limit or not page:
            return page, None
        return page, selecting.cursor(order, selecting.key_of(order, *found[limit - 1]))

    def _find_past(
        self, selection: Selection, order: Order, after: tuple[int, ...] | None
    ) -> list[tuple[Record, int]]:
        raise NotImplementedError  # in `past`

    def count(self, space: str) -> tuple[KindCount, ...]:
        """How many records of each kind are in each state; only those that are not zero."""
        rows = self.rows(_COUNT, {"space": space})
        counts = [KindCount(_KINDS[kind], _STATES[state], count) for kind, state, count in rows]
        return tuple(sorted(counts, key=lambda one: (one.kind.value, one.state.value)))

    def spaces(self) -> tuple[str, ...]:
        """All spaces that have records, by name."""
        return tuple(self._connection.execute(_SPACES).scalars())

    def sessions(self, space: str, limit: int) -> tuple[SessionSummary, ...]:
        """Conversations with active episodes, newest first."""
        rows = self.rows(_SESSIONS, {"space": space, "limit": limit})
        return tuple(SessionSummary(*row) for row in rows)

    def same_text(
        self, space: str, kind: Kind, content_hash: str, limit: int = 50
    ) -> tuple[Record, ...]:
        """Records with this hash: active, quarantined, superseded, other ones; of each, the oldest first."""
        values = {"space": space, "kind": kind.value, "hash": content_hash, "limit": limit}
        return tuple(map(record_of, self.rows(_SAME_TEXT, values)))

    def same_norm(
        self, space: str, kind: Kind, norm_hash: str, limit: int = 20
    ) -> tuple[Record, ...]:
        """Records of any state with this hash, oldest first."""
        values = {"space": space, "kind": kind.value, "hash": norm_hash, "limit": limit}
        return tuple(map(record_of, self.rows(_SAME_NORM, values)))

    def words(
        self,
        query_terms: Sequence[str],
        selection: Selection,
        limit: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[tuple[int, float]]:
        """Numbers and scores (> 0, higher is better) of the records with any of the terms, best first.

        Terms come from `memory.text.search_terms`; no character in them is syntax. With ``known_at`` the
        records are chosen as of then, by the words that they have now. ``allowed``: by number, whom the
        selection takes; saves looking that up.
        """
        if limit < 1:
            return []
        if selection.known_at is None:
            return self._words.search(
                self._connection, query_terms, selection, limit, self.position, allowed
            )
        chosen = {record.num for record, _ in self._find_past(selection, Order.OLDEST, None)}
        everything = Selection(selection.space, states=())
        most = 1 << 31
        found = self._words.search(self._connection, query_terms, everything, most, self.position)
        return [(num, score) for num, score in found if num in chosen][:limit]

    def indexed_nums(self) -> set[int]:
        """The numbers of all records in the index of words."""
        return self._words.nums(self._connection)

    def record_position(self, space: str) -> int:
        """Number of the last entry about a record of the space; proposals and runs do not count."""
        return int(self._connection.execute(_RECORD_POSITION, {"space": space}).scalar_one())

    def living_count(self) -> int:
        """Records of all spaces that have a text."""
        return int(self._connection.execute(_LIVING).scalar_one())

    def columns(self, since_seq: int = 0) -> list[RecordColumns]:
        """All records (expunged ones, too) that changed after a position, in the order of their change."""
        return list(map(_columns_of, self.rows(_CHANGED, {"since": since_seq})))

    def columns_of(self, nums: Iterable[int]) -> list[RecordColumns]:
        """The same of records by their numbers."""
        return [
            _columns_of(row)
            for some in chunks([int(num) for num in nums])
            for row in self.rows(_COLUMNS_OF, {"nums": some})
        ]

    def last_entries(self, space: str, limit: int) -> tuple[JournalEntry, ...]:
        """The newest journal entries of a space, newest first."""
        query = (
            select(journal)
            .where(journal.c.space == space)
            .order_by(journal.c.seq.desc())
            .limit(limit)
        )
        return tuple(map(entry_of, self.rows(query)))


def _columns_of(row: Sequence[Any]) -> RecordColumns:
    num, id, space, kind, state, *rest = row
    return RecordColumns(num, id, space, _KINDS[kind], _STATES[state], *rest)


@lru_cache(maxsize=512)
def _page(shape: Shape, order: Order, continued: bool) -> Select[*tuple[Any, ...]]:
    # Building a query takes longer than running it.
    query = select_records().where(*selecting.conditions(shape))
    if continued:
        query = query.where(selecting.behind(order))
    return query.order_by(*selecting.order_by(order)).limit(bindparam("limit"))


def chunks(values: list[T]) -> Iterable[list[T]]:
    """The values in lists that are short enough for one ``IN``."""
    return (values[start : start + PAGE] for start in range(0, len(values), PAGE))
