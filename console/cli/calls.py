"""``mms calls``: the log of calls, oldest first as logs are; one call in full; or following it live."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace

from console.cli.context import Context, local_zone
from console.cli.context import run as run_async
from console.cli.errors import CliError, ExitCode, UsageError
from console.cli.history import read_call, read_calls
from console.cli.output import note
from console.filters import saved_tokens
from proxy.model import CallDetail, CallQuery, CallRecord, Outcome

_FOLLOW_FIRST = 10
"""Calls that are shown before following begins, unless ``--limit`` says otherwise."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", type=int, help="one call, with its texts")
    parser.add_argument("--follow", "-f", action="store_true", help="go on with new calls")
    parser.add_argument("--limit", "-n", metavar="N", type=int, default=None, help="1 to 10000")
    parser.add_argument("--before", metavar="ID", type=int, default=None, help="older than this")
    parser.add_argument("--upstream", metavar="NAME", default="")
    parser.add_argument("--tool", metavar="NAME", default="", help="may contain *")
    parser.add_argument("--host", metavar="NAME", default="")
    parser.add_argument("--errors", action="store_true", help="only calls that did not end well")
    parser.add_argument("--slower", metavar="MS", type=float, default=0.0)
    parser.add_argument("--text", metavar="TEXT", default="", help="in any name or the error")


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print them."""
    if arguments.id is not None:
        return _one(arguments.id, context)
    limit = arguments.limit if arguments.limit is not None else None
    if limit is not None and not 1 <= limit <= 10_000:
        raise UsageError("--limit: a number from 1 to 10000.")
    query = CallQuery(
        limit=limit or (_FOLLOW_FIRST if arguments.follow else 50),
        before_id=arguments.before,
        upstream=arguments.upstream,
        tool=arguments.tool,
        host=arguments.host,
        errors_only=arguments.errors,
        slower_than_ms=arguments.slower,
        text=arguments.text,
    )
    if arguments.follow:
        return run_async(_follow(context, query))
    records, from_station = run_async(_read(context, query))
    if context.out.as_json:
        context.out.json({"station": from_station, "calls": records})
    elif records:
        context.out.table(_HEADS, [_row(record) for record in records], right=_RIGHT)
    else:
        context.out.line("No recorded call matches." if _narrowed(query) else "No calls yet.")
    return ExitCode.OK


def _narrowed(query: CallQuery) -> bool:
    return replace(query, limit=CallQuery().limit) != CallQuery()


async def _read(context: Context, query: CallQuery) -> tuple[tuple[CallRecord, ...], bool]:
    async with context.station_if_any() as station:
        records = await read_calls(context, station, query)
        return records[::-1], station is not None


# -- the log ----------------------------------------------------------------------------------

_HEADS = (
    "ID", "TIME", "HOST", "UPSTREAM", "TOOL", "OUTCOME", "MS", "TOKENS IN", "TOKENS OUT", "SAVED",
    "HOW", "ERROR",
)  # fmt: skip
_RIGHT = ("ID", "MS", "TOKENS IN", "TOKENS OUT", "SAVED")


def _row(record: CallRecord) -> tuple[str, ...]:
    from console import format as figures

    tokens = record.text.tokens + record.structured.tokens
    return (
        str(record.id),
        _time(record.started_at),
        record.host,
        record.upstream,
        record.tool,
        record.outcome.value.replace("_", " "),
        figures.milliseconds(record.duration_ms),
        figures.count(record.arguments.tokens),
        figures.count(tokens) + ("+" if record.other_bytes else ""),
        figures.count(saved_tokens(record)) if record.strategy else figures.NONE,
        _how(record),
        record.error,
    )


def _how(record: CallRecord) -> str:
    """How the answer was made smaller, or that it was kept from before; with what gave up."""
    how = record.strategy or (f"cache {record.cache}" if record.cache else "")
    return f"{how} (fault)".strip() if record.fault else how


def _time(at: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(at, local_zone()).strftime("%Y-%m-%d %H:%M:%S")


# -- following --------------------------------------------------------------------------------


async def _follow(context: Context, query: CallQuery) -> int:
    """Print calls as they are recorded, until the station stops (exit code 3) or ctrl+c."""
    from proxy.events import CallsRecorded, EventsLost, StationStopping
    from proxy.store.calls import matches

    shown: set[int] = set()

    def show(records: Iterable[CallRecord]) -> None:
        for record in records:
            if record.id in shown or not matches(record, query):
                continue
            shown.add(record.id)
            if context.out.as_json:
                context.out.json(record, one_line=True)
            else:
                context.out.line(_log_line(record))
        context.out.flush()

    async with context.station() as station, station.events() as events:
        show((await station.calls(query))[::-1])
        query = replace(query, before_id=None)
        async for event in events:
            match event:
                case CallsRecorded(records):
                    show(records)
                case EventsLost():
                    # What was missed is in the store.
                    show((await station.calls(replace(query, limit=10_000)))[::-1])
                case StationStopping(reason):
                    note(f"The station has stopped: {reason}")
                case _:
                    pass
    return ExitCode.NO_STATION


def _log_line(record: CallRecord) -> str:
    """One call for a log that grows: without columns, since nobody knows what is still to come."""
    from console import format as figures

    tokens = record.text.tokens + record.structured.tokens
    line = (
        f"{_time(record.started_at)}  #{record.id}  {record.host} \u2192 "
        f"{record.upstream}/{record.tool}  {record.outcome.value.replace('_', ' ')}  "
        f"{figures.duration(record.duration_ms)}  "
        f"{figures.count(record.arguments.tokens)} \u2192 {figures.count(tokens)} tokens"
    )
    if record.strategy:
        line += f"  saved {figures.count(saved_tokens(record))} by {record.strategy}"
    return f"{line}  {record.error}" if record.error else line


# -- one call ---------------------------------------------------------------------------------


def _one(call_id: int, context: Context) -> int:
    detail, from_station = run_async(_detail(context, call_id))
    if detail is None:
        raise CliError(f"There is no recorded call {call_id}. The log is: mms calls")
    if context.out.as_json:
        context.out.json({"station": from_station, "call": detail})
        return ExitCode.OK
    for line in _detail_lines(detail):
        context.out.line(line)
    if detail.arguments is None and detail.result is None:
        why = (
            "are no longer in the station's memory"
            if from_station
            else "were in the memory of a station that no longer runs"
        )
        context.out.line(f"\nArguments and result {why}.")
    if detail.record.held_key:
        context.out.line(
            f"\nThe whole answer: mms held show {detail.record.held_key}\n"
            f"Other settings:   mms whatif {detail.record.id}"
        )
    return ExitCode.OK


async def _detail(context: Context, call_id: int) -> tuple[CallDetail | None, bool]:
    async with context.station_if_any() as station:
        return await read_call(context, station, call_id), station is not None


def _detail_lines(detail: CallDetail) -> list[str]:
    from console import format as figures

    record = detail.record
    other = f", {figures.size(record.other_bytes)} other" if record.other_bytes else ""
    lines = [
        f"call        {record.id}, {_time(record.started_at)}",
        f"host        {record.host} (session {record.session})",
        f"tool        {record.upstream} / {record.tool}",
        (
            f"outcome     {record.outcome.value.replace('_', ' ')} "
            f"after {figures.duration(record.duration_ms)}"
        ),
    ]
    if record.outcome is not Outcome.OK:
        lines.append(f"error       {record.error}")
    lines += [
        (
            f"sent        {figures.size(record.arguments.bytes)}, "
            f"{figures.plural(record.arguments.tokens, 'token')}"
        ),
        (
            f"answered    text {figures.size(record.text.bytes)}, "
            f"{figures.plural(record.text.tokens, 'token')}; "
            f"structured {figures.size(record.structured.bytes)}, "
            f"{figures.plural(record.structured.tokens, 'token')}{other}"
        ),
    ]
    lines += _answer_lines(detail)
    for title, text in (("arguments", detail.arguments), ("result", detail.result)):
        if text is not None:
            lines += ["", f"{title}:", text]
    if detail.truncated:
        lines += ["", "(cut to what a screen can show)"]
    return lines


def _answer_lines(detail: CallDetail) -> list[str]:
    """What became of the answer between the upstream and the agent, as far as anything did."""
    from console import format as figures

    record = detail.record
    lines: list[str] = []
    if record.strategy:
        saved = saved_tokens(record)
        share = figures.percent(saved, record.before.tokens)
        lines += [
            (
                f"before      {figures.size(record.before.bytes)}, "
                f"{figures.plural(record.before.tokens, 'token')}"
            ),
            f"saved       {figures.plural(saved, 'token')} ({share}) by {record.strategy}",
        ]
    if record.overhead_tokens:
        own = figures.plural(record.overhead_tokens, "token")
        lines.append(f"own words   {own} of what was sent")
    if detail.query:
        source = f" (from {detail.query_source})" if detail.query_source else ""
        lines.append(f"query       {detail.query}{source}")
    if record.held_key:
        lines.append(f"held as     {record.held_key}")
    if record.cache:
        old = f", {figures.age(record.cache_age_seconds)} old" if record.cache == "hit" else ""
        lines.append(f"cache       {record.cache}{old}")
    if record.fetched_upstream:
        lines.append(f"fetched     held text of {record.fetched_upstream} / {record.fetched_tool}")
    if record.fault:
        lines.append(f"fault       {record.fault}")
    return lines
