"""The memory of a station that was given none: every request fails with what to do."""

from __future__ import annotations

from typing import TypeVar

from memory.api import Request
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor

_Result = TypeVar("_Result")


class NoMemory:
    """`memory.api.MemoryPort` of which nothing can be asked."""

    def __init__(self, hint: str = "This mms was started without it.") -> None:
        self._hint = hint

    async def ask(self, request: Request[_Result], actor: Actor) -> _Result:
        """Raises `MemoryFault` (``UNAVAILABLE``), always."""
        raise MemoryFault(FaultCode.UNAVAILABLE, "The memory is not running.", self._hint)
