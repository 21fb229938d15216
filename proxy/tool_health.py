"""Tools whose calls fail by their upstream's fault, from the recorded calls.

A withheld tool is not called any more; its old calls leave the window, and it is offered again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proxy.model import Outcome
from proxy.store.call_schema import MIGRATIONS
from proxy.store.database import StoreUnavailable, open_for_reading

WINDOW_SECONDS = 24 * 3600.0
LEAST_CALLS = 5
"""Fewer calls say nothing."""
LOOK_SECONDS = 600.0
"""How often the calls are read anew."""
AGAIN_SECONDS = 10.0
"""When they could not be read, for example since the file is being brought up to date."""
NEVER = 1.0
"""``proxy.max_error_share``: no tool is withheld."""

_FAULTS = (Outcome.TIMEOUT, Outcome.UPSTREAM_LOST, Outcome.ERROR)
"""A tool's own error answer is none of them: it tells the agent what it did wrong."""
_OURS = "mms:%"
"""Errors that mms made out of a good answer, for example since it was too long."""


@dataclass(frozen=True, slots=True)
class FailureShare:
    """The recent calls of one tool."""

    failed: int
    """By its upstream's fault: an error response, no answer in time, or a lost connection."""
    calls: int
    """Finished ones, those that the host cancelled left out."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.failed / self.calls if self.calls else 0.0


_log = logging.getLogger("mms.tool_health")

Failures = Mapping[tuple[str, str], FailureShare]
"""By upstream and its own name of the tool."""


def read_failures(database: Path, now: float) -> Failures:
    """Tools with failed calls within `WINDOW_SECONDS` before ``now``. Blocking.

    Raises `proxy.store.database.StoreUnavailable`.
    """
    faults = ", ".join("?" for _ in _FAULTS)
    with open_for_reading(database, MIGRATIONS) as connection:
        if connection is None:
            return {}
        rows = connection.execute(
            "SELECT upstream, tool, "
            f"SUM(outcome IN ({faults}) AND error NOT LIKE ?), COUNT(*) FROM calls "
            "WHERE started_at >= ? AND started_at <= ? AND outcome <> ? AND cache = '' "
            "GROUP BY upstream, tool",
            (
                *(outcome.value for outcome in _FAULTS),
                _OURS,
                now - WINDOW_SECONDS,
                now,
                Outcome.CANCELLED.value,
            ),
        ).fetchall()
    return {(row[0], row[1]): FailureShare(row[2], row[3]) for row in rows if row[2]}


def failing(failures: Failures, max_share: float) -> Mapping[str, Mapping[str, FailureShare]]:
    """By upstream and tool: those to be withheld. Pure.

    ``max_share``: ``proxy.max_error_share``; at `NEVER` there are none.
    """
    found: dict[str, dict[str, FailureShare]] = {}
    if max_share >= NEVER:
        return found
    for (upstream, tool), one in failures.items():
        if one.calls >= LEAST_CALLS and one.share >= max_share:
            found.setdefault(upstream, {})[tool] = one
    return found


async def follow_failures(
    database: Path,
    apply: Callable[[Failures], None],
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Read them now and every `LOOK_SECONDS`, for ever, and hand them to ``apply`` on this loop."""
    while True:
        pause = LOOK_SECONDS
        try:
            apply(await asyncio.to_thread(read_failures, database, clock()))
        except StoreUnavailable as error:
            _log.info("cannot see which tools fail: %s", error)
            pause = AGAIN_SECONDS
        await asyncio.sleep(pause)
