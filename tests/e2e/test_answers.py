"""Long answers through a real station: within the budget, nothing lost, and what they saved."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memory.tools.names import NAMES
from proxy.answer_model import WhatIfQuery
from proxy.commands import ClearCache
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN, READ_MORE, SELECT_CHUNKS
from proxy.model import CallQuery
from proxy.tokens import InProcessCounter
from tests.support import wordy_upstream as wordy
from tests.support.mcp_client import OWN_PREFIXES, RawClient, connect_host
from tests.support.stations import (
    Station,
    operator,
    program,
    running_station,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("answers")]

PROGRAM = str(Path(wordy.__file__))
BUDGET = 1_000
_KEY = re.compile(r'key=\\?"([0-9a-f]{16})')


def settings(journal: Path, **keys: Any) -> str:
    """An upstream with long answers."""
    return program(
        "w", [sys.executable, PROGRAM, "--journal", str(journal)], max_result_tokens=BUDGET, **keys
    )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Station]:
    """A station whose upstream has answers over the budget."""
    journal = tmp_path_factory.mktemp("j") / "calls"
    with running_station(tmp_path_factory.mktemp("h"), settings(journal)) as station:
        yield station


def tokens(*texts: str) -> int:
    """The o200k count."""
    return sum(InProcessCounter()(texts))


def texts_of(result: Any) -> list[str]:
    """All texts of a result."""
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def key_in(text: str) -> str:
    """The handle that an answer names."""
    found = _KEY.search(text)
    assert found is not None, text[-500:]
    return found.group(1)


async def read_all(host: RawClient, key: str) -> str:
    """Everything behind a handle, chunk by chunk."""
    parts: list[str] = []
    offset = 0
    while True:
        chunk = await host.text(READ_MORE, {"key": key, "offset": offset})
        assert tokens(chunk) <= 4_000
        body, _, footer = chunk.rpartition(PROGRESSIVE_FOOTER_TOKEN)
        parts.append(body)
        end = re.match(r"(\d+)-(\d+)/(\d+) \| remaining=(\d+) \| has_more=(True|False)", footer)
        assert end is not None, footer
        offset = int(end.group(2))
        if end.group(5) == "False":
            return "".join(parts)


async def test_an_answer_within_the_budget_has_the_upstreams_bytes(running: Station) -> None:
    async with connect_host(running.socket) as host:
        result = await host.call("w__short")
    (text,) = texts_of(result)
    assert text.endswith("\u00e4\u00f6\u00fc   \r\n\ttrailing  \n\n\n\nend ")
    assert set(result) == {"content"}


@pytest.mark.parametrize(
    ("tool", "original"),
    [
        ("rows", json.dumps(wordy.rows(), indent=1)),
        ("log", wordy.log()),
        ("prose", wordy.prose()),
        ("windows", "a line that ends as Windows ends it\r\n" * 3_000),
    ],
)
async def test_a_longer_one_fits_and_comes_back_byte_for_byte(
    running: Station, tool: str, original: str
) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        result = await host.call(f"w__{tool}")
        (text,) = texts_of(result)
        assert tokens(text) <= BUDGET
        assert await read_all(host, key_in(text)) == original


async def test_what_is_asked_for_is_in_the_answer(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        query = "where did the lighthouse keeper hide the brass key"
        text = await host.text("w__prose", {"_context_query": query})
        assert "under the third flagstone" in text
        row = await host.text("w__rows", {"_context_query": "item-0217"})
        items = json.loads(row)["items"]
        wanted = wordy.rows()["items"][217]
        assert wanted in items
        error = await host.text("w__log")
        assert "shard 17 is read-only" in error


async def test_a_part_is_fetched_in_one_step_by_line_word_or_pointer(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        key = key_in(await host.text("w__log"))
        lines = wordy.log().splitlines(keepends=True)

        async def part(key: str, section: str) -> str:
            return await host.text(SELECT_CHUNKS, {"key": key, "sections": [section]})

        assert "".join(lines[7_320:7_323]).strip() in await part(key, "lines:7321-7323")
        assert "shard 17 is read-only" in await part(key, "grep:read-only")
        key = key_in(await host.text("w__rows"))
        item = json.loads(await part(key, "json:/items/42"))
        assert item == wordy.rows()["items"][42]


async def test_structured_content_still_fits_its_schema_and_agrees(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        result = await host.call("w__structured", {"_context_query": "item-0300"})
        text, structured = "\n".join(texts_of(result)), result["structuredContent"]
        assert tokens(text, json.dumps(structured, separators=(",", ":"))) <= BUDGET
        jsonschema.validate(structured, wordy.SCHEMA)
        assert wordy.rows()["items"][300] in structured["items"]
        shown = [
            item for item in json.loads(texts_of(result)[0])["items"] if isinstance(item, dict)
        ]
        names = {item["name"] for item in structured["items"]}
        assert (
            names <= {item["name"] for item in shown} or {item["name"] for item in shown} <= names
        )


async def test_images_and_links_keep_their_places(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        result = await host.call("w__mixed")
        kinds = [block["type"] for block in result["content"]]
        assert kinds[:4] == ["text", "image", "resource_link", "text"]
        assert result["content"][1]["data"] == "iVBORw0KGgo" * 4_000
        assert tokens(*texts_of(result)) <= BUDGET


async def test_an_error_keeps_its_head_and_tail(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        result = await host.call("w__fails")
        (text,) = texts_of(result)
        assert result["isError"] is True
        assert text.startswith("head of it")
        assert "ValueError: the tail" in text
        assert tokens(text) <= BUDGET


async def test_a_repeated_call_is_answered_by_what_changed(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        await host.text("w__versions", {"same": 2})
        unchanged = await host.text("w__versions", {"same": 2})
        assert "unchanged" in unchanged
        assert tokens(unchanged) < 100
        changed = await host.text("w__versions", {"same": 2})
        assert "+500: this line was written anew" in changed
        assert tokens(changed) < 400
        assert "500: this line was written anew" in await read_all(host, key_in(changed))
    async with connect_host(running.socket) as other:  # another session has seen nothing yet
        await other.tools()
        assert "unchanged" not in await other.text("w__versions", {"same": 2})


async def test_mistakes_in_our_own_tools_say_what_would_be_right(running: Station) -> None:
    async with connect_host(running.socket) as host:
        await host.tools()
        key = key_in(await host.text("w__prose"))
        assert "0123" in await host.failure(READ_MORE, {"key": "0123456789abcdef"})
        assert "offset" in await host.failure(READ_MORE, {"key": key, "offset": 10**9})
        assert "sections" in await host.failure(SELECT_CHUNKS, {"key": key})
        assert "lines:" in await host.failure(SELECT_CHUNKS, {"key": key, "sections": ["nowhere"]})
        wrong = {"server": "w", "tool": "nothing", "missing": "x"}
        assert "prose" in await host.failure("stm_compression_feedback", wrong)
        right = {"server": "w", "tool": "prose", "missing": "the end", "kind": "truncated"}
        assert "truncated" in await host.text("stm_compression_feedback", right)
    async with operator(running) as seen:
        (missed,) = (await seen.savings(1)).missed
        assert (missed.upstream, missed.tool, missed.kind) == ("w", "prose", "truncated")
        assert missed.latest == ("the end",)


async def test_our_tools_are_listed_last_and_small(running: Station) -> None:
    async with connect_host(running.socket) as host:
        listed = (await host.request("tools/list"))["tools"]
    own = [tool for tool in listed if tool["name"].startswith(OWN_PREFIXES)]
    assert listed[-len(own) :] == own
    assert {tool["name"] for tool in own} == {
        READ_MORE,
        SELECT_CHUNKS,
        "stm_compression_feedback",
        "stm_proxy_describe_tool",
        "stm_surfacing_feedback",
        *NAMES,
    }
    reading = [tool for tool in own if tool["name"].startswith("stm_")]
    assert len(json.dumps(reading, separators=(",", ":"))) <= 3_584
    assert len(json.dumps(own, separators=(",", ":"))) <= 12_200


async def test_the_context_query_never_reaches_the_upstream_but_its_own_does(
    running: Station,
) -> None:
    async with connect_host(running.socket) as host:
        plain = await host.text("w__says_nothing", {"a": 1, "_context_query": "secret wish"})
        assert plain.endswith('{"a": 1}')
        own = await host.text("w__own_query", {"_context_query": "mine"})
        assert '"_context_query": "mine"' in own


async def test_without_our_tools_in_the_list_no_handle_is_given(tmp_path: Path) -> None:
    config = "[proxy]\nadvertise_control_tools = false\n\n" + settings(tmp_path / "j")
    with running_station(tmp_path / "h", config) as station:
        async with connect_host(station.socket) as host:
            listed = (await host.request("tools/list"))["tools"]
            assert not any(tool["name"].startswith("stm_") for tool in listed)
            text = await host.text("w__prose")
            assert tokens(text) <= BUDGET
            assert _KEY.search(text) is None
            assert "not shown" in text or "shown" in text


async def test_handles_survive_a_killed_station(tmp_path: Path) -> None:
    with running_station(tmp_path / "h", settings(tmp_path / "j")) as station:
        async with connect_host(station.socket) as host:
            await host.tools()
            key = key_in(await host.text("w__prose"))
            async with operator(station) as seen:
                async with asyncio.timeout(30):
                    while not (await seen.held(10)).answers:  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
            await asyncio.sleep(0.3)  # written about 50 ms after it is listed
        station.stop(signal.SIGKILL)
        station.start()
        async with connect_host(station.socket) as host:
            assert await read_all(host, key) == wordy.prose()


async def test_answers_are_given_again_only_as_the_settings_allow(tmp_path: Path) -> None:
    config = settings(tmp_path / "j", cache_ttl_seconds=60)
    with running_station(tmp_path / "h", config) as station:
        async with connect_host(station.socket) as host:
            await host.tools()  # what a tool says about itself is known from here on
            first = await host.text("w__reads", {"a": 1})
            assert await host.text("w__reads", {"a": 1}) == first
            assert await host.text("w__reads", {"a": 2}) != first
            assert (await host.text("w__says_nothing")) != (await host.text("w__says_nothing"))
            await host.text("w__writes")
            assert await host.text("w__reads", {"a": 1}) != first
            again = await host.text("w__reads", {"a": 1})
            async with operator(station) as seen:
                assert (await seen.execute(ClearCache())).ok
            assert await host.text("w__reads", {"a": 1}) != again


async def test_identical_calls_at_the_same_time_share_one(tmp_path: Path) -> None:
    journal = tmp_path / "j"
    with running_station(tmp_path / "h", settings(journal)) as station:
        async with connect_host(station.socket) as host, connect_host(station.socket) as other:
            await host.tools()
            arguments = {"wait": 0.5}
            async with asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(one.text("w__reads", arguments))
                    for one in (host, other, host)
                ]
            assert len({task.result() for task in asked}) == 1
    assert len(journal.read_text().splitlines()) == 1


async def test_the_ledger_adds_up_and_what_if_answers(running: Station) -> None:
    async with connect_host(running.socket, "ledger") as host:
        await host.tools()
        text = await host.text("w__prose", {"_context_query": "brass key"})
        await host.text(SELECT_CHUNKS, {"key": key_in(text), "sections": ["lines:1-20"]})
        async with operator(running) as seen:
            async with asyncio.timeout(30):
                while len(calls := await seen.calls(CallQuery(host="ledger"))) < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            fetched, reduced = calls
            assert (fetched.fetched_upstream, fetched.fetched_tool) == ("w", "prose")
            assert reduced.strategy == "extract"
            assert reduced.before.tokens == tokens(wordy.prose())
            assert reduced.text.tokens == tokens(text)
            assert reduced.held_key
            detail = await seen.call(reduced.id)
            assert detail is not None
            assert (detail.query, detail.query_source) == ("brass key", "_context_query")
            assert detail.original is not None
            savings = await seen.savings(1)
            line = savings.by_tool()["w", "prose"]
            assert line.fetched >= fetched.text.tokens
            assert line.net == line.before - line.sent - line.fetched - line.control_tools
            assert sum(one.savings.net for one in savings.lines) == savings.total.net
            tried = await seen.what_if(
                WhatIfQuery(reduced.id, ("extract", "truncate", "selective"), 500)
            )
            assert tried.problem == ""
            assert tried.before_tokens == reduced.before.tokens
            assert [variant.asked for variant in tried.variants] == [
                "extract",
                "truncate",
                "selective",
            ]
            assert all(variant.tokens <= 500 for variant in tried.variants)
            assert all(variant.facts.lost == 0 for variant in tried.variants)
