"""``mms health``: the state of each upstream. Exit code 1 when one is unwell, 3 without a station."""

from __future__ import annotations

import argparse
import asyncio

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode
from console.safe import safe_line
from proxy.model import Snapshot, UpstreamState, UpstreamView
from proxy.surface.model import SourceStatus
from proxy.telemetry.model import SelectionView

_WELL = (UpstreamState.READY, UpstreamState.DISABLED)
_UNSETTLED = (UpstreamState.IDLE, UpstreamState.CONNECTING)
_LOOK_SECONDS = 0.2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=float,
        default=0.0,
        help="give upstreams that are still starting so long before judging",
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print it."""
    snapshot, selection = run_async(_settled(context, arguments.wait))
    unwell = [view for view in snapshot.upstreams if view.state not in _WELL]
    if context.out.as_json:
        context.out.json(
            {
                "healthy": not unwell,
                "upstreams": snapshot.upstreams,
                "attention": snapshot.attention,
                "settings_problems": snapshot.station.settings_problems,
                "selection": selection,
                "surfacing": snapshot.surfacing.source,
            }
        )
        return ExitCode.FAILED if unwell else ExitCode.OK
    _print(snapshot, selection, context)
    return ExitCode.FAILED if unwell else ExitCode.OK


async def _settled(context: Context, wait_seconds: float) -> tuple[Snapshot, SelectionView]:
    end = asyncio.get_running_loop().time() + wait_seconds
    async with context.station() as station:
        while True:
            snapshot = await station.snapshot()
            waiting = any(view.state in _UNSETTLED for view in snapshot.upstreams)
            if not waiting or asyncio.get_running_loop().time() >= end:
                return snapshot, await station.selection()
            await asyncio.sleep(_LOOK_SECONDS)


def _print(snapshot: Snapshot, selection: SelectionView, context: Context) -> None:
    from console import format as figures

    if not snapshot.upstreams:
        context.out.line("There is no upstream yet. Add one with: mms add")
        return
    context.out.table(
        ("UPSTREAM", "STATE", "SINCE", "TOOLS", "CALLS", "ERRORS", "P50 MS", "P95 MS", "RESTARTS"),
        [
            (
                view.name,
                view.state.value.replace("_", " "),
                figures.age(snapshot.taken_at - view.since),
                f"{view.tools_advertised}/{view.tools_discovered}",
                figures.count(view.calls),
                figures.percent(view.errors, view.calls),
                figures.milliseconds(view.p50_ms),
                figures.milliseconds(view.p95_ms),
                str(view.restarts),
            )
            for view in snapshot.upstreams
        ],
        right=("SINCE", "TOOLS", "CALLS", "ERRORS", "P50 MS", "P95 MS", "RESTARTS"),
    )
    for view in snapshot.upstreams:
        if view.state not in _WELL:
            context.out.line(f"\n{_story(view)}")
    withheld = [line for view in snapshot.upstreams for line in _withheld(view)]
    if withheld:
        context.out.line("\nTools that hosts are not offered:")
        for line in withheld:
            context.out.line(line)
    context.out.line(f"\n{_memories(snapshot.surfacing.source)}")
    if selection.enabled or selection.problem:
        context.out.line(f"\n{_telemetry(selection)}")
    if snapshot.station.settings_problems:
        problems = figures.plural(snapshot.station.settings_problems, "problem")
        context.out.line(f"\nThe settings have {problems}; see: mms config validate")


def _memories(source: SourceStatus) -> str:
    """Where the memories come from that are shown with answers, and whether they do."""
    if source.name == "off":
        return "Memories with answers: off."
    text = f"Memories with answers: source {source.name}, breaker {source.state}."
    return f"{text} {safe_line(source.problem)}" if source.problem else text


def _withheld(view: UpstreamView) -> list[str]:
    if not view.withheld:
        return []
    counts = ", ".join(f"{one.count} {one.code.value}" for one in view.withheld)
    return [f"  {view.name}: {counts} (of {view.tools_discovered})"]


def _telemetry(selection: SelectionView) -> str:
    from console import format as figures

    parts = [
        (
            f"Selection log: {figures.count(selection.selections)} selections, "
            f"{figures.count(selection.executions)} executions, "
            f"{figures.percent(selection.errors, selection.executions)} errors"
        )
    ]
    if selection.latency is not None:
        times = selection.latency
        parts.append(
            f"p50 {figures.duration(times.p50)}, p95 {figures.duration(times.p95)}, "
            f"p99 {figures.duration(times.p99)}"
        )
    parts.append(
        f"since the start {figures.count(selection.written)} lines written, "
        f"{figures.count(selection.sampled_out)} calls sampled out, "
        f"{figures.count(selection.redaction_drops)} lines dropped for a secret, "
        f"{figures.count(selection.write_errors)} not written"
    )
    text = "; ".join(parts) + f".\n  {selection.file}"
    return f"{text}\n  {selection.problem}" if selection.problem else text


def _story(view: UpstreamView) -> str:
    parts = [f"{view.name} is {view.state.value.replace('_', ' ')}."]
    parts += [part for part in (view.reason, view.next_action) if part]
    text = " ".join(parts)
    return f"{text}\n  last words: {view.last_stderr}" if view.last_stderr else text
