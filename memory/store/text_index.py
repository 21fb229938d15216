"""The index of words: FTS5 in SQLite, a GIN index over ``tsvector`` in PostgreSQL, behind one protocol.

Every record that has a text is in it, whatever its state; a search joins the records and filters there.
What is indexed is made by `memory.text.index_text`. Terms are always quoted, so that nothing in a query
is ever read as the syntax of the index. Imports SQLAlchemy: load lazily.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

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
from sqlalchemy.sql.elements import ColumnElement

from memory.store.prepared import PreparedConnection
from memory.store.selection import Selection, Shape, conditions
from memory.store.tables import records

MOST_TERMS = 64
"""Terms of one search that count."""
MOST_MATCHES = 1_500
"""Records that FTS5 ranks for one search, about; each takes 2 microseconds."""
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


class TextIndex(Protocol):
    """Finds records by words."""

    def create(self, connection: Connection) -> None:
        """Make the index where it does not exist."""
        ...

    def add(self, connection: Connection, space: str, num: int, words: str) -> None:
        """Index the words of a record of a space that is not in the index."""
        ...

    def remove(self, connection: Connection, space: str, num: int) -> None:
        """Forget the words of a record of a space."""
        ...

    def search(
        self,
        connection: Connection,
        terms: Sequence[str],
        selection: Selection,
        limit: int,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms: number and score (> 0), best first, ties by number."""
        ...

    def nums(self, connection: Connection) -> set[int]:
        """The numbers of all indexed records."""
        ...

    def scrub(self, connection: Connection) -> None:
        """Make the index anew, so that no word of a removed record is left in it."""
        ...


class Fts5Index:
    """FTS5 with Porter stems, without accents, one table for each space: nothing in one counts in another.

    Scores are BM25 over all records of the space. The commonest terms of a search are left out when the
    others find enough: they cost most and tell least.
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

    def remove(self, connection: Connection, space: str, num: int) -> None:
        """Forget a record's words; they stay in the pages of the index until `scrub`."""
        if table := self._table(connection, space):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE rowid = ?", (num,))

    def search(
        self,
        connection: Connection,
        terms: Sequence[str],
        selection: Selection,
        limit: int,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms."""
        asked = [_quoted(term) for term in terms[:MOST_TERMS] if _has_word(term)]
        table = self._table(connection, selection.space)
        if not asked or not table:
            return []
        most = min(MOST_MATCHES, limit * MATCHES_FOR_ONE)
        match = " OR ".join(self._telling(connection, table, asked, most))
        found = self._best(connection, table, match, selection, limit)
        # BM25 of FTS5 is negative, and better the lower. It is 0 for a word that almost all records have.
        return [(num, max(-score, 1e-9)) for num, score in found]

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
            values = {**selection.values(), "nums": [num for num, _ in best]}
            taken = set(connection.execute(_those_of(selection.shape), values).scalars())
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
            f"CREATE VIRTUAL TABLE words_{id} USING fts5"
            "(body, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        return f"words_{id}"

    def _tables(self, connection: Connection) -> list[str]:
        ids = connection.exec_driver_sql("SELECT id FROM word_spaces ORDER BY id").scalars()
        return [f"words_{id}" for id in ids]

    def _telling(
        self, connection: Connection, table: str, terms: Sequence[str], most_matches: int
    ) -> list[str]:
        """The rarest of the quoted terms: as many as match no more than is allowed, but one that is there."""
        size = self._size(connection, table)
        if size <= FEW or len(terms) == 1:
            return list(terms)
        most = min(most_matches, size * MOST_SHARE)
        counts = {term: self._count(connection, table, term, size) for term in terms}
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


class PostgresIndex:
    """English stems in a ``tsvector``. Scores are those of ``ts_rank_cd``."""

    _INSERT = text("INSERT INTO words (num, body) VALUES (:num, to_tsvector('english', :body))")
    _DELETE = text("DELETE FROM words WHERE num = :num")

    def create(self, connection: Connection) -> None:
        """Make the table and its index where they do not exist."""
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS words (num BIGINT PRIMARY KEY, body TSVECTOR NOT NULL)"
        )
        connection.exec_driver_sql(
            "CREATE INDEX IF NOT EXISTS words_by_word ON words USING gin (body)"
        )

    def add(self, connection: Connection, space: str, num: int, words: str) -> None:
        """Index the words of a record that is not in the index."""
        connection.execute(self._INSERT, {"num": num, "body": _fit(_plain(words))})

    def remove(self, connection: Connection, space: str, num: int) -> None:
        """Forget a record's words."""
        connection.execute(self._DELETE, {"num": num})

    def search(
        self,
        connection: Connection,
        terms: Sequence[str],
        selection: Selection,
        limit: int,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms."""
        asked = [_plain(term) for term in terms[:MOST_TERMS] if _has_word(term)]
        if not asked:
            return []
        values = {**selection.values(), "limit": limit}
        values |= {f"term_{place}": term for place, term in enumerate(asked)}
        found = connection.execute(_postgres_search(selection.shape, len(asked)), values)
        return [(num, max(float(score), 1e-9)) for num, score in found]

    def nums(self, connection: Connection) -> set[int]:
        """The numbers of all indexed records."""
        return set(connection.exec_driver_sql("SELECT num FROM words").scalars())

    def scrub(self, connection: Connection) -> None:
        """Nothing: ``VACUUM FULL`` writes the table and its index anew."""


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


@lru_cache(maxsize=512)
def _postgres_search(shape: Shape, terms: int) -> Select[*tuple[Any, ...]]:
    words = table("words", column("num"), column("body"))
    asked: ColumnElement[Any] = _phrase(0)
    for place in range(1, terms):
        asked = asked.op("||")(_phrase(place))
    score = func.ts_rank_cd(words.c.body, asked)
    return (
        select(words.c.num, score)
        .select_from(words.join(records, records.c.num == words.c.num))
        .where(words.c.body.op("@@")(asked), *conditions(shape))
        .order_by(score.desc(), words.c.num)
        .limit(bindparam("limit"))
    )


def _phrase(place: int) -> ColumnElement[Any]:
    language = literal_column("'english'", Text())
    return func.phraseto_tsquery(language, bindparam(f"term_{place}", type_=Text()))


def _writes(connection: Connection) -> bool:
    """Whether what it sees may still be rolled back."""
    return isinstance(connection, PreparedConnection) and connection.writes


def _quoted(term: str) -> str:
    clean = term.replace("\0", " ").encode("utf-8", "replace").decode()
    return '"' + clean.replace('"', '""') + '"'


def _has_word(term: str) -> bool:
    """A term of nothing but signs has no token, which FTS5 would report as a mistake in syntax."""
    return any(character.isalnum() for character in term)


def _plain(words: str) -> str:
    """Without accents, NUL and halves of characters; PostgreSQL takes none of the last two."""
    whole = words.replace("\0", " ").encode("utf-8", "replace").decode()
    split = unicodedata.normalize("NFKD", whole)
    return unicodedata.normalize("NFC", "".join(c for c in split if not unicodedata.combining(c)))


_MOST_CHARACTERS = 250_000


def _fit(words: str) -> str:
    """A ``tsvector`` holds up to 1 MB; words behind that are not found."""
    return words[:_MOST_CHARACTERS]
