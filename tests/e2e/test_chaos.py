"""An upstream that misbehaves hurts only itself: its callers get an answer or a clear error, its
neighbours notice nothing, and it comes back.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.model import UpstreamState
from tests.support.chaos_upstream import CALL_FAULTS
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

pytestmark = pytest.mark.anyio

EXPECTED = {
    "crash": r"exited with code 7 .*whether the call had an effect is not known.*has crashed",
    "crash_mid_frame": r"exited with code 0",
    "close_stdout": r"closed its output",
    "hang": r"did not answer within 1 s",
    "late_answer": r"did not answer within 1 s",
    "wrong_id": "right",
    "guessed_ids": "right",
    "duplicate_answer": "first",
    "garbage_lines": "right",
    "invalid_utf8": r"cannot be read: byte \d+ is not valid UTF-8",
    "nan": r"cannot be read: not JSON",
    "deep_nesting": r"cannot be read: nested deeper than",
    "huge_line": r"sent too much at once: a line is longer than 1,048,576 bytes",
    "batch": r"cannot be read: batches are not part of the protocol",
    "bad_result": r"no valid result",
    "progress_for_ever": r"did not answer within [23] s",
    "notification_flood": "right",
}
"""The answer, or what the error must say."""
LIMITS = """
[proxy]
max_upstream_frame_bytes = 1048576
call_timeout_max_seconds = 2
"""


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Path]]:
    """A station with one upstream per kind of fault, and a good one."""
    home = tmp_path_factory.mktemp("h")
    config = LIMITS + chaos("good")
    for kind in CALL_FAULTS:
        journal = home.with_name(f"{home.name}-{kind}")
        limit = {"call_timeout_seconds": 1} if "did not answer" in EXPECTED[kind] else {}
        config += chaos(kind, journal=journal, **limit)
    with running_station(home, config) as station:
        yield station, home


@pytest.mark.parametrize("kind", CALL_FAULTS)
async def test_a_fault_in_a_call_hurts_only_that_call(
    faulty: tuple[Station, Path], kind: str
) -> None:
    station, home = faulty
    async with connect_host(station.socket) as host, connect_host(station.socket) as other:
        pid = json.loads(await host.text(f"{kind}__process"))["pid"]
        arguments = {"kind": kind, "bytes": 2_000_000, "seconds": 1.5}
        meta = {"progressToken": "t"} if kind == "progress_for_ever" else None
        id, answer = host.begin(
            "tools/call", {"name": f"{kind}__fault", "arguments": arguments, **_meta(meta)}
        )
        assert await other.text("good__echo", {"text": "unaffected"}) == "unaffected"
        async with asyncio.timeout(20):
            result = (await answer)["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            assert re.search(EXPECTED[kind], text), text
            assert kind in text, "the error names the upstream"
            assert "Traceback (most" not in text
        else:
            assert text == EXPECTED[kind]
        assert await host.text(f"{kind}__echo", {"text": "back"}) == "back"
        assert [m for m in host.received if m.get("id") == id] == [{**(await answer)}]
        now = json.loads(await host.text(f"{kind}__process"))["pid"]
        survives = kind not in ("crash", "crash_mid_frame", "close_stdout", "huge_line")
        assert (now == pid) is survives
    journal = home.with_name(f"{home.name}-{kind}")
    assert len(events(journal, "fault")) == 1, "the call was made once and never repeated"


def _meta(meta: dict[str, str] | None) -> dict[str, object]:
    return {} if meta is None else {"_meta": meta}


async def test_an_upstream_that_hangs_is_told_of_the_deadline(
    faulty: tuple[Station, Path],
) -> None:
    station, home = faulty
    async with connect_host(station.socket) as host:
        await host.failure("hang__wait", {"seconds": 100})
    journal = home.with_name(f"{home.name}-hang")
    wait_until(lambda: events(journal, "cancelled"), "the call is cancelled upstream")


async def test_a_late_answer_reaches_nobody(faulty: tuple[Station, Path]) -> None:
    station, home = faulty
    journal = home.with_name(f"{home.name}-late_answer")
    before = len(events(journal, "late_answer_sent"))
    async with connect_host(station.socket) as host:
        await host.failure("late_answer__fault", {"kind": "late_answer", "seconds": 1.3})
        wait_until(
            lambda: len(events(journal, "late_answer_sent")) > before, "the late answer is sent"
        )
        assert await host.text("late_answer__echo", {"text": "next"}) == "next"
        assert not [line for line in host.lines if b"much too late" in line]


async def test_banners_and_prints_are_counted_and_skipped(home: Path) -> None:
    with running_station(home, chaos("a", mode="banner")) as station:
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "works"}) == "works"
            await host.call("a__fault", {"kind": "garbage_lines"})
        view = await view_of(station, "a")
        assert view.noise_lines == 4 + 4
        assert view.state is UpstreamState.READY


async def test_an_upstream_that_never_starts_is_named_and_delays_nobody(home: Path) -> None:
    config = chaos("dead", mode="never_starts", connect_timeout_seconds=1) + chaos("good")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            # The first list waits for it only until its first attempt has failed.
            assert all(name.startswith("good__") for name in await host.tools())
            assert await host.text("good__echo", {"text": "x"}) == "x"
            assert "did not finish its start within 1 s" in await host.failure("dead__echo")
        view = await until_state(station, "dead", UpstreamState.BACKING_OFF)
        assert "within 1 s" in view.reason
        assert view.retry_at is not None


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("exits_at_start", "exited with code 3"),
        ("refuses_start", "the licence of this server has run out"),
        ("stateless,refuses_start", "refused to be discovered: the licence of this server has"),
        ("unknown_revision", "speaks protocol revision 1999-01-01; mms speaks 2024-11-05"),
    ],
)
async def test_a_failing_start_says_why_and_backs_off(home: Path, mode: str, reason: str) -> None:
    journal = home.with_name(home.name + "-journal")
    with running_station(home, chaos("a", mode=mode, journal=journal)) as station:
        view = await until_state(station, "a", UpstreamState.BACKING_OFF)
        assert reason in view.reason
        if mode == "exits_at_start":
            assert view.last_stderr == "fatal: the configuration of this server is missing"
        started = time.monotonic()
        async with asyncio.timeout(30):
            while (await view_of(station, "a")).restarts < 2:  # noqa: ASYNC110  # nothing to wait on
                await asyncio.sleep(0.05)
        assert len(events(journal, "started")) <= 2 + 3 * max(1.0, time.monotonic() - started)
        async with connect_host(station.socket) as host:
            assert reason in await host.failure("a__echo")


async def test_a_program_that_does_not_exist_is_reported_with_the_searched_path(
    home: Path,
) -> None:
    config = '[upstreams.a]\ncommand = "no-such-program-anywhere"\n' + chaos("good")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            assert await host.text("good__echo", {"text": "x"}) == "x"
            text = await host.failure("a__echo")
        assert "no-such-program-anywhere was not found; searched /" in text
        assert (await view_of(station, "a")).state is UpstreamState.FAILED


async def test_a_flood_on_the_error_output_is_drained_and_kept_small(home: Path) -> None:
    with running_station(home, chaos("a", mode="stderr_flood")) as station:
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "x"}) == "x"
        async with operator(station) as attached:
            detail = await attached.upstream("a")
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


async def test_lists_without_end_are_cut_and_pages_are_followed(home: Path) -> None:
    config = chaos("loop", mode="cursor_loop") + chaos("pages", mode="many_pages")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            names = await host.tools()
        own = [name.removeprefix("loop__") for name in names if name.startswith("loop__")]
        assert own == [n.removeprefix("pages__") for n in names if n.startswith("pages__")]
        assert len(own) == len(set(own)) > 5


async def test_bad_tools_are_withheld_with_a_reason_and_good_ones_work(home: Path) -> None:
    with running_station(home, chaos("a", mode="bad_tools,duplicate_tools")) as station:
        async with connect_host(station.socket) as host:
            names = await host.tools()
            assert len(names) == len(set(names))
            assert "a__no_schema" not in names
            assert await host.text("a__echo", {"text": "x"}) == "x"
            with pytest.raises(Refused, match="withheld"):
                await host.call("a__no_schema")
        async with operator(station) as attached:
            detail = await attached.upstream("a")
        assert detail is not None
        reasons = {tool.name: tool.reason for tool in detail.withheld}
        assert len(detail.withheld) == 10
        assert all(reasons.values())
        assert "no input schema" in reasons["no_schema"]
        assert "twice by this upstream" in reasons["echo"]


async def test_an_upstream_that_closes_its_output_is_restarted(home: Path) -> None:
    with running_station(home, chaos("a", mode="closes_stdout")) as station:
        async with connect_host(station.socket) as host:
            assert await host.text("a__echo", {"text": "1"}) == "1"
            assert "closed its output" in await host.failure("a__echo", {"text": "2"})
            assert await host.text("a__echo", {"text": "3"}) == "3"


async def test_an_upstream_that_stops_reading_blocks_nobody(home: Path) -> None:
    config = chaos("a", mode="stops_reading") + chaos("good")
    with running_station(home, config) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            stuck = [
                host.begin(
                    "tools/call", {"name": "a__echo", "arguments": {"text": "x" * 2_000_000}}
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


async def test_requests_of_an_upstream_reach_a_host_that_can_answer(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
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
                found = json.loads(await host.text("a__ask", {"method": method, "params": params}))
                assert found == {"result": answer}
            found = json.loads(await host.text("a__ask", {"method": "ping", "params": {}}))
            assert found == {"result": {}}


async def test_requests_that_a_host_cannot_answer_are_refused_in_its_name(home: Path) -> None:
    with running_station(home, chaos("a")) as station:
        async with connect_host(station.socket, "plain") as host:
            for method in ("sampling/createMessage", "elicitation/create", "roots/list"):
                found = json.loads(await host.text("a__ask", {"method": method}))
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
