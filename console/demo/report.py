"""What ``mms demo`` prints without a terminal: the calls as the station recorded them, and their sums."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from console.format import count, milliseconds, shorten
from console.safe import safe_line
from proxy.model import CallRecord, Outcome

_ARGUMENTS_WIDTH = 44


@dataclass(frozen=True, slots=True)
class ReportedCall:
    """One recorded call with the arguments that were sent."""

    record: CallRecord
    arguments: str
    """JSON; empty when the station no longer has them."""

    @property
    def bytes(self) -> int:
        """Size of the answer."""
        return self.record.text.bytes + self.record.structured.bytes + self.record.other_bytes

    @property
    def tokens(self) -> int:
        """Tokens of the answer as it was sent, text and structured content together."""
        return self.record.text.tokens + self.record.structured.tokens

    @property
    def before(self) -> int:
        """Tokens of the answer as the server gave it."""
        return self.record.before.tokens if self.record.strategy else self.tokens


@dataclass(frozen=True, slots=True)
class Report:
    """One run of the demo."""

    calls: tuple[ReportedCall, ...]
    """Oldest first."""
    seconds: float
    problems: tuple[str, ...]
    """What was not as planned; empty when the demo worked."""

    @property
    def tool_errors(self) -> int:
        """Calls that the tool itself answered with an error; the script provokes some."""
        return sum(call.record.outcome is Outcome.TOOL_ERROR for call in self.calls)


def as_text(report: Report) -> str:
    """A table for people, then the sums, then the problems."""
    head = ("tool", "arguments", "before", "tokens", "by", "ms", "outcome")
    rows = [
        (
            safe_line(f"{call.record.upstream}__{call.record.tool}"),
            shorten(brief_arguments(call.arguments), _ARGUMENTS_WIDTH),
            count(call.before),
            count(call.tokens),
            call.record.strategy,
            milliseconds(call.record.duration_ms),
            call.record.outcome.value.replace("_", " "),
        )
        for call in report.calls
    ]
    lines = [*_table((head, *rows), right=(2, 3, 5)), "", _sums(report)]
    lines += [f"problem: {safe_line(problem)}" for problem in report.problems]
    return "\n".join(lines)


def as_json(report: Report) -> str:
    """The same for programs."""
    calls = [
        {
            "upstream": call.record.upstream,
            "tool": call.record.tool,
            "arguments": _parsed(call.arguments),
            "bytes": call.bytes,
            "tokens": call.tokens,
            "tokens_before": call.before,
            "strategy": call.record.strategy,
            "ms": round(call.record.duration_ms, 3),
            "outcome": call.record.outcome.value,
            "error": call.record.error,
        }
        for call in report.calls
    ]
    totals = {
        "calls": len(report.calls),
        "tool_errors": report.tool_errors,
        "bytes": sum(call.bytes for call in report.calls),
        "tokens": sum(call.tokens for call in report.calls),
        "tokens_before": sum(call.before for call in report.calls),
        "seconds": round(report.seconds, 3),
    }
    whole = {
        "ok": not report.problems,
        "calls": calls,
        "totals": totals,
        "problems": list(report.problems),
    }
    return json.dumps(whole, indent=2)


def brief_arguments(text: str) -> str:
    """``service=checkout lines=50`` for an object of arguments, else the text as it is."""
    arguments = _parsed(text)
    if arguments is None:
        return safe_line(text)
    return " ".join(safe_line(f"{name}={value}") for name, value in arguments.items())


def _parsed(text: str) -> dict[str, Any] | None:
    """The object that ``text`` is as JSON, if it is one."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _sums(report: Report) -> str:
    total = len(report.calls)
    scripted = "" if report.problems else ", as scripted"
    return (
        f"{total} calls ({report.tool_errors} tool errors{scripted}), "
        f"{count(sum(call.before for call in report.calls))} tokens in answers, "
        f"{count(sum(call.tokens for call in report.calls))} of them sent; the rest can be read back, "
        f"{report.seconds:.1f} s"
    )


def _table(rows: Sequence[Sequence[str]], *, right: Sequence[int]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
