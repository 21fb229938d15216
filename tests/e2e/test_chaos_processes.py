"""An upstream that is odd from its start on is served as far as it can be, and else named with the reason."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.model import UpstreamState
from tests.support.mcp_client import Refused, connect_host
from tests.support.stations import (
    Station,
    alive,
    chaos,
    children_of,
    events,
    journal_of,
    operator,
    running_station,
    until_state,
    view_of,
    wait_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("chaos_processes")]

FAILING = {
    "exits": ("exits_at_start", "exited with code 3"),
    "refuses": ("refuses_start", "the licence of this server has run out"),
    "modern": ("stateless,refuses_start", "refused to be discovered: the licence of this server"),
    "older": ("unknown_revision", "speaks protocol revision 1999-01-01; mms speaks 2024-11-05"),
}
"""Upstreams that fail when they start, by name: mode, and what is said about them."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Path]]:
    """One station with odd upstreams of many kinds and a good one; the folder holds journals."""
    home = tmp_path_factory.mktemp("h")
    journals = tmp_path_factory.mktemp("j")
    config = chaos("good") + '[upstreams.missing]\ncommand = "no-such-program-anywhere"\n'
    config += chaos("banner", mode="banner")
    config += chaos("flood", mode="stderr_flood")
    config += chaos("loop", mode="cursor_loop") + chaos("pages", mode="many_pages")
    config += chaos("bad", mode="bad_tools,duplicate_tools")
    config += chaos("closes", mode="closes_stdout")
    config += chaos("stuck", mode="stops_reading")
    config += chaos("dead", mode="never_starts", connect_timeout_seconds=2)
    for name, (mode, _) in FAILING.items():
        config += chaos(name, mode=mode, journal=journals / name)
    with running_station(home, config) as station:
        yield station, journals


async def test_banners_and_prints_are_counted_and_skipped(odd: tuple[Station, Path]) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        assert await host.text("banner__echo", {"text": "works"}) == "works"
        await host.call("banner__fault", {"kind": "garbage_lines"})
    view = await view_of(station, "banner")
    assert view.noise_lines == 4 + 4
    assert view.state is UpstreamState.READY


async def test_an_upstream_that_never_starts_is_named_and_delays_nobody(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        assert not [name for name in await host.tools() if name.startswith("dead__")]
        assert await host.text("good__echo", {"text": "x"}) == "x"
        assert "did not finish its start within 2 s" in await host.failure("dead__echo")
    view = await until_state(station, "dead", UpstreamState.BACKING_OFF)
    assert "within 2 s" in view.reason
    assert view.retry_at is not None


@pytest.mark.parametrize("name", FAILING)
async def test_a_failing_start_says_why_and_backs_off(odd: tuple[Station, Path], name: str) -> None:
    (station, journals), (_, reason) = odd, FAILING[name]
    async with asyncio.timeout(30):
        while (await view_of(station, name)).restarts < 2:  # noqa: ASYNC110  # nothing to wait on
            await asyncio.sleep(0.05)
    view = await until_state(station, name, UpstreamState.BACKING_OFF)
    assert reason in view.reason
    assert view.retry_at is not None
    if name == "exits":
        assert view.last_stderr == "fatal: the configuration of this server is missing"
    async with connect_host(station.socket) as host:
        assert reason in await host.failure(f"{name}__echo")
    started, at = len(events(journals / name, "started")), time.monotonic()
    for _ in range(20):
        await view_of(station, name)
        await asyncio.sleep(0.05)
    again = len(events(journals / name, "started")) - started
    assert again <= 2 + 2 * (time.monotonic() - at), "it is not tried in a tight loop"


async def test_a_program_that_does_not_exist_is_reported_with_the_searched_path(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        assert await host.text("good__echo", {"text": "x"}) == "x"
        text = await host.failure("missing__echo")
    assert "no-such-program-anywhere was not found; searched /" in text
    assert (await view_of(station, "missing")).state is UpstreamState.FAILED


async def test_a_flood_on_the_error_output_is_drained_and_kept_small(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        assert await host.text("flood__echo", {"text": "x"}) == "x"
    async with operator(station) as attached:
        detail = await attached.upstream("flood")
    assert detail is not None
    assert 0 < sum(len(line) for line in detail.stderr) <= 64 * 1024


async def test_a_storm_of_list_changes_is_gathered_into_few_listings(home: Path) -> None:
    journal = home.with_name(home.name + "-journal")
    config = chaos("a", mode="list_change_storm", journal=journal, count=1500) + chaos("good")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            wait_until(lambda: events(journal, "storm_over"), "the storm is over")
            assert await host.text("good__echo", {"text": "x"}) == "x"

            async def listed() -> str:
                tools = (await host.request("tools/list"))["tools"]
                return next(t["description"] for t in tools if t["name"] == "a__echo")

            async with asyncio.timeout(30):
                while await listed() != "list 1500":  # noqa: ASYNC110  # nothing to wait on
                    await asyncio.sleep(0.05)
            notices = len(host.notifications("notifications/tools/list_changed"))
        listings = [e for e in journal_of(journal) if e.get("method") == "tools/list"]
        assert len(listings) <= 10
        assert notices <= 10


async def test_lists_without_end_are_cut_and_pages_are_followed(odd: tuple[Station, Path]) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        names = await host.tools()
    own = [name.removeprefix("loop__") for name in names if name.startswith("loop__")]
    assert own == [n.removeprefix("pages__") for n in names if n.startswith("pages__")]
    assert len(own) == len(set(own)) > 5


async def test_bad_tools_are_withheld_with_a_reason_and_good_ones_work(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        names = await host.tools()
        assert len(names) == len(set(names))
        assert "bad__no_schema" not in names
        assert await host.text("bad__echo", {"text": "x"}) == "x"
        with pytest.raises(Refused, match="withheld"):
            await host.call("bad__no_schema")
    async with operator(station) as attached:
        detail = await attached.upstream("bad")
    assert detail is not None
    reasons = {tool.name: tool.reason for tool in detail.withheld}
    assert len(detail.withheld) == 10
    assert all(reasons.values())
    assert "no input schema" in reasons["no_schema"]
    assert "twice by this upstream" in reasons["echo"]


async def test_an_upstream_that_closes_its_output_is_restarted(odd: tuple[Station, Path]) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        assert await host.text("closes__echo", {"text": "1"}) == "1"
        assert "closed its output" in await host.failure("closes__echo", {"text": "2"})
        assert await host.text("closes__echo", {"text": "3"}) == "3"


async def test_an_upstream_that_stops_reading_blocks_nobody(odd: tuple[Station, Path]) -> None:
    station, _ = odd
    async with connect_host(station.socket) as host:
        await host.tools()
        stuck = [
            host.begin(
                "tools/call", {"name": "stuck__echo", "arguments": {"text": "x" * 2_000_000}}
            )[1]
            for _ in range(2)
        ]
        for number in range(50):
            assert await host.text("good__echo", {"text": str(number)}) == str(number)
        async with asyncio.timeout(30):
            for answer in stuck:
                text = (await answer)["result"]["content"][0]["text"]
                assert "has not read its input for 5 s" in text


async def test_no_child_of_an_upstream_survives_it(home: Path) -> None:
    journal = home.with_name(home.name + "-journal")
    config = chaos("a", mode="forks_children", journal=journal)
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            (first,) = [event["pids"] for event in events(journal, "children")]
            assert all(alive(pid) for pid in first)
            await host.failure("a__fault", {"kind": "crash"})
            assert await host.text("a__echo", {"text": "back"}) == "back"
            wait_until(lambda: not any(alive(pid) for pid in first), "the first children end")
        second = events(journal, "children")[-1]["pids"]
        assert all(alive(pid) for pid in second)
        wait_until(
            lambda: not [child for child in children_of(station.pid) if child[1] == "Z"],
            "no zombie is left",
        )
    assert not any(alive(pid) for pid in second)


async def test_upstreams_that_ignore_their_end_are_killed_in_time(home: Path) -> None:
    config = "".join(
        chaos(f"deaf{number}", mode="ignores_sigterm" if number % 2 else "ignores_eof")
        for number in range(4)
    )
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            assert len(await host.tools()) > 4
        station.look()
        started = time.monotonic()
        assert station.stop() == 0
        # Grace after the end of input, after SIGTERM, and then SIGKILL: all at the same time.
        assert time.monotonic() - started < 15


async def test_an_upstream_sees_only_the_variables_that_it_is_given(home: Path) -> None:
    config = chaos("a", env={"GIVEN": "${SECRET_SOURCE}"})
    with running_station(
        home, config, SECRET_SOURCE="s3", ANTHROPIC_API_KEY="not for upstreams"
    ) as station:
        async with connect_host(station.socket) as host:
            seen = json.loads(await host.text("a__process"))["environment"]
    allowed = {"PATH", "HOME", "LANG", "GIVEN", "MMS_UPSTREAM", "LC_CTYPE"}
    assert "GIVEN" in seen
    assert set(seen) <= allowed


async def test_requests_of_an_upstream_reach_a_host_that_can_answer(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    able = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}
    async with connect_host(station.socket, "able", able) as host:
        host.answers = {
            "sampling/createMessage": {"role": "assistant", "model": "m", "content": {}},
            "elicitation/create": lambda params: {"action": "accept", "content": params},
            "roots/list": {"roots": [{"uri": "file:///r"}]},
            "ping": {},
        }
        for method, answer in (
            ("sampling/createMessage", {"role": "assistant", "model": "m", "content": {}}),
            ("elicitation/create", {"action": "accept", "content": {"message": "m"}}),
            ("roots/list", {"roots": [{"uri": "file:///r"}]}),
        ):
            params = {"message": "m"} if method == "elicitation/create" else {}
            found = json.loads(await host.text("good__ask", {"method": method, "params": params}))
            assert found == {"result": answer}
        found = json.loads(await host.text("good__ask", {"method": "ping", "params": {}}))
        assert found == {"result": {}}


async def test_requests_that_a_host_cannot_answer_are_refused_in_its_name(
    odd: tuple[Station, Path],
) -> None:
    station, _ = odd
    async with connect_host(station.socket, "plain") as host:
        for method in ("sampling/createMessage", "elicitation/create", "roots/list"):
            found = json.loads(await host.text("good__ask", {"method": method}))
            assert found["error"]["code"] == -32601
        assert not [m for m in host.received if "method" in m and "id" in m]


async def test_a_stateless_upstream_is_served_to_a_host_of_the_handshake_era(home: Path) -> None:
    journal = home.with_name(home.name + "-journal")
    with running_station(home, chaos("a", mode="stateless", journal=journal)) as station:
        async with connect_host(station.socket, "host", {"elicitation": {}}) as host:
            host.answers["elicitation/create"] = {"action": "accept", "content": {"n": "ann"}}
            assert "a__echo" in await host.tools()
            result = await host.call("a__echo", {"text": "x"})
            assert result == {"content": [{"type": "text", "text": "x"}]}
            question = {"method": "elicitation/create", "params": {"message": "name?"}}
            found = json.loads(await host.text("a__ask", question))
            assert found == {
                "state": "s1",
                "answers": {"q": {"action": "accept", "content": {"n": "ann"}}},
            }
            asked = [m for m in host.received if m.get("method") == "elicitation/create"]
            assert [m["params"] for m in asked] == [{"message": "name?"}]
            assert "more than 10 times" in await host.failure("a__ask", {**question, "again": True})
            await host.text("a__add_tool")
            await host.until_notified("notifications/tools/list_changed")
            assert "a__extra" in await host.tools()
        view = await view_of(station, "a")
        assert view.protocol == "2026-07-28"
        assert view.server == "a 1.0"


async def test_a_server_that_asks_for_roots_before_it_lists_is_answered(home: Path) -> None:
    journal = home.with_name(home.name + "-journal")
    with running_station(home, chaos("a", mode="asks_first", journal=journal)) as station:
        async with connect_host(station.socket) as host:
            assert "a__echo" in await host.tools()
        (asked,) = events(journal, "roots")
        assert asked["answer"]["error"]["code"] == -32601


async def test_a_host_that_is_there_is_asked_for_its_roots_while_a_server_starts(
    home: Path,
) -> None:
    journal = home.with_name(home.name + "-journal")
    with running_station(home, "") as station:
        async with connect_host(station.socket, "host", {"roots": {}}) as host:
            roots = {"roots": [{"uri": "file:///project"}]}
            host.answers["roots/list"] = roots
            station.write(chaos("a", mode="asks_first", journal=journal))
            wait_until(lambda: events(journal, "started"), "the new upstream starts")
            assert await host.text("a__echo", {"text": "x"}) == "x"
            assert host.notifications("notifications/cancelled") == []
        (asked,) = events(journal, "roots")
        assert asked["answer"] == {"result": roots}
