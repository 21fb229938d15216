"""A port for tools that the station offers to hosts and that somebody else answers, such as the memory's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Caller:
    """Which host calls."""

    host: str
    """The name that the host gave of itself."""
    session_id: str
    """Of the host's session, unique among all stations and times."""
    space: str = ""
    """The memory space that the host asked for; empty: the settings'."""


@dataclass(frozen=True, slots=True)
class HostToolAnswer:
    """The ``result`` member of an answer, as JSON."""

    body: bytes
    is_error: bool


class HostTools(Protocol):
    """Tools of ours beside those of upstreams. Used on the engine's loop."""

    @property
    def names(self) -> frozenset[str]:
        """What calls are for us. The same as long as ``definitions`` are."""
        ...

    @property
    def definitions(self) -> tuple[bytes, ...]:
        """Entries of a tool list, each a JSON object; empty when the tools are not offered."""
        ...

    async def call(self, name: str, arguments: bytes, caller: Caller) -> HostToolAnswer:
        """Answer one call. Never raises: what goes wrong is an answer with ``is_error``."""
        ...


class NoHostTools:
    """No such tools."""

    names: frozenset[str] = frozenset()
    definitions: tuple[bytes, ...] = ()

    async def call(self, name: str, arguments: bytes, caller: Caller) -> HostToolAnswer:
        """An error: nobody answers this."""
        body = b'{"content":[{"type":"text","text":"There is no such tool."}],"isError":true}'
        return HostToolAnswer(body, is_error=True)


class HostToolsTogether:
    """Several sources of tools as one; a name that two offer is the first one's."""

    def __init__(self, *parts: HostTools) -> None:
        self._parts = parts

    @property
    def names(self) -> frozenset[str]:
        """What calls are for us."""
        return frozenset[str]().union(*(part.names for part in self._parts))

    @property
    def definitions(self) -> tuple[bytes, ...]:
        """Entries of a tool list, in the order of the parts."""
        return tuple(one for part in self._parts for one in part.definitions)

    async def call(self, name: str, arguments: bytes, caller: Caller) -> HostToolAnswer:
        """Answer one call."""
        for part in self._parts:
            if name in part.names:
                return await part.call(name, arguments, caller)
        return await NoHostTools().call(name, arguments, caller)
