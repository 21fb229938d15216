"""In a real station: spans at a collector, reports with their trace, failing tools withheld."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from proxy.telemetry.trace import Attribute
from proxy.tool_health import LEAST_CALLS, read_failures
from tests.support import wordy_upstream as wordy
from tests.support.collector import Collector, collecting, said
from tests.support.mcp_client import PATIENCE, RawClient, Refused, connect_host
from tests.support.stations import (
    Station,
    chaos,
    operator,
    program,
    running_station,
    wait_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("surfacing")]

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "Basic Y2FuYXJ5LWxvZ2lu"
FACT = "Shard 17 of the disk service is read-only by intent since March."


def config(*, endpoint: str, share: float = 1.0, tracing: bool = True, **more: Any) -> str:
    extra = "".join(f"{key} = {json.dumps(value)}\n" for key, value in more.items())
    return (
        "surfacing = { timeout_seconds = 10.0, cooldown_seconds = 0.0, min_score = 0.2 }\n"
        'memory = { embedder = { provider = "hashing" } }\n'
        f"proxy = {{ max_error_share = {share} }}\n"
        + program("w", [sys.executable, str(Path(wordy.__file__))])
        + chaos("c")
        + f"[tracing]\nenabled = {json.dumps(tracing)}\nendpoint = {json.dumps(endpoint)}\n{extra}"
        + f"[tracing.headers]\nAuthorization = {json.dumps(SECRET)}\n"
    )


def traces_of_reports(station: Station) -> list[tuple[str, str]]:
    """What was missed, and the trace of it."""
    with closing(
        sqlite3.connect(f"file:{station.paths.feedback_database}?mode=ro", uri=True)
    ) as db:
        return db.execute("SELECT missing, trace_id FROM reports ORDER BY id").fetchall()


async def report(host: RawClient, tool: str, missing: str, **more: str) -> str:
    arguments = {"server": "w", "tool": tool, "missing": missing, **more}
    return await host.text("stm_compression_feedback", arguments)


async def attention(station: Station) -> str:
    async with operator(station) as attached:
        return "\n".join(one.text for one in (await attached.snapshot()).attention)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask until it is so, for a limited time."""
    async with asyncio.timeout(PATIENCE):
        while not await holds():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Station, Collector]]:
    """A station that sends its traces to a collector of ours."""
    with collecting() as collector:
        home = tmp_path_factory.mktemp("h")
        with running_station(home, config(endpoint=collector.endpoint)) as station:
            yield station, collector


async def test_spans_of_a_call_reach_the_collector_and_a_refusing_one_harms_no_call(
    running: tuple[Station, Collector],
) -> None:
    station, collector = running
    async with connect_host(station.socket) as host:
        await host.tools()
        await host.text("memory_store_semantic", {"content": FACT})

        # One call with everything: the host's trace, a long answer, a memory.
        meta = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
        query = {"_context_query": "shard 17 disk read-only", "canary-name": "canary-value"}
        answer = await host.call("w__log", query, meta=meta)
        assert FACT in json.dumps(answer)
        spans = await _calls(collector, 1)
        assert set(spans[0]) == {"proxy_call", "upstream", "clean", "compress", "surface"}
        root = spans[0]["proxy_call"]
        assert root.trace_id == bytes.fromhex(TRACE)
        assert root.parent_span_id == bytes.fromhex(PARENT)
        for name, span in spans[0].items():
            assert span.trace_id == root.trace_id
            assert set(said(span)) <= {attribute.value for attribute in Attribute}
            if name != "proxy_call":
                assert root.start_time_unix_nano <= span.start_time_unix_nano
                assert span.start_time_unix_nano <= span.end_time_unix_nano
                assert span.end_time_unix_nano <= root.end_time_unix_nano
        facts = said(root)
        assert (facts["mcp.server"], facts["mcp.tool"]) == ("w", "log")
        assert (facts["mms.outcome"], facts["mms.surfacing.decision"]) == ("ok", "surfaced")
        assert facts["mms.answer.tokens"] < facts["mms.original.tokens"]  # type: ignore[operator]

        # Reports: the trace that the agent gives, the one of its last call, and none.
        assert "unresolved" not in await report(host, "log", "given", trace_id="lf-1")
        assert "unresolved" not in await report(host, "log", "found")
        told = await report(host, "prose", "not called")
        assert "Recorded (other, trace_id unresolved)." in told
        wait_until(lambda: len(traces_of_reports(station)) == 3, "the reports are written")
        assert traces_of_reports(station) == [
            ("given", "lf-1"),
            ("found", TRACE),
            ("not called", ""),
        ]

        # A tool error, and one that the upstream refuses with words of its own.
        await host.failure("w__fails")
        _, refused = host.begin(
            "tools/call", {"name": "c__fault", "arguments": {"kind": "canary-fault"}}
        )
        assert "canary-fault" in json.dumps(await refused)
        failed, wrong = (await _calls(collector, 3))[1:]
        assert said(failed["proxy_call"])["error.type"] == "tool_error"
        assert said(wrong["upstream"])["error.type"] == "error"
        assert said(wrong["proxy_call"])["mcp.method"] == "tools/call"

        # The collector dies: calls go on, and the person is told.
        collector.status = 401
        assert "short" not in await host.text("w__short")

        async def told() -> bool:
            return "correct tracing.headers. 1 trace was dropped" in await attention(station)

        await until(told)
        collector.status = 200
        await host.text("w__reads")

        async def untroubled() -> bool:
            return "tracing" not in await attention(station)

        await until(untroubled)

        # Off by hot reload: nothing more arrives.
        station.write(config(endpoint=collector.endpoint, tracing=False))

        async def off() -> bool:
            return "unresolved" not in await report(host, "versions", "again")

        await until(off)
        before = len(collector.bodies)
        await host.text("w__reads", {"other": 1})

    sent = b"".join(collector.bodies)
    for text in ("canary", "shard", "ValueError", "no fault is named", "Y2FuYXJ5", "/dev/sdb1"):
        assert text.encode() not in sent
    assert len(collector.bodies) == before
    assert all(headers["authorization"] == SECRET for headers in collector.requests)
    assert SECRET not in station.log()


async def test_a_tool_whose_calls_fail_is_withheld_as_the_settings_say(
    running: tuple[Station, Collector],
) -> None:
    station, collector = running
    async with connect_host(station.socket) as host:
        assert "c__fault" in await host.tools()
        for _ in range(LEAST_CALLS):
            _, future = host.begin("tools/call", {"name": "c__fault", "arguments": {"kind": "x"}})
            assert "error" in await future
        tool = ("c", "fault")
        wait_until(
            lambda: (
                (found := read_failures(station.paths.calls_database, time.time()).get(tool))
                is not None
                and found.calls >= LEAST_CALLS
            ),
            "the calls are recorded",
        )
        assert "c__fault" in await host.tools()

        station.write(config(endpoint=collector.endpoint, tracing=False, share=0.5))
        await host.until_notified("notifications/tools/list_changed")
        assert "c__fault" not in await host.tools()
        assert "c__echo" in await host.tools()
        with pytest.raises(Refused, match="c__fault is withheld"):
            await host.call("c__fault")

        station.write(config(endpoint=collector.endpoint, tracing=False))
        await host.until_notified("notifications/tools/list_changed", 2)
        assert "c__fault" in await host.tools()


async def _calls(collector: Collector, count: int) -> list[dict[str, Span]]:
    return await asyncio.to_thread(collector.wait_for_calls, count)
