"""One call's chance to have memories shown with its answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from proxy.host_tools import Caller
from proxy.surface.levels import SurfacingSearch
from proxy.surface.model import Decision, QueryLevel
from proxy.surface.rules import ToolSurfacing
from proxy.surface.source import SourceAnswer

_NO_SEARCH = SurfacingSearch("", QueryLevel.NONE)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a search came to: an answer, or why there is none."""

    answer: SourceAnswer | None
    decision: Decision | None = None
    milliseconds: float = 0.0
    cached: bool = False


@dataclass(frozen=True, slots=True)
class SurfacedCall:
    """What surfacing needs to know of a call."""

    call_id: int
    session: int
    host: str
    caller: Caller
    upstream: str
    tool: str
    arguments: bytes
    context_query: str
    rules: ToolSurfacing


@dataclass(slots=True, eq=False)
class Chance:
    """One call's chance to have memories shown. From `Surfacer.begin`."""

    call: SurfacedCall
    search: SurfacingSearch = _NO_SEARCH
    looking: asyncio.Task[Looked] | None = None
    decided: bool = False
    decision: Decision | None = None
    """What became of it, once decided."""
