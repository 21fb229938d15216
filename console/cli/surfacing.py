"""``mms surfacing``: the memories that were shown with answers, what they were worth, and why none were."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from console.cli.context import Context, local_zone
from console.cli.context import run as run_async
from console.cli.errors import ExitCode, UsageError
from console.safe import safe_line
from proxy.surface.model import SurfacingEvent, SurfacingQuery, SurfacingView

if TYPE_CHECKING:
    from console.station import Station

MOST = 1_000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--tool", metavar="T", default="", help="only of this tool: UPSTREAM/TOOL, or its name"
    )
    parser.add_argument(
        "--since", metavar="TIME", default=None, help="from then on: 2026-05-01T12:30"
    )
    parser.add_argument(
        "--limit",
        "-n",
        metavar="N",
        type=int,
        default=10,
        help="newest answers listed (10; 0: none)",
    )
    parser.add_argument(
        "--unrated", action="store_true", help="list those with unrated memories first"
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print it."""
    from console.cli.memory_asking import parse_instant

    if not 0 <= arguments.limit <= MOST:
        raise UsageError(f"--limit: a number from 0 to {MOST:,}.")
    since = parse_instant(arguments.since, "--since")
    query = SurfacingQuery(
        limit=arguments.limit,
        tool=arguments.tool,
        since=None if since is None else since / 1_000_000,
        unrated_first=arguments.unrated,
    )
    view, from_station = run_async(read_either(context, query))
    if context.out.as_json:
        import msgspec

        document = msgspec.to_builtins(view)
        for line, plain in zip(view.tools, document["tools"], strict=True):
            plain["helpfulness"] = line.helpfulness
        context.out.json({"station": from_station, "surfacing": document})
        return ExitCode.OK
    _print(view, from_station, context)
    return ExitCode.OK


async def read_either(context: Context, query: SurfacingQuery) -> tuple[SurfacingView, bool]:
    """The view, and whether a running station gave it. Raises as `read_view`."""
    async with context.station_if_any() as station:
        return await read_view(context, station, query), station is not None


async def read_view(
    context: Context, station: Station | None, query: SurfacingQuery
) -> SurfacingView:
    """From the running station, else from its file. Raises `StoreUnavailable` or `StationUnavailable`."""
    if station is not None:
        return await station.surfacing(query)
    from proxy.surface.statistics import configured_by, read_surfacing

    configured = configured_by(context.load().settings)
    return await asyncio.to_thread(
        read_surfacing,
        context.paths.surfacing_database,
        query,
        configured=configured,
        now=context.clock(),
    )


# -- printing ---------------------------------------------------------------------------------


def _print(view: SurfacingView, from_station: bool, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    out = context.out
    if from_station:
        out.line(f"source      {words.source_words(view.source)}")
        if view.source.name != "off":
            out.line(f"verdict     {view.verdict.value}: {words.verdict_words(view.verdict)}")
            out.line(f"breaker     {words.breaker_words(view.source)}")
    else:
        out.line("source      unknown: no station is running")
    for problem in (view.source.problem, view.problem):
        if problem:
            out.line(f"problem     {safe_line(problem, 400)}")
    out.line(
        f"shown       with {figures.plural(view.events_total, 'answer')} of "
        f"{figures.plural(view.distinct_tools, 'tool')}, about "
        f"{figures.plural(view.tokens, 'token')} in all"
    )
    counts = ", ".join(
        f"{figures.count(number)} {words.RATING_WORDS[rating]}" for rating, number in view.ratings
    )
    out.line(f"ratings     {figures.count(view.feedback_total)}: {counts}")
    out.line(f"unrated     {figures.count(view.unrated)} of the last 30 days")
    out.line(
        f"withheld    {figures.plural(view.withheld, 'answer')}, to measure what showing does; "
        "not counted above"
    )
    _print_tools(view, context)
    _print_days(view, context)
    _print_decisions(view, context)
    _print_steps(view, context)
    if view.recent:
        out.line(f"\nThe last {figures.plural(len(view.recent), 'answer')} with memories:")
    for event in view.recent:
        _print_event(event, context)


def _print_tools(view: SurfacingView, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    if not view.tools:
        return
    numbers = ("HELPFUL", "RATED", "SHOWN", "ANSWERS")
    context.out.line()
    context.out.table(
        ("TOOL", *numbers, "FROM SCORE"),
        [
            (
                f"{one.upstream}/{one.tool}",
                words.percent(one.helpfulness),
                figures.count(one.rated),
                figures.count(one.memories),
                figures.count(one.events),
                words.threshold_words(one),
            )
            for one in view.tools
        ],
        right=numbers,
    )


def _print_days(view: SurfacingView, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    if not view.days:
        return
    numbers = ("HELPFUL", "RATED", "ANSWERS")
    context.out.line()
    context.out.table(
        ("DAY", "", *numbers),
        [
            (
                one.day,
                words.bar(one.helpfulness, 20),
                words.percent(one.helpfulness),
                figures.count(one.rated),
                figures.count(one.events),
            )
            for one in view.days
        ],
        right=numbers,
    )


def _print_decisions(view: SurfacingView, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    for title, decisions in (
        (f"What became of {figures.plural(view.opportunities, 'call')} on record", view.decisions),
        ("Since this station's start", view.since_start),
    ):
        if not decisions:
            continue
        more = ""
        if view.sampled_out and decisions is view.decisions:
            more = f" ({figures.count(view.sampled_out)} more were not written down)"
        context.out.line(f"\n{title}{more}:")
        for decision, number in decisions:
            context.out.line(
                f"{figures.count(number):>8}  {words.DECISIONS[decision]}  [{decision.value}]"
            )


def _print_steps(view: SurfacingView, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    if not view.adjustments:
        return
    now, zone = context.clock(), local_zone()
    context.out.line("\nSteps of the tuner (mms tune --revert STEP takes one back):")
    context.out.table(
        ("STEP", "WHEN", "TOOL", "FROM", "TO", "STATE", "REASON"),
        [
            (
                str(one.id),
                figures.moment(one.at, now, zone),
                f"{one.upstream}/{one.tool}",
                f"{one.before:.2f}",
                f"{one.after:.2f}",
                words.step_state(one),
                one.reason,
            )
            for one in view.adjustments
        ],
        right=("STEP", "FROM", "TO"),
    )


def _print_event(event: SurfacingEvent, context: Context) -> None:
    from console import format as figures
    from console import surfacing_words as words

    when = figures.moment(event.at, context.clock(), local_zone())
    context.out.line(
        f"\n{safe_line(event.id, 40)}  {when}  {words.tool_name(event.upstream, event.tool)} for "
        f"{safe_line(event.host, 60)}, call {event.call_id}\n"
        f"  query {words.query_words(event)} from {words.LEVELS[event.level]}; from "
        f"{words.percent(event.threshold)} on"
    )
    for one in event.memories:
        by = ", ".join(
            f"{rated.rater.value}: {words.RATING_WORDS[rated.rating]}" for rated in one.ratings
        )
        conflict = "  CONFLICT" if one.conflict else ""
        context.out.line(
            f"  {safe_line(one.memory_id, 64)}  {words.percent(one.score)}  "
            f"{words.rating_words(one.rating)}" + (f" ({by})" if by else "") + conflict
        )
        context.out.line(f"    {safe_line(one.preview, 400)}")
