"""``mms held``: the whole answers behind what was cut."""

from __future__ import annotations

import argparse

from console.cli.actions import add_actions
from console.cli.commanding import execute
from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode, UsageError
from console.cli.history import read_held, read_held_answer
from proxy.answer_model import HeldDetail, HeldList, HeldView
from proxy.commands import DropHeld

_LIMIT = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions; without one it is ``list``."""
    action = add_actions(parser, required=False)
    parser.set_defaults(limit=_LIMIT)
    listed = action("list", "the held answers, used last first")
    listed.add_argument(
        "--limit", "-n", metavar="N", type=int, default=argparse.SUPPRESS, help="1 to 10000"
    )
    for name, summary in (
        ("show", "one held answer with its text, secrets redacted"),
        ("drop", "delete one for good; needs a station"),
    ):
        action(name, summary).add_argument(
            "key", metavar="KEY", help="16 hexadecimal digits, as mms held lists them"
        )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Do the action."""
    match arguments.action:
        case "show":
            return _show(arguments.key, context)
        case "drop":
            return execute(context, DropHeld(arguments.key))
        case _:
            return _list(arguments.limit, context)


def _list(limit: int, context: Context) -> int:
    if not 1 <= limit <= 10_000:
        raise UsageError("--limit: a number from 1 to 10000.")
    held, from_station = run_async(_read(context, limit))
    if context.out.as_json:
        context.out.json({"station": from_station, "totals": held.totals, "held": held.answers})
        return ExitCode.OK
    if not held.answers:
        context.out.line("Nothing is held. When an answer is cut, the whole of it is kept.")
        return ExitCode.OK
    _print(held, context)
    return ExitCode.OK


async def _read(context: Context, limit: int) -> tuple[HeldList, bool]:
    async with context.station_if_any() as station:
        return await read_held(context, station, limit), station is not None


def _print(held: HeldList, context: Context) -> None:
    from console import format as figures

    now = context.clock()
    numbers = ("SIZE", "ON DISK", "HELD FOR", "USED", "READS")
    context.out.table(
        ("KEY", "SERVER", "TOOL", *numbers, "PINNED"),
        [
            (
                view.key,
                view.upstream,
                view.tool,
                figures.size(view.bytes),
                figures.size(view.stored_bytes),
                figures.age(now - view.created_at),
                figures.age(now - view.used_at),
                figures.count(view.reads),
                "yes" if view.pinned else "",
            )
            for view in held.answers
        ],
        right=numbers,
    )
    totals = held.totals
    of = f" of {figures.size(totals.capacity_bytes)}" if totals.capacity_bytes else ""
    evicted = f", {figures.count(totals.evicted)} evicted" if totals.evicted else ""
    context.out.line(
        f"\n{figures.plural(totals.answers, 'answer')}, {figures.size(totals.bytes)} held in "
        f"{figures.size(totals.stored_bytes)}{of}{evicted}."
    )


def _show(key: str, context: Context) -> int:
    detail, from_station = run_async(_answer(context, key))
    if detail is None:
        raise CliError(f"No answer is held under {key}. The keys are in: mms held")
    if context.out.as_json:
        context.out.json({"station": from_station, "held": detail})
        return ExitCode.OK
    context.out.line(_head(detail.view))
    context.out.line(f"\n{detail.text}")
    if detail.truncated:
        context.out.line("\n(cut to what a screen can show)")
    return ExitCode.OK


async def _answer(context: Context, key: str) -> tuple[HeldDetail | None, bool]:
    async with context.station_if_any() as station:
        return await read_held_answer(context, station, key), station is not None


def _head(view: HeldView) -> str:
    from console import format as figures

    pinned = ", pinned" if view.pinned else ""
    return (
        f"{view.key}  {view.upstream} / {view.tool}  {figures.size(view.bytes)}, "
        f"fetched back {figures.plural(view.reads, 'time')}{pinned}"
    )
