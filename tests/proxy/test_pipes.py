"""A pipe's descriptor is closed once, by whichever event loop owned it.

Closed twice, its number may by then belong to another thread's file: that would end anything.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from io import FileIO
from pathlib import Path

import pytest

from console.wiring import new_loop
from proxy.pipes import pipe_file, take_descriptor

LOOPS = [asyncio.SelectorEventLoop, new_loop]


class Reader(asyncio.Protocol):
    def __init__(self) -> None:
        self.data = b""
        self.lost = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()


def start_program() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


async def exchange_words() -> None:
    """Start a program that repeats what it is told, through pipes that the loop owns."""
    loop = asyncio.get_running_loop()
    process = start_program()
    assert process.stdin is not None
    assert process.stdout is not None
    writer, _ = await loop.connect_write_pipe(
        asyncio.BaseProtocol, pipe_file(take_descriptor(process.stdin), "wb", loop)
    )
    reader, protocol = await loop.connect_read_pipe(
        Reader, pipe_file(take_descriptor(process.stdout), "rb", loop)
    )
    writer.write(b"words")
    writer.close()
    await asyncio.wait_for(protocol.lost.wait(), 20)
    assert protocol.data == b"words"
    reader.close()
    await asyncio.to_thread(process.wait, 20)


def open_descriptors() -> set[Path]:
    return set(Path("/proc/self/fd").iterdir())


def open_and_close(stop: threading.Event, failures: list[OSError]) -> None:
    """What any other thread of a station does: its own descriptors must stay its own."""
    while not stop.is_set():
        try:
            ends = os.pipe()
            os.write(ends[1], b"x")
            assert os.read(ends[0], 1) == b"x"
            for end in ends:
                os.close(end)
        except OSError as error:
            failures.append(error)


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors in /proc")
@pytest.mark.parametrize("make_loop", LOOPS)
def test_no_descriptor_is_left_open(make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with closing(make_loop()) as loop:
        loop.run_until_complete(exchange_words())
        before = open_descriptors()
        for _ in range(5):
            loop.run_until_complete(exchange_words())
        assert open_descriptors() == before


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop has no wheels there")
def test_only_one_of_loop_and_file_owns_the_descriptor() -> None:
    uvloop = pytest.importorskip("uvloop")
    for make_loop, file_owns in ((asyncio.SelectorEventLoop, True), (uvloop.new_event_loop, False)):
        source, sink = os.pipe()
        with closing(make_loop()) as loop:
            file = pipe_file(source, "rb", loop)
            assert isinstance(file, FileIO)
            assert file.closefd is file_owns
            file.close()
        for descriptor in (sink,) if file_owns else (source, sink):
            os.close(descriptor)


@pytest.mark.parametrize("make_loop", LOOPS)
def test_no_descriptor_of_another_thread_is_closed(
    make_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    stop = threading.Event()
    failures: list[OSError] = []
    other = threading.Thread(target=open_and_close, args=(stop, failures))
    other.start()
    try:
        with closing(make_loop()) as loop:
            for _ in range(60):
                loop.run_until_complete(exchange_words())
    finally:
        stop.set()
        other.join(20)
    assert not failures
