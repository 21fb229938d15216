"""One call as spans: ``proxy_call`` over ``upstream``, ``clean``, ``compress`` and ``surface``. Pure.

The router works in callbacks, so spans are made after the fact, from the moments that it noted. What
an attribute may say is fixed here: names from the settings and from offered tools, members of enums,
numbers. No text of arguments, answers, errors or memories has a way into a trace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from config.schema import Compression
from proxy.exchange import FailureKind
from proxy.model import Outcome
from proxy.surface.model import Decision

LONGEST_NAME = 128
"""Characters of an upstream's and a tool's name."""
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,200})?")
_SAMPLED = 0x01
_SAMPLING_RANGE = 1 << 64


class Stage(Enum):
    """The spans below ``proxy_call``; the value is the span's name."""

    UPSTREAM = "upstream"
    """From the moment the request was sent until it was answered."""
    CLEAN = "clean"
    COMPRESS = "compress"
    SURFACE = "surface"
    """While the answer waited for memories."""


class Attribute(Enum):
    """All that a span can say."""

    SERVER = "mcp.server"
    TOOL = "mcp.tool"
    """The upstream's own name; missing for a name that the upstream does not offer."""
    METHOD = "mcp.method"
    OUTCOME = "mms.outcome"
    STRATEGY = "mms.strategy"
    CACHE = "mms.cache"
    DECISION = "mms.surfacing.decision"
    SURFACED_TOKENS = "mms.surfacing.tokens"
    ARGUMENT_BYTES = "mms.arguments.bytes"
    ORIGINAL_BYTES = "mms.original.bytes"
    """The upstream's answer."""
    ORIGINAL_TOKENS = "mms.original.tokens"
    ANSWER_BYTES = "mms.answer.bytes"
    """What the host was sent."""
    ANSWER_TOKENS = "mms.answer.tokens"
    """Without memories that were shown with it."""
    QUEUED_MS = "mms.queued_ms"
    """How long the call waited before it was sent."""
    DURATION_MS = "mms.duration_ms"
    ERROR_TYPE = "error.type"
    """A `FailureKind`, an `Outcome`, or `COMPRESSION_FAULT`."""


COMPRESSION_FAULT = "compression_fault"
"""A strategy or the worker failed; a simpler cut went out."""

Attributes = Mapping[Attribute, str | int | float]


class Method(Enum):
    """Calls that are traced."""

    TOOL = "tools/call"
    RESOURCE = "resources/read"
    PROMPT = "prompts/get"


class CacheUse(Enum):
    """Whose answer it was."""

    NONE = ""
    HIT = "hit"
    SHARED = "shared"
    """An identical call's that was under way."""


@dataclass(frozen=True, slots=True)
class TraceContext:
    """Where a call belongs: W3C Trace Context, in lower-case hexadecimal digits."""

    trace_id: str
    """32 digits."""
    parent_id: str = ""
    """16 digits: the host's span; empty when it named none."""
    sampled: bool = True
    """False: the host says that nobody records this trace."""


@dataclass(frozen=True, slots=True)
class StageSpan:
    """One stage. Times are nanoseconds since 1970."""

    stage: Stage
    start_ns: int
    end_ns: int
    attributes: Attributes
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One call with its stages, ready to be sent. Times are nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    stages: tuple[StageSpan, ...]
    failed: bool = False


@dataclass(slots=True, eq=False)
class CallMoments:
    """What is noted of a call while it is under way, in monotonic seconds; ``None``: it did not happen."""

    context: TraceContext
    span_id: str
    tool: str = ""
    """As offered by its upstream; empty for names that nobody offers and for what is no tool's call."""
    sent: float | None = None
    answered: float | None = None
    failure: FailureKind | None = None
    shaping: float | None = None
    """When the answer was handed to the pipeline."""
    shaped: float | None = None
    placing: float | None = None
    """When the answer began to wait for memories."""
    placed: float | None = None


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of a call at its end. Free texts are only compared with what they may be."""

    server: str
    method: str
    started_at: float
    """Seconds since 1970."""
    started: float
    """The same moment in monotonic seconds."""
    ended: float
    outcome: Outcome
    argument_bytes: int = 0
    answer_bytes: int = 0
    original_bytes: int = 0
    """0: the answer went out as it came, or there was none."""
    original_tokens: int = 0
    answer_tokens: int = 0
    """0: nobody counted."""
    strategy: str = ""
    clean_ms: float = 0.0
    compress_ms: float = 0.0
    faulty: bool = False
    """A strategy or the worker failed, and a simpler cut went out."""
    cache: str = ""
    decision: Decision | None = None
    surfaced_tokens: int = 0


_STRATEGIES = frozenset({strategy.value for strategy in Compression} | {"clean"})
_METHODS = frozenset(method.value for method in Method)
_CACHE_USES = frozenset(use.value for use in CacheUse)


def context_in(traceparent: str) -> TraceContext | None:
    """Read the header of W3C Trace Context; ``None`` when it is none."""
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None:
        return None
    version, trace_id, parent_id, flags, more = found.groups()
    if version == "ff" or (version == "00" and more):
        return None
    if not trace_id.strip("0") or not parent_id.strip("0"):
        return None
    return TraceContext(trace_id, parent_id, bool(int(flags, 16) & _SAMPLED))


def is_sampled(trace_id: str, share: float) -> bool:
    """Whether a trace is among the ``share`` (0 to 1) that is recorded; the same for every reader.

    By the lower 64 bits, as TraceIdRatioBased of OpenTelemetry does it.
    """
    return int(trace_id[16:], 16) < round(share * _SAMPLING_RANGE)


def trace_of(moments: CallMoments, facts: CallFacts) -> CallTrace:
    """The call as spans."""
    timeline = _Timeline(facts)
    stages: list[StageSpan] = []
    if moments.sent is not None:
        stages.append(_upstream(moments, facts, timeline))
    stages += _worker_stages(moments, facts, timeline)
    if moments.placing is not None:
        stages.append(_surface(moments, facts, timeline))
    failed = facts.outcome not in (Outcome.OK, Outcome.CANCELLED)
    return CallTrace(
        moments.context.trace_id,
        moments.span_id,
        moments.context.parent_id,
        timeline.start_ns,
        timeline.at(facts.ended),
        _call_attributes(moments, facts, failed),
        tuple(stages),
        failed,
    )


@dataclass(slots=True)
class _Timeline:
    """Monotonic seconds as nanoseconds since 1970, within the call."""

    facts: CallFacts
    start_ns: int = field(init=False)

    def __post_init__(self) -> None:
        self.start_ns = round(self.facts.started_at * 1e9)

    def at(self, moment: float) -> int:
        inside = min(max(moment, self.facts.started), self.facts.ended)
        return self.start_ns + round((inside - self.facts.started) * 1e9)

    def span(
        self, stage: Stage, start: float, end: float, said: Attributes, *, failed: bool = False
    ) -> StageSpan:
        duration: Attributes = {Attribute.DURATION_MS: _milliseconds(end - start)}
        return StageSpan(stage, self.at(start), self.at(end), {**said, **duration}, failed)


def _call_attributes(moments: CallMoments, facts: CallFacts, failed: bool) -> Attributes:
    said: dict[Attribute, str | int | float] = {
        Attribute.SERVER: facts.server[:LONGEST_NAME],
        Attribute.OUTCOME: facts.outcome.value,
        Attribute.ARGUMENT_BYTES: facts.argument_bytes,
        Attribute.ANSWER_BYTES: facts.answer_bytes,
        Attribute.DURATION_MS: _milliseconds(facts.ended - facts.started),
    }
    if moments.tool:
        said[Attribute.TOOL] = moments.tool[:LONGEST_NAME]
    if facts.method in _METHODS:
        said[Attribute.METHOD] = facts.method
    if facts.cache and facts.cache in _CACHE_USES:
        said[Attribute.CACHE] = facts.cache
    if facts.decision is not None:
        said[Attribute.DECISION] = facts.decision.value
    if failed:
        said[Attribute.ERROR_TYPE] = _error_type(moments, facts)
    return said | _sizes(facts)


def _upstream(moments: CallMoments, facts: CallFacts, timeline: _Timeline) -> StageSpan:
    assert moments.sent is not None
    end = facts.ended if moments.answered is None else moments.answered
    said: dict[Attribute, str | int | float] = {
        Attribute.SERVER: facts.server[:LONGEST_NAME],
        Attribute.QUEUED_MS: _milliseconds(moments.sent - facts.started),
    }
    own_fault = moments.failure not in (None, FailureKind.CANCELLED)
    failed = own_fault or (
        moments.failure is None and facts.outcome in (Outcome.TOOL_ERROR, Outcome.ERROR)
    )
    if failed:
        said[Attribute.ERROR_TYPE] = _error_type(moments, facts)
    return timeline.span(Stage.UPSTREAM, moments.sent, end, said, failed=failed)


def _worker_stages(
    moments: CallMoments, facts: CallFacts, timeline: _Timeline
) -> tuple[StageSpan, ...]:
    """CLEAN and COMPRESS took so long in the worker; they end when its outcome arrived."""
    if moments.shaping is None or moments.shaped is None:
        return ()
    end = moments.shaped
    compress = max(moments.shaping, end - facts.compress_ms / 1000)
    if facts.faulty and not facts.compress_ms:
        compress = moments.shaping
    clean = max(moments.shaping, compress - facts.clean_ms / 1000)
    stages: list[StageSpan] = []
    if facts.clean_ms > 0:
        stages.append(timeline.span(Stage.CLEAN, clean, compress, {}))
    if facts.compress_ms > 0 or facts.faulty:
        said = _sizes(facts)
        if facts.faulty:
            said[Attribute.ERROR_TYPE] = COMPRESSION_FAULT
        stages.append(timeline.span(Stage.COMPRESS, compress, end, said, failed=facts.faulty))
    return tuple(stages)


def _surface(moments: CallMoments, facts: CallFacts, timeline: _Timeline) -> StageSpan:
    assert moments.placing is not None
    end = facts.ended if moments.placed is None else moments.placed
    said: dict[Attribute, str | int | float] = {}
    failed = False
    if facts.decision is not None:
        said[Attribute.DECISION] = facts.decision.value
        failed = facts.decision.fault
    if facts.surfaced_tokens:
        said[Attribute.SURFACED_TOKENS] = facts.surfaced_tokens
    if failed and facts.decision is not None:
        said[Attribute.ERROR_TYPE] = facts.decision.value
    return timeline.span(Stage.SURFACE, moments.placing, end, said, failed=failed)


def _sizes(facts: CallFacts) -> dict[Attribute, str | int | float]:
    """What shortening did to the answer, as far as it is known."""
    said: dict[Attribute, str | int | float] = {}
    if facts.strategy in _STRATEGIES:
        said[Attribute.STRATEGY] = facts.strategy
    for attribute, number in (
        (Attribute.ORIGINAL_BYTES, facts.original_bytes),
        (Attribute.ORIGINAL_TOKENS, facts.original_tokens),
        (Attribute.ANSWER_TOKENS, facts.answer_tokens),
    ):
        if number:
            said[attribute] = number
    return said


def _error_type(moments: CallMoments, facts: CallFacts) -> str:
    return facts.outcome.value if moments.failure is None else moments.failure.value


def _milliseconds(seconds: float) -> float:
    return round(max(0.0, seconds) * 1000, 3)
