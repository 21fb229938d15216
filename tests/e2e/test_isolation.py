"""Several hosts on one station at the same time: what belongs to one never reaches another."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_client import RawClient, connect_host, start_program
from tests.support.stations import (
    MMS,
    RELAY_ONLY,
    Station,
    chaos,
    events,
    journal_of,
    running_station,
    wait_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("isolation")]

HOSTS = 8
CALLS = 60


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Path]]:
    """A station with two upstreams, which all hosts share, and the journal of the first."""
    journal = tmp_path_factory.mktemp("j") / "a"
    home = tmp_path_factory.mktemp("h")
    config = RELAY_ONLY + chaos("a", journal=journal) + chaos("b")
    with running_station(home, config) as station:
        yield station, journal


@pytest.fixture
def shared(running: tuple[Station, Path]) -> tuple[Station, Path]:
    """The same, with an empty journal."""
    if running[1].exists():
        os.truncate(running[1], 0)
    return running


async def _talkative(host: RawClient, name: str) -> None:
    """Many calls of several kinds at once, each with texts of its own; all come back to their caller."""
    chance = random.Random(name)

    async def one(number: int) -> None:
        nonce = f"{name}/{number}"
        upstream = chance.choice("ab")
        kind = chance.choice(("echo", "wait", "steps"))
        arguments: dict[str, Any] = {"text": nonce, "seconds": chance.random() * 0.05, "steps": 3}
        result = await host.call(
            f"{upstream}__{kind}", arguments, meta={"progressToken": nonce, "x": nonce}
        )
        assert result == {"content": [{"type": "text", "text": nonce}]}
        if kind == "steps":
            mine = [
                note
                for note in host.notifications("notifications/progress")
                if note["progressToken"] == nonce
            ]
            assert [(note["progress"], note["message"]) for note in mine] == [
                (step, nonce) for step in (1, 2, 3)
            ]

    async with asyncio.TaskGroup() as group:
        for number in range(CALLS):
            group.create_task(one(number))


async def test_every_answer_and_progress_reaches_its_own_host_and_no_other(
    shared: tuple[Station, Path],
) -> None:
    station, _ = shared

    async def host(name: str) -> None:
        async with connect_host(station.socket, name) as client:
            await _talkative(client, name)
            for line in client.lines:
                for other in range(HOSTS):
                    if f"host{other}" != name:
                        assert f"host{other}/".encode() not in line
            ids = [message["id"] for message in client.received if "id" in message]
            assert len(ids) == len(set(ids)) == CALLS + 1

    async with asyncio.TaskGroup() as group:
        for number in range(HOSTS):
            group.create_task(host(f"host{number}"))


async def test_bridges_are_as_separate_as_sockets(shared: tuple[Station, Path]) -> None:
    station, _ = shared

    async def host(name: str) -> None:
        async with start_program([MMS, "connect"], station.environment) as client:
            await client.initialize(name)
            await _talkative(client, name)
            assert not [
                line for line in client.lines if b'"host' in line and name.encode() not in line
            ]

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(host(f"host{number}"))


async def test_the_same_id_in_two_hosts_is_two_requests(shared: tuple[Station, Path]) -> None:
    station, _ = shared
    async with connect_host(station.socket, "x") as x, connect_host(station.socket, "y") as y:
        for id in (77, "77", 0, "text"):
            async with asyncio.TaskGroup() as group:
                params = {"name": "a__wait", "arguments": {"text": "x", "seconds": 0.05}}
                mine = group.create_task(x.request("tools/call", params, id=id))
                params = {"name": "a__wait", "arguments": {"text": "y", "seconds": 0.05}}
                theirs = group.create_task(y.request("tools/call", params, id=id))
            assert mine.result()["content"][0]["text"] == "x"
            assert theirs.result()["content"][0]["text"] == "y"
            assert type(x.received[-1]["id"]) is type(id)


async def test_an_id_that_is_in_use_is_refused_and_its_first_request_answered(
    shared: tuple[Station, Path],
) -> None:
    station, _ = shared
    async with connect_host(station.socket, "x") as host:
        for text, seconds in (("first", 0.5), ("second", 0.0)):
            arguments = {"text": text, "seconds": seconds}
            host.begin("tools/call", {"name": "a__wait", "arguments": arguments}, id=5)
        await host.until(lambda: len([m for m in host.received if m.get("id") == 5]) == 2)
        refused, answered = [m for m in host.received if m.get("id") == 5]
        assert "under way already" in refused["error"]["message"]
        assert answered["result"]["content"][0]["text"] == "first"


async def test_a_cancellation_stops_only_the_own_call(shared: tuple[Station, Path]) -> None:
    station, journal = shared
    async with connect_host(station.socket, "x") as x, connect_host(station.socket, "y") as y:
        params = {"name": "a__wait", "arguments": {"text": "late", "seconds": 1.0}}
        _, mine = x.begin("tools/call", params, id=5)
        wait_until(lambda: _calls(journal), "the first call arrives")
        _, theirs = y.begin("tools/call", params, id=5)
        wait_until(lambda: len(_calls(journal)) == 2, "both calls arrive")
        x.notify("notifications/cancelled", {"requestId": 5, "reason": "enough", "x": 1})
        async with asyncio.timeout(20):
            assert (await theirs)["result"]["content"][0]["text"] == "late"
        assert not mine.done(), "a cancelled request is not answered"
        (note,) = events(journal, "received", method="notifications/cancelled")
        assert {key: note["params"][key] for key in ("reason", "x")} == {"reason": "enough", "x": 1}
        assert note["params"]["requestId"] == _calls(journal)[0]["id"]


def _calls(journal: Path) -> list[dict[str, Any]]:
    return [event for event in journal_of(journal) if event.get("method") == "tools/call"]


async def test_what_a_host_leaves_behind_is_cancelled(shared: tuple[Station, Path]) -> None:
    station, journal = shared
    async with connect_host(station.socket, "stays") as stays:
        params = {"name": "a__wait", "arguments": {"text": "mine", "seconds": 1.0}}
        async with connect_host(station.socket, "leaves") as leaves:
            leaves.begin("tools/call", {"name": "a__wait", "arguments": {"seconds": 60}})
            _, answer = stays.begin("tools/call", params)
            wait_until(lambda: len(_calls(journal)) == 2, "both calls arrive")
        wait_until(lambda: events(journal, "cancelled"), "the call of the gone host is cancelled")
        async with asyncio.timeout(20):
            assert (await answer)["result"]["content"][0]["text"] == "mine"
        assert len(events(journal, "cancelled")) == 1


async def test_a_server_asks_the_host_whose_call_is_running_and_no_other(
    shared: tuple[Station, Path],
) -> None:
    station, _ = shared
    able = {"elicitation": {}, "sampling": {}, "roots": {}}
    async with (
        connect_host(station.socket, "x", able) as x,
        connect_host(station.socket, "y", able) as y,
    ):
        for host, name in ((x, "x"), (y, "y")):
            host.answers["elicitation/create"] = {"action": "accept", "content": {"who": name}}
        for host, name in ((x, "x"), (y, "y"), (x, "x")):
            question = {"method": "elicitation/create", "params": {"message": f"for {name}"}}
            answer = json.loads(await host.text("a__ask", question))
            assert answer == {"result": {"action": "accept", "content": {"who": name}}}
        for host, name in ((x, "x"), (y, "y")):
            asked = [m["params"]["message"] for m in host.received if "method" in m and "id" in m]
            assert set(asked) == {f"for {name}"}


async def test_a_question_that_could_be_for_two_hosts_is_refused_instead_of_guessed(
    shared: tuple[Station, Path],
) -> None:
    station, journal = shared
    able = {"elicitation": {}}
    async with (
        connect_host(station.socket, "x", able) as x,
        connect_host(station.socket, "y", able) as y,
    ):
        for host in (x, y):
            host.answers["elicitation/create"] = {"action": "accept"}
        _, held = y.begin("tools/call", {"name": "a__wait", "arguments": {"seconds": 1.5}})
        wait_until(lambda: _calls(journal), "the other host's call arrives")
        answer = json.loads(
            await x.text("a__ask", {"method": "elicitation/create", "params": {"message": "m"}})
        )
        assert "several hosts" in answer["error"]["message"]
        for host in (x, y):
            assert not [m for m in host.received if m.get("method") == "elicitation/create"]
        async with asyncio.timeout(20):
            await held


async def test_a_log_line_reaches_the_host_whose_call_is_running_and_no_other(
    shared: tuple[Station, Path],
) -> None:
    station, _ = shared
    async with connect_host(station.socket, "x") as x, connect_host(station.socket, "y") as y:
        await x.text("a__log", {"text": "for x"})
        await y.text("a__log", {"text": "for y"})
        assert [n["data"] for n in x.notifications("notifications/message")] == ["for x"]
        assert [n["data"] for n in y.notifications("notifications/message")] == ["for y"]


async def test_a_host_that_does_not_read_delays_nobody(shared: tuple[Station, Path]) -> None:
    station, _ = shared
    reader, writer = await asyncio.open_unix_connection(str(station.socket))
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "deaf"}}
    writer.write(_frame({"id": 1, "method": "initialize", "params": hello}))
    writer.write(_frame({"method": "notifications/initialized"}))
    big = {"name": "a__fault", "arguments": {"kind": "huge_line", "bytes": 4_000_000}}
    for id in range(2, 22):
        writer.write(_frame({"id": id, "method": "tools/call", "params": big}))
    async with connect_host(station.socket, "y") as y:
        for number in range(30):
            assert await y.text("b__echo", {"text": str(number)}) == str(number)
        # Eighty megabytes wait for it: more than mms keeps for anybody.
        wait_until(lambda: "dropped a host" in station.log(), "the deaf host is dropped")
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(30):
                while await reader.read(1 << 20):
                    pass
        assert await y.text("a__echo", {"text": "x"}) == "x"
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def _frame(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


async def test_rubbish_from_one_host_is_answered_to_it_and_harms_no_other(
    shared: tuple[Station, Path],
) -> None:
    station, _ = shared
    async with connect_host(station.socket, "x") as x, connect_host(station.socket, "y") as y:
        for line in (b"{", b"[1,2]", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}', b'"x"'):
            x.write(line + b"\n")
        x.write(b'{"jsonrpc":"2.0","id":9,"method":5}\n{"jsonrpc":"2.0","id":8,"method":"nope"}\n')
        await x.until(lambda: len([m for m in x.received if "error" in m]) == 8)
        assert await x.text("a__echo", {"text": "still served"}) == "still served"
        assert await y.text("a__echo", {"text": "y"}) == "y"
        assert not [m for m in y.received if "error" in m]
