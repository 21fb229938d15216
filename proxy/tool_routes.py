"""Where a tool's name leads, and how its calls and answers are treated: worked out once per tool.

Valid until the catalogue is derived anew, which every change of upstreams, their lists or the settings
brings about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from config.schema import ProxySettings, SurfacingSettings
from proxy import wire
from proxy.answer_cache import AnswerCache
from proxy.answer_rules import AnswerRules, rules_for
from proxy.catalogue import Catalogue
from proxy.surface.rules import ToolSurfacing, surfacing_of
from proxy.tool_traits import NO_TRAITS, ToolTraits, traits_by_name
from proxy.upstream import Upstream


@dataclass(frozen=True, slots=True)
class ToolRoute:
    """One tool as its calls need it."""

    upstream: Upstream
    tool: str
    """The upstream's own name of it."""
    name: wire.Raw
    """The same as JSON text."""
    rules: AnswerRules
    traits: ToolTraits
    shares: bool
    """Its answers may be kept, and identical calls may share one."""
    surfacing: ToolSurfacing
    offered: str
    """The tool once more if its upstream lists it; empty for a name that a host made up."""


class ToolRoutes:
    """Routes by the name that hosts call. ``upstreams`` are the router's own, by name."""

    def __init__(
        self,
        settings: Callable[[], ProxySettings],
        surfacing: Callable[[], SurfacingSettings],
        upstreams: Mapping[str, Upstream],
    ) -> None:
        self._settings = settings
        self._surfacing = surfacing
        self._upstreams = upstreams
        self._routes: dict[str, ToolRoute] = {}
        self._traits: dict[str, Mapping[str, ToolTraits]] = {}

    def clear(self) -> None:
        """Something changed: forget what was worked out."""
        self._routes.clear()
        self._traits.clear()

    def find(self, catalogue: Catalogue, name: str) -> ToolRoute | None:
        """The way of a call to ``name``; ``None`` when it leads nowhere."""
        route = self._routes.get(name)
        if route is None:
            route = self._work_out(catalogue, name)
            # Hosts can make up any number of names that are not in the catalogue.
            if route is not None and name in catalogue.tools:
                self._routes[name] = route
        return route

    def _work_out(self, catalogue: Catalogue, name: str) -> ToolRoute | None:
        target = catalogue.find_tool(name)
        upstream = None if target is None else self._upstreams.get(target[0])
        if target is None or upstream is None:
            return None
        tool = target[1]
        rules = rules_for(self._settings(), upstream.settings, tool)
        traits = self.traits_of(upstream, tool)
        shares = AnswerCache.eligible(rules.cache_policy, traits.annotations)
        surfacing = surfacing_of(self._surfacing(), upstream.settings, tool, traits)
        offered = tool if tool in self._traits[upstream.name] else ""
        return ToolRoute(upstream, tool, wire.raw(tool), rules, traits, shares, surfacing, offered)

    def traits_of(self, upstream: Upstream, tool: str) -> ToolTraits:
        """From what the upstream itself listed last; none before it did."""
        if upstream.name not in self._traits:
            self._traits[upstream.name] = traits_by_name(upstream.offer.tools)
        return self._traits[upstream.name].get(tool, NO_TRAITS)
