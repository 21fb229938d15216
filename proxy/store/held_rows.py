"""Held answers in SQLite: schema, queries and changes. Bodies are compressed; nothing else is."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proxy.answer_model import HeldView
from proxy.store.database import Migration

WHAT = "store of held texts"

MIGRATIONS = (
    Migration(
        "held answers and their parts",
        (
            # The body comes last: what is listed is then read without it.
            """CREATE TABLE answers (
                key TEXT PRIMARY KEY,
                upstream TEXT NOT NULL,
                tool TEXT NOT NULL,
                bytes INTEGER NOT NULL,
                stored_bytes INTEGER NOT NULL,
                created_at REAL NOT NULL,
                used_at REAL NOT NULL,
                reads INTEGER NOT NULL,
                body BLOB NOT NULL
            )""",
            "CREATE INDEX answers_by_use ON answers (used_at)",
            """CREATE TABLE parts (
                key TEXT NOT NULL,
                whole TEXT NOT NULL REFERENCES answers (key) ON DELETE CASCADE,
                pointer TEXT NOT NULL,
                PRIMARY KEY (key, whole)
            ) WITHOUT ROWID""",
            "CREATE INDEX parts_by_whole ON parts (whole)",
        ),
    ),
)

_VIEW = "key, upstream, tool, bytes, stored_bytes, created_at, used_at, reads"
_COMPRESSION = 1
"""zlib's fastest: 1 MB of JSON takes about 10 ms and a fifth of its size."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What the file holds."""

    answers: int
    bytes: int
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer that is to be held."""

    key: str
    body: bytes
    parts: tuple[tuple[str, str], ...]
    """Key and JSON Pointer of each text in it that has a handle of its own."""
    upstream: str
    tool: str
    created_at: float


@dataclass(frozen=True, slots=True)
class HeldBody:
    """A held text, found by the key of the whole answer or of a part."""

    key: str
    """Of the whole answer."""
    body: bytes
    """The whole ``result``."""
    pointer: str
    """Where in ``body`` the text is; empty: it is the whole."""
    upstream: str
    tool: str


def compressed(body: bytes) -> bytes:
    """As it is stored. Lets other threads run meanwhile."""
    return zlib.compress(body, _COMPRESSION)


def select_sums(connection: sqlite3.Connection) -> Sums:
    """What the file holds."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(bytes), 0), coalesce(sum(stored_bytes), 0) FROM answers"
    ).fetchone()
    return Sums(*row)


def has_answer(connection: sqlite3.Connection, key: str) -> bool:
    """Whether an answer of that key is there."""
    return connection.execute("SELECT 1 FROM answers WHERE key = ?", (key,)).fetchone() is not None


def insert_answer(connection: sqlite3.Connection, answer: NewAnswer, stored: bytes) -> None:
    """Add an answer that is not there yet."""
    connection.execute(
        f"INSERT INTO answers ({_VIEW}, body) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
        (
            answer.key,
            answer.upstream,
            answer.tool,
            len(answer.body),
            len(stored),
            answer.created_at,
            answer.created_at,
            stored,
        ),
    )


def insert_parts(connection: sqlite3.Connection, answer: NewAnswer) -> None:
    """Add the parts of an answer that is there; known ones stay."""
    connection.executemany(
        "INSERT OR IGNORE INTO parts (key, whole, pointer) VALUES (?, ?, ?)",
        [(key, answer.key, pointer) for key, pointer in answer.parts],
    )


def touch(connection: sqlite3.Connection, uses: Mapping[str, tuple[float, int]]) -> None:
    """Note uses: by the key of the whole, when the last one was, and how many reads came with it."""
    connection.executemany(
        "UPDATE answers SET used_at = max(used_at, ?), reads = reads + ? WHERE key = ?",
        [(used_at, reads, key) for key, (used_at, reads) in uses.items()],
    )


def select_body(connection: sqlite3.Connection, key: str) -> HeldBody | None:
    """The text of a whole or of a part; of several wholes with the part, the one used last.

    A body that cannot be uncompressed counts as not there.
    """
    row = connection.execute(
        "SELECT key, body, '', upstream, tool FROM answers WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT answers.key, body, pointer, upstream, tool FROM parts "
            "JOIN answers ON answers.key = whole WHERE parts.key = ? "
            "ORDER BY used_at DESC, answers.key LIMIT 1",
            (key,),
        ).fetchone()
    if row is None:
        return None
    whole, stored, pointer, upstream, tool = row
    try:
        return HeldBody(whole, zlib.decompress(stored), pointer, upstream, tool)
    except zlib.error:
        return None


def select_views(connection: sqlite3.Connection, limit: int) -> list[HeldView]:
    """What is held, used last first."""
    rows = connection.execute(
        f"SELECT {_VIEW} FROM answers ORDER BY used_at DESC, rowid DESC LIMIT ?", (limit,)
    )
    return [HeldView(*row, pinned=False) for row in rows]


def select_view(connection: sqlite3.Connection, key: str) -> HeldView | None:
    """One held answer by the key of the whole."""
    row = connection.execute(f"SELECT {_VIEW} FROM answers WHERE key = ?", (key,)).fetchone()
    return None if row is None else HeldView(*row, pinned=False)


def oldest(connection: sqlite3.Connection) -> Iterable[tuple[str, int, int]]:
    """Key, bytes and stored bytes of all answers, used longest ago first."""
    return connection.execute(
        "SELECT key, bytes, stored_bytes FROM answers ORDER BY used_at, rowid"
    )


def delete_answers(connection: sqlite3.Connection, keys: Iterable[str]) -> int:
    """Delete answers with their parts; returns how many there were."""
    return max(
        0,
        connection.executemany(
            "DELETE FROM answers WHERE key = ?", [(key,) for key in keys]
        ).rowcount,
    )


def shrink(connection: sqlite3.Connection) -> None:
    """Give free pages back to the disk when they are more than a quarter of the file.

    Fewer are left for what comes next. Outside of a transaction.
    """
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if 4 * free > pages:
        # A script, since a single statement would be stepped once, which frees one page.
        connection.executescript("PRAGMA incremental_vacuum")
