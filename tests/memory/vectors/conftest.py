"""A real Chroma server, started once for all tests of a worker."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.embedding.json_http import JsonClient, NoReply

_START_SECONDS = 60.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Run a server until it answers, in a bounded time."""
    process = subprocess.Popen(
        [
            str(Path(sys.executable).with_name("chroma")),
            *("run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)),
        ],
        cwd=folder,
        env={"HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    client = JsonClient(f"http://127.0.0.1:{port}", {})
    deadline = time.monotonic() + _START_SECONDS
    try:
        while True:
            with contextlib.suppress(NoReply):
                if client.ask("GET", "/api/v2/heartbeat", None, 5).status == 200:
                    return process
            assert process.poll() is None, "the Chroma server ended at once"
            if time.monotonic() > deadline:
                stop_server(process)
                pytest.fail("the Chroma server did not start in time")
            time.sleep(0.02)
    finally:
        client.close()


def stop_server(process: subprocess.Popen[bytes]) -> None:
    """End it, gently if possible."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that runs."""
    port = _free_port()
    process = start_server(tmp_path_factory.mktemp("chroma-server"), port)
    yield f"http://127.0.0.1:{port}"
    stop_server(process)


@pytest.fixture
def free_port() -> int:
    """A port on which nothing listens."""
    return _free_port()
