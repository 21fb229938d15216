"""The settings of surfacing, of what agents may propose, and of telemetry about it all."""

# ruff: noqa: RUF009  # setting() and section() return dataclass fields, not shared defaults

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from config.setting import section, setting


class SurfacingSource(Enum):
    """Where the memories come from that are shown with answers."""

    MEMORY = "memory"
    """The memory of mms."""
    LTM = "ltm"
    """An external long-term memory, an MCP server with ``mem_search``."""


class SurfacingPosition(Enum):
    """Where in an answer memories stand."""

    APPEND = "append"
    """A block of its own after the answer's blocks."""
    PREPEND = "prepend"
    """A block of its own before them."""
    SECTION = "section"
    """At the end of the answer's last text, below a heading."""


@dataclass(frozen=True, slots=True)
class LtmSettings:
    """The external memory of ``surfacing.source = "ltm"``: ``[surfacing.ltm]``."""

    command: str = setting("", "Program to start (an MCP server over stdio).", expand=True)
    args: tuple[str, ...] = setting((), "Arguments of the program.", expand=True)
    env: Mapping[str, str] = setting(
        {}, "Variables added to the small inherited environment.", secret=True, expand=True
    )
    cwd: str = setting("", "Working directory of the program.", expand=True)
    namespace: str = setting("", "Only memories of this namespace are asked for.")
    connect_timeout_seconds: float = setting(
        60.0, "Deadline of start and handshake; calls of upstreams never wait for it.", minimum=0.1
    )


@dataclass(frozen=True, slots=True)
class TunerSettings:
    """Thresholds that follow the ratings: ``[surfacing.tuner]``."""

    enabled: bool = setting(
        True, "Adjust min_score per tool from ratings; every step is listed and can be reverted."
    )
    min_ratings: int = setting(
        20, "New ratings of a tool's memories before a step.", minimum=5, maximum=250
    )
    least_score: float = setting(0.2, "No threshold goes below this.", minimum=0, maximum=1)
    most_score: float = setting(0.9, "No threshold goes above this.", minimum=0, maximum=1)


@dataclass(frozen=True, slots=True)
class SurfacingSettings:
    """Memories shown with answers: ``[surfacing]``."""

    enabled: bool = setting(True, "Show memories that matter together with answers of tools.")
    source: SurfacingSource = setting(
        SurfacingSource.MEMORY, "memory (mms's own) or ltm (an external MCP server)."
    )
    min_score: float = setting(
        0.3,
        "Show a memory when it matters at least this probably (0 to 1). The tuner starts here.",
        minimum=0,
        maximum=1,
    )
    max_memories: int | None = setting(
        None,
        "Most memories with one answer; the default is 3, or 2 where consumer_model is small.",
        minimum=1,
        maximum=20,
    )
    max_tokens: int | None = setting(
        None,
        "Most tokens added to one answer; the default is 400, or 200 where consumer_model is small.",
        minimum=60,
        maximum=8000,
    )
    position: SurfacingPosition = setting(
        SurfacingPosition.APPEND, "append, prepend or section: where in the answer they stand."
    )
    timeout_seconds: float = setting(
        0.5,
        "An answer that is there waits at most so long for memories; the search began with the call.",
        minimum=0,
        maximum=10,
    )
    min_answer_chars: int = setting(
        200, "Shorter answers are left alone, unless the call has a _context_query.", minimum=0
    )
    max_per_minute: int = setting(
        15, "Searches of one session within a minute.", minimum=1, maximum=6000
    )
    cooldown_seconds: float = setting(
        5.0, "A query nearly like the one before is not searched again for so long.", minimum=0
    )
    max_per_session: int = setting(
        100, "Memories shown in one session at most.", minimum=1, maximum=100_000
    )
    dedup_ttl_seconds: float = setting(
        14_400.0,
        "A memory is shown once in a session; after so long it may come again. 0: never again.",
        minimum=0,
    )
    cache_seconds: float = setting(
        60.0, "How long found memories of the same query may be used again.", minimum=0
    )
    exclude_tools: tuple[str, ...] = setting(
        (), "Tools whose answers are left alone: patterns over UPSTREAM/TOOL, for example git/*."
    )
    write_tools: tuple[str, ...] = setting(
        ("*write*", "*create*", "*delete*", "*remove*", "*push*", "*send*", "*update*", "*edit*"),
        "Names of tools that change something: their answers are left alone.",
    )
    holdout_rate: float = setting(
        0.0,
        "Share of answers from which found memories are withheld, to measure what they do.",
        minimum=0,
        maximum=0.5,
    )
    opportunity_sampling: float = setting(
        1.0,
        "Share of the calls of which it is written down why nothing was shown.",
        minimum=0,
        maximum=1,
    )
    keep_queries: bool = setting(
        True, "Keep the text of queries; off: a digest. Queries with secrets are never kept."
    )
    tuner: TunerSettings = section(TunerSettings, "Thresholds that follow the ratings.")
    ltm: LtmSettings = section(LtmSettings, "The external memory.")


@dataclass(frozen=True, slots=True)
class FormationSettings:
    """What agents may propose to remember: ``[formation]``."""

    enabled: bool = setting(
        False, "Advertise stm_memory_propose, by which agents propose memories."
    )
    max_per_session: int = setting(
        50, "Proposals of one session at most.", minimum=1, maximum=10_000
    )


@dataclass(frozen=True, slots=True)
class SelectionTelemetrySettings:
    """A log of which tools are called: ``[proxy.selection_telemetry]``."""

    enabled: bool = setting(False, "Write tool selections and their outcome to a JSONL log.")
    sampling: float = setting(1.0, "Share of the calls that are logged.", minimum=0, maximum=1)
    max_bytes: int = setting(
        50 * 1024 * 1024, "The log is rotated at this size.", minimum=64 * 1024
    )
    backups: int = setting(3, "Rotated files that are kept.", minimum=0, maximum=100)


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Spans for OpenTelemetry, with the extra ``mms-console[tracing]``: ``[tracing]``."""

    enabled: bool = setting(False, "Send a span of every call and of its stages.")
    endpoint: str = setting(
        "",
        "OTLP over HTTP, for example http://localhost:4318/v1/traces; the default is the variable "
        "OTEL_EXPORTER_OTLP_ENDPOINT.",
        expand=True,
    )
    headers: Mapping[str, str] = setting(
        {}, "HTTP headers of the export, for example of Langfuse.", secret=True, expand=True
    )
    sampling: float = setting(1.0, "Share of the calls that are traced.", minimum=0, maximum=1)
