"""``mms status``: whether a station runs, and what it does. Exit code 3 when none runs."""

from __future__ import annotations

import argparse
from collections import Counter

from console.cli.context import Context, local_zone
from console.cli.context import run as run_async
from console.cli.errors import ExitCode
from proxy.model import Snapshot


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_arguments: argparse.Namespace, context: Context) -> int:
    """Print it."""
    snapshot = run_async(_snapshot(context))
    if snapshot is None:
        context.out.line(
            f"No station is running for {context.paths.state_directory}.\n"
            "Start one with: mms (with a screen) or mms serve (without)"
        )
        if context.out.as_json:
            context.out.json({"running": False, "socket": str(context.paths.socket)})
        return ExitCode.NO_STATION
    for line in _lines(snapshot):
        context.out.line(line)
    if context.out.as_json:
        context.out.json(
            {
                "running": True,
                "station": snapshot.station,
                "upstreams": _states(snapshot),
                "hosts": snapshot.hosts,
                "running_calls": len(snapshot.running),
                "today": snapshot.today,
                "attention": snapshot.attention,
            }
        )
    return ExitCode.OK


async def _snapshot(context: Context) -> Snapshot | None:
    async with context.station_if_any() as station:
        return None if station is None else await station.snapshot()


def _states(snapshot: Snapshot) -> dict[str, int]:
    return dict(Counter(view.state.value for view in snapshot.upstreams))


def _tools(snapshot: Snapshot) -> str:
    advertised = sum(view.tools_advertised for view in snapshot.upstreams)
    withheld = sum(one.count for view in snapshot.upstreams for one in view.withheld)
    text = f"{advertised} advertised to hosts"
    return f"{text}, {withheld} withheld (see: mms health)" if withheld else text


def _lines(snapshot: Snapshot) -> list[str]:
    from console import format as figures

    station = snapshot.station
    now = snapshot.taken_at
    states = ", ".join(
        f"{number} {state.replace('_', ' ')}" for state, number in _states(snapshot).items()
    )
    hosts = ", ".join(f"{host.name} ({host.endpoint})" for host in snapshot.hosts)
    lines = [
        (
            f"station     mms {station.version}, process {station.pid}, "
            f"up {figures.age(now - station.started_at)} "
            f"(since {figures.moment(station.started_at, now, local_zone())})"
        ),
        f"socket      {station.socket}",
        f"http        {station.http or 'off'}",
        f"settings    {station.config_file}"
        + (
            f" ({figures.plural(station.settings_problems, 'problem')}; see: mms config validate)"
            if station.settings_problems
            else ""
        ),
        f"upstreams   {states or 'none; add one with: mms add'}",
        f"tools       {_tools(snapshot)}",
        f"hosts       {hosts or 'none; see: mms connect --print CLIENT'}",
        (
            f"today       {figures.plural(snapshot.today.calls, 'call')}, "
            f"{figures.plural(snapshot.today.errors, 'error')}, "
            f"{figures.count(snapshot.today.tokens_out)} tokens out"
        ),
    ]
    for one in snapshot.attention:
        text = " ".join(part for part in (one.text, one.action) if part)
        lines.append(f"{one.severity.value:<11} {one.subject}: {text}")
    return lines
