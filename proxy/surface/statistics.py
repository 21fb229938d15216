"""Surfacing in figures: what screens, ``mms surfacing`` and ``surfacing_stats`` show.

Sums are made by SQLite; everything here blocks for the disk and belongs into a thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Protocol

from config.schema import Settings, UpstreamSettings
from proxy.store.database import StoreUnavailable, open_for_reading
from proxy.store.surfacing_rows import select_adjustments, select_events
from proxy.store.surfacing_schema import MIGRATIONS, WHAT
from proxy.sums import local_day
from proxy.surface.model import (
    Arm,
    Decision,
    Rating,
    SourceStatus,
    SurfacingGlance,
    SurfacingQuery,
    SurfacingView,
    Verdict,
)
from proxy.surface.rules import configured_score
from proxy.surface.sums import (
    RECENT_SECONDS,
    SUMS,
    UNRATED,
    Configured,
    Which,
    count_of,
    decisions_made,
    helpfulness_by_tool,
    helpfulness_of,
    midnight_of,
    ratings_by_day,
    unrated_memories,
)

MOST_EVENTS = 1_000
SHOWN_ADJUSTMENTS = 50
ENOUGH_SEARCHES = 10
DEGRADED_FROM = 0.25
FAULTY_FROM = 0.75


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
        return configured_score(settings.surfacing, server, tool)

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
    which = Which(query.tool, query.since)
    where, values = which.events(Arm.SHOWN)
    totals = connection.execute(
        f"SELECT count(*), coalesce(sum(tokens), 0), min(at), max(at) FROM events WHERE {where}",
        values,
    ).fetchone()
    tools = helpfulness_by_tool(connection, where, values, configured)
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
    decisions = decisions_made(connection, which)
    by_tool, tool_values = which.of_tool()
    limit = max(0, min(query.limit, MOST_EVENTS))
    order = f"{UNRATED} > 0 DESC, at DESC" if query.unrated_first else "at DESC"
    return SurfacingView(
        source=figures.source,
        verdict=verdict_of(figures.since_start),
        events_total=totals[0],
        distinct_tools=len(tools),
        feedback_total=sum(count for _, count in ratings),
        ratings=ratings,
        tools=tools,
        days=ratings_by_day(connection, which, query.days, now),
        recent=tuple(
            select_events(connection, where, values, f"{order}, number DESC", limit)
            if limit
            else ()
        ),
        withheld=count_of(
            connection, f"SELECT count(*) FROM events WHERE {withheld}", withheld_values
        ),
        opportunities=sum(decisions.values()),
        sampled_out=figures.sampled_out,
        decisions=_most_first(decisions),
        since_start=_most_first(figures.since_start),
        adjustments=tuple(select_adjustments(connection, SHOWN_ADJUSTMENTS, by_tool, tool_values)),
        unrated=unrated_memories(connection, which, now),
        tokens=totals[1],
        first_at=totals[2],
        last_at=totals[3],
        problem=problem,
    )


def glance_of(connection: sqlite3.Connection, source: SourceStatus, now: float) -> SurfacingGlance:
    """The overview's figures by what a connection shows."""
    midnight = midnight_of(date.fromisoformat(local_day(now)))
    events, memories, tokens = connection.execute(
        "SELECT count(*), coalesce(sum(memories), 0), coalesce(sum(tokens), 0) FROM events "
        "WHERE arm = ? AND at >= ?",
        (Arm.SHOWN.value, midnight),
    ).fetchone()
    ratings = connection.execute(
        f"SELECT {SUMS} FROM events WHERE arm = ? AND at >= ?",
        (Arm.SHOWN.value, now - RECENT_SECONDS),
    ).fetchone()
    return SurfacingGlance(
        events_today=events,
        memories_today=memories,
        tokens_today=tokens,
        rated=sum(ratings),
        helpfulness=helpfulness_of(ratings),
        unrated=unrated_memories(connection, Which(), now),
        source=source,
    )


def _most_first(counts: Mapping[Decision, int]) -> tuple[tuple[Decision, int], ...]:
    present = [(decision, count) for decision, count in counts.items() if count]
    return tuple(sorted(present, key=lambda one: (-one[1], one[0].value)))
