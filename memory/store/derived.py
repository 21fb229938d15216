"""What can be computed again: vectors, what waits for one, and neighbours. Imports SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from memory.model import Edge, MemoryText, PairClass, State
from memory.store.current import chunks
from memory.store.decided import DecidedReading
from memory.store.rows import text_of
from memory.store.tables import edges, models, outbox, records, texts, vectors


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector as it was put."""

    seq: int
    """Grows with every vector that is put; a replaced one gets a new number."""
    num: int
    vector: bytes


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text that waits for its vector."""

    num: int
    digest: str
    """Names this text; `Writing.put_vectors` wants it, to see that the text is still the same."""
    text: MemoryText


@dataclass(frozen=True, slots=True)
class ModelCount:
    """A model whose vectors are kept."""

    id: str
    vectors: int


_MODEL = select(models.c.id).where(models.c.id == bindparam("model"))
_MODELS = (
    select(models.c.id, func.count(vectors.c.num))
    .select_from(models.outerjoin(vectors, vectors.c.model_id == models.c.id))
    .group_by(models.c.id)
    .order_by(models.c.id)
)
_VECTORS = (
    select(vectors.c.seq, vectors.c.num, vectors.c.vector)
    .where(vectors.c.model_id == bindparam("model"), vectors.c.seq > bindparam("after"))
    .order_by(vectors.c.seq)
    .limit(bindparam("limit"))
)
_VECTORS_OF = select(vectors.c.num, vectors.c.vector).where(
    vectors.c.model_id == bindparam("model"),
    vectors.c.num.in_(bindparam("nums", expanding=True)),
)
_VECTOR_COUNT = (
    select(func.count())
    .select_from(vectors)
    .where(vectors.c.model_id == bindparam("model"), vectors.c.seq <= bindparam("up_to"))
)
_TEXT = (texts.c.record_id == records.c.id) & (texts.c.digest == records.c.digest)
_PENDING = (
    select(records.c.num, records.c.digest, texts.c.body)
    .select_from(outbox.join(records, records.c.num == outbox.c.num).join(texts, _TEXT))
    .where(outbox.c.model_id == bindparam("model"))
    .order_by(outbox.c.num)
    .limit(bindparam("limit"))
)
_PENDING_OF_NEW = (
    select(records.c.num, records.c.digest, texts.c.body)
    .select_from(records.join(texts, _TEXT))
    .order_by(records.c.num)
    .limit(bindparam("limit"))
)
_PENDING_COUNT = (
    select(func.count()).select_from(outbox).where(outbox.c.model_id == bindparam("model"))
)
_older, _newer = records.alias("older_record"), records.alias("newer_record")
_EDGES = select(
    edges.c.older, edges.c.newer, edges.c.similarity, edges.c.klass, edges.c.score, edges.c.model
)
_EDGES_IN = (
    _EDGES.join(_older, _older.c.num == edges.c.older)
    .join(_newer, _newer.c.num == edges.c.newer)
    .where(
        _older.c.space == bindparam("space"),
        _older.c.state == State.ACTIVE.value,
        _newer.c.space == bindparam("space"),
        _newer.c.state == State.ACTIVE.value,
    )
    .order_by(edges.c.older, edges.c.newer, edges.c.model)
)
_EDGES_OF = _EDGES.where(
    (edges.c.older == bindparam("num")) | (edges.c.newer == bindparam("num"))
).order_by(edges.c.older, edges.c.newer, edges.c.model)
_EDGES_AMONG = _EDGES.where(
    edges.c.older.in_(bindparam("olders", expanding=True)),
    edges.c.newer.in_(bindparam("newers", expanding=True)),
)
_LAST = (1 << 63) - 1
_KLASSES = {klass.value: klass for klass in PairClass}


class DerivedReading(DecidedReading):
    """Vectors, what waits for one, and edges."""

    def models(self) -> tuple[ModelCount, ...]:
        """The models that vectors are kept of, by id."""
        return tuple(ModelCount(id, count) for id, count in self.rows(_MODELS))

    def vectors(self, model_id: str, after_seq: int, limit: int) -> list[VectorRow]:
        """Vectors that were put after a number, in that order."""
        values = {"model": model_id, "after": after_seq, "limit": limit}
        return [VectorRow(seq, num, vector) for seq, num, vector in self.rows(_VECTORS, values)]

    def vectors_of(self, model_id: str, nums: Iterable[int]) -> dict[int, bytes]:
        """The vectors of some records; those without one are missing."""
        found: dict[int, bytes] = {}
        for some in chunks([int(num) for num in nums]):
            for num, vector in self.rows(_VECTORS_OF, {"model": model_id, "nums": some}):
                found[num] = vector
        return found

    def vector_count(self, model_id: str, up_to: int | None = None) -> int:
        """How many vectors of a model there are, or are there with a number of at most ``up_to``."""
        values = {"model": model_id, "up_to": _LAST if up_to is None else up_to}
        return int(self._connection.execute(_VECTOR_COUNT, values).scalar_one())

    def pending(self, model_id: str, limit: int) -> list[PendingText]:
        """Records, in any state but expunged, whose text has no vector of the model yet, by number.

        The work is that of the answer. Of a model that was never used, all records are pending.
        """
        query = _PENDING if self._knows(model_id) else _PENDING_OF_NEW
        values = {"model": model_id, "limit": limit} if query is _PENDING else {"limit": limit}
        rows = self.rows(query, values)
        return [PendingText(num, digest, text_of(body)) for num, digest, body in rows]

    def pending_count(self, model_id: str) -> int:
        """How many records `pending` is about."""
        if not self._knows(model_id):
            return self.living_count()
        return int(self._connection.execute(_PENDING_COUNT, {"model": model_id}).scalar_one())

    def edges(self, space: str) -> list[Edge]:
        """Neighbours among the active records of a space."""
        return self._edges(_EDGES_IN, {"space": space})

    def edges_of(self, num: int) -> list[Edge]:
        """The neighbours of one record, whatever their state."""
        return self._edges(_EDGES_OF, {"num": num})

    def edges_among(self, nums: Iterable[int]) -> list[Edge]:
        """Edges whose two records are both among these."""
        some = [int(num) for num in nums]
        return self._edges(_EDGES_AMONG, {"olders": some, "newers": some}) if some else []

    def _knows(self, model_id: str) -> bool:
        return self._connection.execute(_MODEL, {"model": model_id}).first() is not None

    def _edges(self, query: Select[*tuple[Any, ...]], values: dict[str, Any]) -> list[Edge]:
        return [
            Edge(older, newer, similarity, _KLASSES[klass], score, model)
            for older, newer, similarity, klass, score, model in self.rows(query, values)
        ]
