"""Recorded calls for the verbs: from the running station, else from the store on disk."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.cli.context import Context
from proxy.model import CallDetail, CallQuery, CallRecord, Totals

if TYPE_CHECKING:
    from console.station import Station


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over recorded calls."""

    today: Totals
    all_time: Totals
    unrecorded_calls: int


async def read_calls(
    context: Context, station: Station | None, query: CallQuery
) -> tuple[CallRecord, ...]:
    """Newest first. Raises `StoreUnavailable` or `StationUnavailable`, as all here."""
    if station is not None:
        return await station.calls(query)
    from proxy.store import calls

    return await asyncio.to_thread(calls.read_calls, context.paths.calls_database, query)


async def read_call(context: Context, station: Station | None, call_id: int) -> CallDetail | None:
    """One call; without a station its texts are gone."""
    if station is not None:
        return await station.call(call_id)
    from proxy.store import calls

    record = await asyncio.to_thread(calls.read_call, context.paths.calls_database, call_id)
    return None if record is None else CallDetail(record, None, None, truncated=False)


async def read_sums(context: Context, station: Station | None) -> Sums:
    """Today's and all-time totals."""
    if station is not None:
        snapshot = await station.snapshot()
        return Sums(snapshot.today, snapshot.all_time, snapshot.unrecorded_calls)
    from proxy.store import calls

    totals = await asyncio.to_thread(
        calls.read_totals, context.paths.calls_database, now=context.clock()
    )
    return Sums(totals.today, totals.all_time, 0)
