"""What the engine tells whoever watches: facts already true, named in the past tense.

Events leave through bounded queues. A slow reader loses events, counted in `EventsLost`; a call
never waits for one.
"""

from __future__ import annotations

from dataclasses import dataclass

from proxy.model import CallRecord, HostView, SettingProblem, UpstreamView


@dataclass(frozen=True, slots=True)
class UpstreamChanged:
    """State, reason, tools or process of an upstream changed (or it was added)."""

    upstream: UpstreamView


@dataclass(frozen=True, slots=True)
class UpstreamRemoved:
    """The upstream is no longer configured and has stopped."""

    name: str


@dataclass(frozen=True, slots=True)
class CallsRecorded:
    """A batch of finished calls, oldest first, measured and written."""

    records: tuple[CallRecord, ...]


@dataclass(frozen=True, slots=True)
class HostConnected:
    """A host finished its handshake."""

    host: HostView


@dataclass(frozen=True, slots=True)
class HostLeft:
    """A host's connection ended."""

    host: HostView


@dataclass(frozen=True, slots=True)
class SurfacingChanged:
    """Memories were shown, rated or tuned; at most twice a second."""

    at: float


@dataclass(frozen=True, slots=True)
class SettingsApplied:
    """The file changed and the new settings are in force."""

    at: float
    changes: tuple[str, ...]
    """One sentence per change, for example ``upstream github added``."""
    needs_restart: tuple[str, ...]
    """Keys whose new value waits for the next start."""


@dataclass(frozen=True, slots=True)
class SettingsRejected:
    """The file changed and is wrong; the last good settings stay in force."""

    at: float
    problems: tuple[SettingProblem, ...]


@dataclass(frozen=True, slots=True)
class EventsLost:
    """This reader was too slow; take a fresh snapshot."""

    count: int


@dataclass(frozen=True, slots=True)
class StationStopping:
    """The station goes away; nothing more will come."""

    reason: str


Event = (
    UpstreamChanged
    | UpstreamRemoved
    | CallsRecorded
    | HostConnected
    | HostLeft
    | SurfacingChanged
    | SettingsApplied
    | SettingsRejected
    | EventsLost
    | StationStopping
)
"""Every kind of event."""
