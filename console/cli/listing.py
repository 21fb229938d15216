"""``mms list``: the upstreams, with their state when a station runs."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from console.cli.context import Context
from console.cli.context import run as run_async
from console.cli.errors import ExitCode
from proxy.model import UpstreamView


@dataclass(frozen=True, slots=True)
class ListedUpstream:
    """One upstream, as ``--json`` prints it."""

    name: str
    prefix: str
    transport: str
    target: str
    """Command line or URL, secrets hidden."""
    enabled: bool
    state: str
    """The engine's word for it, ``not_running`` without a station, or ``invalid``."""
    reason: str
    tools: int | None
    """Advertised tools; ``None`` without a station."""
    tools_discovered: int | None = None
    """Those that it offers; the difference is withheld, for reasons that ``mms health`` tells."""

    @property
    def shown_tools(self) -> str:
        """``56`` or, where some are withheld, ``56/58``."""
        if self.tools is None:
            return "\u2013"
        if self.tools_discovered in (None, self.tools):
            return str(self.tools)
        return f"{self.tools}/{self.tools_discovered}"


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_arguments: argparse.Namespace, context: Context) -> int:
    """Print them."""
    views = run_async(_views(context))
    listed = configured(context) if views is None else tuple(map(_running, views))
    listed += tuple(one for one in _invalid(context) if one.name not in {it.name for it in listed})
    if context.out.as_json:
        context.out.json({"station": views is not None, "upstreams": listed})
        return ExitCode.OK
    if not listed:
        context.out.line(
            "There is no upstream yet. Add one with mms add NAME -- PROGRAM ARG …, take over those "
            "of your hosts with mms import, or try mms demo."
        )
        return ExitCode.OK
    context.out.table(
        ("NAME", "PREFIX", "STATE", "TOOLS", "TRANSPORT", "TARGET"),
        [
            (
                one.name,
                one.prefix,
                one.state.replace("_", " "),
                one.shown_tools,
                one.transport,
                one.target or one.reason,
            )
            for one in listed
        ],
        right=("TOOLS",),
    )
    if views is None:
        context.out.line("\nNo station is running.")
    return ExitCode.OK


async def _views(context: Context) -> tuple[UpstreamView, ...] | None:
    async with context.station_if_any() as station:
        return None if station is None else (await station.snapshot()).upstreams


def _running(view: UpstreamView) -> ListedUpstream:
    return ListedUpstream(
        name=view.name,
        prefix=view.prefix,
        transport=view.transport.value,
        target=view.target,
        enabled=view.state.value != "disabled",
        state=view.state.value,
        reason=view.reason,
        tools=view.tools_advertised,
        tools_discovered=view.tools_discovered,
    )


def configured(context: Context) -> tuple[ListedUpstream, ...]:
    """The valid upstreams of the settings on disk."""
    from config.secrets import shown_target

    return tuple(
        ListedUpstream(
            name=one.name,
            prefix=one.prefix,
            transport="http" if one.url else "stdio",
            target=shown_target(one),
            enabled=one.enabled,
            state="not_running" if one.enabled else "disabled",
            reason="",
            tools=None,
        )
        for one in context.load().settings.upstreams.values()
    )


def _invalid(context: Context) -> tuple[ListedUpstream, ...]:
    """Upstreams that the settings on disk leave out because of an error."""
    from config.problem import errors_in

    reasons: dict[str, str] = {}
    for problem in errors_in(context.load().problems):
        if problem.upstream:
            reasons.setdefault(problem.upstream, str(problem))
    return tuple(
        ListedUpstream(name, "", "", "", True, "invalid", reason, None)
        for name, reason in reasons.items()
    )
