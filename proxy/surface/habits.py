"""How each tool's answers were used: what advice is made from, read from three files of the station.

Blocking. Works beside a running station and without one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from config.paths import Paths
from proxy.ledger import OUR_TOOLS, OURS
from proxy.store import call_schema, feedback, surfacing_schema
from proxy.store.database import CALL_HISTORY, Migration, StoreUnavailable, open_for_reading
from proxy.store.surfacing_rows import select_adjustments
from proxy.store.surfacing_scores import (
    MOST_OFFERED,
    MOST_RATED,
    select_offered,
    select_rated,
)
from proxy.surface.model import Adjustment, RatedScore, Rating
from proxy.surface.tuner import ALL_ADJUSTMENTS, newest_by_tool

Key = tuple[str, str]
"""Upstream and tool."""


@dataclass(slots=True)
class ToolHabits:
    """One tool within the time that was asked for."""

    upstream: str
    tool: str
    calls: int = 0
    shortened: int = 0
    """Answers that were made smaller."""
    read_on: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Tokens and characters of the originals of those of which held text was fetched afterwards."""
    missed: dict[str, int] = field(default_factory=dict[str, int])
    """Reports of agents by `proxy.control_tools.FeedbackKind`."""
    rated: list[RatedScore] = field(default_factory=list[RatedScore])
    """Oldest first, as in `proxy.surface.record.ToolScores`."""
    rated_events: int = 0
    """Events of which some memory was rated."""
    other_ratings: int = 0
    """Ratings that are not ``not_relevant``."""
    offered: list[float] = field(default_factory=list[float])
    """Best scores of the last searches, of whatever time."""
    step: Adjustment | None = None
    """The tuner's last one."""


def read_habits(paths: Paths, since: float) -> tuple[list[ToolHabits], str]:
    """The tools called since then, by upstream and tool; and why some file could not be read."""
    tools: dict[Key, ToolHabits] = {}
    problems: list[str] = []
    for file, migrations, what, read in _FILES:
        try:
            with open_for_reading(file(paths), migrations, what=what) as connection:
                if connection is not None:
                    read(connection, since, tools)
        except StoreUnavailable as error:
            problems.append(str(error))
    return [tools[key] for key in sorted(tools)], " ".join(problems)


def _read_calls(connection: sqlite3.Connection, since: float, tools: dict[Key, ToolHabits]) -> None:
    for upstream, tool, calls in connection.execute(
        "SELECT upstream, tool, count(*) FROM calls WHERE started_at >= ? GROUP BY 1, 2", (since,)
    ):
        if not (upstream == OURS and tool.startswith(OUR_TOOLS)):
            tools[upstream, tool] = ToolHabits(upstream, tool, calls)
    # A fetch does not say of which answer; it is most probably of the session's last one of the tool.
    last: dict[tuple[int, str, str], list[int]] = {}
    for session, upstream, tool, of_upstream, of_tool, tokens, characters in connection.execute(
        "SELECT session, upstream, tool, fetched_upstream, fetched_tool, before_tokens, "
        "before_characters FROM calls WHERE started_at >= ? "
        "AND (fetched_upstream <> '' OR (before_tokens > 0 AND outcome = 'ok')) ORDER BY id",
        (since,),
    ):
        if not of_upstream:
            if (upstream, tool) in tools:
                tools[upstream, tool].shortened += 1
                last[session, upstream, tool] = [tokens, characters]
            continue
        original = last.get((session, of_upstream, of_tool))
        if original:
            tools[of_upstream, of_tool].read_on.append((original[0], original[1]))
            original.clear()  # however often it is read on, it is one answer


def _read_feedback(
    connection: sqlite3.Connection, since: float, tools: dict[Key, ToolHabits]
) -> None:
    for upstream, tool, kind, count in connection.execute(
        "SELECT server, tool, kind, count(*) FROM reports WHERE created_at >= ? GROUP BY 1, 2, 3",
        (since,),
    ):
        if (upstream, tool) in tools:
            tools[upstream, tool].missed[kind] = count


def _read_surfacing(
    connection: sqlite3.Connection, since: float, tools: dict[Key, ToolHabits]
) -> None:
    for upstream, tool, events, others in connection.execute(
        "SELECT upstream, tool, count(DISTINCT event), sum(rating <> ?) "
        "FROM verdicts CROSS JOIN events ON number = event WHERE verdicts.at >= ? GROUP BY 1, 2",
        (Rating.NOT_RELEVANT.value, since),
    ):
        found = tools.get((upstream, tool))
        if found is not None:
            found.rated_events, found.other_ratings = events, others
            found.rated += select_rated(connection, upstream, tool, since, MOST_RATED)
            found.offered += select_offered(connection, upstream, tool, MOST_OFFERED)
    steps = newest_by_tool(select_adjustments(connection, ALL_ADJUSTMENTS))
    for key, step in steps.items():
        if key in tools:
            tools[key].step = step


_Read = Callable[[sqlite3.Connection, float, dict[Key, ToolHabits]], None]
_FILES: tuple[tuple[Callable[[Paths], Path], Sequence[Migration], str, _Read], ...] = (
    (lambda paths: paths.calls_database, call_schema.MIGRATIONS, CALL_HISTORY, _read_calls),
    (
        lambda paths: paths.feedback_database,
        feedback.MIGRATIONS,
        feedback.WHAT,
        _read_feedback,
    ),
    (
        lambda paths: paths.surfacing_database,
        surfacing_schema.MIGRATIONS,
        surfacing_schema.WHAT,
        _read_surfacing,
    ),
)
