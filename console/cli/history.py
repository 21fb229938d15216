"""What is recorded, for the verbs: from the running station, else from the stores on disk."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from console.cli.context import Context
from proxy.answer_model import HeldDetail, HeldList, SavingsView
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


async def read_savings(context: Context, station: Station | None, days: int) -> SavingsView:
    """The ledger of the last ``days`` local days; 0: of all time."""
    if station is not None:
        return await station.savings(days)
    from proxy.store import savings
    from proxy.store.feedback import read_feedback

    now = context.clock()
    view = await asyncio.to_thread(
        savings.read_savings, context.paths.calls_database, days, now=now
    )
    missed = await asyncio.to_thread(read_feedback, context.paths.feedback_database, now=now)
    return replace(view, missed=missed.lines)


async def read_held(context: Context, station: Station | None, limit: int) -> HeldList:
    """Held answers, used last first."""
    if station is not None:
        return await station.held(limit)
    from proxy.store import held

    bound = context.load().settings.proxy.held.max_bytes
    return await asyncio.to_thread(held.read_held, context.paths.held_database, limit, bound)


async def read_held_answer(
    context: Context, station: Station | None, key: str
) -> HeldDetail | None:
    """One held answer with its text, secrets redacted; ``None`` when it is not held."""
    if station is not None:
        return await station.held_answer(key)
    from config.secrets import known_secrets
    from proxy.redact import Redactor
    from proxy.store import held

    loaded = context.load()
    redactor = Redactor(known_secrets(loaded.settings, context.environ, loaded.variables))
    return await asyncio.to_thread(
        held.read_held_answer, context.paths.held_database, key, redactor.redact
    )
