"""The ledger in the call history's file: sums per local day, upstream and tool. Kept for ever."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proxy.answer_model import SavingsView
from proxy.ledger import Figures, Key, first_day, lines_of
from proxy.store.call_schema import MIGRATIONS
from proxy.store.database import open_for_reading
from proxy.tokens import ENCODING

COLUMNS = (
    "day, upstream, tool, calls, reduced, before_tokens, sent_tokens, fetched_tokens, "
    "notices_tokens, control_tools_tokens, cache_hits"
)


@dataclass(frozen=True, slots=True)
class StoredLedger:
    """What was saved, as it is stored."""

    sums: Mapping[Key, Figures]
    control_tools_tokens: int
    """What our own tools cost in the last tool list."""


NO_LEDGER = StoredLedger({}, 0)


def read_savings(database: Path, days: int, *, now: float) -> SavingsView:
    """The ledger of the last ``days`` local days up to ``now``; 0: of all time.

    Raises `StoreUnavailable`.
    """
    since = first_day(days, now)
    with open_for_reading(database, MIGRATIONS) as connection:
        ledger = NO_LEDGER if connection is None else select_ledger(connection, since)
    return SavingsView(lines_of(ledger.sums, since), ledger.control_tools_tokens, ENCODING)


def select_ledger(connection: sqlite3.Connection, since: str = "") -> StoredLedger:
    """What was saved on the local day ``since`` and later."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM savings WHERE day >= ?", (since,))
    sums: dict[Key, Figures] = {(row[0], row[1], row[2]): row[3:] for row in rows}
    (tokens,) = connection.execute(
        "SELECT coalesce(max(value), 0) FROM facts WHERE name = 'control_tools_tokens'"
    ).fetchone()
    return StoredLedger(sums, int(tokens))


def add_to_ledger(connection: sqlite3.Connection, sums: Mapping[Key, Figures]) -> None:
    """Add sums to those of their day and tool, inside the caller's transaction."""
    names = COLUMNS.split(", ")[3:]
    marks = ", ".join("?" * (3 + len(names)))
    added = ", ".join(f"{name} = {name} + excluded.{name}" for name in names)
    connection.executemany(
        f"INSERT INTO savings ({COLUMNS}) VALUES ({marks}) "
        f"ON CONFLICT (day, upstream, tool) DO UPDATE SET {added}",
        [(*key, *figures) for key, figures in sums.items()],
    )


def store_control_tools_tokens(connection: sqlite3.Connection, tokens: int) -> None:
    """Remember what our own tools cost in a tool list, inside the caller's transaction."""
    connection.execute(
        "INSERT INTO facts VALUES ('control_tools_tokens', ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (tokens,),
    )
