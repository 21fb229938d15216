"""The index of words in SQLite: FTS5, with `memory.store.postings` to rank by. Loads SQLAlchemy and numpy."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    Connection,
    Select,
    Text,
    bindparam,
    column,
    func,
    literal_column,
    select,
    table,
    text,
)

from memory.store.postings import TOKENIZER, Postings, Tokenizer
from memory.store.prepared import PreparedConnection
from memory.store.selection import Selection, Shape, conditions
from memory.store.tables import records
from memory.store.text_index import MOST_TERMS, has_word

MOST_MATCHES = 1_500
"""Records that are ranked for one search, about. What FTS5 ranks takes 2 microseconds each."""
MATCHES_FOR_ONE = 15
"""Records that are ranked for each that is wanted."""
MOST_SHARE = 0.2
"""And not more than this part of the index, unless it is small: what most records have tells nothing."""
FEW = 500
"""An index of so few records is searched for all terms."""
_POOL, _MOST_POOL = 150, 500
"""Least and most of the best that are taken without the selection, to be sifted then."""
_REMEMBERED = 10_000
"""Terms whose number of records is remembered."""
_GROWN = 1.2
"""When the index has grown so much, a term is counted again."""
_MOST_HELD = 2_000_000
"""Pairs of word and record that are kept, 12 bytes each; then they are read again as they are asked for."""


class Fts5Index:
    """FTS5 with Porter stems, without accents, one table for each space: nothing in one counts in another.

    Scores are BM25 over all records of the space. The commonest terms of a search are left out when the
    others find enough: they cost most and tell least.

    What was read of a table is kept and brought up to date by every change that goes through here, so it is
    that of the last journal number. A reader of an older state, or of one beside which a change is under way,
    lets FTS5 rank; a change that another process made has everything read again.
    """

    _SPACE = text("SELECT id FROM word_spaces WHERE space = :space")
    _NEW_SPACE = text("INSERT INTO word_spaces (space) VALUES (:space)")

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        """Number of a space's table."""
        self._unsure: set[str] = set()
        """Spaces whose table was made in a transaction that may have been rolled back since."""
        self._sizes: dict[str, int] = {}
        """By table: about how many records it has."""
        self._counts: dict[tuple[int, str], tuple[int, int]] = {}
        """By table and term: how many records have it, and the size of the table when they were counted."""
        self._tokenizer = Tokenizer()
        self._lock = threading.RLock()
        """Guards all below."""
        self._postings: dict[str, Postings] = {}
        """By table."""
        self._position = -1
        """Number of the last journal entry whose words `_postings` may have."""
        self._changing = False
        """`_postings` has words of a transaction that is not over."""

    def begin(self, position: int) -> None:
        """A transaction that may write begins at this journal number."""
        with self._lock:
            if position != self._position:
                self._postings.clear()
                self._position = position

    def end(self, position: int | None) -> None:
        """It was committed up to this journal number, or rolled back (``None``)."""
        with self._lock:
            if position is not None:
                self._position = position
            elif self._changing:
                self._postings.clear()
            self._changing = False

    def create(self, connection: Connection) -> None:
        """Make the list of spaces where it does not exist; a space gets its table with its first record."""
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS word_spaces (id INTEGER PRIMARY KEY, space TEXT NOT NULL UNIQUE)"
        )

    def add(self, connection: Connection, space: str, num: int, words: str) -> None:
        """Index the words of a record that is not in the index."""
        table = self._table(connection, space) or self._new_table(connection, space)
        connection.exec_driver_sql(f"INSERT INTO {table} (rowid, body) VALUES (?, ?)", (num, words))
        if table in self._sizes:
            self._sizes[table] += 1
        with self._lock:
            self._changing = True
            if postings := self._postings.get(table):
                postings.add(num, self._tokenizer.tokens(words))

    def remove(self, connection: Connection, space: str, num: int) -> None:
        """Forget a record's words; they stay in the pages of the index until `scrub`."""
        table = self._table(connection, space)
        if not table:
            return
        with self._lock:
            self._changing = True
            if postings := self._postings.get(table):
                query = f"SELECT body FROM {table} WHERE rowid = ?"
                for words in connection.exec_driver_sql(query, (num,)).scalars():
                    postings.remove(num, self._tokenizer.tokens(words))
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE rowid = ?", (num,))

    def search(
        self,
        connection: Connection,
        terms: Sequence[str],
        selection: Selection,
        limit: int,
        position: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms."""
        asked = [_quoted(term) for term in terms[:MOST_TERMS] if has_word(term)]
        table = self._table(connection, selection.space)
        if not asked or not table:
            return []
        most = min(MOST_MATCHES, limit * MATCHES_FOR_ONE)
        with self._lock:
            postings = self._current(connection, table, position)
            if postings is not None:
                return self._ranked(
                    connection, table, postings, asked, most, selection, limit, allowed
                )
        match = " OR ".join(self._telling(connection, table, asked, most))
        found = self._best(connection, table, match, selection, limit)
        # BM25 of FTS5 is negative, and better the lower. It is 0 for a word that almost all records have.
        return [(num, max(-score, 1e-9)) for num, score in found]

    def _current(self, connection: Connection, table: str, position: int) -> Postings | None:
        """What is known of a table, if that is what the connection sees."""
        if not _writes(connection):
            if self._changing or position < self._position:
                return None
            if position > self._position:  # another process wrote
                self._postings.clear()
                self._position = position
        found = self._postings.get(table)
        if found is None or found.held > _MOST_HELD:
            query = f"SELECT id, sz FROM {table}_docsize ORDER BY id"
            rows = connection.exec_driver_sql(query)
            found = self._postings[table] = Postings((num, _number(size)) for num, size in rows)
        return found

    def _ranked(
        self,
        connection: Connection,
        table: str,
        postings: Postings,
        asked: Sequence[str],
        most: int,
        selection: Selection,
        limit: int,
        allowed: NDArray[np.bool_] | None,
    ) -> list[tuple[int, float]]:
        """`search` in what is known of the table."""
        cut = dict(zip(asked, self._tokenizer.terms(asked), strict=True))
        counts = {term: postings.count(tokens) for term, tokens in cut.items()}
        telling = [cut[term] for term in self._telling(connection, table, asked, most, counts)]
        for term in telling:
            if postings.count(term) is None:
                postings.put(term, self._places(connection, table, term))
        if allowed is not None:
            return postings.ranked(telling, limit, allowed)
        every = postings.ranked(telling, 1 << 31, None)
        found: list[tuple[int, float]] = []
        for start in range(0, len(every), _MOST_POOL):
            some = every[start : start + _MOST_POOL]
            taken = _taken(connection, selection, [num for num, _ in some])
            found += [(num, score) for num, score in some if num in taken]
            if len(found) >= limit:
                break
        return found[:limit]

    def _places(
        self, connection: Connection, table: str, term: Sequence[str]
    ) -> list[Sequence[tuple[int, int]]]:
        """By token of a term: where it is, as (number of the record, tokens before it)."""
        name = f"temp.{table}_places"
        connection.exec_driver_sql(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', '{table}', 'instance')"
        )
        query = f"SELECT doc, offset FROM {name} WHERE term = ?"
        return [connection.exec_driver_sql(query, (token,)).all() for token in term]

    def _best(
        self, connection: Connection, table: str, match: str, selection: Selection, limit: int
    ) -> Iterable[tuple[int, float]]:
        """The best of those that the selection takes.

        Looking up what the selection asks takes as long as ranking, so it is done for the best ones first.
        """
        pool = max(2 * limit, _POOL)
        if pool <= _MOST_POOL:
            query = f"SELECT rowid, bm25({table}) FROM {table} WHERE {table} MATCH ? ORDER BY 2, 1 LIMIT ?"
            best = connection.exec_driver_sql(query, (match, pool)).all()
            if not best:
                return []
            taken = _taken(connection, selection, [num for num, _ in best])
            found = [(num, score) for num, score in best if num in taken]
            if len(found) >= limit or len(best) < pool:
                return found[:limit]
        values = {**selection.values(), "match": match, "limit": limit}
        return connection.execute(_fts5_search(selection.shape, table), values)

    def nums(self, connection: Connection) -> set[int]:
        """The numbers of all indexed records."""
        found: set[int] = set()
        for name in self._tables(connection):
            found.update(connection.exec_driver_sql(f"SELECT id FROM {name}_docsize").scalars())
        return found

    def scrub(self, connection: Connection) -> None:
        """Write the index anew from its own texts. Some 30 µs per record."""
        self._counts.clear()
        self._sizes.clear()
        self._tokenizer.forget()
        with self._lock:
            self._postings.clear()
        for name in self._tables(connection):
            connection.exec_driver_sql(f"INSERT INTO {name} ({name}) VALUES ('rebuild')")

    def _table(self, connection: Connection, space: str) -> str:
        """The table of a space; empty when it has none yet."""
        id = self._ids.get(space)
        if id is None:
            id = connection.execute(self._SPACE, {"space": space}).scalar_one_or_none()
            if id is None:
                return ""
            if space not in self._unsure or not _writes(connection):
                self._unsure.discard(space)
                self._ids[space] = id
        return f"words_{id}"

    def _new_table(self, connection: Connection, space: str) -> str:
        self._unsure.add(space)
        connection.execute(self._NEW_SPACE, {"space": space})
        id = connection.execute(self._SPACE, {"space": space}).scalar_one()
        connection.exec_driver_sql(
            f"CREATE VIRTUAL TABLE words_{id} USING fts5(body, tokenize = '{TOKENIZER}')"
        )
        return f"words_{id}"

    def _tables(self, connection: Connection) -> list[str]:
        ids = connection.exec_driver_sql("SELECT id FROM word_spaces ORDER BY id").scalars()
        return [f"words_{id}" for id in ids]

    def _telling(
        self,
        connection: Connection,
        table: str,
        terms: Sequence[str],
        most_matches: int,
        known: Mapping[str, int | None] | None = None,
    ) -> list[str]:
        """The rarest of the quoted terms: as many as match no more than is allowed, but one that is there.

        ``known``: how many records have a term, as far as that is known.
        """
        size = self._size(connection, table)
        if size <= FEW or len(terms) == 1:
            return list(terms)
        most = min(most_matches, size * MOST_SHARE)
        counts: dict[str, int] = {}
        for term in terms:
            count = known.get(term) if known else None
            counts[term] = self._count(connection, table, term, size) if count is None else count
        kept: list[str] = []
        matches = 0
        for term in sorted(terms, key=counts.__getitem__):
            if matches and matches + counts[term] > most:
                break
            matches += counts[term]
            kept.append(term)
        return kept

    def _size(self, connection: Connection, table: str) -> int:
        """About how many records a table has: counted once, which takes a millisecond for 20,000."""
        size = self._sizes.get(table)
        if size is None:
            counted = connection.exec_driver_sql(f"SELECT count(*) FROM {table}_docsize")
            size = self._sizes[table] = int(counted.scalar_one())
        return size

    def _count(self, connection: Connection, table: str, term: str, size: int) -> int:
        """About how many records have the term."""
        key = (int(table.removeprefix("words_")), term)
        known = self._counts.get(key)
        if known is not None and known[1] / _GROWN <= size <= known[1] * _GROWN:
            return known[0]
        count = int(
            connection.exec_driver_sql(
                f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (term,)
            ).scalar_one()
        )
        if len(self._counts) >= _REMEMBERED:
            self._counts.clear()
        self._counts[key] = (count, size)
        return count


def _taken(connection: Connection, selection: Selection, nums: list[int]) -> set[int]:
    """Those that the selection takes."""
    values = {**selection.values(), "nums": nums}
    return set(connection.execute(_those_of(selection.shape), values).scalars())


def _number(varint: bytes) -> int:
    """The first number of FTS5's row of sizes: 7 bits of each byte, the highest first."""
    number = 0
    for byte in varint:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number


@lru_cache(maxsize=256)
def _those_of(shape: Shape) -> Select[*tuple[Any, ...]]:
    among = records.c.num.in_(bindparam("nums", expanding=True))
    return select(records.c.num).where(among, *conditions(shape))


@lru_cache(maxsize=256)
def _fts5_search(shape: Shape, name: str) -> Select[*tuple[Any, ...]]:
    words = table(name, column("rowid"))
    score = func.bm25(literal_column(name, Text()))
    match = literal_column(name, Text()).op("MATCH")(bindparam("match"))
    return (
        select(words.c.rowid, score)
        .select_from(words.join(records, records.c.num == words.c.rowid))
        .where(match, *conditions(shape))
        .order_by(score, words.c.rowid)
        .limit(bindparam("limit"))
    )


def _writes(connection: Connection) -> bool:
    """Whether what it sees may still be rolled back."""
    return isinstance(connection, PreparedConnection) and connection.writes


def _quoted(term: str) -> str:
    clean = term.replace("\0", " ").encode("utf-8", "replace").decode()
    return '"' + clean.replace('"', '""') + '"'
