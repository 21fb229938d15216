"""Every setting: type, default, meaning, and whether a change takes effect while running.

This is the one place where a key is described. The CLI (``mms config``), the Config screen, the JSON
schema and the documentation derive from it.
"""

# ruff: noqa: RUF009  # setting() and section() return dataclass fields, not shared defaults

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from config.schema_memory import (
    Approval,
    EmbedderKind,
    EmbedderSettings,
    ForgettingBy,
    ForgettingSettings,
    MemorySettings,
    SecretPolicy,
    VectorIndexKind,
    VectorSettings,
)
from config.schema_surfacing import (
    FormationSettings,
    LtmSettings,
    SelectionTelemetrySettings,
    SurfacingPosition,
    SurfacingSettings,
    SurfacingSource,
    TracingSettings,
    TunerSettings,
)
from config.setting import section, setting

__all__ = [
    "AnswerSettings",
    "Approval",
    "CachePolicy",
    "CacheSettings",
    "Compression",
    "ConsoleSettings",
    "EmbedderKind",
    "EmbedderSettings",
    "ForgettingBy",
    "ForgettingSettings",
    "FormationSettings",
    "HeldSettings",
    "HistorySettings",
    "HttpSettings",
    "LlmSettings",
    "LtmSettings",
    "MemorySettings",
    "ProxySettings",
    "SecretPolicy",
    "SelectionTelemetrySettings",
    "Settings",
    "SurfacingPosition",
    "SurfacingSettings",
    "SurfacingSource",
    "ToolSettings",
    "TracingSettings",
    "TunerSettings",
    "UpstreamSettings",
    "UpstreamTransport",
    "VectorIndexKind",
    "VectorSettings",
]


class UpstreamTransport(Enum):
    """How an upstream is reached; ``auto`` decides by whether ``command`` or ``url`` is given."""

    AUTO = "auto"
    STDIO = "stdio"
    HTTP = "http"


class Compression(Enum):
    """How an answer over its budget is made smaller. Under the budget nothing is ever changed."""

    AUTO = "auto"
    """By the content's type: lossless where that fits, else an extract."""
    NONE = "none"
    """Never: the whole answer goes out, whatever its size."""
    TRUNCATE = "truncate"
    EXTRACT_FIELDS = "extract_fields"
    SCHEMA_PRUNING = "schema_pruning"
    SKELETON = "skeleton"
    SELECTIVE = "selective"
    HYBRID = "hybrid"
    PROGRESSIVE = "progressive"
    LLM_SUMMARY = "llm_summary"
    LOSSLESS = "lossless"
    EXTRACT = "extract"
    DELTA = "delta"


class CachePolicy(Enum):
    """Whose answers may be kept, by the tool's own annotations."""

    STRICT = "strict"
    """Tools that say ``readOnlyHint: true``."""
    CONSERVATIVE = "conservative"
    """Also tools that say nothing; never those that say they write or destroy."""
    IGNORE = "ignore"
    """Nobody's."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What happens to answers; the same keys for an upstream and for one of its tools.

    Without a value the upstream's, then the proxy's holds.
    """

    compression: Compression | None = setting(
        None,
        "How answers over the budget become smaller; the default is proxy.compression.",
    )
    max_result_tokens: int | None = setting(
        None,
        "Budget of one answer in o200k tokens, text and structured content together; "
        "default proxy.default_max_result_tokens.",
        minimum=100,
    )
    max_result_chars: int | None = setting(
        None,
        "Budget in characters instead; max_result_tokens of the same table has precedence.",
        minimum=400,
    )
    delta: bool | None = setting(
        None, "Answer a repeated call by what changed; the default is proxy.delta."
    )
    clean: bool | None = setting(
        None, "Remove noise also from answers within the budget; the default is proxy.clean."
    )
    cache_ttl_seconds: float | None = setting(
        None, "How long an answer may be given again; default proxy.cache.ttl_seconds.", minimum=0
    )
    surfacing: bool | None = setting(
        None, "Show memories with these answers; the default is surfacing.enabled."
    )
    surfacing_min_score: float | None = setting(
        None,
        "Threshold of a memory shown with these answers; set, the tuner leaves it alone.",
        minimum=0,
        maximum=1,
    )
    max_description_chars: int | None = setting(
        None,
        "Longest description in tool lists; the default is proxy.max_description_chars.",
        minimum=80,
    )
    strip_schema_descriptions: bool | None = setting(
        None,
        "Leave the descriptions of arguments out of tool lists; default "
        "proxy.strip_schema_descriptions.",
    )


@dataclass(frozen=True, slots=True)
class ToolSettings(AnswerSettings):
    """One tool of one upstream: ``[upstreams.NAME.tools.TOOL]``."""

    enabled: bool = setting(True, "Advertise this tool to hosts and accept calls to it.")
    description_override: str = setting(
        "", "What agents are told of this tool instead of the upstream's own description."
    )
    surfacing_query: str = setting(
        "",
        "What memories are searched for, for example review of {arg.path}; also {tool_name}, "
        "{server}.",
    )


@dataclass(frozen=True, slots=True)
class UpstreamSettings(AnswerSettings):
    """One upstream MCP server: ``[upstreams.NAME]``."""

    name: str = ""
    """The table's name; not a key."""
    prefix: str = setting(
        "", "Tools are advertised as PREFIX__TOOL. Letters, digits, - and _; the default is NAME."
    )
    command: str = setting("", "Program to start (stdio).", expand=True)
    args: tuple[str, ...] = setting((), "Arguments of the program.", expand=True)
    env: Mapping[str, str] = setting(
        {}, "Variables added to the small inherited environment.", secret=True, expand=True
    )
    cwd: str = setting("", "Working directory of the program.", expand=True)
    url: str = setting("", "Address of a streamable HTTP server.", expand=True)
    headers: Mapping[str, str] = setting(
        {}, "HTTP headers sent with every request.", secret=True, expand=True
    )
    transport: UpstreamTransport = setting(
        UpstreamTransport.AUTO, "auto, stdio or http; auto decides by command or url."
    )
    enabled: bool = setting(True, "Start this upstream and advertise its tools.")
    call_timeout_seconds: float | None = setting(
        None, "Deadline of a call; the default is proxy.call_timeout_seconds.", minimum=0.1
    )
    connect_timeout_seconds: float | None = setting(
        None, "Deadline of start and handshake; default proxy.connect_timeout_seconds.", minimum=0.1
    )
    max_in_flight: int | None = setting(
        None, "Calls running at once; the default is proxy.max_in_flight.", minimum=1, maximum=4096
    )
    tools: Mapping[str, ToolSettings] = field(
        default_factory=lambda: MappingProxyType({}), metadata={"help": "Settings per tool."}
    )


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """The loopback endpoint: ``[proxy.http]``."""

    enabled: bool = setting(
        False, "Also serve streamable HTTP on the loopback interface, protected by a token."
    )
    host: str = setting("127.0.0.1", "Loopback address to listen on.")
    port: int = setting(7337, "Port; 0 takes a free one.", minimum=0, maximum=65535)
    allowed_origins: tuple[str, ...] = setting(
        (), "Origins of web pages that may connect, for example http://localhost:3000."
    )


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """How much of the past is kept: ``[proxy.history]``."""

    max_days: int = setting(90, "Recorded calls older than this are deleted.", minimum=1)
    max_calls: int = setting(200_000, "At most so many recorded calls are kept.", minimum=100)
    payload_memory_bytes: int = setting(
        32 * 1024 * 1024,
        "Arguments and answers of recent calls kept in memory for the console.",
        minimum=0,
    )


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """The full texts behind shortened answers: ``[proxy.held]``."""

    max_bytes: int = setting(
        256 * 1024 * 1024,
        "Disk space, compressed; what was used longest ago goes first, but nothing that a connected "
        "host was given.",
        minimum=1024 * 1024,
    )


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Answers given again without asking the upstream: ``[proxy.cache]``."""

    policy: CachePolicy = setting(
        CachePolicy.STRICT, "strict, conservative or ignore: whose answers may be kept."
    )
    ttl_seconds: float = setting(
        0.0,
        "How long an answer may be given again. 0: only identical calls at the same time share "
        "one, since nobody but you knows what else changes the data.",
        minimum=0,
    )
    max_bytes: int = setting(
        64 * 1024 * 1024, "Memory for kept answers; the oldest go first.", minimum=0
    )


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The model of ``compression = "llm_summary"``: ``[proxy.llm]``."""

    url: str = setting(
        "", "Base URL of an OpenAI-compatible API, for example http://localhost:11434/v1."
    )
    model: str = setting("", "Name of the model.")
    api_key_variable: str = setting(
        "OPENAI_API_KEY", "Environment variable that holds the key; unset: none is sent."
    )
    timeout_seconds: float = setting(
        20.0, "A slower summary is given up and an extract goes out.", minimum=0.5, maximum=300
    )


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The proxy: ``[proxy]``."""

    first_list_wait_seconds: float = setting(
        5.0,
        "How long a host's first tools/list waits for an upstream that was never seen before.",
        minimum=0,
        maximum=50,
    )
    call_timeout_seconds: float = setting(
        50.0, "Deadline of a call. Hosts give up at 60 seconds.", minimum=0.1
    )
    call_timeout_max_seconds: float = setting(
        600.0, "Progress extends a call's deadline up to this many seconds.", minimum=0.1
    )
    connect_timeout_seconds: float = setting(
        60.0, "Deadline of an upstream's start and handshake.", minimum=0.1
    )
    max_in_flight: int = setting(
        32, "Calls running at once per upstream; further ones queue.", minimum=1, maximum=4096
    )
    max_queued: int = setting(
        256, "Calls waiting per upstream; one more is refused as busy.", minimum=0, maximum=65536
    )
    max_upstream_frame_bytes: int = setting(
        64 * 1024 * 1024, "A longer line from an upstream ends its process.", minimum=65536
    )
    max_host_frame_bytes: int = setting(
        16 * 1024 * 1024, "A longer line from a host is refused.", minimum=65536
    )
    max_result_bytes: int = setting(
        8 * 1024 * 1024,
        "A longer answer becomes an error result, since hosts go deaf above 10 MB.",
        minimum=65536,
    )
    compression: Compression = setting(
        Compression.AUTO, "How answers over their budget become smaller; none switches it off."
    )
    default_max_result_tokens: int | None = setting(
        None,
        "Budget of one answer in o200k tokens. Without it: a twentieth of consumer_model's window "
        "(1,000 to 16,000), else 4,000.",
        minimum=100,
    )
    consumer_model: str = setting(
        "", "The model that reads the answers, for example claude-sonnet-4-5 or gpt-5."
    )
    delta: bool = setting(
        True, "Answer a repeated call over the budget by what changed since, in the same session."
    )
    clean: bool = setting(
        False, "Remove noise (terminal escapes, HTML markup) also from answers within the budget."
    )
    advertise_control_tools: bool = setting(
        True,
        "Offer hosts the tools that read what was cut. Without them no handle is given out.",
    )
    advertise_context_query: bool = setting(
        False,
        "Offer a _context_query argument on every tool: what the agent looks for in the answer.",
    )
    host_cut_tokens: int = setting(
        0,
        "Where the host itself cuts answers, in tokens (Claude Code: 25,000). Savings beyond it "
        "are not counted. 0: it does not cut.",
        minimum=0,
    )
    held: HeldSettings = section(HeldSettings, "The full texts behind shortened answers.")
    cache: CacheSettings = section(CacheSettings, "Answers given again.")
    llm: LlmSettings = section(LlmSettings, "The model that writes summaries.")
    recover_upstream_description: bool = setting(
        False,
        "Let the agent read the description that an override replaced.",
    )
    max_description_chars: int = setting(
        0,
        "Longer descriptions are cut in tool lists; stm_proxy_describe_tool has the whole. 0: never.",
        minimum=0,
    )
    strip_schema_descriptions: bool = setting(
        False,
        "Leave descriptions and examples of arguments out of tool lists; stm_proxy_describe_tool has "
        "them.",
    )
    max_error_share: float = setting(
        1.0,
        "A tool of whose last calls (24 hours, at least 5) this share or more failed by its upstream's "
        "fault is withheld. 1: never.",
        minimum=0.05,
        maximum=1,
    )
    http: HttpSettings = section(HttpSettings, "The loopback HTTP endpoint.")
    history: HistorySettings = section(HistorySettings, "How much of the past is kept.")
    selection_telemetry: SelectionTelemetrySettings = section(
        SelectionTelemetrySettings, "Telemetry of tool selection."
    )


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """The screen: ``[console]``."""

    theme: str = setting("mms-dark", "Name of the colour theme.")
    keys: Mapping[str, str] = setting(
        {}, "Other keys for actions, by the action's id as the help screen shows it."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings."""

    advertise_observability_tools: bool = setting(False, "Advertise the stm_admin tool to hosts.")
    proxy: ProxySettings = section(ProxySettings, "The proxy.")
    upstreams: Mapping[str, UpstreamSettings] = field(
        default_factory=lambda: MappingProxyType({}), metadata={"help": "The upstream servers."}
    )
    surfacing: SurfacingSettings = section(SurfacingSettings, "Memories shown with answers.")
    formation: FormationSettings = section(
        FormationSettings, "What agents may propose to remember."
    )
    memory: MemorySettings = section(MemorySettings, "The agent's memory.")
    tracing: TracingSettings = section(TracingSettings, "Spans for OpenTelemetry.")
    console: ConsoleSettings = section(ConsoleSettings, "The screen.")
