"""What one upstream offers, and how the settings want it to be offered. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from config.schema import Compression
from proxy.descriptions import DescriptionPlan
from proxy.tool_health import FailureShare


@dataclass(frozen=True, slots=True)
class Offer:
    """What one upstream offers, each item as the JSON text that the upstream sent."""

    tools: tuple[bytes, ...] = ()
    resources: tuple[bytes, ...] = ()
    templates: tuple[bytes, ...] = ()
    prompts: tuple[bytes, ...] = ()

    def in_known_order(self, known: Offer) -> Offer:
        """This offer, with lists in the known order where they hold the same items.

        Some servers list in a random order; a changed order would re-bill the whole prompt.
        """
        return Offer(
            _in_order(self.tools, known.tools),
            _in_order(self.resources, known.resources),
            _in_order(self.templates, known.templates),
            _in_order(self.prompts, known.prompts),
        )


@dataclass(frozen=True, slots=True)
class OfferedUpstream:
    """An upstream as the catalogue sees it."""

    name: str
    prefix: str
    offer: Offer
    hidden_tools: frozenset[str] = frozenset()
    """Switched off in the settings."""
    descriptions: DescriptionPlan = field(default_factory=DescriptionPlan)
    runs_tasks: bool = True
    """It says that it runs tool calls as tasks."""
    failing: Mapping[str, FailureShare] = field(default_factory=dict[str, FailureShare])
    """Tools that are withheld since their calls failed, by their own names."""
    compression: Mapping[str, Compression] = field(default_factory=dict[str, Compression])
    """How long answers become smaller, by tool; under the empty name: of all others."""

    def compression_of(self, tool: str) -> Compression:
        """How long answers of one tool become smaller."""
        return self.compression.get(tool, self.compression.get("", Compression.AUTO))


def _in_order(new: tuple[bytes, ...], known: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return known if new != known and sorted(new) == sorted(known) else new
