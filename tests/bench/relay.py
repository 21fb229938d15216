"""How long a call takes: direct and through mms, in rounds that take turns so that noise is shared."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench import columns
from tests.bench.columns import Column, cpu_seconds
from tests.bench.driver import Load, measure
from tests.bench.report import Row, Table

LOADS = (
    Load("200 B echo", "echo", {"text": "a" * 200}, 1, 400),
    Load("200 B echo", "echo", {"text": "a" * 200}, 16, 1600),
    Load("20 KB echo", "echo", {"text": "a" * 20_000}, 1, 200),
    Load("20 KB echo", "echo", {"text": "a" * 20_000}, 16, 400),
    Load("1 MB structured result", "rows", {"bytes": 1_000_000}, 1, 40),
    Load("1 MB structured result", "rows", {"bytes": 1_000_000}, 16, 32),
)


async def run(rounds: int) -> list[Table]:
    """One table per load."""
    async with contextlib.AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mms-bench-")))
        running = stack.enter_context(columns.station(home / "h"))
        compared = [
            await stack.enter_async_context(columns.direct()),
            await stack.enter_async_context(columns.sdk_relay()),
            await stack.enter_async_context(columns.socket(running, 16)),
            await stack.enter_async_context(columns.bridge(running)),
        ]
        return [await compare(load, compared, rounds) for load in LOADS]


async def compare(load: Load, compared: Sequence[Column], rounds: int) -> Table:
    """The same load on every way, the first one being the reference."""
    durations: dict[str, list[float]] = {column.name: [] for column in compared}
    elapsed: dict[str, list[float]] = {column.name: [] for column in compared}
    cpu: dict[str, float] = {column.name: 0.0 for column in compared}
    for _ in range(rounds):
        for column in compared:
            before = cpu_seconds(column.processes)
            sample = await measure(column.channels[: load.callers], load, column.prefix)
            cpu[column.name] += cpu_seconds(column.processes) - before
            durations[column.name] += sample.durations
            elapsed[column.name].append(sample.elapsed)
    base = statistics.median(durations[compared[0].name])
    rows: list[Row] = []
    for column in compared:
        times = sorted(durations[column.name])
        p50 = statistics.median(times)
        rows.append(
            {
                "way": column.name,
                "p50 ms": p50 * 1000,
                "p95 ms": times[int(len(times) * 0.95)] * 1000,
                "over direct ms": (p50 - base) * 1000,
                "times direct": p50 / base,
                "calls/s": load.calls / statistics.median(elapsed[column.name]),
                "CPU ms/call": cpu[column.name] / len(times) * 1000,
            }
        )
    callers = "1 caller" if load.callers == 1 else f"{load.callers} callers"
    return Table(f"{load.name}, {callers}", rows)
