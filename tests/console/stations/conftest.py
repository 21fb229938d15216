"""Three ways to the same fake: directly, from another thread, and over a real socket."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from console.station import Station
from console.stations.attached import AttachedStation
from console.stations.local import LocalStation
from proxy.operator import serve_operator
from tests.support.fake_station import FakeStation

_T = TypeVar("_T")


class Engine:
    """A fake service in its own thread and loop, optionally behind a Unix socket."""

    def __init__(self, socket_path: Path | None = None) -> None:
        self.fake = FakeStation()
        self.loop = asyncio.new_event_loop()
        self.connections: set[asyncio.Task[None] | None] = set()
        self.left = threading.Event()
        """Set when the first client has left."""
        self._socket_path = socket_path
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="fake-engine")

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(5)

    def stop(self) -> None:
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)
        assert not self._thread.is_alive()

    async def do(self, work: Callable[[], _T]) -> _T:
        """Run a function in the engine's loop and return its value."""

        async def run() -> _T:
            return work()

        async with asyncio.timeout(5):
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), self.loop))

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        if self._socket_path is None:
            self._ready.set()
            await self._stop.wait()
            return
        server = await asyncio.start_unix_server(self._accept, str(self._socket_path))
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self.connections:
            if task is not None:
                task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.connections.add(task)
        try:
            # A client may leave before it says anything; the listener of the engine drops it too.
            if await reader.readline() == b'{"mms":"operator","version":1}\n':
                await serve_operator(reader, writer, self.fake, product="0.1.0")
        except asyncio.CancelledError:
            # The end of this test's engine; the stream server of asyncio would log it.
            pass
        finally:
            writer.close()
            self.connections.discard(task)
            self.left.set()


@contextmanager
def engine(*, on_socket: bool) -> Iterator[tuple[Engine, Path]]:
    """A running engine and the path of its socket (short: such paths may have 107 bytes)."""
    with tempfile.TemporaryDirectory(prefix="mms-") as directory:
        path = Path(directory) / "s"
        running = Engine(path if on_socket else None)
        running.start()
        try:
            yield running, path
        finally:
            running.stop()


@dataclass
class Rig:
    """A station under test and the fake behind it."""

    station: Station
    fake: FakeStation
    do: Callable[[Callable[[], object]], object]
    """Await it: runs a function where the fake lives."""


@asynccontextmanager
async def _fake() -> AsyncIterator[Rig]:
    fake = FakeStation()

    async def do(work: Callable[[], object]) -> object:
        return work()

    yield Rig(fake, fake, do)


@asynccontextmanager
async def _local() -> AsyncIterator[Rig]:
    with engine(on_socket=False) as (running, _):
        yield Rig(LocalStation(running.fake, running.loop), running.fake, running.do)


@asynccontextmanager
async def _attached() -> AsyncIterator[Rig]:
    with engine(on_socket=True) as (running, path):
        async with await AttachedStation.connect(path) as station:
            yield Rig(station, running.fake, running.do)


@pytest.fixture(params=[_fake, _local, _attached], ids=["fake", "local", "attached"])
def open_rig(request: pytest.FixtureRequest) -> Callable[[], AbstractAsyncContextManager[Rig]]:
    """Opens the rig inside the test's own loop."""
    return request.param
