"""What is compared: the upstream itself, mms over its socket and over the bridge, and the SDK's relay."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.driver import Channel, open_program, open_socket
from tests.support.stations import MMS, RELAY_ONLY, Station, cleaned_up, new_station, program

UPSTREAM = [sys.executable, str(Path(__file__).with_name("fast_upstream.py"))]
RELAY = [sys.executable, "-m", "tests.bench.sdk_relay", *UPSTREAM]


@dataclass
class Column:
    """One way to the same upstream."""

    name: str
    prefix: str
    channels: list[Channel]
    processes: list[int] = field(default_factory=list[int])
    """Whose processor time counts."""


def cpu_seconds(pids: list[int]) -> float:
    """Processor time that these processes and their children have used so far."""
    ticks = os.sysconf("SC_CLK_TCK")
    times: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                times[int(entry.name)] = sum(map(int, fields[11:13])) / ticks
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = 0.0, list(pids)
    while todo:
        pid = todo.pop()
        found += times.get(pid, 0.0)
        todo += children.get(pid, [])
    return found


@contextlib.asynccontextmanager
async def direct() -> AsyncIterator[Column]:
    """The upstream on its own pipes."""
    async with _on_pipes("direct", "", UPSTREAM, dict(os.environ)) as column:
        yield column


@contextlib.asynccontextmanager
async def sdk_relay() -> AsyncIterator[Column]:
    """The official SDK's typed relay on pipes."""
    async with _on_pipes("SDK relay", "", RELAY, dict(os.environ)) as column:
        yield column


@contextlib.asynccontextmanager
async def socket(station: Station, connections: int) -> AsyncIterator[Column]:
    """mms over its socket; each caller is a host of its own."""
    channels = [await open_socket(station.socket) for _ in range(connections)]
    for channel in channels:
        await channel.shake_hands()
    yield Column("mms socket", "up__", channels, [station.pid])


@contextlib.asynccontextmanager
async def bridge(station: Station) -> AsyncIterator[Column]:
    """mms as hosts use it: through ``mms connect`` on pipes."""
    command = [MMS, "connect"]
    async with _on_pipes("mms bridge", "up__", command, station.environment) as column:
        column.processes.append(station.pid)
        yield column


@contextlib.asynccontextmanager
async def _on_pipes(
    name: str, prefix: str, command: list[str], environment: dict[str, str]
) -> AsyncIterator[Column]:
    channel, process = await open_program(command, environment)
    try:
        await channel.shake_hands()
        yield Column(name, prefix, [channel], [process.pid])
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def station(home: Path, settings: str = RELAY_ONLY) -> Iterator[Station]:
    """A running station in front of the fast upstream; by itself it passes on what comes."""
    made = new_station(home, settings + program("up", UPSTREAM))
    with cleaned_up(made):
        made.start()
        yield made
