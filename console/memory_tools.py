"""The memory's twelve tools behind the proxy's port for tools of ours."""

from __future__ import annotations

from collections.abc import Callable

from config.schema import MemorySettings
from memory.api import CallTool, MemoryPort
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Origin
from memory.tools.answers import failure
from memory.tools.definitions import TOOLS
from memory.tools.names import NAMES
from proxy.host_tools import Caller, HostToolAnswer

_NAMES = frozenset(NAMES)


class MemoryHostTools:
    """`proxy.host_tools.HostTools` over a memory. Offers nothing while ``memory.advertise`` is off."""

    def __init__(self, memory: MemoryPort, settings: Callable[[], MemorySettings]) -> None:
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
        try:
            request = CallTool(name, _text(arguments), caller.space or self._settings().space)
            actor = Actor(Origin.AGENT, caller.host, caller.session_id)
            answer = await self._memory.ask(request, actor)
        except MemoryFault as fault:
            answer = failure(fault)
        return HostToolAnswer(answer.body.encode("utf-8", "replace"), answer.is_error)


def _text(arguments: bytes) -> str:
    try:
        return arguments.decode()
    except UnicodeDecodeError as error:
        raise MemoryFault(FaultCode.INVALID, f"The arguments are no UTF-8: {error}.") from None
