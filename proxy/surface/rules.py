"""What the settings say about memories shown with one tool's answers, decided once per tool. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from config.schema import SurfacingSettings, UpstreamSettings
from proxy.answer_rules import window_of
from proxy.surface.gates import tool_gate
from proxy.surface.model import Decision
from proxy.tool_traits import ToolTraits

SMALL_WINDOW = 32_000
"""Tokens; models with less get fewer memories."""


@dataclass(frozen=True, slots=True)
class ToolSurfacing:
    """Settings of one tool, every default filled in."""

    gate: Decision | None
    """Why its answers are left alone; ``None``: they are not."""
    template: str = ""
    min_score: float = 0.3
    pinned: bool = False
    """The threshold was set for this tool or its upstream: the tuner leaves it alone."""


@dataclass(frozen=True, slots=True)
class InjectionLimits:
    """Of one answer."""

    memories: int
    tokens: int


def surfacing_of(
    settings: SurfacingSettings, upstream: UpstreamSettings, tool: str, traits: ToolTraits
) -> ToolSurfacing:
    """The tool's own settings, else the upstream's, else the station's."""
    own = upstream.tools.get(tool)
    layers = (upstream,) if own is None else (own, upstream)
    on = next((one.surfacing for one in layers if one.surfacing is not None), True)
    return ToolSurfacing(
        Decision.TOOL_OFF if not on else tool_gate(settings, upstream.name, tool, traits),
        "" if own is None else own.surfacing_query,
        *configured_score(settings, upstream, tool),
    )


def configured_score(
    settings: SurfacingSettings, upstream: UpstreamSettings, tool: str
) -> tuple[float, bool]:
    """A tool's threshold by the settings, and whether it was set for this very tool or its upstream."""
    own = upstream.tools.get(tool)
    for layer in (upstream,) if own is None else (own, upstream):
        if layer.surfacing_min_score is not None:
            return layer.surfacing_min_score, True
    return settings.min_score, False


def limits_for(settings: SurfacingSettings, consumer_model: str) -> InjectionLimits:
    """How much may be shown: as set, else by the size of the model's window."""
    window = window_of(consumer_model)
    small = window is not None and window <= SMALL_WINDOW
    memories = settings.max_memories or (2 if small else 3)
    return InjectionLimits(memories, settings.max_tokens or (200 if small else 400))
