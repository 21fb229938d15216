"""What there is to say about one upstream, as lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from console import format as fmt
from console.safe import safe_line
from console.widgets.glyphs import STATES
from console.widgets.textpane import EMPTY, TextLine, lines_of
from console.widgets.tone import Cell, Tone
from proxy.model import RunningCall, Transport, UpstreamDetail, UpstreamView
from proxy.telemetry.model import SelectionView

_STDERR_LINES = 200
"""So many of the newest lines are shown."""
_STDERR_CHARACTERS = 2000
"""Of one line of stderr."""
_SENTENCE = 600
"""Characters of one foreign sentence; one that is longer would hide the rest of the page."""


def upstream_lines(
    view: UpstreamView,
    detail: UpstreamDetail | None,
    running: Sequence[RunningCall],
    now: float,
    tz: tzinfo,
    selection: SelectionView | None = None,
) -> list[TextLine]:
    """State first, then figures, calls in flight, withheld tools, stderr, tools, instructions.

    ``detail`` and ``selection`` may be missing while they are on their way.
    """
    lines = _state(view, now, tz)
    lines += _figures(view, detail)
    if selection is not None:
        lines += _telemetry(view, selection)
    mine = [call for call in running if call.upstream == view.name]
    if mine:
        lines += _heading("running", len(mine))
        lines += [
            (
                Cell(f"{fmt.age(now - call.started_at):>4} ", Tone.ACCENT),
                Cell(f"{safe_line(call.tool, 200)}  for {safe_line(call.host, 60)}"),
            )
            for call in mine
        ]
    if detail is None:
        return lines
    if detail.withheld:
        lines += _heading("withheld tools", len(detail.withheld))
        for tool in detail.withheld:
            lines.append(
                (
                    Cell("\u25b2 ", Tone.WARN),
                    Cell(safe_line(tool.name, 200), Tone.STRONG),
                    Cell(f"  {tool.code.value}", Tone.WARN),
                )
            )
            lines.append((Cell("  " + safe_line(tool.reason, _SENTENCE), Tone.MUTED),))
    if detail.stderr:
        shown = detail.stderr[-_STDERR_LINES:]
        lines += _heading("stderr, newest last", len(detail.stderr))
        for text in shown[-8:] if len(shown) > 8 else shown:
            lines += lines_of(text[:_STDERR_CHARACTERS], Tone.MUTED)
    if detail.tools:
        lines += _heading("tools", len(detail.tools))
        for tool in detail.tools:
            lines.append((Cell(safe_line(tool.advertised_as or tool.name, 200), Tone.STRONG),))
            if tool.description:
                first = safe_line(tool.description.strip().split("\n", 1)[0], 300)
                lines.append((Cell("  " + first, Tone.MUTED),))
            lines += [(Cell("  " + safe_line(text, 200), Tone.ACCENT),) for text in tool.changes]
    if detail.instructions:
        lines += _heading("instructions to the model")
        lines += lines_of(detail.instructions[:20_000], Tone.NORMAL)
    if len(detail.stderr) > 8:
        lines += _heading("more of stderr", len(detail.stderr) - 8)
        for text in detail.stderr[-_STDERR_LINES:-8]:
            lines += lines_of(text[:_STDERR_CHARACTERS], Tone.MUTED)
    return lines


def _state(view: UpstreamView, now: float, tz: tzinfo) -> list[TextLine]:
    sign = STATES[view.state]
    lines: list[TextLine] = [
        (
            sign.both,
            Cell(f" for {fmt.age(now - view.since)}", Tone.MUTED),
            Cell(f"  since {fmt.moment(view.since, now, tz)}", Tone.MUTED),
        )
    ]
    if view.reason:
        lines.append((Cell(safe_line(view.reason, _SENTENCE), sign.tone),))
    if view.retry_at is not None and view.retry_at > now:
        lines.append((Cell("\u2192 ", Tone.ACCENT), Cell(f"next attempt in {_in(view, now)}")))
    elif view.next_action:
        lines.append((Cell("\u2192 ", Tone.ACCENT), Cell(safe_line(view.next_action, _SENTENCE))))
    lines.append(EMPTY)
    return lines


def _in(view: UpstreamView, now: float) -> str:
    return fmt.age((view.retry_at or now) - now)


def _figures(view: UpstreamView, detail: UpstreamDetail | None) -> list[TextLine]:
    kind = "stdio" if view.transport is Transport.STDIO else "http"
    lines = [
        _pair(kind, view.target),
        _pair("server", view.server or fmt.NONE),
        _pair("protocol", view.protocol or fmt.NONE),
        _pair("latency", _latency(view)),
        _pair(
            "calls",
            f"{fmt.count(view.calls)}, {fmt.count(view.errors)} failed "
            f"({fmt.percent(view.errors, view.calls)})",
        ),
        _pair("tools", f"{view.tools_advertised} of {view.tools_discovered} advertised"),
        *_withheld(view),
        _pair("names", f"{view.prefix}__\u2026"),
    ]
    if view.in_flight:
        lines.append(_pair("in flight", fmt.plural(view.in_flight, "call")))
    if detail is not None and (detail.resources or detail.prompts):
        resources = fmt.plural(detail.resources, "resource")
        lines.append(_pair("also", f"{resources}, {fmt.plural(detail.prompts, 'prompt')}"))
    if view.pid is not None or view.restarts:
        process = f"pid {view.pid}" if view.pid is not None else "not running"
        lines.append(_pair("process", f"{process}, {fmt.plural(view.restarts, 'restart')}"))
    if view.noise_lines:
        noise = fmt.plural(view.noise_lines, "stray line")
        lines.append(_pair("stdout", noise))
    return lines


def _withheld(view: UpstreamView) -> list[TextLine]:
    """Why fewer tools are advertised than there are."""
    if not view.withheld:
        return []
    counts = ", ".join(f"{one.count} {one.code.value}" for one in view.withheld)
    return [(Cell(f"{'withheld':<10}", Tone.MUTED), Cell(counts, Tone.WARN))]


def _telemetry(view: UpstreamView, selection: SelectionView) -> list[TextLine]:
    """What the log of tool selections says about this upstream, and how the log itself is."""
    if not selection.enabled and not selection.selections:
        return [_pair("selection", "not logged (proxy.selection_telemetry.enabled)")]
    mine = next((one.count for one in selection.by_server if one.name == view.name), 0)
    text = f"{fmt.count(mine)} of {fmt.count(selection.selections)} logged"
    if not selection.enabled:
        text += ", off now"
    lines = [_pair("selection", text)]
    if selection.latency is not None:
        times = selection.latency
        lines.append(
            _pair(
                "  all",
                f"{fmt.percent(selection.ok, selection.executions)} ok, p50 {_ms(times.p50)}, "
                f"p95 {_ms(times.p95)}, p99 {_ms(times.p99)}",
            )
        )
    lost = (
        (selection.sampled_out, "calls sampled out"),
        (selection.redaction_drops, "lines with a secret dropped"),
        (selection.write_errors, "lines not written"),
    )
    told = ", ".join(f"{fmt.count(number)} {what}" for number, what in lost if number)
    if told:
        lines.append(_pair("  log", told))
    if selection.problem:
        lines.append((Cell(safe_line(selection.problem, _SENTENCE), Tone.WARN),))
    return lines


def _latency(view: UpstreamView) -> str:
    if view.p50_ms is None:
        return fmt.NONE
    return f"p50 {_ms(view.p50_ms)}, p95 {_ms(view.p95_ms)}"


def _ms(value: float | None) -> str:
    return fmt.duration(value) if value is not None else fmt.NONE


def _pair(label: str, text: str) -> TextLine:
    return (Cell(f"{label:<10}", Tone.MUTED), Cell(safe_line(text, _SENTENCE)))


def _heading(title: str, number: int | None = None) -> list[TextLine]:
    return [EMPTY, (Cell(title if number is None else f"{title} ({number})", Tone.ACCENT),)]
