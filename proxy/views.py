"""Engine objects as the frozen values that screens and commands see. Pure but for the clock passed in."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from config.problem import Problem
from config.problem import Severity as ProblemSeverity
from config.schema import UpstreamSettings, UpstreamTransport
from config.secrets import shown_arguments, shown_url
from proxy.catalogue import Catalogue, tool_views
from proxy.model import (
    Attention,
    SettingProblem,
    Severity,
    Transport,
    UpstreamDetail,
    UpstreamState,
    UpstreamView,
    WithheldCount,
    WithheldReason,
)
from proxy.upstream import Upstream

Redact = Callable[[str], str]


def transport_of(settings: UpstreamSettings) -> Transport:
    """How the upstream is reached; ``auto`` is decided by what is given."""
    if settings.transport is UpstreamTransport.AUTO:
        return Transport.HTTP if settings.url else Transport.STDIO
    return Transport.HTTP if settings.transport is UpstreamTransport.HTTP else Transport.STDIO


def upstream_view(upstream: Upstream, catalogue: Catalogue, redact: Redact) -> UpstreamView:
    """One upstream at a glance."""
    settings = upstream.settings
    transport = transport_of(settings)
    now = time.monotonic()
    retry_in = None if upstream.retry_at is None else max(0.0, upstream.retry_at - now)
    vitals = upstream.vitals
    return UpstreamView(
        name=upstream.name,
        prefix=settings.prefix or upstream.name,
        transport=transport,
        target=redact(_target(settings, transport)),
        state=upstream.state,
        reason=redact(_reason(upstream)),
        since=upstream.since,
        next_action=_next_action(upstream),
        retry_at=None if retry_in is None else time.time() + retry_in,
        pid=upstream.pid,
        protocol=upstream.introduction.protocol,
        server=upstream.introduction.server,
        tools_discovered=len(upstream.offer.tools),
        tools_advertised=sum(
            1 for item in catalogue.tools.values() if item.upstream == upstream.name
        ),
        calls=vitals.calls,
        errors=vitals.errors,
        in_flight=len(upstream.traffic.under_way),
        p50_ms=vitals.p50_ms,
        p95_ms=vitals.p95_ms,
        restarts=vitals.restarts,
        noise_lines=vitals.noise_lines,
        last_stderr=redact(upstream.vitals.stderr.last),
        withheld=_withheld(upstream, catalogue),
    )


def upstream_detail(upstream: Upstream, catalogue: Catalogue, redact: Redact) -> UpstreamDetail:
    """One upstream in full."""
    return UpstreamDetail(
        view=upstream_view(upstream, catalogue, redact),
        tools=tool_views(catalogue, upstream.name),
        withheld=catalogue.withheld.get(upstream.name, ()),
        stderr=tuple(redact(line) for line in upstream.vitals.stderr),
        instructions=redact(upstream.introduction.instructions),
        resources=len(upstream.offer.resources) + len(upstream.offer.templates),
        prompts=len(upstream.offer.prompts),
    )


def problem_view(problem: Problem) -> SettingProblem:
    """A problem of the settings for a screen."""
    return SettingProblem(problem.file, problem.line, problem.key, problem.reason, problem.hint)


def attention(
    views: Sequence[UpstreamView],
    withheld: int,
    problems: Sequence[Problem],
    loaded_at: float,
    troubles: Sequence[str],
    now: float,
) -> tuple[Attention, ...]:
    """What a person should look at, worst first, then newest first."""
    found: list[Attention] = []
    for view in views:
        if view.state in (UpstreamState.FAILED, UpstreamState.BACKING_OFF, UpstreamState.DEGRADED):
            severity = Severity.WARNING if view.state is UpstreamState.DEGRADED else Severity.ERROR
            text = f"{view.state.value.replace('_', ' ')}: {view.reason}"
            found.append(
                Attention(view.since, severity, f"upstream {view.name}", text, view.next_action)
            )
        elif view.reason:
            found.append(
                Attention(view.since, Severity.WARNING, f"upstream {view.name}", view.reason, "")
            )
    if withheld:
        found.append(
            Attention(
                loaded_at,
                Severity.INFO,
                "tools",
                f"{withheld} withheld from hosts",
                "See the reasons on the Upstreams screen.",
            )
        )
    for problem in problems:
        severity = Severity.ERROR if problem.severity is ProblemSeverity.ERROR else Severity.WARNING
        found.append(
            Attention(loaded_at, severity, "settings", str(problem), "mms config validate")
        )
    found += [Attention(now, Severity.ERROR, "station", text, "") for text in troubles]
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    return tuple(sorted(found, key=lambda item: (order[item.severity], -item.at)))


def _withheld(upstream: Upstream, catalogue: Catalogue) -> tuple[WithheldCount, ...]:
    """By reason. The tools of an upstream that was switched off are not even considered."""
    if upstream.name in catalogue.withheld or upstream.state is UpstreamState.DISABLED:
        return catalogue.withheld_counts(upstream.name)
    away = len(upstream.offer.tools)
    return (WithheldCount(WithheldReason.DISCONNECTED, away),) if away else ()


def _target(settings: UpstreamSettings, transport: Transport) -> str:
    if transport is Transport.HTTP:
        return shown_url(settings.url)
    return " ".join((settings.command, *shown_arguments(settings.args)))


def _reason(upstream: Upstream) -> str:
    """The state's reason; while all is well, what is odd about its lists."""
    reason = upstream.reason or "; ".join(upstream.faults)
    return f"{reason}." if reason and not reason.endswith(".") else reason


def _next_action(upstream: Upstream) -> str:
    name = upstream.name
    if upstream.state is UpstreamState.DISABLED:
        return f"Switch it on: mms enable {name}"
    if upstream.state is UpstreamState.FAILED:
        return (
            "Mend the cause; it is tried again every minute, and at once when its settings change."
        )
    if upstream.state is UpstreamState.BACKING_OFF:
        return "It is tried again by itself, and at once when it is called."
    if upstream.state is UpstreamState.DEGRADED:
        return "It is asked again by itself; calls pass once it answers."
    if upstream.state is UpstreamState.CONNECTING:
        return "Calls wait for it."
    return ""
