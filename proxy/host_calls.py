"""A request of a host that is under way at an upstream, and what is said of it when it fails."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proxy import wire
from proxy.answer_rules import AnswerRules
from proxy.exchange import Exchange, Failure, FailureKind
from proxy.session import HostSession
from proxy.surface.chance import Chance
from proxy.telemetry.trace import CallMoments
from proxy.tool_traits import NO_TRAITS, ToolTraits
from proxy.upstream import Upstream

_FLAG_AT_THE_END = re.compile(rb'[,{]\s*"isError"\s*:\s*(true|false)\s*\}\s*\Z')
"""The last member of a result. Within a text its quotation marks would be escaped."""
_END_BYTES = 64


@dataclass(slots=True, eq=False)
class HostCall:
    """A request of a host that is under way at an upstream."""

    id: int
    session: HostSession
    host_id: wire.Raw
    upstream: Upstream
    label: str
    """The tool, or the method for anything else."""
    recorded: bool
    started_at: float
    arguments: bytes
    exchange: Exchange
    rules: AnswerRules | None = None
    """What the settings said of its answer when it began; ``None`` for what is no tool's call."""
    traits: ToolTraits = NO_TRAITS
    query: str = ""
    """Its ``_context_query``."""
    shared_as: bytes | None = None
    """Under this key identical calls share one answer."""
    writes: bool = False
    """It may change what other tools of its upstream answer."""
    cache: str = ""
    cache_age_seconds: float = 0.0
    selection_id: str | None = None
    """In the log of tool selections; ``None``: this call is not logged."""
    chance: Chance | None = None
    """To have memories shown with its answer; ``None``: there is none."""
    moments: CallMoments | None = None
    """For its trace; ``None``: it is not traced."""


def failure_text(upstream: Upstream, failure: Failure) -> str:
    """What a host is told: what happened, to which upstream, and what comes next."""
    text = f"mms: upstream {upstream.name} {failure.text}."
    if failure.kind is FailureKind.LOST:
        text += " It is being restarted; whether the call had an effect is not known."
    if failure.kind in (FailureKind.LOST, FailureKind.DOWN) and upstream.vitals.last_words:
        text += f" Its last error output: {upstream.vitals.last_words[:300]}"
    return text


def is_tool_error(body: bytes) -> bool:
    """The tool itself says that it failed."""
    last = _FLAG_AT_THE_END.search(body, max(0, len(body) - _END_BYTES))
    if last is not None:
        return last.group(1) == b"true"
    if body.rfind(b'"isError"') < 0:  # from the end: twice as fast as from the start
        return False
    flag = wire.members_of(wire.Raw(body)).get("isError")
    return flag is not None and bytes(flag) == b"true"
