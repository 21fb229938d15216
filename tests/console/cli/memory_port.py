"""The command line over a real memory in the test's own process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from console.cli.context import Context
from memory.api import GetIndexStatus, MemoryPort, Request
from memory.model import Actor
from tests.memory.opening import Opened

R = TypeVar("R")


class Port(MemoryPort):
    """Hands requests on, and notes who asked for what."""

    def __init__(self, memory: Opened) -> None:
        self.memory = memory
        self.asked: list[tuple[Request[object], Actor]] = []
        self.before: Callable[[Request[object]], None] = lambda _request: None

    async def ask(self, request: Request[R], actor: Actor) -> R:
        self.asked.append((request, actor))
        self.before(request)
        if type(request).__name__ == GetIndexStatus.__name__:
            self.memory.settle()
        return self.memory.ask(request, actor)


def connect(monkeypatch: pytest.MonkeyPatch, memory: Opened) -> Port:
    """Let every ``mms memory`` of the test talk to ``memory``."""
    port = Port(memory)

    @asynccontextmanager
    async def opened(_context: Context) -> AsyncGenerator[MemoryPort]:
        yield port

    monkeypatch.setattr(Context, "memory", opened)
    return port
