"""What counts for a record without changing it: repeats, outcomes, credited uses. Imports SQLAlchemy.

Counts are incremented in SQL and journaled with the value that came of it; the version stays.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, insert, literal, select, update

from memory.model import DAY
from memory.store.changing import RecordWriting
from memory.store.journal import OUTCOME, RECORD, SEEN_AGAIN
from memory.store.tables import credited_uses, outcomes, records, supporters

_INSERT_CREDIT = insert(credited_uses)
_INSERT_OUTCOME = insert(outcomes)
_UPDATE = update(records).where(records.c.num == bindparam("b_num"))
_SUPPORTER = select(literal(1)).where(
    supporters.c.record_id == bindparam("record_id"),
    supporters.c.actor == bindparam("actor"),
    supporters.c.session == bindparam("session"),
)
_CREDIT = select(literal(1)).where(
    credited_uses.c.record_id == bindparam("record_id"),
    credited_uses.c.session == bindparam("session"),
    credited_uses.c.day == bindparam("day"),
)
_OUTCOME_KEY = select(literal(1)).where(
    outcomes.c.record_id == bindparam("record_id"), outcomes.c.key == bindparam("key")
)
_SEEN_AGAIN = (
    _UPDATE.values(support=records.c.support + 1).returning(records.c.support)
)  # fmt: skip
_USE = _UPDATE.values(
    use_count=records.c.use_count + 1,
    first_used=func.coalesce(records.c.first_used, bindparam("b_at")),
    last_used=bindparam("b_at"),
).returning(records.c.use_count, records.c.first_used, records.c.last_used)
_SUCCESS = _UPDATE.values(successes=records.c.successes + 1).returning(records.c.successes)
_FAILURE = _UPDATE.values(failures=records.c.failures + 1).returning(records.c.failures)


class UseWriting(RecordWriting):
    """Counting."""

    def repeat(self, id: str, note: str = "") -> bool:
        """Its text was stored again: support +1, once per actor and session. Whether it counted."""
        standing = self._standing(id)
        if not self._support(id):
            return False
        row = self._connection.execute(_SEEN_AGAIN, {"b_num": standing.num}).one()
        patch = {"support": row.support, "by_session": self.actor.session, "note": note}
        self._journal(SEEN_AGAIN, RECORD, id, standing.version, patch)
        return True

    def outcome(self, id: str, success: bool, key: str = "", note: str = "") -> bool:
        """A use of the record and how it went. False, and nothing is done, for a ``key`` used before.

        The note is not part of the journal, so that `expunge` can erase it.
        """
        standing = self._standing(id)
        if key and self._is(_OUTCOME_KEY, record_id=id, key=key):
            return False
        patch = self._use(standing.num)
        if success:
            patch["successes"] = self._connection.execute(
                _SUCCESS, {"b_num": standing.num}
            ).scalar_one()
        else:
            patch["failures"] = self._connection.execute(
                _FAILURE, {"b_num": standing.num}
            ).scalar_one()
        patch |= {"success": success, "key": key, "by_session": self.actor.session}
        seq = self._journal(
            "succeeded" if success else "failed", OUTCOME, id, standing.version, patch
        )
        self._connection.execute(
            _INSERT_OUTCOME,
            {
                "seq": seq,
                "record_id": id,
                "version": standing.version,
                "key": key or None,
                "success": success,
                "at": self.at,
                "actor": self.actor.name,
                "note": note,
            },
        )
        return True

    def credit(self, id: str, source: str) -> bool:
        """A use that counts, at most one per record, session and UTC day. Whether it counted."""
        standing = self._standing(id)
        session = self.actor.session or self.actor.name
        day = self.at // DAY
        if self._is(_CREDIT, record_id=id, session=session, day=day):
            return False
        values = {"record_id": id, "session": session, "day": day, "source": source}
        self._connection.execute(_INSERT_CREDIT, values)
        patch = {**self._use(standing.num), "source": source, "by_session": session}
        self._journal("credited", RECORD, id, standing.version, patch)
        return True

    def _support(self, id: str) -> bool:
        """Note who stands behind a text. False: they did before."""
        name, session = self.actor.name, self.actor.session
        who = {"record_id": id, "actor": name, "session": session}
        if self._is(_SUPPORTER, **who):
            return False
        self._stands_behind(id)
        return True

    def _use(self, num: int) -> dict[str, object]:
        row = self._connection.execute(_USE, {"b_num": num, "b_at": self.at}).one()
        return {
            "use_count": row.use_count,
            "first_used": row.first_used,
            "last_used": row.last_used,
        }

    def _is(self, query: Any, **values: object) -> bool:
        return self._connection.execute(query, values).first() is not None
