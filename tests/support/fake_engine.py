"""A fake station in a thread and loop of its own, as the engine is, optionally behind a real socket."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

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
