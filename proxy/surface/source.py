"""The port to where memories come from: mms's own memory, or an external one over MCP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from proxy.host_tools import Caller
from proxy.surface.model import FoundMemory


class SourceUnavailable(Exception):
    """The source cannot be reached; ``str()`` says why, for a person."""


class SourceFailed(Exception):
    """The source answered with an error, or with what nobody can read; ``str()`` says what."""


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What is looked for."""

    text: str
    caller: Caller
    limit: int
    """Most memories wanted, 1 to 50."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What was found, best first."""

    memories: tuple[FoundMemory, ...]
    empty: bool = False
    """There is no memory at all: nothing was searched."""
    hints: int = 0
    """Hints about searching that an external memory sent along; counted, never shown."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of a proposal to remember something."""

    candidate_id: str
    status: str
    """``pending`` unless the source says otherwise."""
    created_at: str
    """ISO-8601."""
    duplicate: bool
    """The same was proposed before: this is that candidate."""
    review_hint: str
    """Where a person decides about it, one sentence."""


class ProposalsUnsupported(Exception):
    """The source takes no proposals for review; nothing was written."""


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What an agent wants to have remembered."""

    content: str
    source_ref: str
    idempotency_key: str
    """Never empty: the same key again is the same proposal."""
    caller: Caller


class MemorySource(Protocol):
    """Where memories come from. Used on the engine's loop; every method may be cancelled."""

    @property
    def name(self) -> str:
        """``memory`` or ``ltm``."""
        ...

    @property
    def detail(self) -> str:
        """What it is and can do, one line for a person; empty before it was reached."""
        ...

    @property
    def is_empty(self) -> bool:
        """It is certain that there is nothing to find. Told at once, by at most a look at a file."""
        ...

    async def search(self, query: SourceQuery) -> SourceAnswer:
        """Find memories. Raises `SourceUnavailable` or `SourceFailed`."""
        ...

    async def helped(self, memory_ids: tuple[str, ...]) -> None:
        """These were rated helpful. Best effort: raises nothing."""
        ...

    async def propose(self, memory: NewMemory) -> Proposed:
        """File a proposal for review.

        Raises `ProposalsUnsupported`, `SourceUnavailable` or `SourceFailed`.
        """
        ...


class NoSource:
    """No memory at all."""

    name = "off"
    detail = ""
    is_empty = True

    async def search(self, query: SourceQuery) -> SourceAnswer:
        """Nothing, and nothing to search."""
        return SourceAnswer((), empty=True)

    async def helped(self, memory_ids: tuple[str, ...]) -> None:
        """Nobody keeps it."""

    async def propose(self, memory: NewMemory) -> Proposed:
        """Raises `SourceUnavailable`."""
        raise SourceUnavailable("this station has no memory")
