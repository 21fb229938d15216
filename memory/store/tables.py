"""The tables of a memory database, the same in SQLite and PostgreSQL.

`journal` and `texts` are the truth; `records` is their projection, kept in the same transaction, and
can be folded anew (`memory.store.check`). The rest is what people decided (proposals, dismissals, plans,
runs), what must count once (outcomes, supporters, credits), and what can be computed again (vectors,
edges, the index of words, which belongs to `memory.store.text_index`).

Times are microseconds; lists are JSON text; enums are their values. Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()

BIG = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits in both: SQLite needs the plain name for a key that is the row's number."""

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

journal = Table(
    "journal",
    metadata,
    Column("seq", BIG, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("space", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("entity", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("actor", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("patch", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Index("journal_entity", "entity_id", "seq"),
    Index("journal_space", "space", "seq"),
)

texts = Table(
    "texts",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("salt", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("norm_hash", Text, nullable=False),
)
"""Every text that a record ever had. The digest is salted, so that it tells nothing once the row is gone."""

records = Table(
    "records",
    metadata,
    Column("num", BIG, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("space", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("norm_hash", Text, nullable=False),
    Column("recorded_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("changed_seq", BigInteger, nullable=False),
    Column("origin", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("source_ref", Text, nullable=False),
    Column("trust", Integer, nullable=False),
    Column("importance", Double, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("category", Text, nullable=False),
    Column("domain", Text),
    Column("pinned", Boolean, nullable=False),
    Column("flags", Text, nullable=False),
    Column("related_ids", Text, nullable=False),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Column("session_id", Text),
    Column("turn_number", BigInteger),
    Column("state_reason", Text, nullable=False),
    Column("state_at", BigInteger, nullable=False),
    Column("superseded_by", Text, nullable=False),
    Column("supersedes", Text, nullable=False),
    Column("support", Integer, nullable=False),
    Column("use_count", Integer, nullable=False),
    Column("first_used", BigInteger),
    Column("last_used", BigInteger),
    Column("successes", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Index("records_by_state", "space", "state", "recorded_at", "num"),
    Index("records_by_kind", "space", "kind", "state", "recorded_at", "num"),
    Index("records_by_change", "changed_seq"),
    Index("records_by_space_and_change", "space", "changed_seq"),
    Index("records_by_session", "space", "session_id", "state", "recorded_at"),
    Index("records_by_text", "space", "kind", "content_hash"),
    Index("records_by_norm", "space", "kind", "norm_hash"),
)

supporters = Table(
    "supporters",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("actor", Text, primary_key=True),
    Column("session", Text, primary_key=True),
)
"""Who stored a text: each counts once."""

request_keys = Table(
    "request_keys",
    metadata,
    Column("space", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("record_id", Text, nullable=False),
)
"""Idempotency keys of stored records."""

credited_uses = Table(
    "credited_uses",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("source", Text, nullable=False),
)
"""Credited uses; ``day`` counts UTC days since 1970."""

outcomes = Table(
    "outcomes",
    metadata,
    Column("seq", BIG, primary_key=True, autoincrement=False),
    Column("record_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("key", Text),
    Column("success", Boolean, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("note", Text, nullable=False),
    Index("outcomes_of_record", "record_id", "seq"),
    Index("outcomes_by_key", "record_id", "key", unique=True),
)
"""``key`` is NULL when the caller gave none; NULLs are never equal."""

proposals = Table(
    "proposals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("space", Text, nullable=False),
    Column("keep", Text, nullable=False),
    Column("replace", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("similarity", Double, nullable=False),
    Column("proposer", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("agent_verdict", Text, nullable=False),
    Column("valid_to", BigInteger),
    Column("plan_hash", Text, nullable=False),
    Column("decided_at", BigInteger),
    Column("decided_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("members", Text, nullable=False),
    Index("proposals_by_state", "space", "state", "created_at", "id"),
    Index("proposals_by_members", "members"),
)
"""``members``: the sorted ids of all records in it, so that a pair is found in either direction."""

proposal_records = Table(
    "proposal_records",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("proposal_id", Text, primary_key=True),
)

dismissals = Table(
    "dismissals",
    metadata,
    Column("first_id", Text, primary_key=True),
    Column("second_id", Text, primary_key=True),
    Column("first_hash", Text, primary_key=True),
    Column("second_hash", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Index("dismissals_of_second", "second_id"),
)
"""Pairs that a person wants to keep, by id (first < second) and content hash of that time."""

plans = Table(
    "plans",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("space", Text, nullable=False),
    Column("saved_at", BigInteger, nullable=False),
    Column("saved_seq", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Index("plans_by_space", "space", "saved_seq"),
)

stale_seen = Table(
    "stale_seen",
    metadata,
    Column("record_id", Text, primary_key=True),
    Column("space", Text, nullable=False),
    Column("first_at", BigInteger, nullable=False),
    Index("stale_seen_by_space", "space"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("space", Text, nullable=False),
    Column("plan_hash", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("archived", Integer, nullable=False),
    Column("by_reason", Text, nullable=False),
    Column("undone_at", BigInteger),
    Column("would_have_hit", Integer, nullable=False),
    Index("runs_by_space", "space", "at", "id"),
)

run_records = Table(
    "run_records",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("record_id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Index("run_records_of_record", "record_id"),
)
"""What a run changed, with the version that the record got by it."""

models = Table(
    "models",
    metadata,
    Column("id", Text, primary_key=True),
    Column("added_at", BigInteger, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("model_id", Text, primary_key=True),
    Column("num", BigInteger, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("vectors_of_record", "num"),
    Index("vectors_by_change", "model_id", "seq"),
)
"""``seq`` grows with every vector that is put, also in place of another one, and is never given twice."""

outbox = Table(
    "outbox",
    metadata,
    Column("model_id", Text, primary_key=True),
    Column("num", BigInteger, primary_key=True),
)
"""Records whose current text has no vector of a known model yet."""

edges = Table(
    "edges",
    metadata,
    Column("older", BigInteger, primary_key=True),
    Column("newer", BigInteger, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("similarity", Double, nullable=False),
    Column("klass", Text, nullable=False),
    Column("score", Double, nullable=False),
    Index("edges_of_newer", "newer"),
)
