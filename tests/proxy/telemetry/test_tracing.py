"""Traces on their way to a collector: delivered, or dropped and counted, and never in a call's way."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from config.schema_surfacing import TracingSettings
from proxy import wire
from proxy.model import Outcome
from proxy.telemetry.trace import CallFacts, CallTrace, trace_of
from proxy.telemetry.tracing import (
    LATEST_SECONDS,
    MOST_LATEST,
    MOST_WAITING,
    BadEndpoint,
    TraceExporter,
    Tracing,
    endpoint_of,
)
from tests.support.collector import Collector, collecting, said

PATIENCE = 30.0
ON = TracingSettings(enabled=True, endpoint="http://collector.test:4318/v1/traces")
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "Basic c2VjcmV0LXdvcmQ="


@dataclass
class FakeExporter:
    """Keeps what it is given; waits while its gate is closed."""

    trouble: str = ""
    sent: list[CallTrace] = field(default_factory=list[CallTrace])
    gate: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)
    opened: list[tuple[str, Mapping[str, str]]] = field(
        default_factory=list[tuple[str, Mapping[str, str]]]
    )
    closed: int = 0

    def open(self, endpoint: str, headers: Mapping[str, str], version: str) -> TraceExporter:
        self.opened.append((endpoint, headers))
        return self

    def send(self, traces: Sequence[CallTrace]) -> str:
        self.entered.set()
        if self.gate is not None:
            assert self.gate.wait(PATIENCE)
        if not self.trouble:
            self.sent += traces
        return self.trouble

    def close(self) -> None:
        self.closed += 1


@contextmanager
def tracing_with(exporter: FakeExporter, **more: Any) -> Generator[Tracing]:
    tracing = Tracing(ON, {}, "1", open_exporter=exporter.open, **more)
    tracing.start()
    try:
        yield tracing
    finally:
        if exporter.gate is not None:
            exporter.gate.set()
        assert tracing.stop(PATIENCE)


def call(tracing: Tracing, *, session: int = 1, tool: str = "read", meta: str = "") -> str:
    """One call from its beginning to its end; returns its trace id, empty if it is not traced."""
    params = {"_meta": wire.Raw(meta.encode())} if meta else None
    moments = tracing.begin(params, session, "files", tool)
    if moments is None:
        return ""
    moments.sent, moments.answered = 10.0, 10.1
    facts = CallFacts("files", "tools/call", 1000.0, 10.0, 10.2, Outcome.OK)
    tracing.note(trace_of(moments, facts), session, "files", tool)
    return moments.context.trace_id


def parent(flags: str = "01") -> str:
    return f'{{"traceparent":"00-{TRACE}-{PARENT}-{flags}"}}'


# off and on


def test_tracing_that_is_off_does_nothing() -> None:
    tracing = Tracing(TracingSettings(), {}, "1")
    tracing.start()
    assert not tracing.enabled
    assert not tracing.problem
    assert not [thread for thread in threading.enumerate() if thread.name == "mms-tracing"]
    assert tracing.stop(PATIENCE)


def test_settings_take_effect_at_once_and_a_new_address_gets_what_follows() -> None:
    exporter = FakeExporter()
    with tracing_with(exporter) as tracing:
        first = call(tracing)
        assert tracing.flush(PATIENCE)
        tracing.applied(replace(ON, endpoint="https://other.test/v1/traces", headers={"a": "b"}))
        second = call(tracing)
        assert tracing.flush(PATIENCE)
        tracing.applied(TracingSettings())
        assert not tracing.enabled
        assert tracing.latest(1, "files", "read") == ""
        tracing.applied(ON)
        third = call(tracing)
        assert tracing.flush(PATIENCE)
    assert [trace.trace_id for trace in exporter.sent] == [first, second, third]
    assert exporter.opened[:2] == [
        (ON.endpoint, {}),
        ("https://other.test/v1/traces", {"a": "b"}),
    ]
    assert exporter.closed == len(exporter.opened)


def test_what_waits_at_the_end_is_sent() -> None:
    exporter = FakeExporter()
    with tracing_with(exporter) as tracing:
        ids = [call(tracing) for _ in range(600)]
    assert [trace.trace_id for trace in exporter.sent] == ids


def test_the_address_is_the_one_set_else_that_of_opentelemetrys_variables() -> None:
    base = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://base:4318/"}
    both = base | {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces/x"}
    unset = TracingSettings(enabled=True)
    assert endpoint_of(ON, both) == ON.endpoint
    assert endpoint_of(unset, both) == "http://traces/x"
    assert endpoint_of(unset, base) == "http://base:4318/v1/traces"
    with pytest.raises(BadEndpoint, match=r"set tracing\.endpoint"):
        endpoint_of(unset, {})
    for bad in ("collector:4318", "ftp://x", "http://", "http://[x"):
        with pytest.raises(BadEndpoint, match=r"tracing\.endpoint is no address"):
            endpoint_of(replace(ON, endpoint=bad), {})


def test_without_an_address_calls_are_not_traced_and_the_person_is_told() -> None:
    tracing = Tracing(TracingSettings(enabled=True), {}, "1")
    tracing.start()
    assert not tracing.enabled
    assert "set tracing.endpoint" in tracing.problem


def test_without_the_extra_the_person_is_told_at_once_and_calls_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "proxy.telemetry.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    tracing = Tracing(ON, {}, "1")
    tracing.start()
    try:
        _until(lambda: bool(tracing.problem))
        assert "pip install 'mms-console[tracing]'" in tracing.problem
        assert not tracing.enabled
        call(tracing)  # one that began before it was known
    finally:
        assert tracing.stop(PATIENCE)


def _until(holds: Callable[[], bool]) -> None:
    """Wait for the thread, which tells nobody when it sets a problem."""
    for _ in range(3000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not happen")


# whose trace


def test_a_call_belongs_to_the_hosts_trace_or_to_one_of_its_own() -> None:
    exporter = FakeExporter()
    with tracing_with(exporter) as tracing:
        assert call(tracing, meta=parent()) == TRACE
        assert call(tracing, meta=parent(flags="00")) == ""
        own = [
            call(tracing),
            call(tracing, meta='{"traceparent":"nonsense"}'),
            call(tracing, meta="[]"),
        ]
    assert exporter.sent[0].parent_id == PARENT
    assert [trace.parent_id for trace in exporter.sent[1:]] == ["", "", ""]
    assert len({*own, TRACE}) == 4
    assert len({trace.span_id for trace in exporter.sent}) == 4


def test_only_the_sampled_share_is_sent_and_the_same_trace_is_treated_alike() -> None:
    exporter = FakeExporter()
    with tracing_with(exporter) as tracing:
        tracing.applied(replace(ON, sampling=0.0))
        assert call(tracing, meta=parent()) == ""
        tracing.applied(replace(ON, sampling=0.6))
        taken = {call(tracing, meta=parent()) for _ in range(20)}
        assert len(taken) == 1  # 8448eb21… is 0.52 of the range
        assert taken == {TRACE}
        tracing.applied(replace(ON, sampling=0.5))
        assert {call(tracing, meta=parent()) for _ in range(20)} == {""}


def test_a_report_is_told_the_latest_call_of_its_conversation_and_tool() -> None:
    now = [0.0]
    with tracing_with(FakeExporter(), clock=lambda: now[0]) as tracing:
        assert tracing.latest(1, "files", "read") == ""
        mine = call(tracing, session=1)
        other = call(tracing, session=2)
        call(tracing, session=1, tool="write")
        assert tracing.latest(1, "files", "read") == mine
        assert tracing.latest(3, "files", "read") == other
        assert tracing.latest(1, "files", "unknown") == ""
        now[0] = LATEST_SECONDS + 1
        assert tracing.latest(1, "files", "read") == ""
        tracing.applied(replace(ON, sampling=0.0))
        now[0] = 1.0
        call(tracing, session=1)
        call(tracing, session=2)
        assert tracing.latest(1, "files", "read") == ""  # the latest call has no trace


def test_only_so_many_latest_calls_are_remembered() -> None:
    with tracing_with(FakeExporter()) as tracing:
        for number in range(MOST_LATEST + 1):
            call(tracing, tool=f"tool-{number}")
        assert tracing.latest(1, "files", "tool-0") == ""
        assert tracing.latest(1, "files", "tool-1") != ""


# trouble


def test_what_cannot_be_delivered_is_counted_and_told_until_it_works_again() -> None:
    exporter = FakeExporter(trouble="collector.test cannot be reached")
    with tracing_with(exporter) as tracing:
        call(tracing)
        call(tracing)
        assert tracing.flush(PATIENCE)
        assert tracing.dropped == 2
        assert "collector.test cannot be reached. 2 traces were dropped." in tracing.problem
        exporter.trouble = ""
        call(tracing)
        assert tracing.flush(PATIENCE)
        assert tracing.problem == ""
        assert tracing.dropped == 2


def test_a_fault_while_sending_costs_only_its_traces() -> None:
    exporter = FakeExporter()

    def fails(traces: Sequence[CallTrace]) -> str:
        raise RuntimeError("canary")

    exporter.send = fails  # type: ignore[method-assign]
    with tracing_with(exporter) as tracing:
        call(tracing)
        assert tracing.flush(PATIENCE)
        assert "a fault in mms (RuntimeError)" in tracing.problem
        assert "canary" not in tracing.problem
        assert tracing.dropped == 1


def test_a_collector_that_hangs_holds_up_no_call_and_the_queue_is_bounded() -> None:
    exporter = FakeExporter(gate=threading.Event())
    with tracing_with(exporter) as tracing:
        call(tracing)
        assert exporter.entered.wait(PATIENCE)  # the thread waits from now on
        for _ in range(MOST_WAITING + 5):
            assert call(tracing)
        assert tracing.dropped == 5


# the real SDK


@contextmanager
def sending_to(collector: Collector, **more: Any) -> Generator[Tracing]:
    settings = TracingSettings(enabled=True, endpoint=collector.endpoint, **more)
    tracing = Tracing(settings, {}, "1.2.3")
    tracing.start()
    try:
        yield tracing
    finally:
        assert tracing.stop(PATIENCE)


def test_the_sdk_delivers_spans_with_their_parents_and_the_headers_of_the_settings() -> None:
    with collecting("/api/public/otel/v1/traces") as collector:
        with sending_to(collector, headers={"Authorization": SECRET}) as tracing:
            call(tracing, meta=parent())
            assert tracing.flush(PATIENCE)
            assert (tracing.problem, tracing.dropped) == ("", 0)
        assert collector.paths == ["/api/public/otel/v1/traces"]
        assert collector.requests[0]["authorization"] == SECRET
        (spans,) = collector.calls()
        root, upstream = spans["proxy_call"], spans["upstream"]
        assert root.trace_id == upstream.trace_id == bytes.fromhex(TRACE)
        assert root.parent_span_id == bytes.fromhex(PARENT)
        assert upstream.parent_span_id == root.span_id
        assert upstream.span_id not in (root.span_id, bytes(8))
        assert (root.start_time_unix_nano, root.end_time_unix_nano) == (1000 * 10**9, 10002 * 10**8)
        assert said(root)["mcp.server"] == "files"
        assert said(root)["mcp.tool"] == "read"
        body = collector.bodies[0]
        assert b"service.name" in body
        assert b"1.2.3" in body
        assert SECRET.encode() not in body


def test_refusals_and_redirects_are_told_in_words_of_ours_and_reveal_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    headers = {"Authorization": SECRET}
    with (
        collecting("/v1/traces?key=canary-in-the-query") as collector,
        collecting() as elsewhere,
        sending_to(collector, headers=headers) as tracing,
    ):
        for status, hint in (
            (401, "correct tracing.headers"),
            (404, "correct tracing.endpoint"),
            (400, "refuses them (HTTP 400)"),
            (302, "redirect (302), which is refused"),
            (307, "redirect (307), which is refused"),
        ):
            collector.status = status
            collector.location = elsewhere.endpoint if status in (302, 307) else ""
            call(tracing)
            assert tracing.flush(PATIENCE)
            assert hint in tracing.problem
            assert "127.0.0.1" in tracing.problem
            assert "canary" not in tracing.problem
        assert tracing.dropped == 5
        assert elsewhere.bodies == []
        assert SECRET not in caplog.text
        assert "canary" not in caplog.text


def test_a_collector_that_is_not_there_is_told_and_the_end_does_not_wait_for_it() -> None:
    with collecting() as collector:
        pass
    with sending_to(collector) as tracing:
        call(tracing)
        assert tracing.stop(2.0)  # although the SDK would try again for longer
        assert tracing.dropped == 1
