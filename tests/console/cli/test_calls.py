"""``mms calls``: the log, one call, following."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace

import pytest

from proxy.events import CallsRecorded, EventsLost, StationStopping
from proxy.model import CallQuery, CallRecord
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.sample_data import CALLS


def test_the_log_is_oldest_first_and_the_same_with_and_without_a_station(
    mms: Instance, running: Engine
) -> None:
    live = mms.run("calls", "--limit", "20", "--json").json
    assert live["station"] is True
    assert [call["id"] for call in live["calls"]] == [call.id for call in CALLS[19::-1]]
    running.stop()
    mms.record(CALLS)
    stored = mms.run("calls", "--limit", "20", "--json").json
    assert stored["station"] is False
    assert stored["calls"] == live["calls"]
    lines = mms.run("calls", "--limit", "20").out.splitlines()
    assert len(lines) == 21
    assert lines[0].split()[:2] == ["ID", "TIME"]
    assert lines[-1].split()[0] == str(CALLS[0].id)


@pytest.mark.parametrize("station", [True, False])
def test_the_log_can_be_narrowed(
    mms: Instance, request: pytest.FixtureRequest, station: bool
) -> None:
    if station:
        request.getfixturevalue("running")
    else:
        mms.record(CALLS)

    def ids(*words: str) -> list[int]:
        return [call["id"] for call in mms.run("calls", *words, "--json").json["calls"]]

    upstream = {call.id: call.upstream for call in CALLS}
    assert {upstream[one] for one in ids("--upstream", "docs")} == {"docs"}
    assert all(call.id < 2500 for call in CALLS if call.id in ids("--before", "2500"))
    failed = ids("--errors", "--limit", "500")
    assert failed == sorted(
        call.id for call in CALLS if call.outcome.value not in ("ok", "cancelled")
    )
    assert ids("--text", "exit code", "--limit", "500")
    assert ids("--tool", "list_*", "--host", "cursor")
    slow = ids("--slower", "40000")
    assert slow
    assert len(slow) < len(CALLS) / 5


def test_an_empty_log_says_so(mms: Instance, running: Engine) -> None:
    assert "No recorded call matches." in mms.run("calls", "--upstream", "nobody").out
    running.stop()
    assert mms.run("calls").out == "No calls yet.\n"


@pytest.mark.parametrize("limit", ["0", "10001", "-3"])
def test_a_limit_out_of_range_is_exit_code_2(mms: Instance, limit: str) -> None:
    assert mms.run("calls", "--limit", limit).code == 2


def test_one_call_is_shown_with_its_texts(mms: Instance, running: Engine) -> None:
    ran = mms.run("calls", str(CALLS[0].id))
    assert ran.code == 0
    assert '"path": "src/app.py"' in ran.out
    assert f"answer of call {CALLS[0].id}" in ran.out
    data = mms.run("calls", str(CALLS[0].id), "--json").json
    assert data["call"]["record"]["id"] == CALLS[0].id
    gone = mms.run("calls", str(CALLS[-1].id))
    assert "no longer in the station's memory" in gone.out


def test_one_call_without_a_station_has_no_texts_and_says_why(mms: Instance) -> None:
    mms.record(CALLS)
    ran = mms.run("calls", str(CALLS[2].id))
    assert ran.code == 0
    assert "tool error" in ran.out
    assert "ENOENT" in ran.out
    assert "a station that no longer runs" in ran.out


def test_a_call_that_is_not_there_is_exit_code_1(mms: Instance) -> None:
    ran = mms.run("calls", "99999")
    assert ran.code == 1
    assert "no recorded call 99999" in ran.err


def test_following_needs_a_station(mms: Instance) -> None:
    assert mms.run("calls", "--follow").code == 3


def _play(engine: Engine, *events: object) -> threading.Thread:
    """Publish events as soon as somebody has subscribed."""

    async def run() -> None:
        async with asyncio.timeout(5):
            await engine.fake.subscribed.wait()
        for event in events:
            engine.fake.push(event)  # type: ignore[arg-type]  # one of the events

    thread = threading.Thread(
        target=lambda: asyncio.run_coroutine_threadsafe(run(), engine.loop).result(10)
    )
    thread.start()
    return thread


def test_following_shows_the_last_calls_and_then_each_new_one_once(
    mms: Instance, running: Engine
) -> None:
    new = tuple(replace(CALLS[0], id=3000 + number) for number in range(3))
    other = replace(CALLS[0], id=4000, upstream="elsewhere")
    player = _play(
        running,
        CallsRecorded(new[:2]),
        CallsRecorded((CALLS[0], new[1], other, new[2])),
        StationStopping("bye"),
    )
    mine = CALLS[0].upstream
    ran = mms.run("calls", "--follow", "--upstream", mine, "--limit", "2", "--json")
    player.join()
    assert ran.code == 3
    assert "The station has stopped: bye" in ran.err
    ids = [json.loads(line)["id"] for line in ran.out.splitlines()]
    before = [call.id for call in CALLS if call.upstream == mine][:2]
    assert ids == [*reversed(before), 3000, 3001, 3002]


def test_following_fetches_what_it_missed(mms: Instance, running: Engine) -> None:
    missed = replace(CALLS[0], id=3000)

    plain = running.fake.calls

    async def calls(query: CallQuery) -> tuple[CallRecord, ...]:
        if running.fake.subscribed.is_set() and running.fake.asked.count("calls") == 1:
            # The second question, the one that the loss leads to.
            running.fake.records = (missed, *CALLS[:3])
            running.fake.push(StationStopping("bye"))
        elif running.fake.subscribed.is_set():
            running.fake.push(EventsLost(1))
        return await plain(query)

    running.fake.calls = calls  # type: ignore[method-assign]  # loses an event, then ends
    running.fake.records = CALLS[:3]
    ran = mms.run("calls", "--follow")
    assert ran.out.count("#3000 ") == 1
    assert ran.out.count(f"#{CALLS[0].id} ") == 1
    assert "tokens" in ran.out
