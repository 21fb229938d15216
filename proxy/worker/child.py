"""The worker process itself: one job after the other from its input, outcomes to its output.

It ends when its input ends, so it never outlives the station; after a malformed frame it ends, too.
A job that raises costs that job only.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from proxy.jobs import Job, JobFailed, Outcome
from proxy.worker.framing import HEAD, Frame, Reply, read_head, read_job, reply_frame

PARENT_CHECK_SECONDS = 1.0


def main() -> None:
    """Load what jobs need, say so, and work until the input ends."""
    from proxy.heap import keep_freed_memory
    from proxy.pipeline import run
    from proxy.token_gauge import TokenGauge

    keep_freed_memory()
    gauge = TokenGauge()

    def work(job: Job) -> Outcome:
        try:
            return run(job, gauge)
        finally:
            gauge.forget()

    serve_pipes(work)


def serve_pipes(work: Callable[[Job], Outcome]) -> None:
    """`serve` this process's input and output; whatever is printed goes to the error output."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(output, "wb") as sink:
            serve(work, sys.stdin.buffer, sink)
    except BrokenPipeError:
        os._exit(0)  # the station is gone, and nobody is left to hear of it


def serve(work: Callable[[Job], Outcome], source: BinaryIO, sink: BinaryIO) -> None:
    """Answer jobs until ``source`` ends. Raises `proxy.worker.framing.MalformedFrame`."""
    _send(sink, Reply(0, None))
    gc.collect()
    gc.freeze()
    gc.disable()  # between jobs there is time to collect, within one there is none
    while (frame := _read(source)) is not None:
        number, job = read_job(frame)
        del frame
        outcome = _outcome(work, job)
        del job
        _send(sink, Reply(number, outcome))
        del outcome
        gc.collect()


def _end_with(parent: int) -> None:
    """End as soon as the station is gone: a job that hangs would not see the end of its input."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os._exit(0)


def _outcome(work: Callable[[Job], Outcome], job: Job) -> Outcome:
    try:
        return work(job)
    except Exception as error:
        return JobFailed(_fault(error))


def _fault(error: Exception) -> str:
    """Type and place. An exception's own words may hold the payload, which is nobody else's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    file = Path(trace.tb_frame.f_code.co_filename)
    return f"{type(error).__name__} at {'/'.join(file.parts[-2:])}:{trace.tb_lineno}"


def _read(source: BinaryIO) -> Frame | None:
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    lengths = read_head(head)
    header, first, second = (source.read(length) for length in lengths)
    if (len(header), len(first), len(second)) != lengths:
        return None
    return header, first, second


def _send(sink: BinaryIO, reply: Reply) -> None:
    sink.write(b"".join(reply_frame(reply)))
    sink.flush()
