"""What only an engine in another thread can do: end under one's hands."""

from __future__ import annotations

import asyncio

import pytest

from console.station import StationUnavailable
from console.stations.local import LocalStation
from proxy.events import EventsLost, StationStopping, UpstreamRemoved
from tests.support.fake_engine import engine

pytestmark = pytest.mark.anyio


async def test_it_is_not_attached() -> None:
    with engine(on_socket=False) as (running, _):
        assert LocalStation(running.fake, running.loop).attached is False


async def test_questions_after_the_engines_end_say_so() -> None:
    with engine(on_socket=False) as (running, _):
        station = LocalStation(running.fake, running.loop)
        running.stop()
        with pytest.raises(StationUnavailable, match="has ended"):
            await station.snapshot()
        with pytest.raises(StationUnavailable, match="has ended"):
            async with station.events():
                pass


async def test_a_question_that_is_open_when_the_engine_ends_fails() -> None:
    with engine(on_socket=False) as (running, _):
        asked = asyncio.Event()
        here = asyncio.get_running_loop()

        async def never() -> None:
            here.call_soon_threadsafe(asked.set)
            await asyncio.get_running_loop().create_future()

        running.fake.snapshot = never  # type: ignore[method-assign]  # a question without answer
        station = LocalStation(running.fake, running.loop)
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            question = group.create_task(_failure(station))
            await asked.wait()
            await asyncio.to_thread(running.stop)
        assert "has ended" in question.result()


async def _failure(station: LocalStation) -> str:
    with pytest.raises(StationUnavailable) as caught:
        await station.snapshot()
    return str(caught.value)


async def test_events_end_with_the_engine_even_without_its_word() -> None:
    with engine(on_socket=False) as (running, _):
        async with LocalStation(running.fake, running.loop).events() as events:
            await asyncio.to_thread(running.stop)
            async with asyncio.timeout(5):
                assert [type(event) async for event in events] == [StationStopping]


async def test_leaving_a_subscription_ends_it_in_the_engine() -> None:
    with engine(on_socket=False) as (running, _):
        async with LocalStation(running.fake, running.loop).events():
            assert running.fake.feed.readers == 1
        assert running.fake.feed.readers == 0


async def test_a_screen_that_hangs_does_not_hold_up_the_engine() -> None:
    with engine(on_socket=False) as (running, _):
        station = LocalStation(running.fake, running.loop)

        async def flood() -> int:
            for number in range(50):
                for _ in range(200):
                    running.fake.push(UpstreamRemoved(str(number)))
                await asyncio.sleep(0)
            running.fake.push(StationStopping("end"))
            return 50 * 200

        async with station.events() as events:
            # Our loop stands still, as a screen that draws for a long time would.
            count = asyncio.run_coroutine_threadsafe(flood(), running.loop).result(5)
            seen = lost = 0
            async with asyncio.timeout(5):
                async for event in events:
                    if isinstance(event, EventsLost):
                        lost += event.count
                    elif isinstance(event, UpstreamRemoved):
                        seen += 1
            assert seen + lost == count
            assert lost > 0
