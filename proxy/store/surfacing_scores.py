"""What the tuner learns from, out of the record of surfacing: scores with ratings, scores of searches."""

from __future__ import annotations

import sqlite3

from proxy.surface.model import RatedScore, Rating

MOST_RATED = 500
"""Ratings of a tool that are learnt from."""
MOST_OFFERED = 200
"""Searches of a tool whose best scores are looked at."""


def select_rated(
    connection: sqlite3.Connection, upstream: str, tool: str, since: float, limit: int
) -> list[RatedScore]:
    """Ratings that say something about relevance, oldest first, the newest ``limit`` of them."""
    worths = [(one.value, one.worth) for one in Rating if one.worth is not None]
    cases = " ".join(f"WHEN '{name}' THEN {worth}" for name, worth in worths)
    rows = connection.execute(
        f"SELECT verdicts.at, score, CASE rating {cases} END AS worth "
        "FROM events JOIN verdicts ON verdicts.event = number "
        "JOIN shown ON shown.event = number AND shown.memory_id = verdicts.memory_id "
        "WHERE upstream = ? AND tool = ? AND verdicts.at >= ? AND worth IS NOT NULL "
        "ORDER BY verdicts.at DESC, number DESC, position DESC LIMIT ?",
        (upstream, tool, since, limit),
    ).fetchall()
    return [RatedScore(*row) for row in reversed(rows)]


def select_offered(
    connection: sqlite3.Connection, upstream: str, tool: str, limit: int
) -> list[float]:
    """Best scores of the last searches, oldest first."""
    rows = connection.execute(
        "SELECT best_score FROM opportunities WHERE upstream = ? AND tool = ? "
        "AND best_score IS NOT NULL ORDER BY id DESC LIMIT ?",
        (upstream, tool, limit),
    ).fetchall()
    return [score for (score,) in reversed(rows)]


def select_negatives(
    connection: sqlite3.Connection, upstream: str, tool: str, since: float
) -> dict[str, int]:
    """By memory: in how many events it was rated ``not_relevant``."""
    rows = connection.execute(
        "SELECT verdicts.memory_id, count(*) FROM events JOIN verdicts ON event = number "
        "WHERE upstream = ? AND tool = ? AND verdicts.at >= ? AND rating = ? GROUP BY 1",
        (upstream, tool, since, Rating.NOT_RELEVANT.value),
    )
    return dict(rows.fetchall())
