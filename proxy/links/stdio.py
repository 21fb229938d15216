"""An upstream that is a program of ours: frames on its input and output, one per line."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, TypeVar

from proxy.frames import FrameSplitter, FrameTooLong
from proxy.links.link import LinkFailed, LinkListener, LinkLost
from proxy.pipes import pipe_file, take_descriptor, widen
from proxy.processes import (
    ProgramNotFound,
    describe_exit,
    end_program,
    program_environment,
    start_program,
    watch_exit,
)

LARGE_FRAME = 128 * 1024
WRITE_BUFFER_LIMIT = 64 * 1024 * 1024
"""Bytes that may wait for a program that does not read; more means that it is stuck."""
STUCK_SECONDS = 5.0
"""How long a program may leave its input unread while frames wait."""
AFTER_EXIT_SECONDS = 0.2
"""How long output is still read after an exit; a grandchild may hold the pipe open for ever."""
STDERR_LINE_BYTES = 4096
_marks = itertools.count(1)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Program:
    """What to start."""

    command: str
    args: tuple[str, ...]
    environment: Mapping[str, str]
    """Configured variables, to be added to the few inherited ones."""
    directory: str | None
    frame_limit: int
    """Longest line in bytes."""


class StdioLink:
    """A running program. Made by `open_stdio`."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, listener: LinkListener) -> None:
        self._process = process
        self._mark = mark
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._input: asyncio.WriteTransport | None = None
        self._outputs: list[asyncio.ReadTransport] = []
        self._stuck_timer: asyncio.TimerHandle | None = None
        self._lost = False
        self._closing = False
        self._stop_watching = watch_exit(process, self._loop, self._exited)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    async def start(self, frame_limit: int) -> None:
        """Attach the three pipes to the loop."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        widen(process.stdin.fileno())
        widen(process.stdout.fileno())
        self._input, _ = await self._loop.connect_write_pipe(
            lambda: _Input(self), self._owned(process.stdin, "wb")
        )
        output, _ = await self._loop.connect_read_pipe(
            lambda: _Output(self, frame_limit), self._owned(process.stdout, "rb")
        )
        self._outputs.append(output)
        errors, _ = await self._loop.connect_read_pipe(
            lambda: _Errors(self._listener), self._owned(process.stderr, "rb")
        )
        self._outputs.append(errors)

    def _owned(self, file: IO[bytes], mode: str) -> IO[bytes]:
        return pipe_file(take_descriptor(file), mode, self._loop)

    def send(self, frame: bytes) -> None:
        if self._lost or self._input is None or self._input.is_closing():
            return
        if len(frame) < LARGE_FRAME:
            self._input.write(frame + b"\n")
        else:  # one more part to write is cheaper than a copy
            self._input.write(frame)
            self._input.write(b"\n")
        if self._input.get_write_buffer_size() > WRITE_BUFFER_LIMIT:
            self.lose(LinkLost("does not read its input"))

    async def close(self) -> None:
        """Close its input, then SIGTERM, then SIGKILL; take its children along."""
        self._closing = True
        self._lost = True
        self._cancel_stuck_timer()
        if self._input is not None and not self._input.is_closing():
            self._input.abort()  # what waits unsent would keep the pipe open
        await end_program(self._process, self._mark)
        self._stop_watching()
        for output in self._outputs:
            output.close()

    def received(self, lines: list[bytes]) -> None:
        """Pass frames on, until the link is lost."""
        for line in lines:
            if self._lost:
                return
            self._listener.frame_received(line)

    def lose(self, lost: LinkLost) -> None:
        """Report the end once. The owner then calls `close`."""
        if self._lost:
            return
        self._lost = True
        self._cancel_stuck_timer()
        self._listener.link_lost(lost)

    def input_paused(self) -> None:
        """The program reads more slowly than hosts write."""
        self._cancel_stuck_timer()
        self._stuck_timer = self._loop.call_later(
            STUCK_SECONDS,
            lambda: self.lose(LinkLost(f"has not read its input for {STUCK_SECONDS:.0f} s")),
        )

    def input_resumed(self) -> None:
        """The program reads again."""
        self._cancel_stuck_timer()

    def output_ended(self) -> None:
        """Its output was closed: by an exit, or by a live program that will never answer again."""
        if self._process.poll() is None:
            self._loop.call_later(AFTER_EXIT_SECONDS, self._judge_end)
        else:
            self._judge_end()

    def _exited(self) -> None:
        if not self._closing:
            self._loop.call_later(AFTER_EXIT_SECONDS, self._judge_end)

    def _judge_end(self) -> None:
        code = self._process.poll()
        if code is None:
            self.lose(LinkLost("closed its output"))
        else:
            self.lose(LinkLost(describe_exit(code)))

    def _cancel_stuck_timer(self) -> None:
        if self._stuck_timer is not None:
            self._stuck_timer.cancel()
            self._stuck_timer = None


class _Input(asyncio.BaseProtocol):
    def __init__(self, link: StdioLink) -> None:
        self._link = link

    def pause_writing(self) -> None:
        self._link.input_paused()

    def resume_writing(self) -> None:
        self._link.input_resumed()


class _Output(asyncio.BufferedProtocol):
    """uvloop reads a pipe into our buffer; asyncio's own loops hand out what they read."""

    def __init__(self, link: StdioLink, frame_limit: int) -> None:
        self._link = link
        self._splitter = FrameSplitter(frame_limit)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._splitter.room()

    def buffer_updated(self, nbytes: int) -> None:
        self._passed(self._splitter.filled, nbytes)

    def data_received(self, data: bytes) -> None:
        self._passed(self._splitter.feed, data)

    def _passed(self, take: Callable[[T], list[bytes]], read: T) -> None:
        try:
            lines = take(read)
        except FrameTooLong as error:
            self._link.lose(LinkLost(f"sent too much at once: {error}"))
        else:
            self._link.received(lines)

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.output_ended()


class _Errors(asyncio.Protocol):
    """Drains the error output always: a full pipe would stop the program."""

    def __init__(self, listener: LinkListener) -> None:
        self._listener = listener
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:STDERR_LINE_BYTES]
        for line in lines[-200:]:
            if line.strip():
                self._listener.noise_received(_decode(line))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._rest.strip():
            self._listener.noise_received(_decode(self._rest))


async def open_stdio(
    program: Program, ours: Mapping[str, str], name: str, listener: LinkListener
) -> StdioLink:
    """Start the program. ``ours``: the station's environment. Raises `LinkFailed`."""
    mark = f"{name}:{os.getpid()}:{next(_marks)}"
    environment = program_environment(ours, program.environment, mark)
    try:
        process = start_program((program.command, *program.args), environment, program.directory)
    except ProgramNotFound as error:
        raise LinkFailed(LinkLost(str(error), permanent=True)) from None
    except OSError as error:
        reason = f"could not start {program.command}: {error.strerror or error}"
        raise LinkFailed(LinkLost(reason)) from None
    link = StdioLink(process, mark, listener)
    try:
        await link.start(program.frame_limit)
    except BaseException:
        await link.close()
        raise
    return link


def _decode(line: bytes) -> str:
    return line[:STDERR_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")
