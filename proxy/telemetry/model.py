"""The vocabulary of selection telemetry and of progressive answers: aggregates, frozen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of latencies, in milliseconds."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class NamedCount:
    """How often something occurred."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SelectionView:
    """The active log of tool selections, added up, and this station's write path."""

    enabled: bool
    file: str
    events: int
    """Lines of the active log that could be read."""
    unreadable: int
    selections: int
    executions: int
    by_ranker: tuple[NamedCount, ...]
    by_server: tuple[NamedCount, ...]
    by_tool: tuple[NamedCount, ...]
    """``UPSTREAM/TOOL``, most selected first."""
    ok: int
    errors: int
    latency: Percentiles | None
    """``None``: no execution was logged."""
    cache_hits: int
    error_types: tuple[NamedCount, ...]
    reject_reasons: tuple[NamedCount, ...]
    """Why tools were withheld, by reason code, added up over the logged selections."""
    rotated_files: int
    """Backups beside the active log; they are not read."""
    written: int
    """By this station since its start, as the following ones."""
    sampled_out: int
    redaction_drops: int
    """Lines that were not written since a secret was in them."""
    write_errors: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ProgressiveLine:
    """One tool's progressive answers."""

    upstream: str
    tool: str
    responses: int
    reads: int
    followed_up: int
    """Responses of which more than the first chunk was read."""
    average_coverage: float
    """Characters served of those there were, per response, 0 to 1; what was read twice counts once."""


@dataclass(frozen=True, slots=True)
class ProgressiveView:
    """How progressive answers are read on. Aggregates are per response, not per read."""

    reads: int
    """Initial chunks and follow-ups."""
    responses: int
    followed_up: int
    average_served: float
    """Characters per response, what was read twice counted once."""
    average_total: float
    """Characters of the whole text per response."""
    average_coverage: float
    initial_characters: int
    """Sent as first chunks, footers and surfaced memories left out."""
    follow_up_characters: int
    """Sent as follow-ups; repeated reads count again."""
    legacy_reads: int
    """Reads without a mark whether they were the first; 0 unless an older version wrote them."""
    store_failures: int
    """Times when the full text went out since it could not be held, by this station."""
    tools: tuple[ProgressiveLine, ...]
    problem: str = ""

    @property
    def follow_up_rate(self) -> float:
        """Share of the responses that were read on."""
        return self.followed_up / self.responses if self.responses else 0.0
