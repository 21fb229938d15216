"""The seam between an upstream's logic and what carries its frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class LinkLost:
    """Why a connection to an upstream ended."""

    reason: str
    """For a person, one sentence without a full stop: ``exited with code 3``."""
    permanent: bool = False
    """Trying again is of no use before a person has changed something."""


class LinkFailed(Exception):
    """A connection could not be made. Carries the `LinkLost` that explains it."""

    def __init__(self, lost: LinkLost) -> None:
        super().__init__(lost.reason)
        self.lost = lost


class LinkListener(Protocol):
    """What a link calls. All calls come from the engine's loop and must not block."""

    def frame_received(self, frame: bytes) -> None:
        """One complete line or HTTP message body, without its end."""
        ...

    def noise_received(self, line: str) -> None:
        """Something on the error output, one line."""
        ...

    def link_lost(self, lost: LinkLost) -> None:
        """The connection ended; called once, and nothing comes after it."""
        ...


class Link(Protocol):
    """A live connection to an upstream."""

    @property
    def pid(self) -> int | None:
        """The process behind it, if it is one."""
        ...

    def send(self, frame: bytes) -> None:
        """Queue one frame, without line end. Frames sent after the end are dropped."""
        ...

    async def close(self) -> None:
        """End it in order and wait until nothing of it is left; bounded to about 5 seconds."""
        ...
