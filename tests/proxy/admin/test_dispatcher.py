"""``stm_admin``: its actions, their parameters, and what mistakes are answered with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from proxy.admin.dispatcher import ACTION_NAMES, ADMIN_TOOL, Actions
from proxy.commands import ClearCache
from proxy.surface.model import Decision, SourceStatus
from tests.support.fake_station import FakeStation

pytestmark = pytest.mark.anyio

_PARAMETERS = {
    "proxy_stats": (),
    "proxy_health": (),
    "proxy_cache_clear": ("server", "tool"),
    "surfacing_stats": ("tool", "since", "limit"),
    "selection_stats": (),
    "compression_stats": ("tool",),
    "progressive_stats": ("tool",),
    "tuning_recommendations": ("since_hours", "tool"),
}
"""As the specification lists them."""


class Rig:
    """The actions on a fake station."""

    def __init__(self) -> None:
        self.station = FakeStation()
        self.cleared = 0
        self.actions = Actions(self.station, self._clear)

    def _clear(self) -> tuple[int, int]:
        self.cleared += 1
        return 7, 2

    async def call(self, action: str, **params: Any) -> dict[str, Any]:
        return await self.raw({"action": action, "params": params})

    async def raw(self, arguments: object) -> dict[str, Any]:
        body, failed = await self.actions.call(json.dumps(arguments).encode())
        result = json.loads(body)
        assert result.get("isError", False) is failed
        return result

    async def text(self, action: str, **params: Any) -> str:
        result = await self.call(action, **params)
        assert "isError" not in result
        assert isinstance(result["structuredContent"], dict)
        return result["content"][0]["text"]

    async def refusal(self, arguments: object) -> str:
        result = await self.raw(arguments)
        assert result["isError"] is True
        return result["content"][0]["text"]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_the_tool_takes_an_action_and_params_and_nothing_else() -> None:
    tool = json.loads(ADMIN_TOOL)
    schema = tool["inputSchema"]
    assert tool["name"] == "stm_admin"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["action"]
    assert schema["properties"]["action"]["enum"] == ["help", *_PARAMETERS]
    assert tuple(schema["properties"]["action"]["enum"]) == ACTION_NAMES
    assert len(ADMIN_TOOL) <= 700


async def test_help_lists_every_action_with_exactly_the_specified_parameters(rig: Rig) -> None:
    result = await rig.call("help")
    listed = result["structuredContent"]["actions"]
    found = {one["action"]: tuple(p["name"] for p in one["params"]) for one in listed}
    assert found == _PARAMETERS
    for action in _PARAMETERS:
        assert f"{action}: " in result["content"][0]["text"]
    one = await rig.raw({"action": "help", "params": {"action": "surfacing_stats"}})
    assert [entry["action"] for entry in one["structuredContent"]["actions"]] == ["surfacing_stats"]


async def test_every_action_answers_text_and_a_value(rig: Rig) -> None:
    for action in _PARAMETERS:
        assert await rig.text(action)


async def test_mistakes_name_the_argument_and_what_would_be_right_but_never_its_value(
    rig: Rig,
) -> None:
    secret = "sk-live-0123456789abcdef"
    cases: list[tuple[object, str]] = [
        ([], "must be an object"),
        ({}, "action must be one of: help, proxy_stats"),
        ({"action": secret}, "action must be one of"),
        ({"action": "proxy_stats", "tool": "x"}, "'tool'"),
        (
            {"action": "proxy_stats", "params": {"tool": secret}},
            "no parameter 'tool'; there are: none",
        ),
        (
            {"action": "surfacing_stats", "params": {"limit": secret}},
            "limit of surfacing_stats must be",
        ),
        ({"action": "surfacing_stats", "params": {"limit": True}}, "of type integer"),
        ({"action": "surfacing_stats", "params": {"limit": -1}}, "from 0 to 100"),
        ({"action": "surfacing_stats", "params": {"since": secret}}, "ISO-8601"),
        ({"action": "compression_stats", "params": {"tool": 3}}, "of type string"),
        ({"action": "tuning_recommendations", "params": {"since_hours": 0}}, "above 0"),
        ({"action": "proxy_stats", "params": secret}, "params must be an object"),
        ({"action": "help", "params": {"action": secret}}, "must be one of"),
    ]
    for arguments, expected in cases:
        text = await rig.refusal(arguments)
        assert expected in text, arguments
        assert secret not in text


async def test_params_that_a_host_hands_over_as_text_are_read(rig: Rig) -> None:
    result = await rig.raw({"action": "surfacing_stats", "params": '{"limit": 0}'})
    assert "Recent:" not in result["content"][0]["text"]


async def test_proxy_stats_tell_savings_cache_hits_history_and_hints_as_a_count(rig: Rig) -> None:
    source = SourceStatus("ltm", "closed", hint_events=4, last_hints=2)
    glance = rig.station.snapshot_value.surfacing
    rig.station.snapshot_value = replace(
        rig.station.snapshot_value, surfacing=replace(glance, source=source)
    )
    text = await rig.text("proxy_stats")
    assert "Net saved:" in text
    assert "answered without the upstream" in text
    assert "By tool" in text
    assert "Search hints of the memory: 4 (last: 2 hint(s))" in text


async def test_proxy_health_tells_discovered_and_advertised_tools_and_error_kinds_only(
    rig: Rig,
) -> None:
    result = await rig.call("proxy_health")
    text = result["content"][0]["text"]
    for view in rig.station.snapshot_value.upstreams:
        assert (
            f"{view.tools_discovered} tools discovered, {view.tools_advertised} advertised" in text
        )
        if view.reason:
            assert view.reason not in text
    assert "DISCONNECTED" in text
    assert "breaker closed" in text
    assert "Tool-graph eligibility provider: not configured" in text
    upstream = result["structuredContent"]["upstreams"][0]
    assert set(upstream) >= {"tools_discovered", "tools_advertised", "connected", "error"}


async def test_an_unfiltered_clearing_empties_both_caches_and_a_filtered_one_only_answers(
    rig: Rig,
) -> None:
    text = await rig.text("proxy_cache_clear")
    assert text == "Cleared all caches: 7 response-cache, 2 surfacing-cache entries."
    await rig.text("proxy_cache_clear", server="github", tool="search")
    await rig.text("proxy_cache_clear", tool="search")
    assert rig.station.executed == [ClearCache("github", "search"), ClearCache("", "search")]
    nothing = await rig.text("proxy_cache_clear", server="")
    assert "matches nothing" in nothing
    assert rig.cleared == 1


async def test_surfacing_stats_tell_all_that_the_specification_lists(rig: Rig) -> None:
    text = await rig.text("surfacing_stats")
    for part in (
        "HEALTHY",
        "Events total: 214; distinct tools: 5; total feedback: 96",
        "Ratings: helpful 61, partially_helpful 14, not_relevant 15, already_known 6",
        "Helpfulness: 76%",
        "Withheld: 3 (holdout, not counted above)",
        "Opportunities: 1,880 stored (+0 sampled out by this process)",
        "by decision: skip:response_too_short 902",
        "empty_render 1",
        "cancelled 2",
        "filesystem/read_file: 120 event(s)",
        "Recent:",
    ):
        assert part in text, part
    assert "Recent:" not in await rig.text("surfacing_stats", limit=0)
    view = rig.station.surfacing_value
    rig.station.surfacing_value = replace(
        view, withheld=0, opportunities=0, decisions=(), sampled_out=0
    )
    quiet = await rig.text("surfacing_stats")
    assert "Withheld" not in quiet
    assert "Opportunities" not in quiet
    assert Decision.CANCELLED.searched is False
    assert Decision.EMPTY_RENDER.searched is True


async def test_selection_stats_tell_the_log_and_the_write_path(rig: Rig) -> None:
    text = await rig.text("selection_stats")
    for part in (
        "By ranker: v0-passthrough 206",
        "By server: filesystem 150, github 56",
        "201 ok, 5 failed",
        "p50 12 ms",
        "Eligibility rejects: sensitive_metadata 206",
        "412 written, 0 sampled out, 0 dropped for a secret, 0 write error(s)",
        "1 rotated file(s) are not read",
    ):
        assert part in text, part


async def test_compression_stats_count_reports_per_tool(rig: Rig) -> None:
    missed = rig.station.savings_value.missed
    total = sum(line.reports for line in missed)
    assert total
    text = await rig.text("compression_stats")
    assert f"{total:,} report(s)" in text
    one = missed[0]
    result = await rig.call("compression_stats", tool=one.tool)
    assert {line["tool"] for line in result["structuredContent"]["tools"]} == {one.tool}
    empty = await rig.text("compression_stats", tool="")
    assert "0 report(s)" in empty


async def test_progressive_stats_tell_follow_ups_and_coverage(rig: Rig) -> None:
    text = await rig.text("progressive_stats")
    for part in ("31 of 12 response(s)", "follow-up rate 58%", "coverage 31%", "47,800", "61,000"):
        assert part in text, part


async def test_tuning_defaults_to_a_day_and_an_empty_tool_matches_none(rig: Rig) -> None:
    text = await rig.text("tuning_recommendations")
    assert "the last 24 hours" in text
    assert "upstreams.github.tools.search_code.max_result_tokens: 4000 -> 6000 [high]" in text
    nothing = await rig.call("tuning_recommendations", tool="", since_hours=2)
    assert nothing["structuredContent"]["recommendations"] == []
