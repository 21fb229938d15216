"""The index of words, one protocol: `memory.store.fts5` in SQLite, a GIN index in PostgreSQL.

Every record that has a text is in it, whatever its state; a search joins the records and filters there.
What is indexed is made by `memory.text.index_text`. Terms are always quoted, so that nothing in a query
is ever read as the syntax of the index. Loads SQLAlchemy and numpy.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

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
from sqlalchemy.sql.elements import ColumnElement

from memory.store.selection import Selection, Shape, conditions
from memory.store.tables import records

MOST_TERMS = 64
"""Terms of one search that count."""


class TextIndex(Protocol):
    """Finds records by words."""

    def create(self, connection: Connection) -> None:
        """Make the index where it does not exist."""
        ...

    def begin(self, position: int) -> None:
        """A transaction that may change the index begins; ``position``: the last journal number before it."""
        ...

    def end(self, position: int | None) -> None:
        """That transaction was committed with this last journal number, or rolled back (``None``)."""
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
        position: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms: number and score (> 0), best first, ties by number.

        ``position``: the last journal number that the connection sees. ``allowed``: by number, whom the
        selection takes, if that is known already.
        """
        ...

    def nums(self, connection: Connection) -> set[int]:
        """The numbers of all indexed records."""
        ...

    def scrub(self, connection: Connection) -> None:
        """Make the index anew, so that no word of a removed record is left in it."""
        ...


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

    def begin(self, position: int) -> None:
        """Nothing: the server keeps the index."""

    def end(self, position: int | None) -> None:
        """Nothing."""

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
        position: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> list[tuple[int, float]]:
        """The best records with any of the terms."""
        asked = [_plain(term) for term in terms[:MOST_TERMS] if has_word(term)]
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


def has_word(term: str) -> bool:
    """Whether there is anything to find: FTS5 reports a term without a token as a mistake in syntax."""
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
