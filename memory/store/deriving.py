"""Keeping vectors and neighbours. Nothing here is journaled. Imports SQLAlchemy: load lazily."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, delete, insert, literal, select

from memory.model import Edge
from memory.store.current import chunks
from memory.store.recording import Recording
from memory.store.tables import edges, meta, models, outbox, records, texts, vectors

_META = select(meta.c.value).where(meta.c.key == bindparam("key"))
_SEQ = {"key": "vector_seq"}
_INSERT_MODEL = insert(models)
_DROP_MODEL = delete(models).where(models.c.id == bindparam("b_model"))
_INSERT_VECTOR = insert(vectors)
_DROP_SOME = delete(vectors).where(
    vectors.c.model_id == bindparam("b_model"),
    vectors.c.num.in_(bindparam("nums", expanding=True)),
)
_DROP_ALL = delete(vectors).where(vectors.c.model_id == bindparam("b_model"))
_DONE = delete(outbox).where(
    outbox.c.model_id == bindparam("b_model"), outbox.c.num.in_(bindparam("nums", expanding=True))
)
_DROP_OUTBOX = delete(outbox).where(outbox.c.model_id == bindparam("b_model"))
_DIGESTS = select(records.c.num, records.c.digest, records.c.content_hash).where(
    records.c.num.in_(bindparam("nums", expanding=True))
)
_INSERT_EDGE = insert(edges)
_DROP_EDGE = delete(edges).where(
    edges.c.older == bindparam("b_older"),
    edges.c.newer == bindparam("b_newer"),
    edges.c.model == bindparam("b_model"),
)


class DerivedWriting(Recording):
    """Changes of vectors and edges."""

    def add_model(self, model_id: str) -> None:
        """From now on every text waits for a vector of this model, too. Known already: nothing."""
        if self._knows(model_id):
            return
        self._connection.execute(_INSERT_MODEL, {"id": model_id, "added_at": self.at})
        living = select(literal(model_id), records.c.num).join(
            texts, (texts.c.record_id == records.c.id) & (texts.c.digest == records.c.digest)
        )
        self._connection.execute(insert(outbox).from_select(["model_id", "num"], living))

    def put_vectors(self, model_id: str, rows: Iterable[tuple[int, str, bytes]]) -> int:
        """Keep vectors of a model: (num, digest of the text, float16 bytes); how many were kept.

        The digest is `PendingText.digest`, or `Record.content_hash` for a text of this transaction. A
        vector whose record has another text by now is left out: that text is pending still.
        """
        given = {num: (digest, vector) for num, digest, vector in rows}
        self.add_model(model_id)
        seq = int(self._connection.execute(_META, _SEQ).scalar_one_or_none() or 0)
        kept: list[dict[str, object]] = []
        for nums in chunks(sorted(given)):
            for num, *digests in self.rows(_DIGESTS, {"nums": nums}):
                digest, vector = given[num]
                if digest in digests:
                    row = {"model_id": model_id, "num": num, "vector": vector}
                    kept.append({**row, "seq": seq + len(kept) + 1})
        if not kept:
            return 0
        for some in chunks([row["num"] for row in kept]):
            values = {"b_model": model_id, "nums": some}
            self._connection.execute(_DROP_SOME, values)
            self._connection.execute(_DONE, values)
        self._connection.execute(_INSERT_VECTOR, kept)
        self._put("vector_seq", str(seq + len(kept)))
        return len(kept)

    def put_first_vector(self, model_id: str, num: int, vector: bytes) -> int:
        """Keep the vector of a record that was stored in this transaction; `VectorRow.seq` of it."""
        self.add_model(model_id)
        seq = int(self._connection.execute(_META, _SEQ).scalar_one_or_none() or 0) + 1
        self._connection.execute(_DONE, {"b_model": model_id, "nums": [num]})
        row = {"model_id": model_id, "num": num, "vector": vector, "seq": seq}
        self._connection.execute(_INSERT_VECTOR, row)
        self._put("vector_seq", str(seq))
        return seq

    def drop_model(self, model_id: str) -> None:
        """Delete a model's vectors, and let no text wait for one of it."""
        for statement in (_DROP_ALL, _DROP_OUTBOX, _DROP_MODEL):
            self._connection.execute(statement, {"b_model": model_id})

    def clear_outbox(self, model_id: str, nums: Iterable[int]) -> None:
        """These records get no vector of the model, for example since it cannot take their text."""
        self.add_model(model_id)
        for some in chunks([int(num) for num in nums]):
            self._connection.execute(_DONE, {"b_model": model_id, "nums": some})

    def put_edges(self, new: Iterable[Edge], *, first: bool = False) -> None:
        """Keep neighbours, in place of an edge of the same two records and model.

        ``first``: one of the two was stored in this transaction, so there is no earlier edge.
        """
        rows = {(edge.older, edge.newer, edge.model): edge for edge in new}
        if not rows:
            return
        if not first:
            self._connection.execute(
                _DROP_EDGE,
                [
                    {"b_older": older, "b_newer": newer, "b_model": model}
                    for older, newer, model in rows
                ],
            )
        self._connection.execute(
            _INSERT_EDGE,
            [
                {
                    "older": edge.older,
                    "newer": edge.newer,
                    "model": edge.model,
                    "similarity": edge.similarity,
                    "klass": edge.klass.value,
                    "score": edge.score,
                }
                for edge in rows.values()
            ],
        )
