"""What an edit of the settings costs: how soon it counts, and whether calls notice it."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench import columns
from tests.bench.driver import Channel, Load, measure, open_socket
from tests.bench.report import Row, Table
from tests.support.stations import RELAY_ONLY, Station, program

LOAD = Load("echo", "echo", {"text": "a" * 200}, 4, 2000)


async def run(rounds: int) -> list[Table]:
    """One table."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mms-bench-"))
        station = stack.enter_context(columns.station(Path(folder, "h")))
        channels = [await open_socket(station.socket) for _ in range(5)]
        for channel in channels:
            await channel.shake_hands()
        quiet = await measure(channels[:4], LOAD, "up__")
        edits: list[float] = []
        async with asyncio.TaskGroup() as group:
            stormy = group.create_task(measure(channels[:4], LOAD, "up__"))
            for number in range(max(3, rounds)):
                edits.append(await _edit(station, channels[4], number))
            busy = await stormy
    rows: list[Row] = [
        {
            "way": "saving the file until the new upstream is listed",
            "median ms": statistics.median(edits) * 1000,
        },
        {"way": "a call, nothing edited", "median ms": statistics.median(quiet.durations) * 1000},
        {"way": "a call, while edits run", "median ms": statistics.median(busy.durations) * 1000},
    ]
    return [Table("an edit of config.toml", rows)]


async def _edit(station: Station, channel: Channel, number: int) -> float:
    """Add an upstream; returns the seconds until its tools are listed."""
    config = (
        RELAY_ONLY + program("up", columns.UPSTREAM) + program(f"new{number}", columns.UPSTREAM)
    )
    wanted = f'"new{number}__echo"'.encode()
    started = time.perf_counter()
    station.write(config)
    async with asyncio.timeout(60):
        while wanted not in await channel.ask(b"tools/list", b"{}"):  # noqa: ASYNC110  # polled
            await asyncio.sleep(0.005)
    return time.perf_counter() - started
