"""The engine's end of the worker: jobs go out, outcomes come back, and the loop never waits.

One child at a time, one job at a time in it; the others wait here, in order. A child that dies, or is
killed over a job that takes too long, is replaced, and what it had under way is tried once more.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proxy.backoff import Backoff
from proxy.jobs import Job, JobFailed, Outcome, ReduceJob, WhatIfJob
from proxy.pipes import pipe_file, take_descriptor, widen
from proxy.processes import (
    ProgramNotFound,
    describe_exit,
    end_program,
    program_environment,
    start_program,
    watch_exit,
)
from proxy.worker.framing import FrameBuffer, MalformedFrame, Reply, job_frame, read_reply
from proxy.worker.program import worker_program

START_SECONDS = 30.0
"""How long a child may load; a busy machine takes several times the usual second."""
WAITING_JOBS = 1024
WAITING_BYTES = 256 * 1024 * 1024
"""So much may wait for its turn; more is refused, and the answers go out as they are."""
CHILDREN_LOST = 3
"""After so many children in a row that never became ready, jobs fail at once until one does."""
_TRIES = 2
_END_SECONDS = 1.0
_AFTER_EXIT_SECONDS = 0.05
"""So long the last output and complaints are still read."""
_CHUNK = 256 * 1024
_marks = itertools.count(1)

Done = Callable[[Outcome], None]


@dataclass(slots=True, eq=False)
class _Entry:
    """A job on its way. ``done`` is ``None`` once its outcome was delivered."""

    number: int
    job: Job
    bytes: int
    timeout_seconds: float
    done: Done | None
    timer: asyncio.TimerHandle | None = None
    sent_at: float = 0.0
    tries: int = 0


class Worker:
    """Does jobs in a child process. All methods are called on the engine's loop."""

    def __init__(
        self,
        program: Sequence[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``program``: what to start instead of our own child. ``clock``: seconds, monotonic."""
        self.problem = ""
        """Why jobs fail at once or wait for a new child; empty while all is well."""
        self._program = program
        self._clock = clock
        self._wanted = asyncio.Event()
        self._waiting: deque[_Entry] = deque()
        self._waiting_bytes = 0
        self._running: _Entry | None = None
        self._child: _Child | None = None
        self._numbers = itertools.count(1)
        self._lost = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return None if self._child is None else self._child.pid

    @property
    def ready(self) -> bool:
        """The child has loaded and takes jobs."""
        return self._child is not None and self._child.ready

    def prewarm(self) -> None:
        """Start the child now: the first job then need not wait for it to load."""
        self._wanted.set()

    def submit(self, job: Job, done: Done, timeout_seconds: float) -> None:
        """Queue a job. ``done`` is called on the loop, once, never from within this call.

        ``timeout_seconds``: from now on; then the outcome is a `JobFailed`.
        """
        loop = asyncio.get_running_loop()
        refusal = self._refusal(job)
        if refusal:
            loop.call_soon(done, JobFailed(refusal))
            return
        entry = _Entry(next(self._numbers), job, _weight(job), timeout_seconds, done)
        entry.timer = loop.call_later(timeout_seconds, self._expired, entry)
        self._waiting.append(entry)
        self._waiting_bytes += entry.bytes
        self._wanted.set()
        self._pump()

    async def run(self) -> None:
        """Keep a child alive from the first job, or `prewarm`, until this is cancelled."""
        backoff = Backoff()
        try:
            while True:
                await self._wanted.wait()
                started = self._clock()
                self.problem = await self._live_once()
                backoff = backoff.after_failure(self._clock() - started)
                if self._lost >= CHILDREN_LOST:
                    self._fail_waiting(self.problem)
                await asyncio.sleep(backoff.delay(0.0))
        finally:
            self._closed = True
            running, self._running = self._running, None
            if running is not None:
                self._finish(running, JobFailed("the station is ending"))
            self._fail_waiting("the station is ending")

    async def _live_once(self) -> str:
        """One child's life; returns why it ended, for a person."""
        child = self._child = _Child(self._replied)
        try:
            reason = await child.live(self._program or worker_program())
        except (OSError, ProgramNotFound) as error:
            reason = f"the worker could not be started: {error}"
        finally:
            self._child = None
            self._lost = 0 if child.was_ready else self._lost + 1
            self._retry_running(child)
        return reason

    def _replied(self, reply: Reply) -> None:
        if reply.number == 0:
            self._lost = 0
            self.problem = ""
        else:
            entry = self._running
            if entry is None or reply.number != entry.number or reply.outcome is None:
                raise MalformedFrame("an outcome came for a job that is not under way")
            self._running = None
            self._finish(entry, reply.outcome)
        self._pump()

    def _pump(self) -> None:
        """Send the next job if the child is free."""
        if self._running is not None or not self._waiting:
            return
        child = self._child
        if child is None or not child.ready:
            return
        entry = self._waiting.popleft()
        self._waiting_bytes -= entry.bytes
        entry.sent_at = self._clock()
        entry.tries += 1
        self._running = entry
        child.send(job_frame(entry.number, entry.job))

    def _expired(self, entry: _Entry) -> None:
        """Its time is over. A job that had to wait for its turn gets its time in the child, unheard."""
        self._finish(entry, JobFailed(f"took longer than {entry.timeout_seconds:g} s"))
        if entry is self._running:
            left = entry.sent_at + entry.timeout_seconds - self._clock()
            if left > 0:
                loop = asyncio.get_running_loop()
                entry.timer = loop.call_later(left, self._overdue, entry)
            else:
                self._overdue(entry)
        else:
            self._waiting.remove(entry)
            self._waiting_bytes -= entry.bytes

    def _overdue(self, entry: _Entry) -> None:
        if entry is self._running and self._child is not None:
            self._child.end(
                f"the worker was ended over a job of more than {entry.timeout_seconds:g} s"
            )

    def _retry_running(self, child: _Child) -> None:
        """The child is gone: what it was doing goes first in the next one, once."""
        entry, self._running = self._running, None
        if entry is None:
            return
        if entry.done is None:
            self._finish(entry, JobFailed(child.reason))
        elif entry.tries >= _TRIES:
            self._finish(entry, JobFailed(f"{child.reason}, {entry.tries} times over this answer"))
        else:
            self._waiting.appendleft(entry)
            self._waiting_bytes += entry.bytes

    def _finish(self, entry: _Entry, outcome: Outcome) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        done, entry.done = entry.done, None
        if done is not None:
            asyncio.get_running_loop().call_soon(done, outcome)

    def _fail_waiting(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, deque()
        self._waiting_bytes = 0
        for entry in waiting:
            self._finish(entry, JobFailed(reason))

    def _refusal(self, job: Job) -> str:
        if self._closed:
            return "the station is ending"
        if self._lost >= CHILDREN_LOST:
            return self.problem
        if len(self._waiting) >= WAITING_JOBS or (
            self._waiting and self._waiting_bytes + _weight(job) > WAITING_BYTES
        ):
            return "too many answers wait to be made smaller"
        return ""


class _Child:
    """One child process, from its start to its end."""

    def __init__(self, replied: Callable[[Reply], None]) -> None:
        self.pid: int | None = None
        self.ready = False
        """It takes jobs now."""
        self.was_ready = False
        self.reason = ""
        """Why it ended or is being ended."""
        self._replied = replied
        self._frames = FrameBuffer()
        self._ended = asyncio.Event()
        self._input: asyncio.WriteTransport | None = None
        self._unsent: deque[memoryview] = deque()
        self._paused = False
        self._complaint = b""

    async def live(self, program: Sequence[str]) -> str:
        """Start, serve, and end; returns why. Raises `OSError` or `ProgramNotFound` without a start."""
        loop = asyncio.get_running_loop()
        mark = f"worker:{os.getpid()}:{next(_marks)}"
        process = start_program(program, program_environment(os.environ, {}, mark), None)
        self.pid = process.pid
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        outputs: list[asyncio.ReadTransport] = []

        def judge() -> None:
            code = process.poll()
            how = "closed its output" if code is None else describe_exit(code)
            self.end(f"the worker {how}")

        def over() -> None:
            loop.call_later(_AFTER_EXIT_SECONDS, judge)

        stop_watching = watch_exit(process, loop, over)
        starting = loop.call_later(START_SECONDS, self._too_slow)
        try:
            for pipe in (process.stdin, process.stdout):
                widen(pipe.fileno())
            to_child = pipe_file(take_descriptor(process.stdin), "wb", loop)
            self._input, _ = await loop.connect_write_pipe(lambda: _ToChild(self), to_child)
            self._input.set_write_buffer_limits(high=_CHUNK)
            for pipe, take, ended in (
                (process.stdout, self._received, over),
                (process.stderr, self._complained, None),
            ):
                file = pipe_file(take_descriptor(pipe), "rb", loop)
                reader = _Reader(take, ended)
                transport, _ = await loop.connect_read_pipe(lambda made=reader: made, file)
                outputs.append(transport)
            await self._ended.wait()
        finally:
            self.ready = False
            starting.cancel()
            stop_watching()
            self._unsent.clear()
            if self._input is not None and not self._input.is_closing():
                self._input.abort()  # what waits unsent would keep the pipe open
            for output in outputs:
                output.close()
            if process.poll() is None:
                process.kill()
            await end_program(process, mark, grace=_END_SECONDS)
            self.pid = None
        return self.reason

    def send(self, parts: Sequence[bytes]) -> None:
        """Write a frame as fast as the child reads it; a small one at once, so that it wakes only once."""
        if sum(map(len, parts)) <= _CHUNK:
            parts = (b"".join(parts),)
        for part in parts:
            view = memoryview(part)
            self._unsent.extend(view[at : at + _CHUNK] for at in range(0, len(view), _CHUNK))
        self.write_on()

    def write_on(self, *, paused: bool = False) -> None:
        """Write until the pipe is full."""
        self._paused = paused
        to_child = self._input
        if to_child is None or to_child.is_closing():
            return
        while self._unsent and not self._paused:
            to_child.write(self._unsent.popleft())

    def _received(self, data: bytes) -> None:
        """Bytes from its output."""
        try:
            for frame in self._frames.feed(data):
                reply = read_reply(frame)
                self.ready = self.was_ready = True
                self._replied(reply)
        except MalformedFrame as error:
            self.end(f"the worker was ended: {error}")

    def _complained(self, data: bytes) -> None:
        """Bytes from its error output. Only what it says while it starts is kept: no answer is in it."""
        if not self.ready:
            self._complaint = (self._complaint + data)[-4096:]

    def end(self, reason: str) -> None:
        """End it, for this reason; the first one counts."""
        if self._ended.is_set():
            return
        last = self._complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        self.reason = (
            f"{reason} before it was ready: {last[:300]}" if last and not self.ready else reason
        )
        self._ended.set()

    def _too_slow(self) -> None:
        if not self.ready:
            self.end(f"the worker was not ready after {START_SECONDS:g} s")


class _ToChild(asyncio.BaseProtocol):
    def __init__(self, child: _Child) -> None:
        self._child = child

    def pause_writing(self) -> None:
        self._child.write_on(paused=True)

    def resume_writing(self) -> None:
        self._child.write_on()


class _Reader(asyncio.Protocol):
    def __init__(self, take: Callable[[bytes], None], ended: Callable[[], object] | None) -> None:
        self._take = take
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ended is not None:
            self._ended()


def _weight(job: Job) -> int:
    """Payload bytes."""
    match job:
        case ReduceJob():
            return len(job.body) + len(job.earlier)
        case WhatIfJob():
            return len(job.body) + len(job.sent)
        case _:
            return len(job.body)
