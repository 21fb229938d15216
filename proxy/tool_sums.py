"""Calls added up by tool, for the command line and for ``stm_admin`` alike. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.model import CallRecord, Outcome

_FAULTS = (Outcome.ERROR, Outcome.TIMEOUT, Outcome.UPSTREAM_LOST)


@dataclass(frozen=True, slots=True)
class ToolSums:
    """What the recent calls of one tool come to."""

    upstream: str
    tool: str
    calls: int
    errors: int
    """Ended in an error, a timeout or a lost upstream."""
    tool_errors: int
    """The tool itself said that it failed."""
    tokens_in: int
    tokens_out: int
    bytes_out: int
    p50_ms: float
    p95_ms: float


def by_tool(records: Iterable[CallRecord]) -> tuple[ToolSums, ...]:
    """Sums per tool, most tokens first."""
    groups: dict[tuple[str, str], list[CallRecord]] = defaultdict(list)
    for record in records:
        groups[record.upstream, record.tool].append(record)
    sums = [_sum(upstream, tool, group) for (upstream, tool), group in groups.items()]
    return tuple(sorted(sums, key=lambda one: (-one.tokens_out, one.upstream, one.tool)))


def _sum(upstream: str, tool: str, group: Sequence[CallRecord]) -> ToolSums:
    durations = sorted(record.duration_ms for record in group)
    return ToolSums(
        upstream=upstream,
        tool=tool,
        calls=len(group),
        errors=sum(record.outcome in _FAULTS for record in group),
        tool_errors=sum(record.outcome is Outcome.TOOL_ERROR for record in group),
        tokens_in=sum(record.arguments.tokens for record in group),
        tokens_out=sum(record.text.tokens + record.structured.tokens for record in group),
        bytes_out=sum(
            record.text.bytes + record.structured.bytes + record.other_bytes for record in group
        ),
        p50_ms=nearest_rank(durations, 50),
        p95_ms=nearest_rank(durations, 95),
    )


def nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile of sorted values, at least one of them."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
