"""How much later an answer is there because of surfacing: the same calls with it and without."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.driver import Channel
from tests.bench.surfacing.scripted import UPSTREAM
from tests.bench.surfacing.station_week import OPEN_GATES, Player, settings, station
from tests.bench.surfacing.week import Call, Week
from tests.support import fake_ltm
from tests.support.mcp_client import connect_host

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Added:
    """Milliseconds of one way: the median round by p50."""

    off_p50: float
    on_p50: float
    added_p50: float
    """Median over the calls of the difference to the same call without surfacing."""
    off_p95: float
    on_p95: float
    off_max: float
    on_max: float


@dataclass(frozen=True, slots=True)
class Hanging:
    """Calls while the source hangs, milliseconds."""

    timeout: float
    waited: int
    """Calls that waited for the source until the deadline."""
    on_p50: float
    on_max: float
    off_p50: float
    off_max: float


async def embedded(the_week: Week, memory: str, delay: float) -> Added:
    """With the embedded memory, everything stored, nothing cached. ``delay``: the upstream's, seconds."""
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as folder:
        args = [str(delay)]
        on = settings(OPEN_GATES | {"tuner": "{ enabled = false }"}, memory, args=args)
        off = settings({"enabled": "false"}, memory, args=args)
        with (
            station(Path(folder, "on"), on) as with_it,
            station(Path(folder, "off"), off) as without,
        ):
            player = Player(with_it)
            async with connect_host(with_it.socket) as host:
                for one in the_week.memories:
                    await player.store(host, one)
            rounds: list[Added] = []
            for _ in range(ROUNDS):
                pairs: list[tuple[float, float]] = []
                for session in the_week.sessions:
                    pairs += await _pairs(with_it.socket, without.socket, session.calls)
                rounds.append(_added(pairs))
    return sorted(rounds, key=lambda one: one.added_p50)[len(rounds) // 2]


async def hanging(the_week: Week) -> Hanging:
    """With an external memory that takes every search and never answers."""
    calls = [call for session in the_week.sessions for call in session.calls]
    with tempfile.TemporaryDirectory(prefix="mms-bench-") as folder:
        ltm = json.dumps([fake_ltm.__file__, "--mode", "hang"])
        source = f"{{ command = {json.dumps(sys.executable)}, args = {ltm} }}"
        keys = OPEN_GATES | {"source": '"ltm"', "timeout_seconds": "0.5", "ltm": source}
        off = settings({"enabled": "false"})
        with (
            station(Path(folder, "on"), settings(keys)) as with_it,
            station(Path(folder, "off"), off) as without,
        ):
            await _until_it_hangs(with_it.socket, calls)
            pairs = await _pairs(with_it.socket, without.socket, calls)
    times, others = [on * 1000 for on, _ in pairs], [off * 1000 for _, off in pairs]
    return Hanging(
        500.0,
        sum(one > 400 for one in times),
        statistics.median(times),
        max(times),
        statistics.median(others),
        max(others),
    )


async def _until_it_hangs(socket: Path, calls: Sequence[Call]) -> None:
    """The external memory is there: a search has waited for it in vain."""
    for call in calls:
        started = time.perf_counter()
        async with _channel(socket) as channel:
            await _ask(channel, call)
        if time.perf_counter() - started > 0.4:
            return
        await asyncio.sleep(0.05)


async def _pairs(on: Path, off: Path, calls: Sequence[Call]) -> list[tuple[float, float]]:
    """Seconds of each call, with surfacing and without, one right after the other, as two new sessions."""
    found: list[tuple[float, float]] = []
    async with _channel(on) as with_it, _channel(off) as without:
        for number, call in enumerate(calls):
            if number % 2:
                first = await _ask(with_it, call)
                found.append((first, await _ask(without, call)))
            else:
                first = await _ask(without, call)
                found.append((await _ask(with_it, call), first))
    return found


@contextlib.asynccontextmanager
async def _channel(socket: Path) -> AsyncGenerator[Channel]:
    """One host, that leaves at the end."""
    loop = asyncio.get_running_loop()
    transport, channel = await loop.create_unix_connection(Channel, str(socket))
    channel.write = transport.write
    try:
        await channel.shake_hands()
        yield channel
    finally:
        transport.close()


async def _ask(channel: Channel, call: Call) -> float:
    params = json.dumps({"name": f"{UPSTREAM}__{call.tool}", "arguments": call.arguments}).encode()
    async with asyncio.timeout(60):
        started = time.perf_counter()
        line = await channel.ask(b"tools/call", params)
        took = time.perf_counter() - started
    assert b'"result"' in line[:200], line[:300]
    return took


def _added(pairs: Sequence[tuple[float, float]]) -> Added:
    on = sorted(one * 1000 for one, _ in pairs)
    off = sorted(one * 1000 for _, one in pairs)
    differences = [(one - other) * 1000 for one, other in pairs]
    far = int(len(pairs) * 0.95)
    return Added(
        statistics.median(off),
        statistics.median(on),
        statistics.median(differences),
        off[far],
        on[far],
        off[-1],
        on[-1],
    )
