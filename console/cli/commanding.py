"""Commands that only a running station can carry out."""

from __future__ import annotations

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode
from proxy.commands import Command, CommandResult


def execute(context: Context, command: Command) -> ExitCode:
    """Have the station do it, and print what it says of it.

    Raises `CliError` when it could not, and `StationUnavailable` (exit code 3) without a station.
    """
    result = run_async(_execute(context, command))
    if not result.ok:
        raise CliError(result.message)
    context.out.line(result.message)
    if context.out.as_json:
        context.out.json({"ok": True, "message": result.message})
    return ExitCode.OK


async def _execute(context: Context, command: Command) -> CommandResult:
    async with context.station() as station:
        return await station.execute(command)
