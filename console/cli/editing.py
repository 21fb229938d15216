"""Changing the user's file from the command line, and saying whether a running station took it over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode


@dataclass(frozen=True, slots=True)
class TakeOver:
    """What a running station did with the changed file."""

    station: str
    """``applied``, ``refused``, ``unreachable`` or ``none`` (no station runs)."""
    text: str
    """One sentence for a person."""


def edit(
    context: Context,
    change: Callable[[], object],
    done: str,
    notes: Callable[[], Sequence[str]] = tuple,
) -> int:
    """Do ``change`` (which may raise `EditRefusedError`), tell the station, print, return the code.

    ``done`` is the sentence for the change; ``notes`` gives further ones, after the station was told.
    The JSON object has ``ok``, ``message``, ``file``, ``station`` (see `TakeOver`),
    ``station_message``, ``notes``.
    """
    change()
    outcome = tell_station(context)
    context.out.line(f"{done} {outcome.text}")
    remarks = list(notes())
    for text in remarks:
        context.out.line(text)
    taken = outcome.station != "refused"
    if context.out.as_json:
        context.out.json(
            {
                "ok": taken,
                "message": done,
                "file": str(context.paths.config_file),
                "station": outcome.station,
                "station_message": outcome.text,
                "notes": remarks,
            }
        )
    return ExitCode.OK if taken else ExitCode.FAILED


def tell_station(context: Context) -> TakeOver:
    """Have a running station read the file again, and wait for what it says."""
    return run_async(_tell_station(context))


async def _tell_station(context: Context) -> TakeOver:
    from console.station import StationUnavailable
    from proxy.commands import ReloadSettings

    try:
        async with context.station_if_any() as station:
            if station is None:
                return TakeOver("none", "No station is running; the next one will use it.")
            result = await station.execute(ReloadSettings())
    except StationUnavailable as error:
        return TakeOver("unreachable", f"The running station could not be told: {error}")
    if result.ok:
        return TakeOver("applied", "The running station has taken it over.")
    return TakeOver("refused", f"The running station did not take it over: {result.message}")
