"""Memories with answers: from a host's call to its rating, over the real router, store and stages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from config.schema import CacheSettings, Compression, SurfacingPosition, SurfacingSettings
from proxy.breaker import FIRST_OPEN_SECONDS
from proxy.callers import Callers
from proxy.compress.notices import PROGRESSIVE_FOOTER_TOKEN
from proxy.model import Outcome, UpstreamState
from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import Arm, Decision, Rater, Rating, SurfacingEvent
from proxy.surface.rating import Ratings
from proxy.surface.rules import ToolSurfacing
from proxy.surface.source import SourceUnavailable
from proxy.surface.surfacer import Surfacer
from proxy.tool_calls import RouterSurfacing
from tests.proxy.fakes import FakeHost, FakeRelay, FakeServer, running, upstream_settings
from tests.support.fake_source import FakeSource, memories

pytestmark = pytest.mark.anyio

LONG = "The deploy script of the staging cluster. " * 20
QUERY = "deploy staging cluster"
TEXTS = (
    "Staging deploys run from the release branch.",
    "The staging cluster has two nodes; deploy to one first.",
    "Invoices are rounded half to even.",
)


class Rig:
    """A relay whose answers come with memories."""

    def __init__(
        self, folder: Path, *, proxy: dict[str, Any] | None = None, **settings: Any
    ) -> None:
        """``proxy``: settings of the proxy; the others are surfacing's."""
        defaults: dict[str, Any] = {"min_score": 0.3, "timeout_seconds": 5.0}
        self.settings = SurfacingSettings(**(defaults | settings))
        self.source = FakeSource(memories(TEXTS))
        self.store = SurfacingStore(folder / "surfacing.sqlite3")
        self.changes = 0
        self.model = ""
        self.surfacer = Surfacer(
            lambda: self.settings,
            lambda: self.source,
            self.store,
            lambda text: text.replace("hunter2", "[redacted]"),
            self._changed,
            lambda: self.model,
        )
        self.callers = Callers()
        self.relay = FakeRelay(
            folder,
            surfacing=RouterSurfacing(self.surfacer, lambda: self.settings, self.callers),
            **(proxy or {}),
        )
        answers = self.relay.answers
        assert answers is not None
        self.ratings = Ratings(
            self.surfacer,
            self.store,
            lambda: self.source,
            lambda: self.settings,
            lambda upstream, tool: ToolSurfacing(None, "", self.settings.min_score),
            answers.spawn,
            self._changed,
        )
        self.server = FakeServer("read_file", "write_file", "short", "fails")
        self.server.handlers["tools/call"] = self._answer
        self.body: dict[str, Any] = {"content": [{"type": "text", "text": LONG}]}

    def _changed(self) -> None:
        self.changes += 1

    def _answer(self, params: dict[str, Any]) -> Any:
        if params["name"] == "short":
            return {"content": [{"type": "text", "text": "ok"}]}
        if params["name"] == "fails":
            return {**self.body, "isError": True}
        return self.body

    async def rate(self, host: FakeHost, surfacing_id: str, memory_id: str, rating: Rating) -> Any:
        session_id = self.callers.of(host.session).session_id
        (result,) = await self.ratings.rate_all(
            surfacing_id, [(memory_id, rating)], Rater.AGENT, session_id
        )
        return result

    def decisions(self) -> dict[Decision, int]:
        return dict(self.surfacer.counts)


@asynccontextmanager
async def running_rig(rig: Rig, **upstream: Any) -> AsyncGenerator[Rig]:
    async with asyncio.TaskGroup() as group:
        rig.surfacer.start(group)
        async with running(rig.relay, upstream_settings("fs", **upstream), fs=rig.server):
            yield rig
        if rig.source.gate is not None:
            rig.source.gate.set()
    rig.store.stop(5)


def blocks(answer: dict[str, Any]) -> list[str]:
    return [block["text"] for block in answer["result"]["content"]]


def surfacing_id(answer: dict[str, Any]) -> str:
    found = re.search(r"\b[0-9a-f]{12}\b", blocks(answer)[-1])
    assert found is not None, blocks(answer)[-1]
    return found[0]


async def ask(host: FakeHost, query: str = QUERY, tool: str = "fs__read_file") -> dict[str, Any]:
    return await host.call(tool, query=query)


async def test_memories_that_matter_come_with_an_answer_and_can_be_rated(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        host = rig.relay.host("claude-code")
        answer = await ask(host)
        first, memory_block = blocks(answer)
        assert first == LONG
        assert TEXTS[0] in memory_block
        assert TEXTS[1] in memory_block
        assert TEXTS[2] not in memory_block
        assert "m1" in memory_block
        assert "stm_surfacing_feedback" in memory_block
        id = surfacing_id(answer)
        event = rig.store.read_event(id)
        assert isinstance(event, SurfacingEvent)
        assert (event.host, event.upstream, event.tool) == ("claude-code", "fs", "read_file")
        assert (event.query, event.arm, event.source) == (QUERY, Arm.SHOWN, "memory")
        assert {one.memory_id for one in event.memories} == {"m1", "m2"}
        result = await rig.rate(host, id, "m1", Rating.HELPFUL)
        assert result.ok
        again = await rig.rate(host, id, "m1", Rating.HELPFUL)
        assert again.ok
        assert again.repeated
        recorded = rig.relay.recorder.observed[0]
        assert recorded.surfacing_id == id
        assert recorded.surfaced_tokens == event.tokens > 0
        assert rig.decisions() == {Decision.SURFACED: 1}
        assert rig.source.helpful == ["m1"]


async def test_a_memory_comes_once_in_a_session_and_again_in_the_next(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path, cooldown_seconds=0)) as rig:
        first, second = rig.relay.host(), rig.relay.host()
        assert len(blocks(await ask(first))) == 2
        assert len(blocks(await ask(first))) == 1
        assert rig.decisions()[Decision.SEEN] == 1
        assert len(blocks(await ask(second))) == 2


async def test_a_memory_that_was_rated_away_does_not_come_again_even_after_its_time(
    tmp_path: Path,
) -> None:
    async with running_rig(Rig(tmp_path, cooldown_seconds=0, dedup_ttl_seconds=1e-9)) as rig:
        host = rig.relay.host()
        id = surfacing_id(await ask(host))
        await rig.rate(host, id, "m1", Rating.NOT_RELEVANT)
        second = blocks(await ask(host))[-1]
        assert TEXTS[0] not in second
        assert TEXTS[1] in second  # only that memory
        other = rig.relay.host()
        assert TEXTS[0] in blocks(await ask(other))[-1]


async def test_an_agent_rates_only_what_its_own_session_was_shown(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        host, stranger = rig.relay.host(), rig.relay.host()
        id = surfacing_id(await ask(host))
        refused = await rig.rate(stranger, id, "m1", Rating.HELPFUL)
        assert not refused.ok
        assert "no surfacing" in refused.message
        unknown = await rig.rate(host, id, "m9", Rating.HELPFUL)
        assert not unknown.ok
        assert "m9" in unknown.message
        person = await rig.ratings.rate(id, "", Rating.NOT_RELEVANT, Rater.PERSON)
        assert person.ok
        assert "2 memories" in person.message


async def test_a_source_that_hangs_delays_an_answer_no_longer_than_the_deadline_and_is_left_alone(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, timeout_seconds=0.01, cooldown_seconds=0, max_per_minute=1000)
    rig.source.gate = asyncio.Event()
    async with running_rig(rig):
        host = rig.relay.host()
        for number in range(8):
            answer = await ask(host, f"{QUERY} number {'abcdefgh'[number]}eta")
            assert blocks(answer) == [LONG]
        counts = rig.decisions()
        assert counts[Decision.TIMEOUT] == 5
        assert counts[Decision.CIRCUIT_OPEN] == 3
        status = rig.surfacer.lookup.status()
        assert status.state == "open"
        assert "timeout_seconds" in status.problem


async def test_a_search_that_came_too_late_serves_the_next_call(tmp_path: Path) -> None:
    rig = Rig(tmp_path, timeout_seconds=0.01, cooldown_seconds=0)
    rig.source.gate = asyncio.Event()
    async with running_rig(rig):
        host = rig.relay.host()
        assert blocks(await ask(host)) == [LONG]
        rig.source.gate.set()
        rig.settings = replace(rig.settings, timeout_seconds=5.0)
        assert len(blocks(await ask(host))) == 2


async def test_a_source_that_is_always_late_is_left_alone_although_it_answers_in_the_end(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, timeout_seconds=0.01, cooldown_seconds=0, cache_seconds=0)
    async with running_rig(rig):
        host = rig.relay.host()
        for number in range(5):
            rig.source.gate = asyncio.Event()
            assert blocks(await ask(host, f"{QUERY} number {'abcdefgh'[number]}eta")) == [LONG]
            rig.source.gate.set()
        rig.source.gate = None
        assert blocks(await ask(host)) == [LONG]
        assert rig.decisions() == {Decision.TIMEOUT: 5, Decision.CIRCUIT_OPEN: 1}


async def test_searches_that_end_late_do_not_keep_the_breaker_open_for_longer(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, timeout_seconds=0.01, cooldown_seconds=0)
    rig.source.gate = asyncio.Event()
    async with running_rig(rig):
        host = rig.relay.host()
        for number in range(5):
            await ask(host, f"{QUERY} number {'abcdefgh'[number]}eta")
        assert rig.surfacer.lookup.status().state == "open"
        rig.source.failure = SourceUnavailable("it was killed")
        rig.source.gate.set()
        rig.source.gate = None
        await ask(rig.relay.host())  # the abandoned ones end meanwhile
        retry = rig.surfacer.lookup.status().retry_in_seconds
        assert retry is not None
        assert retry <= FIRST_OPEN_SECONDS


async def test_a_source_that_fails_costs_the_memories_only_and_recovers(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cooldown_seconds=0)
    rig.source.failure = SourceUnavailable("it is being restarted")
    async with running_rig(rig):
        host = rig.relay.host()
        assert blocks(await ask(host)) == [LONG]
        assert rig.decisions() == {Decision.UNAVAILABLE: 1}
        assert rig.surfacer.lookup.status().problem == "it is being restarted"
        rig.source.failure = RuntimeError("boom")
        assert blocks(await ask(host, QUERY + " again")) == [LONG]
        assert rig.decisions()[Decision.FAILED] == 1
        rig.source.failure = None
        assert len(blocks(await ask(host, QUERY + " and again"))) == 2
        assert rig.surfacer.lookup.status().problem == ""


async def test_answers_that_are_short_failed_or_of_writing_tools_are_left_alone(
    tmp_path: Path,
) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        host = rig.relay.host()
        assert blocks(await host.call("fs__short", query=QUERY)) == ["ok"]
        assert blocks(await host.call("fs__write_file", query=QUERY)) == [LONG]
        failed = await host.call("fs__fails", query=QUERY)
        assert blocks(failed) == [LONG]
        assert blocks(await host.call("fs__read_file", flag=True)) == [LONG]
        assert rig.decisions() == {
            Decision.TOO_SHORT: 1,
            Decision.WRITE_TOOL: 1,
            Decision.TOOL_ERROR: 1,
            Decision.NO_QUERY: 1,
        }


async def test_a_context_query_brings_memories_to_a_short_answer_too(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        host = rig.relay.host()
        answer = await host.call("fs__short", _context_query=QUERY)
        assert blocks(answer)[0] == "ok"
        assert TEXTS[0] in blocks(answer)[-1]
        event = rig.store.read_event(surfacing_id(answer))
        assert event is not None
        assert event.level.value == "_context_query"


async def test_what_is_held_out_is_found_and_noted_but_not_shown(tmp_path: Path) -> None:
    rig = Rig(tmp_path, holdout_rate=0.5, cooldown_seconds=0)
    async with running_rig(rig):
        for _ in range(16):
            await ask(rig.relay.host())
        counts = rig.decisions()
        assert counts[Decision.HELD_OUT] > 0
        assert counts[Decision.SURFACED] > 0
        assert counts[Decision.HELD_OUT] + counts[Decision.SURFACED] == 16


async def test_a_cancelled_call_is_left_out_and_frees_what_it_took(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.source.gate = asyncio.Event()
    async with running_rig(rig):
        host = rig.relay.host()
        id = host.request(
            "tools/call", {"name": "fs__read_file", "arguments": {"_context_query": QUERY}}
        )
        host.notify("notifications/cancelled", {"requestId": id})
        assert rig.decisions() == {Decision.CANCELLED: 1}
        assert rig.relay.recorder.observed[-1].outcome is Outcome.CANCELLED


async def test_shortened_answers_carry_memories_and_keep_their_footers(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.body = {"content": [{"type": "text", "text": LONG * 200}]}
    async with running_rig(rig, compression=None):
        host = rig.relay.host()
        answer = await ask(host)
        texts = blocks(answer)
        assert len(texts) == 2
        assert len(texts[0]) < len(LONG * 200)
        assert TEXTS[0] in texts[1]


@pytest.mark.parametrize(
    ("strategy", "last_words"), [("progressive", PROGRESSIVE_FOOTER_TOKEN), ("selective", "key=")]
)
@pytest.mark.parametrize("position", list(SurfacingPosition))
async def test_memories_come_inside_progressive_and_selective_answers_in_every_position(
    tmp_path: Path, strategy: str, last_words: str, position: SurfacingPosition
) -> None:
    sections = "\n\n".join(f"# Part {n}\n\n{LONG}" for n in range(60))
    rig = Rig(tmp_path, position=position, proxy={"compression": Compression(strategy)})
    rig.body = {"content": [{"type": "text", "text": sections}]}
    async with running_rig(rig):
        answer = await ask(rig.relay.host())
        texts = blocks(answer)
        assert len(texts) == 2  # the footer stays the end of its own block
        shown = texts[0] if position is SurfacingPosition.PREPEND else texts[1]
        cut = texts[1] if position is SurfacingPosition.PREPEND else texts[0]
        assert TEXTS[0] in shown
        assert last_words in cut
        assert TEXTS[0] not in cut


async def test_memories_come_with_cached_answers_too_and_are_not_kept_with_them(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, cooldown_seconds=0, proxy={"cache": CacheSettings(ttl_seconds=60)})
    tool = {
        "name": "read_file",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    rig.server.handlers["tools/list"] = lambda params: {"tools": [tool]}
    async with running_rig(rig):
        await rig.relay.state("fs", UpstreamState.READY)
        first, second = rig.relay.host(), rig.relay.host()
        assert len(blocks(await ask(first))) == 2
        assert blocks(await ask(first)) == [LONG]  # seen in this session
        answer = await ask(second)
        assert TEXTS[0] in blocks(answer)[1]
        assert [one.cache for one in rig.relay.recorder.observed] == ["", "hit", "hit"]
        calls = [one for one in rig.server.received if one.get("method") == "tools/call"]
        assert len(calls) == 1


async def test_queries_with_secrets_are_kept_as_a_digest_only(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path)) as rig:
        answer = await ask(rig.relay.host(), QUERY + " hunter2")
        event = rig.store.read_event(surfacing_id(answer))
        assert event is not None
        assert event.query.startswith("sha256:")


async def test_switched_off_nothing_is_searched_or_counted(tmp_path: Path) -> None:
    async with running_rig(Rig(tmp_path, enabled=False)) as rig:
        assert blocks(await ask(rig.relay.host())) == [LONG]
        assert rig.decisions() == {}
        assert rig.source.queries == []


async def test_without_any_memory_the_source_says_so(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.source.memories = []
    async with running_rig(rig):
        assert blocks(await ask(rig.relay.host())) == [LONG]
        assert rig.decisions() == {Decision.NO_MEMORIES: 1}


async def test_the_tuner_follows_the_ratings_and_its_step_can_be_taken_back(tmp_path: Path) -> None:
    rig = Rig(tmp_path, cooldown_seconds=0, max_per_minute=1000)
    rig.settings = replace(rig.settings, tuner=replace(rig.settings.tuner, min_ratings=5))
    rig.source.memories = memories(("One cluster to deploy staging.", "Who may deploy staging?"))
    async with running_rig(rig):
        for number in range(12):
            host = rig.relay.host()
            id = surfacing_id(await ask(host, f"{QUERY} case {number}"))
            # Of what was shown, only the memory with most words in common was worth it.
            event = rig.store.read_event(id)
            assert event is not None
            best = max(event.memories, key=lambda one: one.score)
            for one in event.memories:
                rating = Rating.HELPFUL if one is best else Rating.NOT_RELEVANT
                await rig.rate(host, id, one.memory_id, rating)
        steps = rig.store.read_adjustments()
        assert steps
        newest = steps[0]
        assert 0.4 < newest.after <= 0.6
        rules = ToolSurfacing(None, "", rig.settings.min_score)
        assert rig.surfacer.threshold("fs", "read_file", rules) == newest.after
        pinned = replace(rules, pinned=True)
        assert rig.surfacer.threshold("fs", "read_file", pinned) == rig.settings.min_score
