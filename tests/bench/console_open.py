"""Whether a call is slower while a person looks: the same load with the console closed and open."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import statistics
import struct
import subprocess
import tempfile
import termios
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.bench import columns
from tests.bench.columns import cpu_seconds
from tests.bench.driver import Load, measure
from tests.bench.report import Row, Table
from tests.support.stations import MMS, Station

LOADS = (
    Load("one caller", "echo", {"text": "a" * 200}, 1, 400),
    Load("16 callers", "echo", {"text": "a" * 200}, 16, 1600),
)


async def run(rounds: int) -> list[Table]:
    """One table per load."""
    tables: list[Table] = []
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mms-bench-"))
        station = stack.enter_context(columns.station(Path(folder, "h")))
        bridge = await stack.enter_async_context(columns.bridge(station))
        for load in LOADS:
            times: dict[str, list[float]] = {"console closed": [], "console open": []}
            rates: dict[str, list[float]] = {"console closed": [], "console open": []}
            cpu: dict[str, float] = {"console closed": 0.0, "console open": 0.0}
            for _ in range(rounds):
                for way in times:
                    with _console(station) if way == "console open" else _nothing():
                        before = cpu_seconds([station.pid])
                        sample = await measure(bridge.channels, load, bridge.prefix)
                        cpu[way] += cpu_seconds([station.pid]) - before
                    times[way] += sample.durations
                    rates[way].append(load.calls / sample.elapsed)
            rows: list[Row] = [
                {
                    "way": way,
                    "p50 ms": statistics.median(found) * 1000,
                    "p95 ms": sorted(found)[int(len(found) * 0.95)] * 1000,
                    "calls/s": statistics.median(rates[way]),
                    "CPU ms/call in the station": cpu[way] / len(found) * 1000,
                }
                for way, found in times.items()
            ]
            tables.append(Table(f"200 B echo through the bridge, {load.name}", rows))
    return tables


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def _console(station: Station) -> Iterator[None]:
    """The console in a terminal of 120 by 40, attached to the station and drawn."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        [MMS],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**station.environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        start_new_session=True,
    )
    os.close(slave)
    drawn = threading.Event()
    reader = threading.Thread(target=_drain, args=(master, drawn), daemon=True)
    reader.start()
    try:
        assert drawn.wait(60), "the console has drawn nothing"
        yield
        assert process.poll() is None, "the console has ended"
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        os.close(master)


def _drain(master: int, drawn: threading.Event) -> None:
    """Read what the console draws, as a terminal does; it is up once it has drawn its name of an upstream."""
    seen = b""
    with contextlib.suppress(OSError):
        while data := os.read(master, 65536):
            if not drawn.is_set():
                seen += data
                if b"up" in seen and len(seen) > 4000:
                    drawn.set()
