"""Does everything agree? The chain, the texts, the records, the index of words. Imports SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from sqlalchemy import select

from memory.model import Record, State
from memory.store.journal import Fold, chain_problems, text_digest
from memory.store.reading import Reading
from memory.store.rows import StoredText, folded_with, record_of, select_records
from memory.store.tables import records, texts

MOST_PROBLEMS = 100
"""Problems that `verify` tells."""


def verify(reading: Reading) -> tuple[str, ...]:
    """Check everything in one consistent state; a sentence per problem, at most `MOST_PROBLEMS`.

    Reads the whole journal: some 100 µs per entry.
    """
    problems = chain_problems(reading.identity, reading.whole_journal())
    projected = _projection(reading)
    if not problems:  # a journal that was tampered with tells nothing about records
        problems += compare(rebuild(reading), [record for record, _ in projected])
    kept = _texts(reading)
    for (id, _), (salt, digest, text) in kept.items():
        if text_digest(salt, text.body) != digest:
            problems.append(f"A text of {id} does not match its digest.")
    living: set[int] = set()
    for record, digest in projected:
        if (record.id, digest) in kept:
            living.add(record.num)
        elif record.state is not State.EXPUNGED:
            problems.append(f"The text of {record.id} is missing.")
    problems += _differing_words(reading.indexed_nums(), living)
    return tuple(problems[:MOST_PROBLEMS])


def rebuild(reading: Reading, up_to: int | None = None) -> tuple[Record, ...]:
    """The records as the journal and the texts tell them, by number; ``up_to`` an entry's number."""
    fold = Fold()
    for entry in reading.whole_journal():
        if up_to is not None and entry.seq > up_to:
            break
        fold.apply(entry)
    kept = {key: text for key, (_, _, text) in _texts(reading).items()}
    found = (
        folded_with(one, kept.get((str(one.values["id"]), str(one.values["digest"]))))
        for one in fold.records.values()
    )
    return tuple(sorted(found, key=lambda record: record.num))


def compare(rebuilt: Iterable[Record], projected: Iterable[Record]) -> list[str]:
    """Where the records differ from what the journal tells."""
    told = {record.id: record for record in rebuilt}
    problems: list[str] = []
    for record in projected:
        other = told.pop(record.id, None)
        if other is None:
            problems.append(f"{record.id} is not in the journal.")
        elif other != record:
            names = ", ".join(
                one.name
                for one in fields(Record)
                if getattr(other, one.name) != getattr(record, one.name)
            )
            problems.append(f"{record.id} differs from the journal: {names}.")
    problems += [f"{id} is in the journal, but no record." for id in told]
    return problems


def projection(reading: Reading) -> tuple[Record, ...]:
    """All records as they lie in the database, by number."""
    return tuple(record for record, _ in _projection(reading))


def _projection(reading: Reading) -> list[tuple[Record, str]]:
    rows = reading.rows(select_records().order_by(records.c.num))
    return [(record_of(row), str(row[-1])) for row in rows]


def _texts(reading: Reading) -> dict[tuple[str, str], tuple[str, str, StoredText]]:
    rows = reading.rows(
        select(
            texts.c.record_id,
            texts.c.digest,
            texts.c.salt,
            texts.c.body,
            texts.c.content_hash,
            texts.c.norm_hash,
        )
    )
    return {
        (id, digest): (salt, digest, StoredText(body, content_hash, norm_hash))
        for id, digest, salt, body, content_hash, norm_hash in rows
    }


def _differing_words(indexed: set[int], living: set[int]) -> list[str]:
    missing, surplus = living - indexed, indexed - living
    problems: list[str] = []
    if missing:
        problems.append(f"{len(missing)} records are missing in the index of words.")
    if surplus:
        problems.append(f"The index of words has {len(surplus)} records that have no text.")
    return problems
