"""What every implementation of `Station` does alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import pytest

from console.station import StationUnavailable
from proxy.answer_model import HeldList, WhatIfQuery
from proxy.commands import (
    ClearCache,
    CommandResult,
    DropHeld,
    ReconnectUpstream,
    ReloadSettings,
    RemoveUpstream,
    SetSetting,
    SetUpstreamEnabled,
    StopStation,
    UnsetSetting,
)
from proxy.events import (
    CallsRecorded,
    Event,
    EventsLost,
    HostConnected,
    HostLeft,
    SettingsApplied,
    SettingsRejected,
    StationStopping,
    UpstreamChanged,
    UpstreamRemoved,
)
from proxy.model import CallQuery, UpstreamState
from tests.support.fake_station import make_hostile
from tests.support.sample_answers import HELD, HELD_DETAILS, SAVINGS, what_if
from tests.support.sample_data import CALLS, DETAILS, HOSTS, NOW, PROBLEMS, SNAPSHOT, UPSTREAMS

pytestmark = pytest.mark.anyio

OpenRig = Callable[[], AbstractAsyncContextManager[Any]]


async def _take(events: AsyncIterator[Event], count: int) -> list[Event]:
    async with asyncio.timeout(5):
        return [await anext(events) for _ in range(count)]


async def test_the_snapshot_is_the_engines(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.snapshot() == SNAPSHOT


async def test_hostile_text_arrives_unchanged(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        rig.fake.snapshot_value = make_hostile(SNAPSHOT)
        assert await rig.station.snapshot() == make_hostile(SNAPSHOT)


async def test_an_upstream_is_found_by_name_and_none_is_none(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.upstream("github") == DETAILS["github"]
        assert await rig.station.upstream("nobody") is None


async def test_calls_come_newest_first_within_the_query(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.calls(CallQuery(limit=5)) == CALLS[:5]
        older = await rig.station.calls(CallQuery(limit=5, before_id=CALLS[4].id))
        assert older == CALLS[5:10]
        failed = await rig.station.calls(CallQuery(errors_only=True, upstream="postgres"))
        assert failed
        assert all(call.upstream == "postgres" and call.error for call in failed)


async def test_a_large_answer_arrives_whole(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        rig.fake.records = CALLS * 80
        assert await rig.station.calls(CallQuery(limit=10_000)) == CALLS * 80


async def test_a_call_comes_with_its_texts_and_none_is_none(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        detail = await rig.station.call(CALLS[0].id)
        assert detail is not None
        assert detail.record == CALLS[0]
        assert detail.result is not None
        assert str(CALLS[0].id) in detail.result
        assert await rig.station.call(1) is None


async def test_settings_come_with_rows_and_problems(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.settings() == rig.fake.settings_value


async def test_the_ledger_comes_for_the_days_asked_for(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.savings(0) == SAVINGS
        today = await rig.station.savings(1)
        assert today.lines
        assert {line.day for line in today.lines} == {"2026-11-30"}
        assert today.control_tools_tokens == SAVINGS.control_tools_tokens
        week = await rig.station.savings(7)
        assert list(week.by_day()) == [f"2026-11-{day}" for day in range(24, 31)]


async def test_held_answers_come_used_last_first_within_the_limit(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.held(1_000) == HELD
        assert await rig.station.held(3) == HeldList(HELD.totals, HELD.answers[:3])


async def test_a_held_answer_comes_with_its_text_and_none_is_none(open_rig: OpenRig) -> None:
    key = HELD.answers[0].key
    async with open_rig() as rig:
        assert await rig.station.held_answer(key) == HELD_DETAILS[key]
        assert await rig.station.held_answer("0" * 16) is None


async def test_a_trial_comes_with_its_variants_or_says_why_there_are_none(
    open_rig: OpenRig,
) -> None:
    held = next(call for call in CALLS if call.held_key)
    query = WhatIfQuery(held.id, ("extract", "truncate"), budget_tokens=900, query="entry point")
    async with open_rig() as rig:
        found = await rig.station.what_if(query)
        assert found == what_if(query)
        assert [one.asked for one in found.variants] == ["extract", "truncate"]
        missing = await rig.station.what_if(WhatIfQuery(1))
        assert missing.variants == ()
        assert missing.problem


async def test_commands_reach_the_engine_as_they_are(open_rig: OpenRig) -> None:
    commands = [
        ReconnectUpstream("github"),
        SetUpstreamEnabled("notes", enabled=True),
        RemoveUpstream("jira"),
        SetSetting("proxy.call_timeout_seconds", "12.5"),
        UnsetSetting("proxy.call_timeout_seconds"),
        ReloadSettings(),
        ClearCache("github", "search_code"),
        ClearCache(),
        DropHeld(HELD.answers[0].key),
    ]
    async with open_rig() as rig:
        for command in commands:
            result = await rig.station.execute(command)
            assert result.ok, result.message
        assert rig.fake.executed == commands
        assert await rig.station.upstream("jira") is None
        assert await rig.station.held_answer(HELD.answers[0].key) is None


async def test_a_refusal_is_a_result(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        assert await rig.station.execute(ReconnectUpstream("nobody")) == CommandResult(
            ok=False, message="There is no upstream nobody."
        )


async def test_a_failure_in_the_engine_is_station_unavailable(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        rig.fake.unavailable = "The disk is on fire."
        with pytest.raises(StationUnavailable, match=r"The disk is on fire\."):
            await rig.station.snapshot()
        with pytest.raises(StationUnavailable, match=r"The disk is on fire\."):
            await AsyncExitStack().enter_async_context(rig.station.events())
        rig.fake.unavailable = ""
        assert await rig.station.snapshot() == SNAPSHOT


async def test_many_questions_at_once_get_their_own_answers(open_rig: OpenRig) -> None:
    async with open_rig() as rig, asyncio.timeout(10), asyncio.TaskGroup() as group:
        tasks = {
            call.id: group.create_task(rig.station.call(call.id)) for call in CALLS for _ in "abc"
        }
        for call_id, task in tasks.items():
            assert (await task).record.id == call_id


async def test_every_kind_of_event_arrives_in_order(open_rig: OpenRig) -> None:
    pushed: list[Event] = [
        UpstreamChanged(UPSTREAMS[2]),
        UpstreamRemoved("jira"),
        CallsRecorded(CALLS[:3]),
        HostConnected(HOSTS[0]),
        HostLeft(HOSTS[1]),
        SettingsApplied(NOW, ("upstream github added",), ("proxy.http.port",)),
        SettingsRejected(NOW, PROBLEMS),
        EventsLost(4),
        UpstreamRemoved("after"),
    ]
    async with open_rig() as rig, rig.station.events() as events:
        await rig.do(lambda: [rig.fake.push(event) for event in pushed])
        assert await _take(events, len(pushed)) == pushed


async def test_the_effect_of_a_command_is_seen_as_an_event(open_rig: OpenRig) -> None:
    async with open_rig() as rig, rig.station.events() as events:
        await rig.station.execute(SetUpstreamEnabled("filesystem", enabled=False))
        (event,) = await _take(events, 1)
        assert isinstance(event, UpstreamChanged)
        assert event.upstream.state is UpstreamState.DISABLED


async def test_events_end_when_the_station_stops(open_rig: OpenRig) -> None:
    async with open_rig() as rig, rig.station.events() as events:
        await rig.station.execute(StopStation())
        async with asyncio.timeout(5):
            assert [event async for event in events] == [StationStopping("Stopped on request.")]


async def test_two_subscriptions_both_see_everything(open_rig: OpenRig) -> None:
    async with open_rig() as rig, rig.station.events() as one, rig.station.events() as two:
        await rig.do(lambda: rig.fake.push(UpstreamRemoved("x")))
        assert await _take(one, 1) == await _take(two, 1) == [UpstreamRemoved("x")]


async def test_a_subscription_can_be_left_and_opened_again(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        for name in ("first", "second"):
            async with rig.station.events() as events:
                await rig.do(lambda name=name: rig.fake.push(UpstreamRemoved(name)))
                assert await _take(events, 1) == [UpstreamRemoved(name)]


async def test_a_reader_that_does_not_read_loses_events_and_learns_of_it(open_rig: OpenRig) -> None:
    count = 20_000

    def burst() -> None:
        for number in range(count):
            rig.fake.push(UpstreamRemoved(str(number)))

    async with open_rig() as rig, rig.station.events() as events:
        await rig.do(burst)
        await rig.do(lambda: rig.fake.push(StationStopping("end")))
        seen = lost = 0
        async with asyncio.timeout(10):
            async for event in events:
                if isinstance(event, EventsLost):
                    lost += event.count
                elif isinstance(event, UpstreamRemoved):
                    seen += 1
        assert lost > 0
        assert seen + lost == count


async def test_a_cancelled_question_leaves_the_others_alone(open_rig: OpenRig) -> None:
    async with open_rig() as rig:
        async with asyncio.TaskGroup() as group:
            left = group.create_task(rig.station.snapshot())
            await asyncio.sleep(0)
            left.cancel()
        assert await rig.station.snapshot() == SNAPSHOT
