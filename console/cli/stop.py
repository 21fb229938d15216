"""``mms stop``: end the running station and wait until it is gone."""

from __future__ import annotations

import argparse
import time
from contextlib import suppress

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode

WAIT_SECONDS = 20.0


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_arguments: argparse.Namespace, context: Context) -> int:
    """Ask it to stop."""
    pid = run_async(_stop(context))
    _wait_until_gone(context, pid)
    context.out.line(f"The station (process {pid}) has stopped.")
    if context.out.as_json:
        context.out.json({"stopped": True, "pid": pid})
    return ExitCode.OK


async def _stop(context: Context) -> int:
    from console.station import StationUnavailable
    from proxy.commands import StopStation

    async with context.station() as station:
        pid = station.pid
        # It may be gone before its answer is out.
        with suppress(StationUnavailable):
            result = await station.execute(StopStation())
            if not result.ok:
                raise CliError(result.message)
    return pid


def _wait_until_gone(context: Context, pid: int) -> None:
    """Until that process does not hold the data directory any more."""
    from proxy.lock import holder

    end = time.monotonic() + WAIT_SECONDS
    while holder(context.paths.lock_file) == pid:
        if time.monotonic() > end:
            raise CliError(
                f"The station (process {pid}) still runs after {WAIT_SECONDS:g} s. "
                f"End it with: kill {pid}"
            )
        time.sleep(0.05)
