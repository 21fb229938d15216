"""Which tools are withheld, and with which code."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from config.schema import ToolSettings, UpstreamSettings
from proxy import tool_health, wire
from proxy.catalogue import Catalogue, Offer, OfferedUpstream, build
from proxy.describe_tool import DESCRIBE_TOOL_TOOL
from proxy.descriptions import POINTER
from proxy.eligibility import looks_sensitive, runs_tasks
from proxy.model import Outcome, UpstreamView, WithheldCount, WithheldReason
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import insert_calls
from proxy.store.database import close_writer, open_for_writing, transaction
from proxy.tool_health import FailureShare, failing, read_failures
from proxy.views import upstream_view
from proxy.wire_values import decode, encode
from tests.proxy.fakes import FakeRelay, FakeServer, running
from tests.proxy.store.conftest import make_record

pytestmark = pytest.mark.anyio
KEY = "ghp_9fQ2xLmT7vRw3KzB8cYd5NjH4sGu6PaE1iXo"


def _tool(name: object, **more: Any) -> bytes:
    return json.dumps({"name": name, "inputSchema": {"type": "object"}, **more}).encode()


def _build(*upstreams: OfferedUpstream, own: tuple[bytes, ...] = ()) -> Catalogue:
    return build(upstreams, looks_sensitive, own_tools=own)


def _codes(catalogue: Catalogue, upstream: str) -> dict[str, WithheldReason]:
    return {tool.name: tool.code for tool in catalogue.withheld[upstream]}


def test_every_withheld_tool_has_a_reason_code() -> None:
    tools = (
        _tool("good"),
        _tool("good", description="another one"),
        _tool("off"),
        _tool("n" * 127),
        _tool("a b"),
        _tool(""),
        b'{"inputSchema":{}}',
        b"[1]",
        _tool("five", description=5),
        b'{"name":"none"}',
        b'{"name":"text","inputSchema":{"type":"string"}}',
        _tool("leaky", title=KEY),
        _tool("later", execution={"taskSupport": "required"}),
        _tool("now", execution={"taskSupport": "optional"}),
        _tool("sick"),
    )
    catalogue = _build(
        OfferedUpstream(
            "up",
            "u",
            Offer(tools=tools),
            frozenset({"off"}),
            runs_tasks=False,
            failing={"sick": FailureShare(9, 10)},
        ),
        own=(b'{"name":"u__reserved"}',),
    )
    assert list(catalogue.tools) == ["u__good", "u__now"]
    assert _codes(catalogue, "up") == {
        "good": WithheldReason.DUPLICATE_NAME,
        "off": WithheldReason.CONFIG_HIDDEN,
        "n" * 127: WithheldReason.NAME_OVERFLOW,
        "a b": WithheldReason.INVALID_NAME,
        "?": WithheldReason.UNREADABLE,
        "five": WithheldReason.UNREADABLE,
        "none": WithheldReason.INVALID_SCHEMA,
        "text": WithheldReason.INVALID_SCHEMA,
        "leaky": WithheldReason.SENSITIVE_METADATA,
        "later": WithheldReason.TASK_REQUIRED,
        "sick": WithheldReason.UNHEALTHY,
    }
    assert catalogue.withheld_counts("up")[:2] == (
        WithheldCount(WithheldReason.INVALID_NAME, 3),
        WithheldCount(WithheldReason.UNREADABLE, 2),
    )
    assert catalogue.reject_reasons()["invalid_schema"] == 2
    assert all(tool.reason for tool in catalogue.withheld["up"])
    assert catalogue.withheld_reason("u__sick") == (
        "9 of its 10 calls of the last 24 hours failed by its upstream's fault; "
        "proxy.max_error_share decides"
    )
    reserved = _build(
        OfferedUpstream("up", "u", Offer(tools=(_tool("reserved"),))),
        own=(b'{"name":"u__reserved"}',),
    )
    assert _codes(reserved, "up") == {"reserved": WithheldReason.RESERVED_NAME}


def test_of_two_upstreams_that_want_one_name_neither_gets_it() -> None:
    first = OfferedUpstream("first", "a", Offer(tools=(_tool("b__c"), _tool("x"))))
    second = OfferedUpstream("second", "a__b", Offer(tools=(_tool("c"), _tool("x"))))
    catalogue = _build(first, second)
    assert list(catalogue.tools) == ["a__x", "a__b__x"]
    assert _codes(catalogue, "first") == {"b__c": WithheldReason.DUPLICATE_NAME}
    assert _codes(catalogue, "second") == {"c": WithheldReason.DUPLICATE_NAME}
    assert catalogue.find_tool("a__b__c") is None
    assert "second" in (catalogue.withheld_reason("a__b__c") or "")
    off = OfferedUpstream("second", "a__b", Offer(tools=(_tool("c"),)), frozenset({"c"}))
    assert "a__b__c" in _build(first, off).tools


def test_a_task_is_relayed_where_the_upstream_runs_tasks() -> None:
    task = _tool("later", execution={"taskSupport": "required"})
    assert "u__later" in _build(OfferedUpstream("up", "u", Offer(tools=(task,)))).tools
    assert runs_tasks(wire.members_of(b'{"tasks":{"requests":{"tools":{"call":{}}}}}'))
    assert runs_tasks(wire.members_of(b'{"extensions":{"io.modelcontextprotocol/tasks":{}}}'))
    for less in (b"{}", b'{"tasks":{}}', b'{"tasks":{"requests":{}}}', b'{"tasks":5}'):
        assert not runs_tasks(wire.members_of(less))


async def test_a_call_as_a_task_and_the_questions_about_it_reach_the_upstream() -> None:
    capabilities = {"tasks": {"requests": {"tools": {"call": {}}}}}
    server = FakeServer("later", **capabilities)
    server.handlers["tools/list"] = lambda params: {
        "tools": [FakeServer.tool("later") | {"execution": {"taskSupport": "required"}}]
    }
    server.handlers["tools/call"] = lambda params: {"task": {"taskId": "7", **params["task"]}}
    server.handlers["tasks/result"] = lambda params: {"content": [], "of": params["taskId"]}
    async with running(FakeRelay(), up=server) as relay:
        host = relay.host()
        await host.ask("tools/list")
        begun = await host.ask("tools/call", {"name": "up__later", "task": {"ttl": 60}})
        done = await host.ask("tasks/result", {"taskId": "7"})
    assert begun["result"] == {"task": {"taskId": "7", "ttl": 60}}
    assert done["result"] == {"content": [], "of": "7"}


@pytest.mark.parametrize(
    "example",
    [
        "api_key: sk-…",
        "api_key: sk-...",
        "Set api_key to YOUR_API_KEY",
        "sk-your-key-goes-here-123456",
        "OPENAI_API_KEY=sk-1234567890abcdef1234567890abcdef",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "Authorization: Bearer <token>",
        "postgresql://user:password@localhost:5432/db",
        "postgres://user:pass@host/db",
        "redis://app:k3v9q2@redis.example.com:6379",
        "mysql://root:root@127.0.0.1/test",
        "password: hunter2",
    ],
)
def test_an_example_in_a_description_withholds_no_tool(example: str) -> None:
    catalogue = _build(
        OfferedUpstream("up", "u", Offer(tools=(_tool("connect", description=example),)))
    )
    assert list(catalogue.tools) == ["u__connect"]


@pytest.mark.parametrize(
    "more",
    [
        {"description": f"Uses {KEY}."},
        {"title": KEY},
        {"annotations": {"title": KEY}},
        {"inputSchema": {"type": "object", "properties": {"a": {"default": KEY}}}},
        {"outputSchema": {"type": "object", "description": KEY}},
        {"_meta": {"com.example/token": KEY}},
        {"icons": [{"src": "https://bot:hT7kd93LwQzz@files.acme.io/icon.png"}]},
        {"description": "postgres://app:hT7kd93LwQzz@db.internal:5432/prod"},
        {"description": "Authorization: Bearer f8K2nQ7vXw3TzLm9Rb4Yc6Hd"},
        {"description": f"line\n{KEY}"},
    ],
)
def test_a_real_looking_key_anywhere_in_the_metadata_withholds_the_tool(more: Any) -> None:
    tool = _tool("connect", **more)
    escaped = tool.replace(b"ghp_", b"g\\u0068p_").replace(b"://", b":\\/\\/")
    for text in (tool, escaped):
        catalogue = _build(OfferedUpstream("up", "u", Offer(tools=(text,))))
        assert _codes(catalogue, "up") == {"connect": WithheldReason.SENSITIVE_METADATA}
        assert KEY not in str(catalogue.withheld)


def test_failures_are_read_from_the_recorded_calls_of_a_day(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite3"
    assert read_failures(file, 0.0) == {}
    now = 1_700_100_000.0
    outcomes = (
        *("timeout", "timeout", "upstream_lost", "error", "ok", "tool_error", "cancelled"),
        "too long",
    )
    records = [
        make_record(
            number,
            started_at=now - 60,
            outcome=Outcome.ERROR if what == "too long" else Outcome(what),
            error="mms: the answer has 9 bytes" if what == "too long" else what,
        )
        for number, what in enumerate(outcomes, 1)
    ]
    old = [
        make_record(number, started_at=now - 90_000, outcome=Outcome.TIMEOUT)
        for number in range(20, 30)
    ]
    connection = open_for_writing(file, MIGRATIONS).connection
    with transaction(connection):
        insert_calls(connection, [*records, *old])
    close_writer(file, connection)
    assert read_failures(file, now) == {("files", "read_file"): FailureShare(4, 7)}


async def test_failures_are_followed_and_a_history_that_cannot_be_read_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_health, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(tool_health, "AGAIN_SECONDS", 0.0)
    found: list[tool_health.Failures] = []
    file = tmp_path / "calls.sqlite3"
    looks: list[float] = []

    def now() -> float:
        looks.append(0.0)
        if len(looks) == 1:
            file.write_bytes(b"this is no database" * 100)
        else:
            file.unlink(missing_ok=True)
        return 0.0

    def apply(failures: tool_health.Failures) -> None:
        found.append(failures)
        following.cancel()

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        following = group.create_task(tool_health.follow_failures(file, apply, clock=now))
    assert found == [{}]
    assert len(looks) == 2


def test_a_tool_is_failing_above_the_share_after_five_calls_and_never_at_one() -> None:
    failures = {
        ("up", "bad"): FailureShare(5, 5),
        ("up", "half"): FailureShare(5, 10),
        ("up", "few"): FailureShare(4, 4),
    }
    assert failing(failures, 1.0) == {}
    assert failing(failures, 0.95) == {"up": {"bad": FailureShare(5, 5)}}
    assert set(failing(failures, 0.5)["up"]) == {"bad", "half"}


async def test_settings_decide_what_is_said_of_tools_and_health_withholds_them() -> None:
    long = "word " * 60
    server = FakeServer("a", "b", "c")
    server.handlers["tools/list"] = lambda params: {
        "tools": [FakeServer.tool(name) | {"description": long} for name in server.tools]
    }
    relay = FakeRelay(max_description_chars=100, max_error_share=0.9)
    async with running(relay, up=server):
        await relay.host().ask("tools/list")
        lists = relay.router._lists
        upstream = relay.router.upstreams["up"]
        lists.own_tools = lambda: (DESCRIBE_TOOL_TOOL,)
        upstream.settings = UpstreamSettings(
            name="up",
            prefix="up",
            command="x",
            max_description_chars=200,
            tools={
                "a": ToolSettings(description_override="Ours."),
                "b": ToolSettings(max_description_chars=80),
            },
        )
        assert lists.rebuild() == {"tools"}
        failures = {("up", "c"): FailureShare(9, 9)}
        assert lists.note_failures(failures) == {"tools"}
        assert lists.note_failures(dict(failures)) == frozenset()
        tools = json.loads(relay.router.catalogue.list_result("tools"))["tools"]
        told = {tool["name"]: tool["description"] for tool in tools[:2]}
        assert told["up__a"] == "Ours."
        assert len(told["up__b"]) <= 80
        assert told["up__b"].endswith(POINTER)
        view = upstream_view(upstream, relay.router.catalogue, str)
        assert (view.tools_discovered, view.tools_advertised) == (3, 2)
        assert view.withheld == (WithheldCount(WithheldReason.UNHEALTHY, 1),)
        assert decode(encode(view), UpstreamView) == view
        assert lists.note_failures({}) == {"tools"}
        assert len(relay.router.catalogue.tools["up__c"].text) > 200
