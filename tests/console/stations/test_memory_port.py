"""Every station hands on the memory it was given; without one, requests fail with what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from console.stations.attached import AttachedStation
from console.stations.lasting import LastingStation
from console.stations.local import LocalStation
from console.stations.no_memory import NoMemory
from memory.api import GetPosition
from memory.errors import FaultCode, MemoryFault
from memory.model import Actor, Origin
from tests.support.fake_engine import engine
from tests.support.fake_memory import FakeMemory


def test_no_memory_fails_every_request_with_a_hint() -> None:
    with pytest.raises(MemoryFault) as raised:
        asyncio.run(NoMemory("Start it.").ask(GetPosition(), Actor(Origin.OPERATOR)))
    assert raised.value.code is FaultCode.UNAVAILABLE
    assert (raised.value.message, raised.value.hint) == ("The memory is not running.", "Start it.")


def test_a_station_elsewhere_has_the_memory_it_was_given(tmp_path: Path) -> None:
    memory = FakeMemory()
    assert LastingStation(tmp_path / "mms.sock", memory).memory is memory
    assert isinstance(LastingStation(tmp_path / "mms.sock").memory, NoMemory)


def test_a_connected_and_a_local_station_have_the_memory_they_were_given() -> None:
    memory = FakeMemory()

    async def run() -> None:
        with engine(on_socket=True) as (running, path):
            async with await AttachedStation.connect(path, memory=memory) as station:
                assert station.memory is memory
            async with await AttachedStation.connect(path) as station:
                assert isinstance(station.memory, NoMemory)
            assert LocalStation(running.fake, running.loop, memory).memory is memory
            assert isinstance(LocalStation(running.fake, running.loop).memory, NoMemory)

    asyncio.run(run())
