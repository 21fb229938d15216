"""What an upstream needs from around it, and what its settings come to."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from config.schema import ProxySettings, UpstreamSettings
from proxy import wire
from proxy.dialects import InputRequired
from proxy.exchange import Exchange, TrafficLimits
from proxy.links.link import Link, LinkListener

if TYPE_CHECKING:
    from proxy.upstream import Upstream

OpenLink = Callable[[UpstreamSettings, LinkListener], Awaitable[Link]]
"""Start or reach an upstream. Raises `LinkFailed`."""


class UpstreamOwner(Protocol):
    """Who is told what an upstream does. Calls come from the engine's loop and must not block."""

    def state_changed(self, upstream: Upstream) -> None:
        """Its state, process or reason changed."""
        ...

    def became_ready(self, upstream: Upstream) -> None:
        """It answers calls, for the first time or again."""
        ...

    def offer_changed(self, upstream: Upstream, announced: frozenset[str]) -> None:
        """It offers something else, or says so. ``announced``: kinds that it named itself."""
        ...

    def asked(self, upstream: Upstream, message: wire.Members) -> None:
        """It sent a request of its own."""
        ...

    def asked_back(self, upstream: Upstream, exchange: Exchange, asked: InputRequired) -> None:
        """It wants answers before it goes on with a request (stateless era)."""
        ...

    def notified(self, upstream: Upstream, message: wire.Members) -> None:
        """It sent a notification that is not progress and not about its lists."""
        ...


@dataclass(frozen=True, slots=True)
class UpstreamLimits:
    """The settings of an upstream with the proxy's defaults filled in. Durations in seconds."""

    call_timeout: float
    call_timeout_max: float
    connect_timeout: float
    traffic: TrafficLimits

    @classmethod
    def of(cls, settings: UpstreamSettings, proxy: ProxySettings) -> UpstreamLimits:
        """Fill in the defaults."""
        return cls(
            settings.call_timeout_seconds or proxy.call_timeout_seconds,
            max(
                proxy.call_timeout_max_seconds,
                settings.call_timeout_seconds or proxy.call_timeout_seconds,
            ),
            settings.connect_timeout_seconds or proxy.connect_timeout_seconds,
            TrafficLimits(settings.max_in_flight or proxy.max_in_flight, proxy.max_queued),
        )


def identity_of(settings: UpstreamSettings) -> str:
    """Digest of what would be started or reached; values of variables are left out."""
    parts = (
        settings.command,
        *settings.args,
        settings.cwd,
        settings.url,
        *sorted(settings.env),
        *sorted(settings.headers),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
