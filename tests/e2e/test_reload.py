"""The settings file is edited while calls run: nothing is lost, and the file's last word counts."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

from proxy.model import UpstreamState
from tests.support.mcp_client import RawClient, Refused, connect_host
from tests.support.stations import (
    PATIENCE,
    Station,
    alive,
    chaos,
    events,
    operator,
    running_station,
    view_of,
    wait_until,
)

pytestmark = pytest.mark.anyio

EDITS = 200
CALLERS = 16


async def _pid(host: RawClient, upstream: str) -> int:
    return json.loads(await host.text(f"{upstream}__process"))["pid"]


async def _until_listed(host: RawClient, tool: str, *, listed: bool = True) -> None:
    async with asyncio.timeout(PATIENCE):
        while (tool in await host.tools()) is not listed:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def _until_timeout_is(station: Station, value: str) -> None:
    """Wait until the station has applied this ``proxy.call_timeout_seconds``."""
    async with operator(station) as attached, asyncio.timeout(PATIENCE):
        while True:
            rows = (await attached.settings()).rows
            if next(r.value for r in rows if r.key == "proxy.call_timeout_seconds") == value:
                return
            await asyncio.sleep(0.05)


async def test_a_storm_of_edits_loses_no_call_and_ends_as_the_file_says(home: Path) -> None:
    """Edits add, remove, change and break; sixteen callers on four hosts notice nothing of it."""
    journal = home.with_name(home.name + "-journal")
    others = home.with_name(home.name + "-others")
    steady = chaos("steady", journal=journal)

    def changing(generation: int) -> str:
        return chaos("changing", journal=others, generation=generation)

    chance = random.Random(1)
    calls = 0
    done = asyncio.Event()

    async def caller(host: RawClient, name: str) -> None:
        nonlocal calls
        number = 0
        while not done.is_set():
            text = f"{name}/{number}"
            kind = ("echo", "wait", "steps")[number % 3]
            upstream = "changing" if number % 4 == 3 else "steady"
            arguments = {"text": text, "seconds": 0.02, "steps": 2}
            assert await host.text(f"{upstream}__{kind}", arguments) == text
            number += 1
            calls += 1

    with running_station(home, steady + changing(0)) as station:
        async with (
            connect_host(station.socket, "h0") as h0,
            connect_host(station.socket, "h1") as h1,
            connect_host(station.socket, "h2") as h2,
            connect_host(station.socket, "h3") as h3,
        ):
            hosts = (h0, h1, h2, h3)
            pid = await _pid(h0, "steady")
            async with asyncio.TaskGroup() as group:
                for number in range(CALLERS):
                    group.create_task(caller(hosts[number % 4], f"caller{number}"))
                for edit in range(EDITS):
                    head = f"[proxy]\ncall_timeout_seconds = {30 + edit}.0\n"
                    config = head + steady + changing(edit // 40)
                    if edit % 5 == 1:
                        config += chaos("extra")
                    if edit % 5 == 2:
                        config += "[upstreams.broken\n"
                    if edit % 5 == 3:
                        config += 'nonsense = "x"\n'
                    if edit % 7 == 6:
                        station.paths.config_file.write_text(config)  # in place, not atomically
                    else:
                        station.write(config)
                    if edit % 25 == 0:
                        await _until_timeout_is(station, f"{30 + edit}.0")
                    else:
                        await asyncio.sleep(chance.random() * 0.05)
                final = "[proxy]\ncall_timeout_seconds = 77.0\n" + steady
                final += changing(99) + chaos("last")
                station.write(final)
                await _until_timeout_is(station, "77.0")
                await _until_listed(h0, "last__echo")
                done.set()
            assert calls > CALLERS
            assert await _pid(h0, "steady") == pid
            assert len(events(journal, "started")) == 1
            assert len(events(others, "started")) >= 4, "it was replaced while calls ran"
            names = await h3.tools()
            assert {name.split("__")[0] for name in names} == {"steady", "changing", "last"}
            assert await h1.text("last__echo", {"text": "x"}) == "x"
            async with operator(station) as attached:
                snapshot = await attached.snapshot()
            assert sorted(view.name for view in snapshot.hosts) == ["h0", "h1", "h2", "h3"]
            assert snapshot.station.settings_problems == 0
            assert all(view.errors == 0 for view in snapshot.upstreams)
            assert not [m for host in hosts for m in host.received if "error" in m]


async def test_a_broken_edit_keeps_the_last_good_settings_and_says_where(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            names = await host.tools()
            pid = await _pid(host, "a")
            station.write("[proxy]\ncall_timeout_secnds = 5\n" + chaos("b"))
            async with operator(station) as attached, asyncio.timeout(PATIENCE):
                while not (settings := await attached.settings()).problems:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            (problem,) = settings.problems
            assert problem.line == 2
            assert problem.file == str(station.paths.config_file)
            assert "call_timeout_secnds" in problem.key
            assert "call_timeout_seconds" in problem.hint + problem.reason
            assert await host.tools() == names
            assert await _pid(host, "a") == pid
            station.write(chaos("a") + chaos("b"))
            await _until_listed(host, "b__echo")
            assert await _pid(host, "a") == pid
            async with operator(station) as attached:
                assert (await attached.settings()).problems == ()


async def test_a_changed_upstream_ends_its_calls_before_it_is_replaced(home: Path) -> None:
    with running_station(home, chaos("a", generation=1)) as station:
        async with connect_host(station.socket) as host:
            old = await _pid(host, "a")
            params = {"name": "a__wait", "arguments": {"text": "in time", "seconds": 3}}
            _, answer = host.begin("tools/call", params)
            station.write(chaos("a", generation=2))
            async with asyncio.timeout(PATIENCE):
                while (await _pid(host, "a")) == old:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert not answer.done(), "new calls go to the successor while the old one still works"
            async with asyncio.timeout(PATIENCE):
                assert (await answer)["result"]["content"][0]["text"] == "in time"
            wait_until(lambda: not alive(old), "the replaced process ends")
            assert host.notifications("notifications/tools/list_changed") == []


async def test_a_call_that_waits_for_a_starting_upstream_goes_to_its_successor(home: Path) -> None:
    with running_station(home, chaos("a", mode="never_starts")) as station:
        async with connect_host(station.socket) as host:
            _, waiting = host.begin("tools/call", {"name": "a__echo", "arguments": {"text": "x"}})
            station.write(chaos("a"))
            async with asyncio.timeout(PATIENCE):
                assert (await waiting)["result"]["content"][0]["text"] == "x"


async def test_a_call_that_waits_for_a_starting_upstream_is_told_of_its_removal(
    home: Path,
) -> None:
    with running_station(home, chaos("a", mode="never_starts") + chaos("b")) as station:
        async with connect_host(station.socket) as host:
            _, waiting = host.begin("tools/call", {"name": "a__echo", "arguments": {"text": "x"}})
            station.write(chaos("b"))
            async with asyncio.timeout(PATIENCE):
                text = (await waiting)["result"]["content"][0]["text"]
            assert "upstream a was removed from the settings" in text


async def test_another_prefix_needs_no_new_process(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            pid = await _pid(host, "a")
            await host.tools()
            station.write(chaos("a", prefix="z"))
            await _until_listed(host, "z__echo")
            assert not [name for name in await host.tools() if name.startswith("a__")]
            assert await _pid(host, "z") == pid


async def test_a_removed_upstream_ends_its_calls_and_then_its_process(home: Path) -> None:
    with running_station(home, chaos("a") + chaos("b")) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            old = await _pid(host, "a")
            params = {"name": "a__wait", "arguments": {"text": "in time", "seconds": 2}}
            _, answer = host.begin("tools/call", params)
            station.write(chaos("b"))
            await host.until_notified("notifications/tools/list_changed")
            assert not [name for name in await host.tools() if name.startswith("a__")]
            with pytest.raises(Refused, match="Unknown tool: a__echo"):
                await host.call("a__echo")
            assert alive(old)
            async with asyncio.timeout(PATIENCE):
                assert (await answer)["result"]["content"][0]["text"] == "in time"
            wait_until(lambda: not alive(old), "the removed process ends")


async def test_an_added_upstream_is_announced_to_hosts_that_have_listed(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            station.write(chaos("a") + chaos("b", prefix="bee"))
            await host.until_notified("notifications/tools/list_changed")
            await _until_listed(host, "bee__echo")
            assert await host.text("bee__echo", {"text": "x"}) == "x"


async def test_switching_a_tool_off_needs_no_new_process(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            pid = await _pid(host, "a")
            await host.tools()
            station.write(chaos("a") + "[upstreams.a.tools.log]\nenabled = false\n")
            await host.until_notified("notifications/tools/list_changed")
            assert "a__log" not in await host.tools()
            with pytest.raises(Refused, match="switched off by"):
                await host.call("a__log", {"text": "x"})
            assert await _pid(host, "a") == pid


async def test_switching_an_upstream_off_and_on_again(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            old = await _pid(host, "a")
            station.write(chaos("a", enabled=False))
            await _until_listed(host, "a__echo", listed=False)
            wait_until(lambda: not alive(old), "the process ends")
            assert (await view_of(station, "a")).state is UpstreamState.DISABLED
            station.write(chaos("a"))
            await _until_listed(host, "a__echo")
            assert await _pid(host, "a") != old


async def test_a_settings_file_that_goes_away_changes_nothing_until_it_is_back(
    home: Path,
) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket) as host:
            pid = await _pid(host, "a")
            station.paths.config_file.unlink()
            for _ in range(20):
                assert await host.text("a__echo", {"text": "x"}) == "x"
                await asyncio.sleep(0.05)
            assert await _pid(host, "a") == pid
            station.write(chaos("a") + chaos("b"))
            await _until_listed(host, "b__echo")
            assert await _pid(host, "a") == pid
