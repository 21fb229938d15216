"""Erasing a text for ever, by request of the person. Imports SQLAlchemy: load lazily.

What goes: every version of the text, its words, vectors, neighbours, the notes of its outcomes, the words
in the evidence of proposals, dismissals. What stays is a tombstone and the journal, in which the text is
only a digest whose salt is gone, too. `Store.purge_files` then clears the files of what was deleted.
"""

from __future__ import annotations

from sqlalchemy import bindparam, delete, func, select, update

from memory.api import Receipt
from memory.errors import FaultCode, MemoryFault
from memory.model import ProposalState, State
from memory.store.deciding import DecidedWriting
from memory.store.journal import EXPUNGED
from memory.store.tables import dismissals, edges, outcomes, stale_seen, texts, vectors
from memory.store.using import UseWriting

PURGE_DUE = "purge_due"
"""Key: the database's files may still have bytes of what was erased."""
VECTORS_DUE = "vectors_due"
"""Key: an index beside the database may still have its vector."""

_TEXT_COUNT = select(func.count()).select_from(texts).where(texts.c.record_id == bindparam("id"))
_VECTOR_COUNT = select(func.count()).select_from(vectors).where(vectors.c.num == bindparam("num"))
_EDGE_COUNT = (
    select(func.count())
    .select_from(edges)
    .where((edges.c.older == bindparam("num")) | (edges.c.newer == bindparam("num")))
)
_DROP_TEXTS = delete(texts).where(texts.c.record_id == bindparam("b_id"))
_DROP_DISMISSALS = delete(dismissals).where(
    (dismissals.c.first_id == bindparam("b_id")) | (dismissals.c.second_id == bindparam("b_id"))
)
_DROP_STALE = delete(stale_seen).where(stale_seen.c.record_id == bindparam("b_id"))
_CLEAR_NOTES = (
    update(outcomes)
    .where(outcomes.c.record_id == bindparam("b_id"), outcomes.c.note != "")
    .values(note="")
)


class ExpungeWriting(UseWriting, DecidedWriting):
    """Erasing."""

    def expunge(self, id: str, reason: str) -> Receipt:
        """Erase a record's text. Raises ``NOT_FOUND``, and ``REFUSED`` when it was erased before.

        Words of it that somebody repeated elsewhere (in another record, in a reason) are not found here.
        """
        standing = self._standing(id)
        if standing.state is State.EXPUNGED:
            raise MemoryFault(FaultCode.REFUSED, f"{id} was erased before.")
        num = standing.num
        count = self._connection.execute
        places = [
            f"Texts: {count(_TEXT_COUNT, {'id': id}).scalar_one()} versions.",
            "Index of words: 1 entry.",
            f"Vectors: {count(_VECTOR_COUNT, {'num': num}).scalar_one()}.",
            f"Neighbours: {count(_EDGE_COUNT, {'num': num}).scalar_one()}.",
            f"Notes of outcomes: {count(_CLEAR_NOTES, {'b_id': id}).rowcount}.",
            f"Evidence of proposals: {self._clear_evidence(id)}.",
        ]
        for statement in (_DROP_TEXTS, _DROP_DISMISSALS, _DROP_STALE):
            self._connection.execute(statement, {"b_id": id})
        self._words.remove(self._connection, self.space, num)
        self.delete_vectors(num)
        self.drop_edges(num)
        self._set(
            num,
            id,
            EXPUNGED,
            standing.version + 1,
            {"state": State.EXPUNGED.value, "state_reason": reason, "state_at": self.at},
            unjournaled={"content_hash": standing.digest, "norm_hash": ""},
        )
        self._put(PURGE_DUE, "1")
        self._put(VECTORS_DUE, "1")
        return Receipt(id, tuple(places))

    def _clear_evidence(self, id: str) -> int:
        """Take the words out of proposals about the record; open ones become stale. How many."""
        found = 0
        for proposal in self.proposals_of(id, 1 << 31):
            evidence = type(proposal.evidence)(proposal.evidence.klass, proposal.evidence.score)
            open_ = proposal.state is ProposalState.OPEN
            state = ProposalState.STALE if open_ else proposal.state
            if evidence != proposal.evidence:
                found += 1
            decided = {"decided_at": self.at, "decided_by": self.actor.name} if open_ else {}
            self.change_proposal(proposal.id, evidence=evidence, state=state, **decided)
        return found
