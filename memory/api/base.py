"""What every request is, and the port that answers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from memory.model import Actor

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Request(Generic[R_co]):
    """Asks for an ``R_co``. Subclasses are the whole API."""


class MemoryPort(Protocol):
    """Whoever answers requests: the service itself, or a client of the memory's process."""

    async def ask(self, request: Request[R], actor: Actor) -> R:
        """The answer. Raises `memory.errors.MemoryFault`."""
        ...
