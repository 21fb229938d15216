"""The memory as screens see it: requests that name no space go to the one that the person looks at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

from memory.api import MemoryPort, Request
from memory.model import DEFAULT_SPACE, Actor

R = TypeVar("R")


class SpaceMemory:
    """A `MemoryPort` over another one. ``space`` may be changed at any time."""

    def __init__(self, memory: MemoryPort, space: str) -> None:
        self._memory = memory
        self.space = space

    async def ask(self, request: Request[R], actor: Actor) -> R:
        """Ask in the space at hand. Raises `memory.errors.MemoryFault`."""
        given = cast("Any", request)
        if getattr(given, "space", None) == DEFAULT_SPACE and self.space != DEFAULT_SPACE:
            request = cast("Request[R]", replace(given, space=self.space))
        return await self._memory.ask(request, actor)
