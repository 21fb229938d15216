"""A call as spans: where it belongs, when its stages were, and that nobody's text is in it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace.sampling import Decision as Sampling
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from config.schema import Compression
from config.schema_surfacing import TracingSettings
from proxy.exchange import FailureKind
from proxy.model import Outcome, UpstreamState
from proxy.surface.model import Decision
from proxy.telemetry.trace import (
    COMPRESSION_FAULT,
    Attribute,
    CallFacts,
    CallMoments,
    CallTrace,
    Stage,
    StageSpan,
    TraceContext,
    context_in,
    is_sampled,
    trace_of,
)
from proxy.telemetry.tracing import Tracing
from tests.proxy.fakes import ErrorAnswer, FakeRelay, FakeServer, running

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
MINE = "00f067aa0ba902b7"
_digits = st.text("0123456789abcdef", min_size=32, max_size=32)


def facts(**known: Any) -> CallFacts:
    """A call of 100 ms that began at 1,000 s, 50 s by the monotonic clock."""
    defaults: dict[str, Any] = {
        "server": "files",
        "method": "tools/call",
        "started_at": 1000.0,
        "started": 50.0,
        "ended": 50.1,
        "outcome": Outcome.OK,
    }
    return CallFacts(**(defaults | known))


def moments(**known: Any) -> CallMoments:
    return CallMoments(TraceContext(TRACE, PARENT), MINE, "read_file", **known)


def stage(trace: CallTrace, wanted: Stage) -> StageSpan:
    return next(span for span in trace.stages if span.stage is wanted)


def within(span: StageSpan) -> tuple[float, float]:
    """Start and end, in milliseconds since the call began."""
    return (span.start_ns - 1_000_000_000_000) / 1e6, (span.end_ns - 1_000_000_000_000) / 1e6


# where a call belongs


@given(_digits.filter(lambda text: text.strip("0")), st.integers(1, (1 << 64) - 1), st.booleans())
def test_a_hosts_trace_is_read_as_it_was_written(trace: str, parent: int, sampled: bool) -> None:
    found = context_in(f"00-{trace}-{parent:016x}-{int(sampled):02x}")
    assert found == TraceContext(trace, f"{parent:016x}", sampled)
    assert context_in(f"01-{trace}-{parent:016x}-{int(sampled):02x}-more") == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"00-{TRACE}-{PARENT}",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01\n",
        f"01-{TRACE}-{PARENT}-01-" + "x" * 1000,
    ],
)
def test_what_is_no_trace_context_is_none(text: str) -> None:
    assert context_in(text) is None


@given(st.text())
def test_any_text_can_be_asked_for_its_trace(text: str) -> None:
    context_in(text)


@given(_digits, st.floats(0, 1), st.floats(0, 1))
def test_sampling_follows_the_trace_id_as_opentelemetry_does(
    trace: str, one: float, other: float
) -> None:
    smaller, larger = sorted((one, other))
    assert is_sampled(trace, smaller) == is_sampled(trace, smaller)
    assert is_sampled(trace, 1.0)
    assert not is_sampled(trace, 0.0)
    assert is_sampled(trace, larger) or not is_sampled(trace, smaller)
    theirs = TraceIdRatioBased(smaller).should_sample(None, int(trace, 16), "proxy_call")
    assert is_sampled(trace, smaller) == (theirs.decision is not Sampling.DROP)


# stages


def test_stages_stand_where_they_were_within_the_call() -> None:
    trace = trace_of(
        moments(
            sent=50.01, answered=50.04, shaping=50.041, shaped=50.07, placing=50.071, placed=50.09
        ),
        facts(
            clean_ms=5.0,
            compress_ms=15.0,
            strategy="extract",
            original_bytes=9000,
            original_tokens=3000,
            answer_tokens=900,
            answer_bytes=2700,
            argument_bytes=20,
            decision=Decision.SURFACED,
            surfaced_tokens=80,
        ),
    )
    assert (trace.trace_id, trace.parent_id, trace.span_id) == (TRACE, PARENT, MINE)
    assert (trace.start_ns, trace.end_ns) == (1_000_000_000_000, 1_000_100_000_000)
    assert [span.stage for span in trace.stages] == list(Stage)
    assert within(stage(trace, Stage.UPSTREAM)) == pytest.approx((10, 40))
    assert within(stage(trace, Stage.CLEAN)) == pytest.approx((50, 55))
    assert within(stage(trace, Stage.COMPRESS)) == pytest.approx((55, 70))
    assert within(stage(trace, Stage.SURFACE)) == pytest.approx((71, 90))
    assert trace.attributes == {
        Attribute.SERVER: "files",
        Attribute.TOOL: "read_file",
        Attribute.METHOD: "tools/call",
        Attribute.OUTCOME: "ok",
        Attribute.STRATEGY: "extract",
        Attribute.DECISION: "surfaced",
        Attribute.ARGUMENT_BYTES: 20,
        Attribute.ORIGINAL_BYTES: 9000,
        Attribute.ANSWER_BYTES: 2700,
        Attribute.ORIGINAL_TOKENS: 3000,
        Attribute.ANSWER_TOKENS: 900,
        Attribute.DURATION_MS: 100.0,
    }
    assert stage(trace, Stage.UPSTREAM).attributes[Attribute.QUEUED_MS] == 10.0
    assert stage(trace, Stage.SURFACE).attributes[Attribute.SURFACED_TOKENS] == 80
    assert not trace.failed
    assert not any(span.failed for span in trace.stages)


def test_a_stage_that_did_not_happen_has_no_span() -> None:
    kept = trace_of(moments(), facts(cache="hit"))
    assert kept.stages == ()
    assert kept.attributes[Attribute.CACHE] == "hit"
    short = trace_of(moments(sent=50.0, answered=50.05, shaping=50.05, shaped=50.06), facts())
    assert [span.stage for span in short.stages] == [Stage.UPSTREAM]


def test_failures_are_named_by_their_kind() -> None:
    late = trace_of(
        moments(sent=50.0, answered=50.1, failure=FailureKind.TIMEOUT),
        facts(outcome=Outcome.TIMEOUT),
    )
    upstream = stage(late, Stage.UPSTREAM)
    assert late.failed
    assert upstream.failed
    assert upstream.attributes[Attribute.ERROR_TYPE] == "timeout"
    assert late.attributes[Attribute.ERROR_TYPE] == "timeout"

    wrong = trace_of(moments(sent=50.0, answered=50.1), facts(outcome=Outcome.TOOL_ERROR))
    assert wrong.attributes[Attribute.ERROR_TYPE] == "tool_error"

    unshown = trace_of(
        moments(placing=50.0), facts(decision=Decision.TIMEOUT, outcome=Outcome.CANCELLED)
    )
    assert not unshown.failed
    assert stage(unshown, Stage.SURFACE).failed
    assert within(stage(unshown, Stage.SURFACE)) == pytest.approx((0, 100))

    broken = trace_of(moments(shaping=50.02, shaped=50.06), facts(faulty=True))
    assert within(stage(broken, Stage.COMPRESS)) == pytest.approx((20, 60))
    assert stage(broken, Stage.COMPRESS).attributes[Attribute.ERROR_TYPE] == COMPRESSION_FAULT


@given(
    st.lists(st.none() | st.floats(0, 100), min_size=6, max_size=6),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.booleans(),
)
def test_no_stage_leaves_its_call_and_none_ends_before_it_begins(
    times: Sequence[float | None], clean_ms: float, compress_ms: float, faulty: bool
) -> None:
    sent, answered, shaping, shaped, placing, placed = times
    trace = trace_of(
        moments(
            sent=sent,
            answered=None if sent is None or answered is None else max(sent, answered),
            shaping=shaping,
            shaped=None if shaping is None or shaped is None else max(shaping, shaped),
            placing=placing,
            placed=None if placing is None or placed is None else max(placing, placed),
        ),
        facts(clean_ms=clean_ms, compress_ms=compress_ms, faulty=faulty),
    )
    for span in trace.stages:
        assert trace.start_ns <= span.start_ns <= span.end_ns <= trace.end_ns


# what a trace may say

_TEXTS = {
    Attribute.METHOD: {"tools/call", "resources/read", "prompts/get"},
    Attribute.OUTCOME: {outcome.value for outcome in Outcome},
    Attribute.STRATEGY: {strategy.value for strategy in Compression} | {"clean"},
    Attribute.CACHE: {"hit", "shared"},
    Attribute.DECISION: {decision.value for decision in Decision},
    Attribute.ERROR_TYPE: {one.value for one in (*FailureKind, *Outcome, *Decision)}
    | {COMPRESSION_FAULT},
}


def assert_says_nothing_else(trace: CallTrace, tools: set[str]) -> None:
    """Every text of a trace is one that was fixed before the call."""
    allowed = _TEXTS | {Attribute.SERVER: {"up"}, Attribute.TOOL: tools}
    for attributes in (trace.attributes, *(span.attributes for span in trace.stages)):
        for name, value in attributes.items():
            assert not isinstance(value, str) or value in allowed[name]


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_free_texts_among_the_facts_do_not_become_attributes(
    method: str, strategy: str, cache: str
) -> None:
    told = facts(server="up", method=method, strategy=strategy, cache=cache)
    assert_says_nothing_else(trace_of(moments(shaping=50.0, shaped=50.0), told), {"read_file"})


_canary = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).map("canary-".__add__)


@settings(max_examples=12, deadline=None)
@given(_canary, st.booleans())
def test_no_text_of_arguments_answers_errors_or_invented_names_is_in_a_trace(
    canary: str, long: bool
) -> None:
    anyio.run(_calls_with, canary, long)


async def _calls_with(canary: str, long: bool) -> None:
    """Calls of every kind whose every text is the canary."""
    text = canary * 3000 if long else canary
    server = FakeServer("good", "wrong", "broken", resources={}, prompts={})
    server.handlers["tools/call"] = lambda params: {
        "wrong": {"content": [{"type": "text", "text": text}], "isError": True},
        "broken": ErrorAnswer(-32000, text, {"why": canary}),
    }.get(params["name"], {"content": [{"type": "text", "text": text}]})
    server.handlers["resources/list"] = lambda _: {"resources": [{"uri": "x:y", "name": canary}]}
    server.handlers["resources/read"] = lambda _: {"contents": [{"uri": "x:y", "text": text}]}
    taken: list[CallTrace] = []
    tracing = _Kept(taken)
    with tempfile.TemporaryDirectory() as folder:
        async with running(
            FakeRelay(Path(folder), tracing=tracing, default_max_result_tokens=200), up=server
        ) as relay:
            await relay.state("up", UpstreamState.READY)
            host = relay.host()
            await host.ask("tools/list")
            meta = {"traceparent": f"00-{TRACE}-{PARENT}-01", canary: canary}
            for name in ("good", "wrong", "broken", canary):
                arguments = {canary: canary, "_context_query": canary}
                params = {"name": f"up__{name}", "arguments": arguments, "_meta": meta}
                await host.ask("tools/call", params)
            await host.ask("resources/read", {"uri": "x:y"})
            host.request("tools/call", {"name": "up__good", "arguments": {"a": canary}}, 99)
            host.notify("notifications/cancelled", {"requestId": 99, "reason": canary})
    assert len(taken) == 6
    for trace in taken:
        assert_says_nothing_else(trace, {"good", "wrong", "broken"})
        assert canary not in repr(trace)
        assert json.dumps(canary)[1:-1] not in repr(trace)
    assert [trace.parent_id for trace in taken] == [PARENT] * 4 + [""] * 2
    assert [trace.attributes.get(Attribute.TOOL) for trace in taken] == [
        "good",
        "wrong",
        "broken",
        None,
        None,
        "good",
    ]
    assert [trace.attributes[Attribute.OUTCOME] for trace in taken] == [
        "ok",
        "tool_error",
        "error",
        "ok",
        "ok",
        "cancelled",
    ]


class _Kept(Tracing):
    """Keeps traces in a list instead of sending them."""

    def __init__(self, taken: list[CallTrace]) -> None:
        super().__init__(TracingSettings(enabled=True), {}, "1")
        self.enabled = True
        self._taken = taken

    def note(self, trace: CallTrace, session: int, server: str, tool: str) -> None:
        self._taken.append(trace)
