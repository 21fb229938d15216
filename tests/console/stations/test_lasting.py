"""A station that goes and comes back under the same console."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from console.station import StationUnavailable
from console.stations.lasting import LastingStation
from proxy.events import HostLeft
from tests.support.fake_engine import Engine

pytestmark = pytest.mark.anyio


async def test_without_a_station_every_question_says_so(tmp_path: Path) -> None:
    station = LastingStation(tmp_path / "none.sock")

    with pytest.raises(StationUnavailable, match="No station is running"):
        await station.snapshot()


async def test_the_next_question_connects_to_the_station_that_came_back() -> None:
    with TemporaryDirectory(prefix="mms-") as directory:
        path = Path(directory) / "s"
        station = LastingStation(path)
        first = Engine(path)
        first.start()
        before = await station.snapshot()
        first.stop()
        with pytest.raises(StationUnavailable):
            await station.snapshot()

        second = Engine(path)
        second.start()
        try:
            assert (await station.snapshot()).upstreams == before.upstreams
            async with station.events() as events:
                left = HostLeft(before.hosts[0])
                await second.do(lambda: second.fake.push(left))
                assert await anext(aiter(events)) == left
            await station.aclose()
        finally:
            second.stop()
