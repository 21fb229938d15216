"""What was saved, for ``mms stats``: net per tool, server and day, whose parts add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from console.cli.context import Context
from console.safe import safe_line
from proxy.answer_model import FeedbackLine, Savings, SavingsView


@dataclass(frozen=True, slots=True)
class SavingsSum:
    """One line of a table, as ``--json`` prints it. Counts are tokens, unless they say calls."""

    name: tuple[str, ...]
    """Server and tool, server, or local day; empty for the sum."""
    calls: int
    reduced_calls: int
    before: int
    """What upstreams sent."""
    sent: int
    """What hosts were sent for it, our own words included."""
    fetched: int
    """Held text that agents fetched back."""
    control_tools: int
    """Our own tools in the tool lists of hosts."""
    net: int
    """``before - sent - fetched - control_tools``; negative when mms cost more than it saved."""
    own_words: int
    """Of ``sent``, announcements and legends; for information."""
    cache_hits: int


@dataclass(frozen=True, slots=True)
class SavingsReport:
    """The ledger, as ``--json`` prints it. The lines of each table add up to ``total``."""

    days: int
    """Local days, today included; 0: all time."""
    tokenizer: str
    control_tools_now: int
    """What our own tools cost in one tool list now."""
    total: SavingsSum
    tools: tuple[SavingsSum, ...]
    """Most saved first, as ``servers``."""
    servers: tuple[SavingsSum, ...]
    by_day: tuple[SavingsSum, ...]
    """Oldest first."""
    missed: tuple[FeedbackLine, ...]
    """What agents reported as missing, by server, tool and kind."""


def savings_report(view: SavingsView, days: int) -> SavingsReport:
    """The ledger as plain sums."""
    return SavingsReport(
        days,
        view.tokenizer,
        view.control_tools_tokens,
        _sum((), view.total),
        _most_first([_sum(key, one) for key, one in view.by_tool().items()]),
        _most_first([_sum((key,), one) for key, one in view.by_upstream().items()]),
        tuple(_sum((day,), one) for day, one in view.by_day().items()),
        view.missed,
    )


def _most_first(sums: list[SavingsSum]) -> tuple[SavingsSum, ...]:
    return tuple(sorted(sums, key=lambda one: (-one.net, one.name)))


def _sum(name: tuple[str, ...], one: Savings) -> SavingsSum:
    return SavingsSum(
        name,
        one.calls,
        one.reduced,
        one.before,
        one.sent,
        one.fetched,
        one.control_tools,
        one.net,
        one.notices,
        one.cache_hits,
    )


_NUMBERS = ("CALLS", "SMALLER", "BEFORE", "SENT", "FETCHED", "OWN TOOLS", "NET", "SHARE")


def print_savings(view: SavingsView, days: int, context: Context) -> None:
    """Three tables for a person."""
    from console import format as figures

    report = savings_report(view, days)
    if not view.lines:
        return
    when = f"over {figures.plural(days, 'day')}" if days else "of all time"
    out = context.out
    out.line(
        f"\nTokens saved {when}, counted with {report.tokenizer}. "
        "Net = before - sent - fetched back - own tools."
    )
    for title, sums in (
        ("TOOL", report.tools),
        ("SERVER", report.servers),
        ("DAY", report.by_day),
    ):
        out.line()
        rows = [_row(_name(one), one) for one in sums]
        rows.append(_row("all together", report.total))
        out.table((title, *_NUMBERS), rows, right=_NUMBERS)
    out.line(
        f"\nOur own tools cost {figures.plural(report.control_tools_now, 'token')} in one tool "
        f"list; {figures.tokens(report.total.own_words)} of the tokens sent are mms's own words."
    )
    _print_missed(view.missed, context)


def _print_missed(missed: Sequence[FeedbackLine], context: Context) -> None:
    """What agents reported, tool by tool, with the latest words."""
    from console import format as figures

    if not missed:
        return
    reports = figures.plural(sum(line.reports for line in missed), "report")
    context.out.line(f"\nAgents missed something in shortened answers ({reports} in 90 days):")
    rows = [
        (
            f"{line.upstream}/{line.tool}",
            line.kind.replace("_", " "),
            figures.count(line.reports),
            safe_line(" | ".join(line.latest), 100),
        )
        for line in missed
    ]
    context.out.table(("TOOL", "KIND", "REPORTS", "LATEST"), rows, right=("REPORTS",))


def _name(one: SavingsSum) -> str:
    parts: Sequence[str] = [part for part in one.name if part]
    return "mms's own tools" if parts == ["mms"] else "/".join(parts)


def _row(name: str, one: SavingsSum) -> tuple[str, ...]:
    from console import format as figures

    return (
        name,
        figures.count(one.calls),
        figures.count(one.reduced_calls),
        figures.tokens(one.before),
        figures.tokens(one.sent),
        figures.tokens(one.fetched),
        figures.tokens(one.control_tools),
        figures.tokens(one.net),
        figures.percent(one.net, one.before),
    )
