"""Surfacing, selection and tuning in plain text, for agents and terminals. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proxy.surface.model import Decision, SurfacingView, ToolHelpfulness, TuningReport
from proxy.telemetry.model import NamedCount, SelectionView


def surfacing_text(view: SurfacingView, limit: int = 10) -> str:
    """`SurfacingView` for a terminal or an agent."""
    lines = [
        f"Surfacing: {view.verdict.value}; source {view.source.name}, breaker {view.source.state}",
        (
            f"Events total: {view.events_total:,}; distinct tools: {view.distinct_tools:,}; "
            f"total feedback: {view.feedback_total:,}; tokens added: {view.tokens:,}"
        ),
    ]
    rated = [(rating.value, count) for rating, count in view.ratings if count]
    if rated:
        lines.append("Ratings: " + ", ".join(f"{name} {count:,}" for name, count in rated))
        lines.append(f"Helpfulness: {helpfulness(view):.0%}")
    if view.withheld:
        lines.append(f"Withheld: {view.withheld:,} (holdout, not counted above)")
    if view.opportunities or view.sampled_out:
        lines.append(
            f"Opportunities: {view.opportunities:,} stored (+{view.sampled_out:,} sampled out by this "
            "process)"
        )
        if view.decisions:
            lines.append("  by decision: " + _decisions(view.decisions))
    if view.since_start:
        lines.append("Since the start: " + _decisions(view.since_start))
    if view.tools:
        lines.append("By tool:")
        lines += [f"  {_tool_line(line)}" for line in view.tools]
    for step in view.adjustments[:10]:
        undone = " (taken back)" if step.reverted_at is not None else ""
        lines.append(
            f"Tuner #{step.id}: {step.upstream}/{step.tool} {step.before:.2f} -> {step.after:.2f}"
            f"{undone}: {step.reason}"
        )
    if limit and view.recent:
        lines.append("Recent:")
        for event in view.recent[:limit]:
            lines.append(
                f"  {event.id} {event.upstream}/{event.tool} [{event.level.value}] "
                f"{short(event.query)}"
            )
            lines += [
                f"    {shown.memory_id} {shown.score:.2f} "
                f"{shown.rating.value if shown.rating else 'unrated'}"
                f"{' (agent and person differ)' if shown.conflict else ''}"
                for shown in event.memories
            ]
    if view.problem:
        lines.append(f"Store: {error_kind(view.problem)}")
    return "\n".join(lines)


def helpfulness(view: SurfacingView) -> float:
    """(helpful + half of partially helpful) of all ratings about relevance; 0 when there are none."""
    counts = {rating.worth: 0 for rating, _ in view.ratings}
    for rating, count in view.ratings:
        counts[rating.worth] += count
    about = sum(count for worth, count in counts.items() if worth is not None)
    good = sum(worth * count for worth, count in counts.items() if worth is not None)
    return good / about if about else 0.0


def selection_text(view: SelectionView) -> str:
    """`SelectionView` for a terminal or an agent."""
    if not view.enabled and not view.events:
        return (
            "Selection telemetry is off. Set proxy.selection_telemetry.enabled = true to write which "
            "tools are called, and how it went, to a JSONL file."
        )
    lines = [
        f"Selection telemetry: {'on' if view.enabled else 'off'}; {view.events:,} event(s) in "
        f"{view.file}: {view.selections:,} selection(s), {view.executions:,} execution(s)"
        + (f", {view.unreadable:,} unreadable" if view.unreadable else ""),
        "By ranker: " + _counts(view.by_ranker),
        "By server: " + _counts(view.by_server),
        "By tool: " + _counts(view.by_tool),
        (
            f"Executions: {view.ok:,} ok, {view.errors:,} failed "
            f"({share(view.errors, view.ok + view.errors)}); {view.cache_hits:,} cache hits"
        ),
    ]
    if view.latency is not None:
        lines.append(
            f"Latency: p50 {view.latency.p50:.0f} ms, p95 {view.latency.p95:.0f} ms, "
            f"p99 {view.latency.p99:.0f} ms"
        )
    if view.error_types:
        lines.append("Errors: " + _counts(view.error_types))
    lines.append("Eligibility rejects: " + _counts(view.reject_reasons))
    lines.append(
        f"This process: {view.written:,} written, {view.sampled_out:,} sampled out, "
        f"{view.redaction_drops:,} dropped for a secret, {view.write_errors:,} write error(s)"
    )
    if view.rotated_files:
        lines.append(f"{view.rotated_files} rotated file(s) are not read.")
    if view.problem:
        lines.append(f"Problem: {error_kind(view.problem)}")
    return "\n".join(lines)


def tuning_text(report: TuningReport) -> str:
    """`TuningReport` for a terminal or an agent."""
    window = f"the last {report.since_hours:g} hours"
    unread = f"\nNot all could be read: {error_kind(report.problem)}." if report.problem else ""
    if not report.recommendations:
        return f"Nothing to recommend from {report.tools_seen} tool(s) called in {window}.{unread}"
    lines = [f"From {report.tools_seen} tool(s) called in {window}:"]
    for one in report.recommendations:
        lines.append(f"  {one.key}: {one.current} -> {one.proposed} [{one.confidence}]")
        lines.append(f"    {one.reason}")
    lines.append("mms tune --apply writes them to config.toml and says how to undo it.")
    return "\n".join(lines) + unread


def error_kind(problem: str) -> str:
    """What sort of thing is wrong, without its message: messages may hold paths and addresses."""
    if not problem:
        return ""
    lowered = problem.lower()
    for kind, words in _KINDS:
        if any(word in lowered for word in words):
            return kind
    return "Error"


_KINDS = (
    ("DatabaseError (SQLITE_CORRUPT)", ("malformed", "damaged", "not a database", "corrupt")),
    ("DatabaseError (SQLITE_FULL)", ("disk is full", "no space", "full")),
    ("DatabaseError (SQLITE_BUSY)", ("locked", "busy")),
    ("PermissionError", ("permission", "read-only", "readonly")),
    ("FileNotFoundError", ("not found", "no such file", "could not start")),
    ("SettingsError", ("variable", "setting")),
    ("TimeoutError", ("timed out", "in time", "seconds", " s:")),
    ("ProcessExited", ("exit", "signal", "killed", "ended")),
    ("ConnectError", ("connect", "refused", "reach", "closed")),
    ("DatabaseError", ("database", "store", "sqlite")),
)


def _tool_line(line: ToolHelpfulness) -> str:
    about = "unrated" if line.helpfulness is None else f"{line.helpfulness:.0%} helpful"
    pinned = " (set)" if line.pinned else ""
    return (
        f"{line.upstream}/{line.tool}: {line.events:,} event(s), {line.memories:,} memories, "
        f"{line.rated:,} rated, {about}, threshold {line.threshold:.2f}{pinned}"
    )


def _decisions(decisions: Iterable[tuple[Decision, int]]) -> str:
    return ", ".join(f"{decision.value} {count:,}" for decision, count in decisions)


def _counts(counts: Sequence[NamedCount]) -> str:
    return ", ".join(f"{one.name} {one.count:,}" for one in counts[:20]) or "none"


def share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0.0%"


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "\u2026"
