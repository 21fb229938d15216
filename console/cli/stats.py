"""``mms stats``: calls and tokens today and in all, what was saved, and the recent calls by tool."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode, UsageError
from console.cli.history import Sums, read_calls, read_savings, read_sums
from console.cli.savings import print_savings, savings_report
from console.cli.surfacing import read_view
from proxy.admin.texts import helpfulness
from proxy.answer_model import SavingsView
from proxy.model import CallQuery, CallRecord, Totals
from proxy.surface.model import SurfacingQuery, SurfacingView
from proxy.tool_sums import ToolSums, by_tool

RECENT = 10_000
"""Calls that the table by tool looks at."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--upstream", metavar="NAME", default="", help="only tools of this one")
    parser.add_argument(
        "--days",
        metavar="N",
        type=int,
        default=7,
        help="savings of so many local days, today included (default 7; 0: all time)",
    )


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print it."""
    if not 0 <= arguments.days <= 100_000:
        raise UsageError("--days: a number of days, or 0 for all time.")
    query = CallQuery(limit=RECENT, upstream=arguments.upstream)
    recorded = run_async(_read(context, query, arguments.days))
    sums, records, from_station = recorded.sums, recorded.records, recorded.from_station
    shown = recorded.shown
    savings = of_upstream(recorded.savings, arguments.upstream)
    tools = by_tool(records)
    if context.out.as_json:
        context.out.json(
            {
                "station": from_station,
                "today": sums.today,
                "all_time": sums.all_time,
                "unrecorded_calls": sums.unrecorded_calls,
                "tools": tools,
                "tools_over_calls": len(records),
                "savings": savings_report(savings, arguments.days),
                "surfacing": {
                    "answers": shown.events_total,
                    "tokens": shown.tokens,
                    "ratings": shown.feedback_total,
                    "helpfulness": helpfulness(shown) if shown.feedback_total else None,
                },
            }
        )
        return ExitCode.OK
    _print(sums, tools, len(records), context)
    print_savings(savings, arguments.days, context)
    if shown.events_total:
        context.out.line(f"\n{_memories(shown)}")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Recorded:
    sums: Sums
    records: tuple[CallRecord, ...]
    savings: SavingsView
    shown: SurfacingView
    from_station: bool


async def _read(context: Context, query: CallQuery, days: int) -> _Recorded:
    async with context.station_if_any() as station:
        return _Recorded(
            await read_sums(context, station),
            await read_calls(context, station, query),
            await read_savings(context, station, days),
            await read_view(context, station, SurfacingQuery(limit=0)),
            station is not None,
        )


def of_upstream(view: SavingsView, upstream: str) -> SavingsView:
    """The ledger of one upstream's tools; of all when the name is empty."""
    if not upstream:
        return view
    return replace(
        view,
        lines=tuple(one for one in view.lines if one.upstream == upstream),
        missed=tuple(one for one in view.missed if one.upstream == upstream),
    )


def _memories(shown: SurfacingView) -> str:
    from console import format as figures

    answers = figures.plural(shown.events_total, "answer")
    text = f"Memories were shown with {answers}, about {figures.count(shown.tokens)} tokens"
    if shown.feedback_total:
        rated = figures.plural(shown.feedback_total, "rating")
        text += f"; {helpfulness(shown):.0%} helpful by {rated}"
    return f"{text}. More: mms surfacing"


def _print(sums: Sums, tools: Sequence[ToolSums], recent: int, context: Context) -> None:
    from console import format as figures

    def totals(name: str, one: Totals) -> tuple[str, ...]:
        return (
            name,
            figures.count(one.calls),
            figures.percent(one.errors, one.calls),
            figures.count(one.tokens_in),
            figures.count(one.tokens_out),
            figures.size(one.bytes_out),
        )

    numbers = ("CALLS", "ERRORS", "TOKENS IN", "TOKENS OUT", "SIZE OUT")
    context.out.table(
        ("", *numbers),
        [totals("today", sums.today), totals("all time", sums.all_time)],
        right=numbers,
    )
    if sums.unrecorded_calls:
        context.out.line(
            f"{figures.plural(sums.unrecorded_calls, 'call')} could not be recorded and "
            "are missing here; see: mms status"
        )
    if not tools:
        context.out.line("\nNo calls are recorded yet.")
        return
    context.out.line(f"\nBy tool, over the last {figures.plural(recent, 'call')}:")
    context.out.table(
        ("UPSTREAM", "TOOL", *numbers, "P50 MS", "P95 MS"),
        [
            (
                one.upstream,
                one.tool,
                figures.count(one.calls),
                figures.percent(one.errors, one.calls),
                figures.count(one.tokens_in),
                figures.count(one.tokens_out),
                figures.size(one.bytes_out),
                figures.milliseconds(one.p50_ms),
                figures.milliseconds(one.p95_ms),
            )
            for one in tools
        ],
        right=(*numbers, "P50 MS", "P95 MS"),
    )
