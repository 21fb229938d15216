"""Answers between upstream and host: shaped, cancelled, shared, kept, read back; all in memory."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from config.schema import CacheSettings, Compression
from proxy.compress.notices import READ_MORE, SELECT_CHUNKS
from proxy.model import Outcome, UpstreamState
from tests.proxy.fakes import SILENCE, FakeRelay, FakeServer, running, upstream_settings

pytestmark = pytest.mark.anyio

LONG = "\n\n".join(f"Paragraph {n} speaks of subject {n % 7}." for n in range(400))
BUDGET = 500


def server(*, read_only: bool = False) -> FakeServer:
    """A server with one long answer, one short one that counts, and one that writes."""
    made = FakeServer("long", "count", "write")
    count = 0

    def call(params: dict[str, Any]) -> Any:
        nonlocal count
        if params["name"] == "long":
            return {"content": [{"type": "text", "text": LONG}]}
        count += 1
        return {"content": [{"type": "text", "text": f"{params['name']} {count}"}]}

    def listed(name: str) -> dict[str, Any]:
        tool: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
        if read_only and name != "write":
            tool["annotations"] = {"readOnlyHint": True}
        return tool

    made.handlers["tools/call"] = call
    made.handlers["tools/list"] = lambda params: {"tools": [listed(name) for name in made.tools]}
    return made


def relay(folder: Path, **settings: Any) -> FakeRelay:
    """Characters count as tokens here."""
    return FakeRelay(folder, default_max_result_tokens=BUDGET, **settings)


def text_of(answer: dict[str, Any]) -> str:
    """The first text of a tool's result."""
    return answer["result"]["content"][0]["text"]


async def test_what_fits_never_reaches_the_worker(tmp_path: Path) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        host = made.host()
        assert text_of(await host.call("a__count")) == "count 1"
        assert made.worker.jobs == []
        assert made.recorder.observed[0].strategy == ""


async def test_a_long_answer_is_shaped_recorded_and_read_back(tmp_path: Path) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        host = made.host()
        text = text_of(await host.call("a__long", _context_query="subject 3"))
        assert len(text) <= BUDGET
        call = made.recorder.observed[0]
        assert (call.strategy, call.query, call.query_source) == (
            "extract",
            "subject 3",
            "_context_query",
        )
        assert json.loads(call.before)["content"][0]["text"] == LONG
        assert made.servers["a"].of("tools/call")[0]["params"]["arguments"] == {}
        key = re.search(r'key="([0-9a-f]{16})"', text)
        assert key is not None
        part = await host.call(SELECT_CHUNKS, key=key.group(1), sections=["lines:3-3"])
        assert text_of(part).startswith("Paragraph 1 speaks of subject 1.")
        fetched = made.recorder.observed[1]
        assert (fetched.upstream, fetched.fetched_upstream, fetched.fetched_tool) == (
            "mms",
            "a",
            "long",
        )


async def test_a_call_cancelled_while_its_answer_is_shaped_gets_none(tmp_path: Path) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        host = made.host()
        await made.state("a", UpstreamState.READY)
        made.worker.holds = True
        id = host.request("tools/call", {"name": "a__long", "arguments": {}})
        await _until(lambda: bool(made.worker.held))
        assert made.router.running()[0].tool == "long"
        host.notify("notifications/cancelled", {"requestId": id})
        made.worker.release()
        assert text_of(await host.call("a__count")) == "count 1"
        assert not [frame for frame in host.frames if frame.get("id") == id]
        assert [call.outcome for call in made.recorder.observed] == [
            Outcome.CANCELLED,
            Outcome.OK,
        ]


async def test_when_the_worker_fails_a_plain_cut_within_the_budget_goes_out(
    tmp_path: Path,
) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        made.worker.fails = "the worker died"
        host = made.host()
        text = text_of(await host.call("a__long"))
        assert LONG.startswith(text[:40])
        assert len(text) < len(LONG)
        call = made.recorder.observed[0]
        assert (call.strategy, call.fault) == ("truncate", "the worker died")
        assert call.held_key


async def test_when_everything_fails_the_answer_goes_out_whole_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("proxy.pipeline.reduce_answer", broken)
    async with running(relay(tmp_path), a=server()) as made:
        made.worker.fails = "the worker died"
        host = made.host()
        assert text_of(await host.call("a__long")) == LONG
        call = made.recorder.observed[0]
        assert (call.strategy, call.held_key) == ("", "")
        assert "ZeroDivisionError" in call.fault
        assert text_of(await host.call("a__count")) == "count 1"


async def test_a_fault_in_our_own_tools_is_told_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        assert made.answers is not None

        async def broken(*_: Any) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr(made.answers, "read_more", broken)
        host = made.host()
        await host.ask("tools/list")
        answer = await host.call(READ_MORE, key="0123456789abcdef")
        assert answer["result"]["isError"] is True
        assert "ZeroDivisionError" in text_of(answer)


async def test_without_a_model_a_summary_becomes_an_extract_that_says_so(tmp_path: Path) -> None:
    made = relay(tmp_path, compression=Compression.LLM_SUMMARY)
    async with running(made, a=server()):
        await made.host().call("a__long")
        call = made.recorder.observed[0]
        assert call.strategy == "extract"
        assert call.fault == "no summary: there is no model"


async def test_identical_calls_share_one_and_the_next_takes_over_from_a_cancelled_one(
    tmp_path: Path,
) -> None:
    quiet = server(read_only=True)
    loud = quiet.handlers["tools/call"]
    async with running(relay(tmp_path), a=quiet) as made:
        first, second = made.host("first"), made.host("second")
        await first.ask("tools/list")
        quiet.handlers["tools/call"] = lambda params: SILENCE
        params = {"name": "a__count", "arguments": {}}
        leader = first.request("tools/call", params)
        follower = second.request("tools/call", params)
        await _until(lambda: len(quiet.of("tools/call")) == 1)
        quiet.handlers["tools/call"] = loud
        first.notify("notifications/cancelled", {"requestId": leader})
        assert text_of(await second.answer(follower)) == "count 1"
        assert len(quiet.of("tools/call")) == 2


async def test_followers_of_a_failed_call_are_told_the_same(tmp_path: Path) -> None:
    quiet = server(read_only=True)
    async with running(relay(tmp_path), a=quiet) as made:
        host = made.host()
        await host.ask("tools/list")
        quiet.handlers["tools/call"] = lambda params: SILENCE
        params = {"name": "a__count", "arguments": {}}
        ids = [host.request("tools/call", params) for _ in range(3)]
        await _until(lambda: len(quiet.of("tools/call")) == 1)
        quiet.die()
        for id in ids:
            assert "exited with code 3" in text_of(await host.answer(id))


async def test_kept_answers_end_with_a_write_even_one_that_was_under_way(tmp_path: Path) -> None:
    made = relay(tmp_path, cache=CacheSettings(ttl_seconds=60))
    quiet = server(read_only=True)
    loud = quiet.handlers["tools/call"]
    async with running(made, a=quiet):
        host = made.host()
        await host.ask("tools/list")
        assert text_of(await host.call("a__count")) == "count 1"
        assert text_of(await host.call("a__count")) == "count 1"
        hit = made.recorder.observed[-1]
        assert hit.cache == "hit"
        assert hit.cache_age_seconds >= 0
        quiet.handlers["tools/call"] = lambda params: (
            SILENCE if params["name"] == "write" else loud(params)
        )
        writing = host.request("tools/call", {"name": "a__write", "arguments": {}})
        assert text_of(await host.call("a__count")) == "count 2"  # read while it writes
        sent = quiet.of("tools/call")[-2]["id"]
        quiet.say({"id": sent, "result": {"content": []}})
        await host.answer(writing)
        assert text_of(await host.call("a__count")) == "count 3"


async def test_our_tools_can_be_taken_out_of_the_list(tmp_path: Path) -> None:
    async with running(relay(tmp_path, advertise_control_tools=False), a=server()) as made:
        host = made.host()
        listed = (await host.ask("tools/list"))["result"]["tools"]
        assert {tool["name"] for tool in listed} == {"a__long", "a__count", "a__write"}
        assert "key=" not in text_of(await host.call("a__long"))
        assert made.recorder.lists_sent == []
        assert "error" in await host.call(READ_MORE, key="0123456789abcdef")


async def test_a_tool_list_with_ours_is_charged_to_the_ledger(tmp_path: Path) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        await made.host().ask("tools/list")
        (ours,) = made.recorder.lists_sent
        assert b"stm_proxy_read_more" in ours


async def test_a_report_reaches_the_store_with_what_the_agent_missed(tmp_path: Path) -> None:
    async with running(relay(tmp_path), a=server()) as made:
        host = made.host()
        await host.ask("tools/list")
        arguments = {"server": "a", "tool": "long", "missing": "the end"}
        answer = await host.ask(
            "tools/call", {"name": "stm_compression_feedback", "arguments": arguments}
        )
        assert "other" in text_of(answer)
        assert made.feedback.reports[0].missing == "the end"


async def test_a_tools_own_settings_decide_about_its_answers(tmp_path: Path) -> None:
    made = relay(tmp_path)
    settings = upstream_settings("a", compression=Compression.NONE)
    async with running(made, settings, a=server()):
        assert text_of(await made.host().call("a__long")) == LONG


async def _until(holds: Any) -> None:
    """Wait, at most five seconds, for something inside the relay."""
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110  # the relay sets no event
            await asyncio.sleep(0.002)


async def test_an_answer_keeps_to_its_schema_although_its_call_came_before_the_tools_were_listed(
    tmp_path: Path,
) -> None:
    made = FakeServer("long")
    schema = {
        "type": "object",
        "properties": {"content": {"type": "string"}},
        "required": ["content"],
    }
    tool = {"name": "long", "inputSchema": {"type": "object"}, "outputSchema": schema}
    made.handlers["tools/list"] = lambda params: {"tools": [tool]}
    made.handlers["tools/call"] = lambda params: {
        "content": [{"type": "text", "text": LONG}],
        "structuredContent": {"content": LONG},
    }
    async with running(relay(tmp_path, delta=False), a=made) as fleet:
        host = fleet.host()
        answer = await host.call("a__long")  # the fleet has only just been started
        assert len(answer["result"]["structuredContent"]["content"]) < BUDGET
        assert len(text_of(answer)) < BUDGET
        fleet.worker.fails = "the worker died"
        cut = (await host.call("a__long"))["result"]
        assert len(cut["structuredContent"]["content"]) < len(LONG)
