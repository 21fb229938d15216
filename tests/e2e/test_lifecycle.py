"""How a station starts, lists, waits, ends and comes back, with real processes and signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from proxy.model import UpstreamState
from tests.support.mcp_client import (
    PATIENCE,
    ProgramClient,
    Refused,
    connect_host,
    connect_socket,
    start_program,
)
from tests.support.stations import (
    MMS,
    Station,
    alive,
    chaos,
    cleaned_up,
    events,
    journal_of,
    new_station,
    operator,
    running_station,
    until_state,
    wait_until,
)

pytestmark = pytest.mark.anyio


async def _list_line(station: Station) -> bytes:
    """The very bytes of the answer to a first ``tools/list``."""
    async with connect_host(station.socket) as host:
        await host.tools()
        return host.lines[-1]


async def test_a_restart_lists_the_same_bytes_at_once_although_an_upstream_is_slow(
    home: Path,
) -> None:
    journal = home.with_name(home.name + "-journal")
    config = chaos("slow", mode="slow_start", seconds=3, journal=journal) + chaos("quick")
    station = new_station(home, "[proxy]\nfirst_list_wait_seconds = 30\n" + config)
    with cleaned_up(station):
        station.start()
        before = await _list_line(station)
        assert b"slow__echo" in before
        assert station.stop() == 0
        station.start()
        again = await _list_line(station)
        assert again == before
        listings = [e for e in journal_of(journal) if e.get("method") == "tools/list"]
        assert len(listings) == 1, "the second list did not wait for the slow upstream"


async def test_only_an_upstream_never_seen_lets_the_first_list_wait(home: Path) -> None:
    config = "[proxy]\nfirst_list_wait_seconds = 1.0\n"
    config += chaos("quick") + chaos("slow", mode="slow_start", seconds=4)
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            names = await host.tools()
            assert "quick__echo" in names
            assert "slow__echo" not in names, "the list has waited for the slow one"
            # The list did not wait for it; its tools come by a notice.
            await host.until_notified("notifications/tools/list_changed")
            assert "slow__echo" in await host.tools()


async def test_a_call_waits_for_an_upstream_that_is_still_starting(home: Path) -> None:
    config = "[proxy]\nfirst_list_wait_seconds = 0\n"
    with running_station(home, config + chaos("slow", mode="slow_start", seconds=1.5)) as station:
        async with connect_host(station.socket) as host:
            assert await host.tools() == []
            assert await host.text("slow__echo", {"text": "waited"}) == "waited"


async def test_initialize_is_answered_before_any_upstream_is_ready(home: Path) -> None:
    with running_station(home, chaos("slow", mode="never_starts")) as station:
        async with connect_socket(station.socket) as host:
            result = await host.initialize()
        assert result["serverInfo"]["name"] == "mms"
        assert result["capabilities"]["tools"] == {"listChanged": True}


async def test_a_killed_upstream_comes_back_and_its_tools_stay_listed(home: Path) -> None:
    with running_station(home, chaos("a") + chaos("b")) as station:
        async with connect_host(station.socket) as host:
            names = await host.tools()
            for _ in range(3):
                pid = json.loads(await host.text("a__process"))["pid"]
                os.kill(pid, signal.SIGKILL)
                assert await host.tools() == names
                wait_until(lambda pid=pid: not alive(pid), "the killed upstream is gone")
                again = json.loads(await _sooner_or_later(host, "a__process"))
                assert again["pid"] != pid
            assert host.notifications("notifications/tools/list_changed") == []


async def _sooner_or_later(host: object, tool: str) -> str:
    """The text of a call that may hit the moment of the death."""
    assert hasattr(host, "call")
    async with asyncio.timeout(PATIENCE):
        while True:
            result = await host.call(tool)
            if not result.get("isError"):
                return result["content"][0]["text"]
            await asyncio.sleep(0.05)


async def test_the_bridge_starts_a_station_that_outlives_it(home: Path) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        async with start_program([MMS, "connect"], station.environment) as host:
            await host.initialize()
            assert "a__echo" in await host.tools()
        pid = _station_pid(station)
        async with start_program([MMS, "connect"], station.environment) as host:
            await host.initialize()
            assert await host.text("a__echo", {"text": "x"}) == "x"
        assert _station_pid(station) == pid
        assert os.getsid(pid) == pid, "a host's terminal or job control cannot end it"
        _end(station, pid)


def _station_pid(station: Station) -> int:
    return int(station.paths.lock_file.read_text())


def _end(station: Station, pid: int) -> None:
    """End a station that a bridge has started."""
    station.look()
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not alive(pid), "the station ends")


async def test_many_bridges_at_once_start_one_station(home: Path) -> None:
    station = new_station(home, chaos("a"))
    pids: list[int] = []

    async def host(name: str) -> None:
        async with start_program([MMS, "connect"], station.environment) as client:
            await client.initialize(name)
            assert await client.text("a__echo", {"text": name}) == name
            pids.append(_station_pid(station))

    with cleaned_up(station):
        async with asyncio.TaskGroup() as group:
            for number in range(5):
                group.create_task(host(f"host{number}"))
        assert len(set(pids)) == 1
        _end(station, pids[0])


async def test_without_permission_to_start_one_the_bridge_says_what_to_do(home: Path) -> None:
    station = new_station(home, "")
    with cleaned_up(station):
        command = [MMS, "connect", "--no-start"]
        async with start_program(command, station.environment) as host:
            with pytest.raises(Refused, match="mms serve"):
                await host.initialize()
        assert not station.paths.lock_file.exists()


async def test_a_bridge_survives_the_restart_of_the_station(home: Path) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        station.start()
        async with start_program([MMS, "connect"], station.environment) as host:
            await host.initialize("survivor")
            assert await host.text("a__echo", {"text": "1"}) == "1"
            for again in (signal.SIGTERM, signal.SIGKILL):
                _, lost = host.begin(
                    "tools/call", {"name": "a__wait", "arguments": {"seconds": 60}}
                )
                assert await host.text("a__echo", {"text": "2"}) == "2"
                notices = len(host.notifications("notifications/tools/list_changed"))
                station.look()
                assert station.process is not None
                station.process.send_signal(again)
                async with asyncio.timeout(PATIENCE):
                    assert "stopped before it answered" in (await lost)["error"]["message"]
                station.process.wait(PATIENCE)
                station.start()
                await host.until_notified("notifications/tools/list_changed", notices + 1)
                assert await host.text("a__echo", {"text": "3"}) == "3"
                async with operator(station) as attached:
                    hosts = (await attached.snapshot()).hosts
                assert [view.name for view in hosts] == ["survivor"]
            _assert_one_answer_each(host)


def _assert_one_answer_each(host: ProgramClient) -> None:
    ids = [m["id"] for m in host.received if "id" in m and "method" not in m]
    assert len(ids) == len(set(ids)), "the repeated handshake stays hidden from the host"


async def test_a_bridge_starts_a_new_station_when_the_host_calls(home: Path) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        station.start()
        async with start_program([MMS, "connect"], station.environment) as host:
            await host.initialize()
            assert await host.text("a__echo", {"text": "1"}) == "1"
            assert station.stop() == 0
            assert await host.text("a__echo", {"text": "2"}) == "2"
            pid = _station_pid(station)
        _end(station, pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_station_with_everything_of_it(
    home: Path, number: signal.Signals
) -> None:
    journal = home.with_name(home.name + "-journal")
    config = chaos("a", mode="forks_children", journal=journal) + chaos("b", mode="never_starts")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "x"}) == "x"
            _, lost = host.begin("tools/call", {"name": "a__wait", "arguments": {"seconds": 60}})
            assert len(station.look()) >= 1 + 2 + 4
            assert station.stop(number) == 0
            assert not station.look()
            assert not station.socket.exists()
            await host.until(lambda: host.ended)
            assert lost.done()
        station.process = None


async def test_a_station_killed_without_warning_leaves_nothing_that_hinders_the_next(
    home: Path,
) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        station.start()
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "x"}) == "x"
        upstreams = station.look() - {station.pid}
        assert upstreams
        assert station.process is not None
        station.process.kill()
        station.process.wait(PATIENCE)
        assert station.socket.exists()
        wait_until(lambda: not any(alive(pid) for pid in upstreams), "its upstreams end, too")
        station.start()
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "again"}) == "again"


async def test_a_second_station_for_the_same_directory_refuses_to_start(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        second = subprocess.run(  # noqa: ASYNC221  # nothing else happens meanwhile
            [MMS, "serve"],
            env=station.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert second.returncode != 0
        assert f"process {station.pid}" in second.stderr
        assert "mms stop" in second.stderr
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "the first goes on"}) == "the first goes on"


async def test_a_station_on_our_own_pipes_serves_one_host_and_ends_with_it(home: Path) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        async with start_program([MMS, "serve", "--stdio"], station.environment) as host:
            await host.initialize("alone")
            assert "a__echo" in await host.tools()
            texts = [str(number) for number in range(50)]
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(host.text("a__echo", {"text": t})) for t in texts]
            assert [call.result() for call in calls] == texts
            station.look()
        assert host.process is not None
        assert host.process.returncode == 0


async def test_totals_and_calls_survive_a_restart(home: Path) -> None:
    station = new_station(home, chaos("a"))
    with cleaned_up(station):
        station.start()
        async with connect_host(station.socket, "counted") as host:
            for _ in range(5):
                await host.text("a__echo", {"text": "some words to count"})
            await host.failure("a__fault", {"kind": "crash"})
        assert station.stop() == 0
        station.start()
        async with operator(station) as attached:
            totals = (await attached.snapshot()).all_time
        assert (totals.calls, totals.errors) == (6, 1)
        assert totals.tokens_in > 0


async def test_an_upstream_switched_off_is_neither_started_nor_listed(home: Path) -> None:
    journal = home.with_name(home.name + "-journal")
    config = chaos("off", enabled=False, journal=journal) + chaos("on")
    with running_station(home, config) as station:
        await until_state(station, "off", UpstreamState.DISABLED)
        async with connect_host(station.socket) as host:
            assert not [name for name in await host.tools() if name.startswith("off")]
            with pytest.raises(Refused, match="Unknown tool: off__echo"):
                await host.call("off__echo")
        assert not events(journal, "started")
