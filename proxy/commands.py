"""What a person can ask of a running station."""

from __future__ import annotations

from dataclasses import dataclass

from proxy.surface.model import Rating


@dataclass(frozen=True, slots=True)
class ReconnectUpstream:
    """Stop the upstream if it runs, forget its back-off, and start it now."""

    name: str


@dataclass(frozen=True, slots=True)
class SetUpstreamEnabled:
    """Write ``enabled`` of an upstream to the user's file and apply it."""

    name: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class RemoveUpstream:
    """Take an upstream out of the user's file and stop it."""

    name: str


@dataclass(frozen=True, slots=True)
class SetSetting:
    """Write one key to the user's file, comments and order kept, and apply it.

    ``value`` is what a person types: TOML where it parses as the key's type, else a bare string.
    """

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class UnsetSetting:
    """Take one key out of the user's file, so that its default is in force again."""

    key: str


@dataclass(frozen=True, slots=True)
class ReloadSettings:
    """Read the files again now."""


@dataclass(frozen=True, slots=True)
class StopStation:
    """End the station: no more calls, upstreams stopped, socket removed."""


@dataclass(frozen=True, slots=True)
class ClearCache:
    """Forget answers that were kept to be given again. Both fields empty: all of them."""

    upstream: str = ""
    tool: str = ""
    """Of all upstreams when ``upstream`` is empty."""


@dataclass(frozen=True, slots=True)
class DropHeld:
    """Delete one held answer for good; handles of it that agents still have become useless."""

    key: str
    """Of the whole answer."""


@dataclass(frozen=True, slots=True)
class RateMemory:
    """A person's word about a memory that was shown with an answer."""

    surfacing_id: str
    memory_id: str
    rating: Rating


@dataclass(frozen=True, slots=True)
class RevertAdjustment:
    """Take a step of the tuner back: the tool's threshold is what it was before it."""

    id: int


Command = (
    ReconnectUpstream
    | SetUpstreamEnabled
    | RemoveUpstream
    | SetSetting
    | UnsetSetting
    | ReloadSettings
    | ClearCache
    | DropHeld
    | RateMemory
    | RevertAdjustment
    | StopStation
)
"""Every kind of command."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What became of a command."""

    ok: bool
    message: str
    """One sentence for a person: what happened, or why not and what to do."""
