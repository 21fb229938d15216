"""A server in the test's own process, for tests that need no other one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from config.paths import ensure_private_directory
from memory import api
from memory.api import Request
from memory.model import Actor, Instant
from memory.process.client import MemoryClient
from memory.process.server import Server, bind
from tests.memory.process.processes import PATIENCE, instance
from tests.memory.support import NOW, FakeService


class GatedService(FakeService):
    """Stops at a text ``wait`` until ``gate`` is set; raises at ``raise``."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.gate = threading.Event()
        self.threads: set[int] = set()

    def answer(self, request: Request[Any], actor: Actor, now: Instant) -> Any:
        self.threads.add(threading.get_ident())
        if isinstance(request, api.AddRecord):
            match request.text.content:
                case "wait":
                    self.waiting.set()
                    assert self.gate.wait(PATIENCE)
                case "raise":
                    raise ValueError("a fault of ours")
                case _:
                    pass
        return super().answer(request, actor, now)

    def close(self) -> None:
        self.threads.add(threading.get_ident())
        super().close()


@asynccontextmanager
async def serving(tmp_path: Path, service: GatedService) -> AsyncGenerator[Server]:
    """A server of ``service`` on the socket of the instance in ``tmp_path``."""
    paths, _ = instance(tmp_path)
    ensure_private_directory(paths.runtime_directory)
    server = Server(lambda: service, lambda: NOW)
    ready = asyncio.Event()
    async with asyncio.timeout(2 * PATIENCE), asyncio.TaskGroup() as group:
        bound = bind(paths.memory_socket)
        group.create_task(server.serve(bound, ready.set))
        try:
            await ready.wait()
            yield server
        finally:
            service.gate.set()
            server.stop()
    bound.close()
    assert service.closed == bool(service.asked)
    assert len(service.threads) <= 1


def client_of_served(tmp_path: Path, **more: Any) -> MemoryClient:
    """A client that would not find a program to start."""
    paths, environ = instance(tmp_path)
    return MemoryClient(paths, environ, program=("/no/such/program",), **more)
