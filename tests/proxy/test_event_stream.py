"""A slow reader loses events and learns of it; publishing never waits."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.event_stream import EventFeed, EventQueue
from proxy.events import Event, EventsLost, StationStopping, UpstreamRemoved

pytestmark = pytest.mark.anyio


def _numbered(count: int) -> list[Event]:
    return [UpstreamRemoved(str(number)) for number in range(count)]


async def _take_all(queue: EventQueue) -> list[Event]:
    async with asyncio.timeout(5):
        return [event async for event in queue]


async def test_events_arrive_in_order_and_end_after_the_last_word() -> None:
    queue = EventQueue(10)
    events = [*_numbered(3), StationStopping("bye")]
    for event in events:
        queue.put(event)
    assert await _take_all(queue) == events
    assert await _take_all(queue) == []


async def test_what_does_not_fit_is_counted_at_the_place_of_the_gap() -> None:
    queue = EventQueue(2)
    for event in _numbered(5):
        queue.put(event)
    assert await anext(queue) == UpstreamRemoved("0")
    queue.put(UpstreamRemoved("late"))
    queue.put(StationStopping("bye"))
    assert await _take_all(queue) == [
        UpstreamRemoved("1"),
        EventsLost(3),
        UpstreamRemoved("late"),
        StationStopping("bye"),
    ]


async def test_a_reader_that_waits_is_told_of_a_loss_without_a_further_event() -> None:
    queue = EventQueue(1)
    for event in _numbered(3):
        queue.put(event)
    async with asyncio.timeout(5):
        assert await anext(queue) == UpstreamRemoved("0")
        assert await anext(queue) == EventsLost(2)


async def test_nothing_follows_the_last_word() -> None:
    queue = EventQueue(10)
    queue.put(StationStopping("first"))
    queue.put(UpstreamRemoved("x"))
    queue.put(StationStopping("second"))
    assert await _take_all(queue) == [StationStopping("first")]


async def test_every_reader_has_its_own_queue() -> None:
    feed = EventFeed()
    async with feed.subscribe(1) as slow, feed.subscribe() as quick:
        for event in [*_numbered(3), StationStopping("bye")]:
            feed.publish(event)
        async with asyncio.timeout(5):
            assert [event async for event in quick] == [*_numbered(3), StationStopping("bye")]
            assert [event async for event in slow] == [
                UpstreamRemoved("0"),
                EventsLost(2),
                StationStopping("bye"),
            ]
    assert feed.readers == 0


async def test_who_comes_after_the_end_gets_the_last_word() -> None:
    feed = EventFeed()
    feed.publish(StationStopping("bye"))
    feed.publish(UpstreamRemoved("x"))
    async with asyncio.timeout(5), feed.subscribe() as late:
        assert [event async for event in late] == [StationStopping("bye")]


@given(capacity=st.integers(1, 8), takes=st.lists(st.booleans(), max_size=60))
def test_taken_and_lost_add_up_to_what_was_put(capacity: int, takes: list[bool]) -> None:
    async def run() -> None:
        queue = EventQueue(capacity)
        put = 0
        seen = 0
        for take in takes:
            if take and put > seen:
                event = await anext(queue)
                seen += event.count if isinstance(event, EventsLost) else 1
            else:
                queue.put(UpstreamRemoved(str(put)))
                put += 1
        queue.put(StationStopping("bye"))
        for event in await _take_all(queue):
            if isinstance(event, EventsLost):
                seen += event.count
            elif isinstance(event, UpstreamRemoved):
                assert event.name == str(seen)
                seen += 1
        assert seen == put

    asyncio.run(run())
