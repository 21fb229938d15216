"""Workers with scripted children."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from proxy.jobs import Job, Outcome, ReduceJob
from proxy.worker.client import Worker

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import os, signal, sys, time
sys.path += [{root!r}, {packages!r}]
from proxy.jobs import Reduced
from proxy.worker.child import serve_pipes
output = os.dup(1)
def work(job):
    match job.strategy:
        case "echo":
            return Reduced(body=job.body, strategy=str(os.getpid()))
        case "print":
            print("words of a library", flush=True)
        case "raise":
            raise ValueError("the text of " + job.body.decode())
        case "exit":
            os._exit(3)
        case "hang":
            time.sleep(600)
        case "wait":
            while not os.path.exists(job.query):
                time.sleep(0.005)
        case "noise":
            os.write(output, b"\\xff" * 1000)
            time.sleep(600)
        case "once":
            if not os.path.exists(job.query):
                open(job.query, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
    return Reduced(strategy=str(os.getpid()))
serve_pipes(work)
"""


def program(script: str = SCRIPT) -> list[str]:
    """A child that does what a job's strategy says."""
    found = importlib.util.find_spec("msgspec")
    assert found is not None
    assert found.origin is not None
    packages = str(Path(found.origin).parent.parent)
    return [
        sys.executable,
        "-I",
        "-S",
        "-c",
        script.replace("{root!r}", repr(str(ROOT))).replace("{packages!r}", repr(packages)),
    ]


def job(strategy: str, body: bytes = b"{}", query: str = "") -> ReduceJob:
    return ReduceJob(body=body, strategy=strategy, budget=10, query=query)


def ask(worker: Worker, wanted: Job, seconds: float = 20) -> asyncio.Future[Outcome]:
    future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    worker.submit(wanted, future.set_result, seconds)
    return future


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[Worker]:
    """Run a worker while a test uses it, no longer than 30 s."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        try:
            yield worker
        finally:
            running.cancel()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds, at most 10 s."""
    async with asyncio.timeout(10):
        while True:
            if condition():
                return
            await asyncio.sleep(0.005)
