"""How long a host waits for its first list of tools, through the bridge."""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench import columns
from tests.bench.driver import open_program
from tests.bench.report import Row, Table
from tests.support.stations import MMS, Station, alive, cleaned_up, new_station, program, wait_until


async def run(rounds: int) -> list[Table]:
    """With a station that runs, and with none."""
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as folder:
        rows: list[Row] = []
        with columns.station(Path(folder, "running")) as running:
            await _first_list(running)  # from now on its catalogue is known
            times = [await _first_list(running) for _ in range(rounds * 3)]
            rows.append(_row("a station runs", times))
        station = new_station(Path(folder, "cold"), program("up", columns.UPSTREAM))
        with cleaned_up(station):
            await _first_list(station)
            _stop(station)
            times = []
            for _ in range(rounds):
                times.append(await _first_list(station))
                _stop(station)
            rows.append(_row("the bridge has to start one", times))
    return [Table("launching mms connect until the first tools/list is there", rows)]


async def _first_list(station: Station) -> float:
    started = time.perf_counter()
    channel, process = await open_program([MMS, "connect"], station.environment)
    try:
        await channel.shake_hands()
        listed = await channel.ask(b"tools/list", b"{}")
        took = time.perf_counter() - started
    finally:
        process.kill()
        process.wait()
    assert b"up__echo" in listed, listed
    return took


def _stop(station: Station) -> None:
    """End the station that the bridge has started."""
    pid = int(station.paths.lock_file.read_text())
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not alive(pid), "the station ends")


def _row(way: str, times: list[float]) -> Row:
    return {
        "way": way,
        "median ms": statistics.median(times) * 1000,
        "fastest ms": min(times) * 1000,
        "slowest ms": max(times) * 1000,
    }
