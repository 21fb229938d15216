"""``status``, ``list``, ``health``, ``stats``: with a station and without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from proxy.model import UpstreamState
from proxy.tool_sums import by_tool, nearest_rank
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.fake_station import FakeStation, make_hostile
from tests.support.sample_data import CALLS, SNAPSHOT, UPSTREAMS
from tests.support.sample_surfacing import SURFACING

CONFIG = """\
[upstreams.notes]
command = "python"
args = ["-m", "notes", "--token", "abcdefghijkl"]
[upstreams.off]
url = "https://example.com/mcp"
enabled = false
[upstreams.wrong]
command = "x"
url = "https://example.com"
"""


def _do(engine: Engine, work: Callable[[FakeStation], object]) -> None:
    async def run() -> None:
        work(engine.fake)

    asyncio.run_coroutine_threadsafe(run(), engine.loop).result(5)


def _upstreams(*states: UpstreamState) -> Callable[[FakeStation], None]:
    def change(fake: FakeStation) -> None:
        views = tuple(
            replace(UPSTREAMS[0], name=f"u{number}", state=state)
            for number, state in enumerate(states)
        )
        fake.snapshot_value = replace(SNAPSHOT, upstreams=views)

    return change


# -- status -----------------------------------------------------------------------------------


def test_status_without_a_station_is_exit_code_3_and_says_how_to_start_one(mms: Instance) -> None:
    ran = mms.run("status")
    assert ran.code == 3
    assert "No station is running" in ran.out
    assert "mms serve" in ran.out
    assert mms.run("status", "--json").json == {
        "running": False,
        "socket": str(mms.paths.socket),
    }


def test_status_shows_the_station_its_hosts_and_what_needs_attention(
    mms: Instance, running: Engine
) -> None:
    ran = mms.run("status")
    assert ran.code == 0
    for words in (
        "process 4711",
        "up 3h 2m",
        "claude-code (socket)",
        "upstream jira",
        "7337",
        "2 withheld",
    ):
        assert words in ran.out
    data = mms.run("status", "--json").json
    assert data["running"] is True
    assert data["station"]["pid"] == 4711
    assert data["upstreams"]["ready"] == 2
    assert [host["name"] for host in data["hosts"]] == ["claude-code", "cursor", "mcp-inspector"]


@pytest.mark.parametrize("words", [("status",), ("list",), ("health",), ("stats",), ("calls",)])
def test_hostile_text_never_reaches_the_terminal(
    mms: Instance, running: Engine, words: tuple[str, ...]
) -> None:
    def hostile(fake: FakeStation) -> None:
        fake.snapshot_value = make_hostile(SNAPSHOT)
        fake.records = make_hostile(CALLS)

    _do(running, hostile)
    for more in ((), ("--json",)):
        out = mms.run(*words, *more).out
        assert "red" in out
        for char in ("\x1b", "\x9b", "\x07", "\u202e", "\u200b", "\r", "\x7f", "\U000e0041"):
            assert char not in out


def test_a_station_that_cannot_be_talked_to_is_exit_code_3(mms: Instance, running: Engine) -> None:
    _do(running, lambda fake: setattr(fake, "unavailable", "The engine hangs."))
    ran = mms.run("status")
    assert ran.code == 3
    assert "The engine hangs." in ran.err


# -- list -------------------------------------------------------------------------------------


def test_list_without_upstreams_offers_what_to_do(mms: Instance) -> None:
    ran = mms.run("list")
    assert ran.code == 0
    for words in ("mms add", "mms import", "mms demo"):
        assert words in ran.out
    assert mms.run("list", "--json").json == {"station": False, "upstreams": []}


def test_list_without_a_station_reads_the_settings_and_hides_secrets(mms: Instance) -> None:
    mms.write(CONFIG)
    ran = mms.run("list")
    assert ran.code == 0
    assert "abcdefghijkl" not in ran.out
    assert "python -m notes --token" in ran.out
    assert "No station is running." in ran.out
    states = {one["name"]: one for one in mms.run("list", "--json").json["upstreams"]}
    assert states["notes"]["state"] == "not_running"
    assert states["off"]["state"] == "disabled"
    assert states["off"]["transport"] == "http"
    assert states["wrong"]["state"] == "invalid"
    assert "both command and url" in states["wrong"]["reason"]


def test_list_with_a_station_shows_its_states_and_what_the_file_leaves_out(
    mms: Instance, running: Engine
) -> None:
    mms.write(CONFIG)
    data = mms.run("list", "--json").json
    assert data["station"] is True
    states = {one["name"]: one["state"] for one in data["upstreams"]}
    assert states["postgres"] == "backing_off"
    assert states["wrong"] == "invalid"
    shown = mms.run("list").out
    assert "backing off" in shown
    assert "56/58" in shown
    tools = {one["name"]: (one["tools"], one["tools_discovered"]) for one in data["upstreams"]}
    assert tools["github"] == (56, 58)


# -- health -----------------------------------------------------------------------------------


def test_health_without_a_station_is_exit_code_3_with_what_to_do(mms: Instance) -> None:
    ran = mms.run("health")
    assert ran.code == 3
    assert "mms serve" in ran.err


def test_health_of_unwell_upstreams_is_exit_code_1_with_reason_and_next_action(
    mms: Instance, running: Engine
) -> None:
    ran = mms.run("health")
    assert ran.code == 1
    assert "jira is failed. The program mcp-jira was not found on PATH. Install it" in ran.out
    assert "last words: connection to server" in ran.out
    assert "56/58" in ran.out
    assert "github: 1 invalid_schema, 1 config_hidden (of 58)" in ran.out
    assert "Selection log: 206 selections, 206 executions, 2.4% errors; p50 12 ms" in ran.out
    assert "since the start 412 lines written, 0 calls sampled out" in ran.out
    data = mms.run("health", "--json").json
    assert data["healthy"] is False
    assert len(data["upstreams"]) == len(UPSTREAMS)
    github = next(one for one in data["upstreams"] if one["name"] == "github")
    assert github["withheld"][0] == {"code": "invalid_schema", "count": 1}
    assert data["selection"]["by_tool"][0] == {"name": "filesystem/read_file", "count": 120}


def test_ready_and_disabled_upstreams_are_healthy(mms: Instance, running: Engine) -> None:
    _do(running, _upstreams(UpstreamState.READY, UpstreamState.DISABLED))
    assert mms.run("health").code == 0
    assert mms.run("health", "--json").json["healthy"] is True


def test_no_upstream_is_healthy_and_says_what_to_do(mms: Instance, running: Engine) -> None:
    _do(running, _upstreams())
    ran = mms.run("health")
    assert ran.code == 0
    assert "mms add" in ran.out


def test_health_can_wait_for_upstreams_that_start(mms: Instance, running: Engine) -> None:
    _do(running, _upstreams(UpstreamState.CONNECTING))
    assert mms.run("health").code == 1
    asked = len(running.fake.asked)

    def answer_twice(fake: FakeStation) -> None:
        plain = fake.snapshot

        async def snapshot() -> object:
            if len(fake.asked) > asked + 1:
                _upstreams(UpstreamState.READY)(fake)
            return await plain()

        fake.snapshot = snapshot  # type: ignore[method-assign,assignment]  # ready at the second look

    _do(running, answer_twice)
    assert mms.run("health", "--wait", "5").code == 0


# -- stats ------------------------------------------------------------------------------------


def test_stats_of_nothing_are_zeros(mms: Instance) -> None:
    ran = mms.run("stats")
    assert ran.code == 0
    assert "No calls are recorded yet." in ran.out


def test_stats_are_the_same_from_the_store_and_from_the_station(
    mms: Instance, running: Engine
) -> None:
    live = mms.run("stats", "--json").json
    assert live["station"] is True
    assert live["all_time"]["calls"] == SNAPSHOT.all_time.calls
    running.stop()
    mms.record(CALLS)
    stored = mms.run("stats", "--json").json
    assert stored["station"] is False
    assert stored["all_time"]["calls"] == len(CALLS)
    assert stored["tools"] == live["tools"]
    assert sum(tool["calls"] for tool in stored["tools"]) == len(CALLS)
    assert "TOKENS OUT" in mms.run("stats").out
    assert live["surfacing"]["answers"] == SURFACING.events_total
    assert stored["surfacing"] == {
        "answers": 0,
        "tokens": 0,
        "ratings": 0,
        "helpfulness": None,
    }


def test_stats_of_one_upstream(mms: Instance, running: Engine) -> None:
    tools = mms.run("stats", "--upstream", "docs", "--json").json["tools"]
    assert {tool["upstream"] for tool in tools} == {"docs"}


def test_sums_by_tool_add_up() -> None:
    sums = by_tool(CALLS)
    assert sum(one.tokens_out for one in sums) == sum(
        call.text.tokens + call.structured.tokens for call in CALLS
    )
    assert [one.tokens_out for one in sums] == sorted(
        (one.tokens_out for one in sums), reverse=True
    )


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([1.0], 50, 1.0), ([1.0, 2.0], 50, 1.0), ([1.0, 2.0, 3.0], 95, 3.0), ([5.0] * 100, 95, 5.0)],
)
def test_a_percentile_is_one_of_the_values(
    values: list[float], percent: int, expected: float
) -> None:
    assert nearest_rank(values, percent) == expected
