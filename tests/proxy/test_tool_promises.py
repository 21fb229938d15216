"""What ``docs/tools.md`` promises of our own tools and no other test holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from config.schema import Compression, Settings
from proxy.admin.dispatcher import Actions
from proxy.catalogue import build
from proxy.host_tools import Caller
from proxy.model import WithheldCount, WithheldReason
from proxy.station_tools import StationTools
from proxy.views import upstream_view
from tests.proxy.fakes import FakeRelay, FakeServer, running
from tests.proxy.surface.test_flow import Rig, ask, blocks, running_rig
from tests.support.fake_station import FakeStation

pytestmark = pytest.mark.anyio


def test_what_needs_a_flag_is_off_by_default() -> None:
    settings = Settings()
    assert not settings.advertise_observability_tools
    assert not settings.formation.enabled
    assert not settings.proxy.selection_telemetry.enabled
    assert not settings.proxy.recover_upstream_description


async def test_a_tool_is_described_without_a_call_of_its_upstream_four_thousand_characters_at_once(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    rig.server.handlers["tools/list"] = lambda params: {
        "tools": [FakeServer.tool("read_file") | {"description": "a" * 5_000}]
    }
    async with running_rig(rig):
        station = FakeStation()
        tools = StationTools(
            Settings,
            lambda: rig.relay.router.catalogue,
            rig.ratings,
            lambda: rig.source,
            Actions(station, lambda: (0, 0)),
        )
        await rig.relay.host().ask("tools/list")
        asked = b'{"name":"fs__read_file"}'
        answer = await tools.call("stm_proxy_describe_tool", asked, Caller("host", "session"))
        page = json.loads(answer.body)["structuredContent"]
        assert (len(page["text"]), page["next_offset"]) == (4_000, 4_000)
        assert page["total_chars"] == 5_000
        assert rig.server.of("tools/call") == []


async def test_an_answer_is_not_written_into_the_memory(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        before = list(rig.source.memories)
        assert len(blocks(await ask(rig.relay.host()))) == 2
        assert rig.source.memories == before
        assert rig.source.proposals == {}
        assert rig.source.helpful == []


async def test_a_progressive_answer_that_cannot_be_kept_goes_out_whole_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise OSError

    monkeypatch.setattr("proxy.pipeline.reduce_answer", broken)
    server = FakeServer("long")
    text = "All that matters stands at the end. " * 400
    server.handlers["tools/call"] = lambda params: {"content": [{"type": "text", "text": text}]}
    relay = FakeRelay(tmp_path, default_max_result_tokens=500, compression=Compression.PROGRESSIVE)
    async with running(relay, a=server):
        assert relay.answers is not None
        relay.worker.fails = "the store failed"
        answer = await relay.host().call("a__long")
        assert blocks(answer) == [text]
        assert relay.answers.progressive_failures == 1


async def test_tools_of_an_upstream_that_is_not_offered_any_more_count_as_disconnected() -> None:
    async with running(FakeRelay(), fs=FakeServer("a", "b")) as relay:
        await relay.host().ask("tools/list")
        upstream = relay.router.upstreams["fs"]
        view = upstream_view(upstream, build([], lambda _: False), str)
        assert view.withheld == (WithheldCount(WithheldReason.DISCONNECTED, 2),)
        assert (view.tools_discovered, view.tools_advertised) == (2, 0)
