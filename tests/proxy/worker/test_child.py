"""The worker's own end: one reply for each job, and an end when the input ends or makes no sense."""

from __future__ import annotations

import gc
import io
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proxy.jobs import Job, JobFailed, Outcome, Reduced
from proxy.worker.child import serve
from proxy.worker.framing import (
    HEAD,
    FrameBuffer,
    MalformedFrame,
    Reply,
    job_frame,
    read_reply,
)
from proxy.worker.program import worker_program
from tests.proxy.worker.children import job


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    """Serving leaves the collector of its process as a worker wants it."""
    yield
    gc.unfreeze()
    gc.enable()


def replies(
    data: bytes, work: Callable[[Job], Outcome] = lambda job: Reduced(job.body)
) -> list[Reply]:
    sink = io.BytesIO()
    serve(work, io.BytesIO(data), sink)
    return [read_reply(frame) for frame in FrameBuffer().feed(sink.getvalue())]


def frames(*bodies: bytes) -> bytes:
    return b"".join(
        part for at, body in enumerate(bodies) for part in job_frame(at + 1, job("any", body))
    )


def test_it_says_that_it_is_ready_and_then_answers_in_order() -> None:
    assert replies(frames(b"a", b"", b"c" * 5000)) == [
        Reply(0, None),
        Reply(1, Reduced(b"a")),
        Reply(2, Reduced(b"")),
        Reply(3, Reduced(b"c" * 5000)),
    ]


@pytest.mark.parametrize("kept", [0, 3, HEAD.size, HEAD.size + 5, -1])
def test_an_input_that_ends_within_a_frame_ends_it_quietly(kept: int) -> None:
    assert replies(frames(b"abc")[:kept]) == [Reply(0, None)]


def test_nonsense_ends_it() -> None:
    with pytest.raises(MalformedFrame):
        replies(b"\xff" * 100)
    with pytest.raises(MalformedFrame):
        replies(HEAD.pack(3, 0, 0) + b"abc")


@pytest.mark.parametrize(
    "error", [ValueError("secret"), RecursionError(), MemoryError(), KeyError("secret")]
)
def test_an_error_becomes_an_outcome_of_type_and_place(error: Exception) -> None:
    def work(_: Job) -> Outcome:
        raise error

    _, reply = replies(frames(b"secret"), work)
    assert isinstance(reply.outcome, JobFailed)
    reason = reply.outcome.reason
    assert reason.startswith(f"{type(error).__name__} at worker/test_child.py:")
    assert "secret" not in reason


def test_the_program_sees_our_packages_and_needs_no_environment() -> None:
    python, *options, start, root, packages = worker_program()
    assert Path(root, "proxy", "pipeline.py").is_file()
    assert Path(packages, "msgspec").is_dir()
    assert options == ["-I", "-S", "-c"]
    assert "main()" in start
    found = subprocess.run(
        [python, "-I", "-S", "-c", start.replace("main()", "print('works')"), root, packages],
        env={},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (found.stdout, found.stderr) == ("works\n", "")
