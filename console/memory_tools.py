"""The memory's twelve tools behind the proxy's port for tools of ours.

The station imports this at its start, so what only a call needs is imported by the first call.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from config.paths import Paths
from config.schema import MemorySettings
from memory.tools.definitions import TOOLS
from memory.tools.names import NAMES
from proxy.host_tools import Caller, HostToolAnswer

if TYPE_CHECKING:
    from memory.api import MemoryPort
    from memory.process.client import MemoryClient

_NAMES = frozenset(NAMES)


class MemoryHostTools:
    """`proxy.host_tools.HostTools` over a memory. Offers nothing while ``memory.advertise`` is off."""

    def __init__(
        self, memory: Callable[[], MemoryPort], settings: Callable[[], MemorySettings]
    ) -> None:
        """``settings``: those in force at the time of each call."""
        self._memory = memory
        self._settings = settings

    @property
    def names(self) -> frozenset[str]:
        """What calls are for us."""
        return _NAMES if self._settings().advertise else frozenset()

    @property
    def definitions(self) -> tuple[bytes, ...]:
        """Entries of a tool list."""
        return TOOLS if self._settings().advertise else ()

    async def call(self, name: str, arguments: bytes, caller: Caller) -> HostToolAnswer:
        """Answer one call."""
        from memory.api import CallTool
        from memory.errors import FaultCode, MemoryFault
        from memory.model import Actor, Origin
        from memory.tools.answers import failure

        space = caller.space or self._settings().space
        try:
            try:
                text = arguments.decode()
            except UnicodeDecodeError as error:
                raise MemoryFault(
                    FaultCode.INVALID, f"The arguments are no UTF-8: {error}."
                ) from None
            actor = Actor(Origin.AGENT, caller.host, caller.session_id)
            answer = await self._memory().ask(CallTool(name, text, space), actor)
        except MemoryFault as fault:
            answer = failure(fault)
        return HostToolAnswer(answer.body.encode("utf-8", "replace"), answer.is_error)


class StationMemory:
    """The station's way to the memory's process; nothing is imported or started before a call needs it."""

    def __init__(
        self, paths: Paths, environ: Mapping[str, str], settings: Callable[[], MemorySettings]
    ) -> None:
        """For one event loop: the engine's."""
        self._paths = paths
        self._environ = environ
        self._settings = settings
        self._client: MemoryClient | None = None

    def client(self) -> MemoryClient:
        """The client, made by the first call."""
        if self._client is None:
            from memory.process.client import MemoryClient

            idle = self._settings().idle_seconds
            self._client = MemoryClient(self._paths, self._environ, idle_seconds=idle)
        return self._client

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Around the station's life: leaves the memory's process, which then ends if nobody else is there."""
        try:
            yield
        finally:
            if self._client is not None:
                await self._client.aclose()
