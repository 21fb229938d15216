"""The reports of ``stm_admin``: text for people and agents, and the same as a value.

They read through a port that the engine's service and the console's station both are, so that the tool,
the command line and the screens show the same figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proxy.admin.texts import error_kind, selection_text, share, short, surfacing_text, tuning_text
from proxy.answer_model import Savings, SavingsView
from proxy.commands import Command, CommandResult
from proxy.model import CallQuery, CallRecord, Snapshot, UpstreamState, UpstreamView
from proxy.surface.model import SourceStatus, SurfacingQuery, SurfacingView, TuningReport
from proxy.telemetry.model import ProgressiveView, SelectionView
from proxy.tool_sums import by_tool

RECENT_CALLS = 5_000
"""Calls that the history per tool looks at."""
_CONNECTED = (UpstreamState.READY, UpstreamState.DEGRADED)


class AdminPort(Protocol):
    """What the reports read; `proxy.operator.StationService` and `console.station.Station` are ones."""

    async def snapshot(self) -> Snapshot: ...
    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]: ...
    async def savings(self, days: int) -> SavingsView: ...
    async def surfacing(self, query: SurfacingQuery) -> SurfacingView: ...
    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport: ...
    async def selection(self) -> SelectionView: ...
    async def progressive(self, tool: str) -> ProgressiveView: ...
    async def execute(self, command: Command) -> CommandResult: ...


@dataclass(frozen=True, slots=True)
class Report:
    """One report."""

    text: str
    value: object
    """Dataclasses, dicts and plain values, as `msgspec` encodes them."""


async def proxy_stats(port: AdminPort) -> Report:
    """Token savings, cache hits, calls per tool."""
    snapshot = await port.snapshot()
    savings = await port.savings(0)
    records = await port.calls(CallQuery(limit=RECENT_CALLS))
    source = snapshot.surfacing.source
    total = savings.total
    history = sorted(by_tool(records), key=lambda one: (-one.calls, one.upstream, one.tool))
    lines = [
        (
            f"Calls: {snapshot.all_time.calls:,} in all ({snapshot.all_time.errors:,} failed), "
            f"{snapshot.today.calls:,} today; {total.cache_hits:,} answered without the upstream "
            f"({share(total.cache_hits, total.calls)})"
        ),
        (
            f"Tokens of answers: {total.before:,} from upstreams, {total.sent:,} sent "
            f"({total.reduced:,} answers made smaller)"
        ),
        (
            f"Net saved: {total.net:,} ({share(total.net, total.before)}) after {total.fetched:,} "
            f"fetched back and {total.control_tools:,} for mms's own tools"
        ),
        _hints(source),
        "",
        (
            "By tool (all time: before -> sent; the last "
            f"{len(records):,} calls: count, failed, p50, p95):"
        ),
    ]
    saved_by_tool = savings.by_tool()
    for line in history:
        saved = saved_by_tool.get((line.upstream, line.tool), Savings())
        lines.append(
            f"  {line.upstream}/{line.tool}: {saved.before:,} -> {saved.sent:,}; "
            f"{line.calls:,}, {line.errors + line.tool_errors:,}, "
            f"{line.p50_ms:.0f} ms, {line.p95_ms:.0f} ms"
        )
    if not history:
        lines.append("  (no calls yet)")
    value = {
        "calls": snapshot.all_time,
        "today": snapshot.today,
        "savings": total,
        "net": total.net,
        "tools": history,
        "hint_events": source.hint_events,
        "last_hints": source.last_hints,
    }
    return Report("\n".join(lines), value)


async def proxy_health(port: AdminPort) -> Report:
    """Upstreams, the source of memories, and what is wrong with files of ours."""
    snapshot = await port.snapshot()
    surfacing = await port.surfacing(SurfacingQuery(limit=0))
    lines = ["Upstreams:"]
    lines += [f"  {_upstream_line(view)}" for view in snapshot.upstreams] or ["  (none)"]
    source = surfacing.source
    lines.append(f"Surfacing: source {source.name}, breaker {source.state}")
    if surfacing.problem:
        lines.append(f"Surfacing store: {error_kind(surfacing.problem)}")
    lines.append("Tool-graph eligibility provider: not configured")
    if snapshot.station.settings_problems:
        lines.append(
            f"Settings: {snapshot.station.settings_problems} problem(s) in the file; the last good "
            "settings are in force"
        )
    value = {
        "upstreams": [
            {
                "name": view.name,
                "connected": view.state in _CONNECTED,
                "state": view.state,
                "tools_discovered": view.tools_discovered,
                "tools_advertised": view.tools_advertised,
                "restarts": view.restarts,
                "error": "" if view.state in _CONNECTED else error_kind(view.reason),
            }
            for view in snapshot.upstreams
        ],
        "surfacing": {"source": source.name, "breaker": source.state},
        "surfacing_store": error_kind(surfacing.problem),
        "tool_graph": "not configured",
        "settings_problems": snapshot.station.settings_problems,
    }
    return Report("\n".join(lines), value)


async def surfacing_stats(
    port: AdminPort, tool: str | None, since: float | None, limit: int
) -> Report:
    """Memories shown, how they were rated, and why nothing was shown."""
    if tool == "":
        view = await port.surfacing(SurfacingQuery(limit=0, tool="/", since=since))
    else:
        view = await port.surfacing(SurfacingQuery(limit, tool or "", since))
    return Report(surfacing_text(view, limit), view)


async def selection_stats(port: AdminPort) -> Report:
    """The log of tool selections."""
    view = await port.selection()
    return Report(selection_text(view), view)


async def compression_stats(port: AdminPort, tool: str | None) -> Report:
    """What agents reported as missing in shortened answers."""
    view = await port.savings(0)
    missed = [
        line
        for line in view.missed
        if tool is None or tool in (line.tool, f"{line.upstream}/{line.tool}")
    ]
    kinds: dict[str, int] = {}
    for line in missed:
        kinds[line.kind] = kinds.get(line.kind, 0) + line.reports
    total = sum(kinds.values())
    lines = [f"Compression feedback: {total:,} report(s) in the last 90 days"]
    if kinds:
        lines.append("By kind: " + ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())))
    for line in missed:
        lines.append(f"  {line.upstream}/{line.tool} {line.kind}: {line.reports:,}")
        lines += [f"    - {short(text)}" for text in line.latest]
    return Report("\n".join(lines), {"total": total, "by_kind": kinds, "tools": missed})


async def progressive_stats(port: AdminPort, tool: str | None) -> Report:
    """How progressive answers are read on."""
    view = await port.progressive("/" if tool == "" else tool or "")
    lines = [
        (
            f"Progressive reads: {view.reads:,} of {view.responses:,} response(s); follow-up rate "
            f"{view.follow_up_rate:.0%}"
        ),
        (
            f"Per response: {view.average_served:,.0f} of {view.average_total:,.0f} characters served, "
            f"coverage {view.average_coverage:.0%}"
        ),
        (
            f"Payload: {view.initial_characters:,} characters in first chunks, "
            f"{view.follow_up_characters:,} in follow-ups (footers and memories left out; repeated reads "
            "count again)"
        ),
        f"Store failures that sent the full text: {view.store_failures:,}",
    ]
    if view.legacy_reads:
        lines.append(f"Without a mark of which read came first: {view.legacy_reads:,}")
    lines += [
        f"  {one.upstream}/{one.tool}: {one.responses:,} response(s), {one.reads:,} read(s), "
        f"{one.followed_up:,} read on, coverage {one.average_coverage:.0%}"
        for one in view.tools
    ]
    return Report("\n".join(lines), view)


async def tuning_recommendations(port: AdminPort, since_hours: float, tool: str | None) -> Report:
    """What would serve better; nothing is changed."""
    report = await port.tuning(since_hours, tool)
    return Report(tuning_text(report), report)


def _upstream_line(view: UpstreamView) -> str:
    connected = "connected" if view.state in _CONNECTED else "DISCONNECTED"
    line = (
        f"{view.name}: {connected} ({view.state.value}), {view.tools_discovered} tools discovered, "
        f"{view.tools_advertised} advertised"
    )
    if view.state not in _CONNECTED and view.reason:
        what = "connect failed" if not view.protocol else "lost"
        line += f"; {what}: {error_kind(view.reason)}"
    return line


def _hints(source: SourceStatus) -> str:
    if not source.hint_events:
        return "Search hints of the memory: 0"
    return f"Search hints of the memory: {source.hint_events:,} (last: {source.last_hints} hint(s))"
