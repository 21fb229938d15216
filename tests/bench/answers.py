"""What it costs to make an answer smaller, and whether it holds up another call."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench import columns
from tests.bench.columns import Column
from tests.bench.driver import Channel, Load
from tests.bench.relay import compare
from tests.bench.report import Table

SETTINGS = "[proxy]\ndelta = false\n"
"""Every call of a load is the same: without this all but the first would be told that nothing changed."""
LOADS = (
    Load("20 KB JSON", "long", {"kind": "json", "bytes": 20_000}, 1, 60),
    Load("200 KB JSON", "long", {"kind": "json", "bytes": 200_000}, 1, 30),
    Load("1 MB JSON", "long", {"kind": "json", "bytes": 1_000_000}, 1, 12),
    Load("200 KB Markdown", "long", {"kind": "markdown", "bytes": 200_000}, 1, 30),
    Load("1 MB log", "long", {"kind": "log", "bytes": 1_000_000}, 1, 12),
)
BEHIND = {"name": "up__long", "arguments": {"kind": "json", "bytes": 1_000_000}}
SMALL = {"name": "up__echo", "arguments": {"text": "a" * 200}}


async def run(rounds: int) -> list[Table]:
    """One table per load, and one for a small call behind a large one."""
    async with contextlib.AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mms-bench-")))
        running = stack.enter_context(columns.station(home / "h", SETTINGS))
        compared = [
            await stack.enter_async_context(columns.direct()),
            await stack.enter_async_context(columns.socket(running, 2)),
            await stack.enter_async_context(columns.bridge(running)),
        ]
        tables = [await compare(load, compared, rounds) for load in LOADS]
        return [*tables, await _behind(compared[1], rounds)]


async def _behind(column: Column, rounds: int) -> Table:
    """A small call, sent right after a large one, on another connection."""
    large, small = column.channels
    alone: list[float] = []
    behind: list[float] = []
    for _ in range(10 * rounds):
        alone.append(await _timed(small))
        async with asyncio.TaskGroup() as group:
            group.create_task(_ask(large, BEHIND))
            await asyncio.sleep(0)
            behind.append(await _timed(small))
    return Table(
        "200 B echo, on the socket",
        [
            {
                "way": "alone",
                "p50 ms": statistics.median(alone) * 1000,
                "worst ms": max(alone) * 1000,
            },
            {
                "way": "right behind a 1 MB answer",
                "p50 ms": statistics.median(behind) * 1000,
                "worst ms": max(behind) * 1000,
            },
        ],
    )


async def _timed(channel: Channel) -> float:
    started = time.perf_counter()
    await _ask(channel, SMALL)
    return time.perf_counter() - started


async def _ask(channel: Channel, call: dict[str, object]) -> None:
    await channel.ask(b"tools/call", json.dumps(call).encode())
