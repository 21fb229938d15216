"""Surfacing in figures: what screens, ``mms surfacing`` and ``surfacing_stats`` show.

Sums are made by SQLite; everything here blocks for the disk and belongs into a thread.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Protocol

from config.schema import Settings, UpstreamSettings
from proxy.store.database import StoreUnavailable, open_for_reading
from proxy.store.surfacing_rows import (
    MIGRATIONS,
    WHAT,
    select_adjustments,
    select_events,
)
from proxy.sums import local_day
from proxy.surface.model import (
    Arm,
    DayOfRatings,
    Decision,
    Rating,
    SourceStatus,
    SurfacingGlance,
    SurfacingQuery,
    SurfacingView,
    ToolHelpfulness,
    Verdict,
)
from proxy.surface.tuner import ALL_ADJUSTMENTS, newest_by_tool, threshold_in_force

RECENT_SECONDS = 30 * 86_400.0
"""Shown memories and ratings of so long a time are counted as recent."""
MOST_EVENTS = 1_000
MOST_DAYS = 400
SHOWN_ADJUSTMENTS = 50
ENOUGH_SEARCHES = 10
DEGRADED_FROM = 0.25
FAULTY_FROM = 0.75
_MOST_SPLITS = 10
"""Slashes of a name at which an upstream's name may end."""

Configured = Callable[[str, str], tuple[float, bool]]
"""An upstream's tool: its threshold by the settings, and whether it was set for this very tool."""


class Readable(Protocol):
    """`proxy.store.surfacing.SurfacingStore` is one."""

    def reading(self) -> AbstractContextManager[sqlite3.Connection]: ...
    @property
    def problem(self) -> str: ...


@dataclass(frozen=True, slots=True)
class StationFigures:
    """What only a running station knows."""

    source: SourceStatus
    since_start: Mapping[Decision, int]
    """Its own count of decisions, nothing sampled out."""
    sampled_out: int


NO_STATION = StationFigures(SourceStatus("off", "closed"), {}, 0)


def surfacing_view(
    store: Readable,
    query: SurfacingQuery,
    *,
    configured: Configured,
    figures: StationFigures = NO_STATION,
    now: float,
) -> SurfacingView:
    """Surfacing as a whole. A file that cannot be read becomes the view's ``problem``."""
    try:
        with store.reading() as connection:
            return view_of(connection, query, configured, figures, now, store.problem)
    except StoreUnavailable as error:
        return empty_view(figures, store.problem or str(error))


def read_surfacing(
    database: Path, query: SurfacingQuery, *, configured: Configured, now: float
) -> SurfacingView:
    """The same from the file, without a station: no source, no verdict. Raises `StoreUnavailable`."""
    with open_for_reading(database, MIGRATIONS, what=WHAT) as connection:
        if connection is None:
            return empty_view(NO_STATION)
        return view_of(connection, query, configured, NO_STATION, now)


def read_glance(store: Readable, *, source: SourceStatus, now: float) -> SurfacingGlance:
    """The overview's figures. Raises `StoreUnavailable`."""
    with store.reading() as connection:
        return glance_of(connection, source, now)


def configured_by(settings: Settings) -> Configured:
    """Thresholds by these settings: the tool's, else its upstream's, else the station's."""

    def configured(upstream: str, tool: str) -> tuple[float, bool]:
        server = settings.upstreams.get(upstream, UpstreamSettings())
        own = server.tools.get(tool)
        for layer in (server,) if own is None else (own, server):
            if layer.surfacing_min_score is not None:
                return layer.surfacing_min_score, True
        return settings.surfacing.min_score, False

    return configured


def verdict_of(since_start: Mapping[Decision, int]) -> Verdict:
    """How well the source answers: the share of faults among its searches.

    A search of which nothing fitted is a completed one; a cancelled call is none.
    """
    searched = sum(count for decision, count in since_start.items() if decision.searched)
    if searched < ENOUGH_SEARCHES:
        return Verdict.UNKNOWN
    faults = sum(count for decision, count in since_start.items() if decision.fault)
    if faults < DEGRADED_FROM * searched:
        return Verdict.HEALTHY
    return Verdict.DEGRADED if faults < FAULTY_FROM * searched else Verdict.FAULTY


def empty_view(figures: StationFigures, problem: str = "") -> SurfacingView:
    """Nothing is stored, or it cannot be read."""
    return SurfacingView(
        source=figures.source,
        verdict=verdict_of(figures.since_start),
        events_total=0,
        distinct_tools=0,
        feedback_total=0,
        ratings=tuple((rating, 0) for rating in Rating),
        tools=(),
        days=(),
        recent=(),
        withheld=0,
        opportunities=0,
        sampled_out=figures.sampled_out,
        decisions=(),
        since_start=_most_first(figures.since_start),
        adjustments=(),
        unrated=0,
        tokens=0,
        problem=problem,
    )


def view_of(
    connection: sqlite3.Connection,
    query: SurfacingQuery,
    configured: Configured,
    figures: StationFigures,
    now: float,
    problem: str = "",
) -> SurfacingView:
    """The view by what a connection shows."""
    which = _Which(query.tool, query.since)
    where, values = which.events(Arm.SHOWN)
    totals = connection.execute(
        f"SELECT count(*), coalesce(sum(tokens), 0), min(at), max(at) FROM events WHERE {where}",
        values,
    ).fetchone()
    tools = _tools(connection, where, values, configured)
    given = dict(
        connection.execute(
            # The right-hand side of CROSS JOIN is looked up by its key.
            "SELECT rating, count(*) FROM ratings CROSS JOIN events ON number = event "
            f"WHERE {where} GROUP BY rating",
            values,
        ).fetchall()
    )
    ratings = tuple((rating, int(given.get(rating.value, 0))) for rating in Rating)
    withheld, withheld_values = which.events(Arm.HELD_OUT)
    decisions = _decisions(connection, which)
    by_tool, tool_values = which.of_tool()
    limit = max(0, min(query.limit, MOST_EVENTS))
    order = f"{_UNRATED} > 0 DESC, at DESC" if query.unrated_first else "at DESC"
    return SurfacingView(
        source=figures.source,
        verdict=verdict_of(figures.since_start),
        events_total=totals[0],
        distinct_tools=len(tools),
        feedback_total=sum(count for _, count in ratings),
        ratings=ratings,
        tools=tools,
        days=_days(connection, which, query.days, now),
        recent=tuple(
            select_events(connection, where, values, f"{order}, number DESC", limit)
            if limit
            else ()
        ),
        withheld=_one(connection, f"SELECT count(*) FROM events WHERE {withheld}", withheld_values),
        opportunities=sum(decisions.values()),
        sampled_out=figures.sampled_out,
        decisions=_most_first(decisions),
        since_start=_most_first(figures.since_start),
        adjustments=tuple(select_adjustments(connection, SHOWN_ADJUSTMENTS, by_tool, tool_values)),
        unrated=_unrated(connection, which, now),
        tokens=totals[1],
        first_at=totals[2],
        last_at=totals[3],
        problem=problem,
    )


def glance_of(connection: sqlite3.Connection, source: SourceStatus, now: float) -> SurfacingGlance:
    """The overview's figures by what a connection shows."""
    midnight = _midnight(date.fromisoformat(local_day(now)))
    events, memories, tokens = connection.execute(
        "SELECT count(*), coalesce(sum(memories), 0), coalesce(sum(tokens), 0) FROM events "
        "WHERE arm = ? AND at >= ?",
        (Arm.SHOWN.value, midnight),
    ).fetchone()
    ratings = connection.execute(
        f"SELECT {_SUMS} FROM events WHERE arm = ? AND at >= ?",
        (Arm.SHOWN.value, now - RECENT_SECONDS),
    ).fetchone()
    return SurfacingGlance(
        events_today=events,
        memories_today=memories,
        tokens_today=tokens,
        rated=sum(ratings),
        helpfulness=_helpfulness(ratings),
        unrated=_unrated(connection, _Which(), now),
        source=source,
    )


@dataclass(frozen=True, slots=True)
class _Which:
    """Which rows are asked for, as SQL over a table with these columns."""

    tool: str = ""
    since: float | None = None

    def events(self, arm: Arm) -> tuple[str, tuple[object, ...]]:
        where, values = self.rows("events")
        return f"{where} AND arm = ?", (*values, arm.value)

    def rows(self, table: str) -> tuple[str, tuple[object, ...]]:
        where, values = self.of_tool()
        if self.since is None:
            return where, values
        return f"{where} AND {table}.at >= ?", (*values, self.since)

    def of_tool(self) -> tuple[str, tuple[object, ...]]:
        if not self.tool:
            return "1", ()
        names = self.tool.split("/")
        splits = [("/".join(names[:i]), "/".join(names[i:])) for i in range(1, len(names))]
        terms = ["tool = ?", *["(tool = ? AND upstream = ?)"] * len(splits)]
        values = [value for upstream, tool in splits[:_MOST_SPLITS] for value in (tool, upstream)]
        return f"({' OR '.join(terms[: _MOST_SPLITS + 1])})", (self.tool, *values)


_RATINGS = tuple(rating.value for rating in Rating)
"""Columns of ``events`` with the number of memories that were rated so; the person's word counts."""
_SUMS = ", ".join(f"coalesce(sum({name}), 0)" for name in _RATINGS)
_UNRATED = f"(memories - {' - '.join(_RATINGS)})"


def _tools(
    connection: sqlite3.Connection, where: str, values: tuple[object, ...], configured: Configured
) -> tuple[ToolHelpfulness, ...]:
    rows = connection.execute(
        f"SELECT upstream, tool, count(*), sum(memories), {_SUMS} FROM events "
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


def _days(
    connection: sqlite3.Connection, which: _Which, days: int, now: float
) -> tuple[DayOfRatings, ...]:
    """Events of each local day, from the first one with any, and what became of their memories."""
    count = max(0, min(days, MOST_DAYS))
    today = date.fromisoformat(local_day(now))
    where, values = which.events(Arm.SHOWN)
    found: list[DayOfRatings] = []
    for back in range(count - 1, -1, -1):
        day = today - timedelta(days=back)
        bounds = (_midnight(day), _midnight(day + timedelta(days=1)))
        events, *ratings = connection.execute(
            f"SELECT count(*), {_SUMS} FROM events WHERE {where} AND at >= ? AND at < ?",
            (*values, *bounds),
        ).fetchone()
        if events or found:
            found.append(DayOfRatings(day.isoformat(), events, sum(ratings), _helpfulness(ratings)))
    return tuple(found)


def _decisions(connection: sqlite3.Connection, which: _Which) -> dict[Decision, int]:
    where, values = which.rows("opportunities")
    known = {decision.value: decision for decision in Decision}
    return {
        known[name]: count
        for name, count in connection.execute(
            f"SELECT decision, count(*) FROM opportunities WHERE {where} GROUP BY decision", values
        )
        if name in known
    }


def _unrated(connection: sqlite3.Connection, which: _Which, now: float) -> int:
    since = max(now - RECENT_SECONDS, which.since or 0.0)
    where, values = _Which(which.tool, since).events(Arm.SHOWN)
    return _one(
        connection,
        f"SELECT coalesce(sum({_UNRATED}), 0) FROM events WHERE {where}",
        values,
    )


def _helpfulness(ratings: Sequence[int]) -> float | None:
    """As `ToolHelpfulness.helpfulness`. ``ratings``: how often each was given, in their order."""
    worths = [
        (one.worth, n) for one, n in zip(Rating, ratings, strict=True) if one.worth is not None
    ]
    about = sum(count for _, count in worths)
    return sum(worth * count for worth, count in worths) / about if about else None


def _most_first(counts: Mapping[Decision, int]) -> tuple[tuple[Decision, int], ...]:
    present = [(decision, count) for decision, count in counts.items() if count]
    return tuple(sorted(present, key=lambda one: (-one[1], one[0].value)))


def _one(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> int:
    (count,) = connection.execute(statement, values).fetchone()
    return int(count)


def _midnight(day: date) -> float:
    """When a local day begins."""
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))
