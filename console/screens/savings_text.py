"""The ledger as rows and sentences: what was saved per tool, server and day. Pure.

Net = before - sent - fetched back - our own tools. Every row obeys that, and rows add up to the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from enum import Enum

from console import format as fmt
from console.safe import safe_line
from console.widgets.tone import Cell, Tone
from proxy.answer_model import Savings, SavingsView

OWN = "mms"
"""The name under which the ledger books the cost of our own tools."""
MOST_DAYS = 366
"""A chart of all time shows at most so many days."""


class Grouping(Enum):
    """By what the table sums."""

    TOOL = "tool"
    SERVER = "server"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class SavingsRow:
    """One line of the table."""

    key: tuple[str, ...]
    """``(server, tool)``, ``(server,)`` or ``(day,)``; empty for the sum."""
    name: str
    savings: Savings


@dataclass(frozen=True, slots=True)
class Summary:
    """What is drawn of a ledger, summed once: a ledger of all time has thousands of lines."""

    view: SavingsView
    day: str
    """Today."""
    total: Savings
    today: Savings
    net_per_day: tuple[int, ...]
    """Oldest first, ending today."""
    span: str
    """First and last day with calls."""


def summary_of(
    view: SavingsView, now: float, tz: tzinfo, days: int, known: Summary | None = None
) -> Summary:
    """Sums of a ledger of ``days`` days (0: all time); ``known`` again when it still holds."""
    day = last_days(now, tz, 1)[0]
    if known is not None and known.view is view and known.day == day:
        return known
    by_day = view.by_day()
    total = Savings()
    for one in by_day.values():
        total += one
    shown = sorted(by_day)
    span = f"{shown[0]} to {shown[-1]}" if len(shown) > 1 else "".join(shown)
    nets = tuple(net_per_day(by_day, now, tz, days))
    return Summary(view, day, total, by_day.get(day, Savings()), nets, span)


def rows_of(view: SavingsView, grouping: Grouping) -> list[SavingsRow]:
    """The rows of a grouping: most saved first, days newest first."""
    match grouping:
        case Grouping.TOOL:
            rows = [
                SavingsRow((upstream, tool), _tool_name(upstream, tool), savings)
                for (upstream, tool), savings in view.by_tool().items()
            ]
        case Grouping.SERVER:
            rows = [
                SavingsRow((upstream,), _own(upstream), savings)
                for upstream, savings in view.by_upstream().items()
            ]
        case Grouping.DAY:
            days = [SavingsRow((day,), day, savings) for day, savings in view.by_day().items()]
            return sorted(days, key=lambda row: row.key, reverse=True)
    return sorted(rows, key=lambda row: (-row.savings.net, row.key))


def sum_row(total: Savings) -> SavingsRow:
    """The sum of all rows."""
    return SavingsRow((), "all together", total)


def _tool_name(upstream: str, tool: str) -> str:
    return f"{upstream}/{tool}" if tool else _own(upstream)


def _own(upstream: str) -> str:
    return "mms's own tools" if upstream == OWN else upstream


def last_days(now: float, tz: tzinfo, number: int) -> list[str]:
    """The last local days, today last, as the ledger names them."""
    today = datetime.fromtimestamp(now, tz).date()
    return [str(today - timedelta(days=back)) for back in range(number - 1, -1, -1)]


def net_per_day(by_day: Mapping[str, Savings], now: float, tz: tzinfo, number: int) -> list[int]:
    """Net per local day, oldest first, days without calls as 0. ``number`` 0: since the first day."""
    if number == 0:
        number = _days_since(min(by_day, default=""), datetime.fromtimestamp(now, tz).date())
    return [by_day[day].net if day in by_day else 0 for day in last_days(now, tz, number)]


def _days_since(first: str, today: date) -> int:
    try:
        days = (today - date.fromisoformat(first)).days + 1
    except ValueError:
        return 1
    return max(1, min(days, MOST_DAYS))


def share(savings: Savings) -> str:
    """Net as a share of what upstreams sent; a dash when they sent nothing."""
    return fmt.percent(savings.net, savings.before)


def net_tone(net: int) -> Tone:
    """Saved, nothing, or paid on top. The sign says the same."""
    return Tone.GOOD if net > 0 else Tone.BAD if net < 0 else Tone.MUTED


def card_words(total: Savings, days: int, *, wide: bool) -> str:
    """Under the Overview's card, in at most 20 cells unless it is wide."""
    net, own, part = fmt.brief(total.net), fmt.brief(total.control_tools), share(total)
    if wide:
        return f"{days} days {net} ({part}), own tools {own}"
    words = f"{days}d {net} {part}, own {own}"
    return words if len(words) <= 20 else f"{days}d {net}, own {own}"


def net_words(savings: Savings) -> str:
    """The net with what it means: ``12,345 tokens saved (48%)`` or ``312 tokens added (-5.0%)``."""
    if savings.net < 0:
        return f"{fmt.tokens(-savings.net)} tokens added ({share(savings)})"
    if savings.net == 0:
        return "nothing saved"
    return f"{fmt.tokens(savings.net)} tokens saved ({share(savings)})"


def row_cells(row: SavingsRow) -> tuple[Cell, ...]:
    """Name, calls, made smaller, before, sent, fetched back, own tools, net, share."""
    one = row.savings
    strong = Tone.STRONG if not row.key else Tone.NORMAL
    return (
        Cell(row.name, Tone.STRONG),
        Cell(fmt.count(one.calls), Tone.MUTED),
        Cell(fmt.count(one.reduced), Tone.MUTED),
        Cell(fmt.tokens(one.before) if one.calls else fmt.NONE, strong),
        Cell(fmt.tokens(one.sent) if one.calls else fmt.NONE, strong),
        Cell(_cost(one.fetched), Tone.WARN if one.fetched else Tone.MUTED),
        Cell(_cost(one.control_tools), Tone.WARN if one.control_tools else Tone.MUTED),
        Cell(fmt.tokens(one.net), net_tone(one.net)),
        Cell(share(one), net_tone(one.net)),
    )


def _cost(tokens: int) -> str:
    return fmt.tokens(tokens) if tokens else fmt.NONE


def facts_lines(summary: Summary) -> list[tuple[Cell, ...]]:
    """Beside the chart: today, how often, what our own words and tools cost, the cache."""
    today, total, view = summary.today, summary.total, summary.view
    missed = _missed_lines(view)
    return [
        (
            Cell("today    ", Tone.MUTED),
            Cell(fmt.tokens(today.net), net_tone(today.net)),
            Cell(f" {share(today)} net", Tone.MUTED),
        ),
        (
            Cell("smaller  ", Tone.MUTED),
            Cell(fmt.count(total.reduced)),
            Cell(f" of {fmt.plural(total.calls, 'call')}", Tone.MUTED),
        ),
        (
            Cell("mms cost ", Tone.MUTED),
            Cell(fmt.tokens(total.control_tools), Tone.WARN if total.control_tools else Tone.MUTED),
            Cell(" tool lists", Tone.MUTED),
            Cell(f" ({fmt.tokens(view.control_tools_tokens)} each now)", Tone.MUTED),
        ),
        *missed[:1],
        (
            Cell("of sent  ", Tone.MUTED),
            Cell(fmt.tokens(total.notices)),
            Cell(" are mms's own words", Tone.MUTED),
        ),
        (
            Cell("cache    ", Tone.MUTED),
            Cell(fmt.count(total.cache_hits)),
            Cell(" answers given again", Tone.MUTED),
        ),
        *missed[1:],
    ]


def _missed_lines(view: SavingsView) -> list[tuple[Cell, ...]]:
    """What agents reported as missing: how much, then the newest of each tool."""
    if not view.missed:
        return []
    reports = sum(line.reports for line in view.missed)
    lines: list[tuple[Cell, ...]] = [
        (
            Cell("missed   ", Tone.MUTED),
            Cell(fmt.plural(reports, "report"), Tone.WARN),
            Cell(" by agents in 90 days", Tone.MUTED),
        )
    ]
    for line in sorted(view.missed, key=lambda one: -one.last_at):
        words = safe_line(line.latest[0] if line.latest else "", 200)
        what = f"{line.upstream}/{line.tool} {line.kind.replace('_', ' ')} {line.reports}\u00d7"
        lines.append((Cell(f"  {safe_line(what, 80)}: "), Cell(words, Tone.MUTED)))
    return lines


def plain_table(rows: Iterable[SavingsRow], total: SavingsRow) -> str:
    """The table as text with tabs, to be copied."""
    heads = ("name", "calls", "smaller", "before", "sent", "fetched", "own tools", "net", "share")
    lines = ["\t".join(heads)]
    lines += ["\t".join(cell.text for cell in row_cells(row)) for row in (*rows, total)]
    return "\n".join(lines)
