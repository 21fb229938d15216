"""``mms tune``: what would serve better by recent calls and feedback, as a diff of the settings file.

Nothing is changed without ``--apply``, which asks, keeps a backup and says how to take it all back.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from console.cli.commanding import execute
from console.cli.context import Context, local_zone
from console.cli.context import run as run_async
from console.cli.editing import edit, tell_station
from console.cli.errors import CliError, ExitCode, UsageError
from console.safe import safe, safe_line
from proxy.commands import RevertAdjustment
from proxy.surface.model import Recommendation, TuningReport

if TYPE_CHECKING:
    from console.station import Station

_CONTEXT_LINES = 2
_MOST_HOURS = 24.0 * 366


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--since-hours", metavar="H", type=float, default=24.0, help="look so far back (24)"
    )
    parser.add_argument(
        "--tool", metavar="T", default=None, help="only of this tool: UPSTREAM/TOOL, or its name"
    )
    parser.add_argument(
        "--apply", action="store_true", help="write it to the settings, after asking"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask")
    back = parser.add_mutually_exclusive_group()
    back.add_argument(
        "--undo", metavar="BACKUP", type=Path, default=None, help="put the settings file back"
    )
    back.add_argument(
        "--revert", metavar="STEP", type=int, default=None, help="take a step of the tuner back"
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Show, apply, or take back."""
    if arguments.undo is not None:
        return _undo(arguments.undo, context)
    if arguments.revert is not None:
        return _revert(arguments.revert, context)
    if not 0 < arguments.since_hours <= _MOST_HOURS:
        raise UsageError(f"--since-hours: a number above 0, at most {_MOST_HOURS:,.0f}.")
    report = run_async(_read(context, arguments.since_hours, arguments.tool))
    plan = plan_of(report, context)
    _print(report, plan, context)
    applied = None
    code = ExitCode.OK
    if arguments.apply and plan.values:
        applied = _apply(plan, context, yes=arguments.yes)
        code = ExitCode.FAILED if applied["station"] == "refused" else ExitCode.OK
    elif plan.values:
        context.out.line("\nNothing was changed. To write it: mms tune --apply")
    if context.out.as_json:
        context.out.json(
            {
                "tuning": report,
                "diff": plan.diff,
                "refused": [{"key": key, "reason": why} for key, why in plan.refused],
                "applied": applied,
            }
        )
    return code


async def _read(context: Context, since_hours: float, tool: str | None) -> TuningReport:
    async with context.station_if_any() as station:
        return await read_tuning_report(context, station, since_hours, tool)


async def read_tuning_report(
    context: Context, station: Station | None, since_hours: float, tool: str | None
) -> TuningReport:
    """Advice of the running station, else from its files."""
    if station is not None:
        return await station.tuning(since_hours, tool)
    from proxy.surface.advice import read_tuning

    settings = context.load().settings
    return await asyncio.to_thread(
        read_tuning, context.paths, settings, since_hours, tool, now=context.clock()
    )


# -- what would be written --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What of the advice can be written to the settings file, and what that does to it."""

    values: dict[str, str]
    """Key to value, as TOML; empty: nothing is to be written."""
    diff: str
    """Of the file, as ``diff -u`` prints it."""
    refused: tuple[tuple[str, str], ...]
    """Key, and why it cannot be written to this file."""


def plan_of(report: TuningReport, context: Context) -> Plan:
    """Try every recommendation on the file's text, together with those before it."""
    from config.edit import EditRefusedError, edited

    file = context.paths.config_file
    values: dict[str, str] = {}
    refused: list[tuple[str, str]] = []
    old = new = ""
    for one in report.recommendations:
        try:
            old, new = edited(file, {**values, one.key: one.proposed}, environ=context.environ)
        except EditRefusedError as error:
            refused.append((one.key, str(error)))
        else:
            values[one.key] = one.proposed
    if not values or old == new:
        return Plan({}, "", tuple(refused))
    old, new = edited(file, values, environ=context.environ)
    lines = unified_diff(
        old.splitlines(), new.splitlines(), str(file), "as advised", lineterm="", n=_CONTEXT_LINES
    )
    return Plan(values, "\n".join(lines), tuple(refused))


# -- printing ---------------------------------------------------------------------------------


def _print(report: TuningReport, plan: Plan, context: Context) -> None:
    from console import format as figures

    out = context.out
    seen = f"{figures.plural(report.tools_seen, 'tool')} with calls in the last {report.since_hours:g} h"
    if report.problem:
        out.line(f"The advice rests on less than everything: {safe_line(report.problem, 400)}")
    if not report.recommendations:
        out.line(f"Nothing would serve better: {seen}, no recommendation.")
        return
    number = figures.plural(len(report.recommendations), "recommendation")
    out.line(f"{number}, by {seen}:")
    for one in report.recommendations:
        _print_one(one, context)
    if plan.diff:
        out.line(f"\n{plan.diff}")
    for key, why in plan.refused:
        out.line(f"\n{safe_line(key, 200)} cannot be written to {context.paths.config_file}: {why}")


def _print_one(one: Recommendation, context: Context) -> None:
    context.out.line(
        f"\n{safe_line(one.key, 200)}\n"
        f"  {safe_line(one.current, 60)} \u2192 {safe_line(one.proposed, 60)}  "
        f"({safe_line(one.confidence, 20)} confidence, {one.samples} samples)\n"
        f"  {safe_line(one.reason, 400)}"
    )


# -- changing ---------------------------------------------------------------------------------


def _apply(plan: Plan, context: Context, *, yes: bool) -> dict[str, object]:
    """Write the plan. Raises `EditRefusedError`, or `CliError` when the person does not want it."""
    from config.backup import set_keys_with_backup

    file = context.paths.config_file
    _confirm(f"Write {len(plan.values)} of these to {file}?", yes=yes)
    at = datetime.fromtimestamp(context.clock(), local_zone())
    backup = set_keys_with_backup(file, plan.values, at, environ=context.environ)
    told = tell_station(context)
    undo = f"mms tune --undo {shlex.quote(str(backup))}" if backup is not None else ""
    out = context.out
    out.line()
    for key, value in plan.values.items():
        out.line(f"{safe_line(key, 200)} = {safe_line(value, 60)}")
    out.line(f"was written to {file}. {told.text}")
    out.line(f"To take it back: {undo}")
    return {
        "settings": plan.values,
        "file": str(file),
        "backup": str(backup) if backup is not None else "",
        "undo": undo,
        "station": told.station,
        "station_message": told.text,
    }


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise CliError(f"{question} Nothing was done: no one can be asked here; add --yes.")
    sys.stderr.write(f"{safe(question)} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CliError("Nothing was done.")


def _undo(backup: Path, context: Context) -> int:
    from config.backup import put_back

    file = context.paths.config_file
    return edit(
        context,
        lambda: put_back(file, backup, environ=context.environ),
        f"{file} is as it was before mms tune changed it.",
    )


def _revert(step: int, context: Context) -> int:
    """Take a step of the tuner back. The station holds the thresholds in force: without one, exit code 3."""
    return execute(context, RevertAdjustment(step))
