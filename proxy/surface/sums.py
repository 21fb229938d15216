"""Sums over the record of surfacing, made by SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from proxy.store.surfacing_rows import select_adjustments
from proxy.sums import local_day
from proxy.surface.model import Arm, DayOfRatings, Decision, Rating, ToolHelpfulness
from proxy.surface.tuner import ALL_ADJUSTMENTS, newest_by_tool, threshold_in_force

RECENT_SECONDS = 30 * 86_400.0
"""Shown memories and ratings of so long a time are counted as recent."""
MOST_DAYS = 400
_MOST_SPLITS = 10
"""Slashes of a name at which an upstream's name may end."""

Configured = Callable[[str, str], tuple[float, bool]]
"""An upstream's tool: its threshold by the settings, and whether it was set for this very tool."""


@dataclass(frozen=True, slots=True)
class Which:
    """Which rows are asked for, as SQL over a table with these columns."""

    tool: str = ""
    since: float | None = None

    def events(self, arm: Arm) -> tuple[str, tuple[object, ...]]:
        """A condition over ``events``, and its values."""
        where, values = self.rows("events")
        return f"{where} AND arm = ?", (*values, arm.value)

    def rows(self, table: str) -> tuple[str, tuple[object, ...]]:
        """A condition over any table with ``at``."""
        where, values = self.of_tool()
        if self.since is None:
            return where, values
        return f"{where} AND {table}.at >= ?", (*values, self.since)

    def of_tool(self) -> tuple[str, tuple[object, ...]]:
        """A condition over any table, of whatever time."""
        if not self.tool:
            return "1", ()
        names = self.tool.split("/")
        splits = [("/".join(names[:i]), "/".join(names[i:])) for i in range(1, len(names))]
        terms = ["tool = ?", *["(tool = ? AND upstream = ?)"] * len(splits)]
        values = [value for upstream, tool in splits[:_MOST_SPLITS] for value in (tool, upstream)]
        return f"({' OR '.join(terms[: _MOST_SPLITS + 1])})", (self.tool, *values)


COLUMNS = tuple(rating.value for rating in Rating)
"""Columns of ``events`` with the number of memories that were rated so; the person's word counts."""
SUMS = ", ".join(f"coalesce(sum({name}), 0)" for name in COLUMNS)
UNRATED = f"(memories - {' - '.join(COLUMNS)})"


def helpfulness_by_tool(
    connection: sqlite3.Connection, where: str, values: tuple[object, ...], configured: Configured
) -> tuple[ToolHelpfulness, ...]:
    """Tools with events, most events first."""
    rows = connection.execute(
        f"SELECT upstream, tool, count(*), sum(memories), {SUMS} FROM events "
        f"WHERE {where} GROUP BY 1, 2",
        values,
    ).fetchall()
    steps = newest_by_tool(select_adjustments(connection, ALL_ADJUSTMENTS))
    lines: list[ToolHelpfulness] = []
    for upstream, tool, events, memories, *ratings in rows:
        by = dict(zip(Rating, ratings, strict=True))
        score, pinned = configured(upstream, tool)
        step = steps.get((upstream, tool))
        lines.append(
            ToolHelpfulness(
                upstream=upstream,
                tool=tool,
                events=events,
                memories=memories,
                rated=sum(ratings),
                helpful=by[Rating.HELPFUL],
                partially_helpful=by[Rating.PARTIALLY_HELPFUL],
                not_relevant=by[Rating.NOT_RELEVANT],
                already_known=by[Rating.ALREADY_KNOWN],
                threshold=score if pinned else threshold_in_force(step, score),
                configured=score,
                pinned=pinned,
            )
        )
    return tuple(sorted(lines, key=lambda line: (-line.events, line.upstream, line.tool)))


def ratings_by_day(
    connection: sqlite3.Connection, which: Which, days: int, now: float
) -> tuple[DayOfRatings, ...]:
    """Events of each local day, from the first one with any, and what became of their memories."""
    count = max(0, min(days, MOST_DAYS))
    today = date.fromisoformat(local_day(now))
    where, values = which.events(Arm.SHOWN)
    found: list[DayOfRatings] = []
    for back in range(count - 1, -1, -1):
        day = today - timedelta(days=back)
        bounds = (midnight_of(day), midnight_of(day + timedelta(days=1)))
        events, *ratings = connection.execute(
            f"SELECT count(*), {SUMS} FROM events WHERE {where} AND at >= ? AND at < ?",
            (*values, *bounds),
        ).fetchone()
        if events or found:
            found.append(
                DayOfRatings(day.isoformat(), events, sum(ratings), helpfulness_of(ratings))
            )
    return tuple(found)


def decisions_made(connection: sqlite3.Connection, which: Which) -> dict[Decision, int]:
    """Stored opportunities by what became of them."""
    where, values = which.rows("opportunities")
    known = {decision.value: decision for decision in Decision}
    return {
        known[name]: count
        for name, count in connection.execute(
            f"SELECT decision, count(*) FROM opportunities WHERE {where} GROUP BY decision", values
        )
        if name in known
    }


def unrated_memories(connection: sqlite3.Connection, which: Which, now: float) -> int:
    """Shown memories of the last 30 days that nobody rated."""
    since = max(now - RECENT_SECONDS, which.since or 0.0)
    where, values = Which(which.tool, since).events(Arm.SHOWN)
    return count_of(
        connection,
        f"SELECT coalesce(sum({UNRATED}), 0) FROM events WHERE {where}",
        values,
    )


def helpfulness_of(ratings: Sequence[int]) -> float | None:
    """As `ToolHelpfulness.helpfulness`. ``ratings``: how often each was given, in their order."""
    worths = [
        (one.worth, n) for one, n in zip(Rating, ratings, strict=True) if one.worth is not None
    ]
    about = sum(count for _, count in worths)
    return sum(worth * count for worth, count in worths) / about if about else None


def count_of(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> int:
    """The number that a statement counts."""
    (count,) = connection.execute(statement, values).fetchone()
    return int(count)


def midnight_of(day: date) -> float:
    """When a local day begins."""
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))
