"""Four ways to the same fake: directly, from another thread, and over a real socket, once or lasting."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest

from console.station import Station
from console.stations.attached import AttachedStation
from console.stations.lasting import LastingStation
from console.stations.local import LocalStation
from tests.support.fake_engine import engine
from tests.support.fake_station import FakeStation


@dataclass
class Rig:
    """A station under test and the fake behind it."""

    station: Station
    fake: FakeStation
    do: Callable[[Callable[[], object]], object]
    """Await it: runs a function where the fake lives."""


@asynccontextmanager
async def _fake() -> AsyncIterator[Rig]:
    fake = FakeStation()

    async def do(work: Callable[[], object]) -> object:
        return work()

    yield Rig(fake, fake, do)


@asynccontextmanager
async def _local() -> AsyncIterator[Rig]:
    with engine(on_socket=False) as (running, _):
        yield Rig(LocalStation(running.fake, running.loop), running.fake, running.do)


@asynccontextmanager
async def _attached() -> AsyncIterator[Rig]:
    with engine(on_socket=True) as (running, path):
        async with await AttachedStation.connect(path) as station:
            yield Rig(station, running.fake, running.do)


@asynccontextmanager
async def _lasting() -> AsyncIterator[Rig]:
    with engine(on_socket=True) as (running, path):
        station = LastingStation(path)
        try:
            yield Rig(station, running.fake, running.do)
        finally:
            await station.aclose()


@pytest.fixture(
    params=[_fake, _local, _attached, _lasting], ids=["fake", "local", "attached", "lasting"]
)
def open_rig(request: pytest.FixtureRequest) -> Callable[[], AbstractAsyncContextManager[Rig]]:
    """Opens the rig inside the test's own loop."""
    return request.param
