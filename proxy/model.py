"""The engine's vocabulary: frozen values that leave it for a screen, the CLI or a store.

Times are seconds since the epoch (UTC), durations are milliseconds, sizes name their unit.
Nothing here waits, reads a clock or imports another module of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from proxy.surface.model import SurfacingGlance

_NO_SURFACING = SurfacingGlance()


class UpstreamState(Enum):
    """Where one upstream stands in its life."""

    DISABLED = "disabled"
    """Switched off in the settings."""
    IDLE = "idle"
    """Configured, not yet started."""
    CONNECTING = "connecting"
    """Process or connection is being started, or the handshake is under way."""
    READY = "ready"
    """Answers calls."""
    DEGRADED = "degraded"
    """Answers, but its recent calls failed on the way; the circuit breaker watches it."""
    BACKING_OFF = "backing_off"
    """Down; the next attempt has a time."""
    FAILED = "failed"
    """Only a person's action helps (a missing program, a missing variable)."""


class Transport(Enum):
    """How an upstream is reached."""

    STDIO = "stdio"
    HTTP = "http"


class Outcome(Enum):
    """How one call ended."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    """The tool itself answered ``isError``; the upstream is healthy."""
    ERROR = "error"
    """The upstream answered with a JSON-RPC error, or mms did on its behalf."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UPSTREAM_LOST = "upstream_lost"
    """The upstream went away before it answered."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large one text is, in three units. ``tokens`` is a real o200k count."""

    bytes: int = 0
    characters: int = 0
    tokens: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.bytes + other.bytes,
            self.characters + other.characters,
            self.tokens + other.tokens,
        )


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished call, as it is kept in the store."""

    id: int
    """Rises by one per call; unique within a data directory."""
    started_at: float
    duration_ms: float
    host: str
    """The name by which the host introduced itself, for example ``claude-code``."""
    session: int
    """Which connection of that run of the station made the call."""
    upstream: str
    tool: str
    """The upstream's own name of the tool, without prefix."""
    outcome: Outcome
    error: str
    """Why it did not end well, one line; empty for ``OK``."""
    arguments: Sizes
    text: Sizes
    """All text blocks of the answer (an error's message counts as text)."""
    structured: Sizes
    """``structuredContent`` as compact JSON."""
    other_bytes: int
    """Images, audio and other binary content, as transmitted; never counted as tokens."""
    strategy: str = ""
    """How the answer was made smaller, for example ``extract`` or ``delta``; empty: it was relayed
    as it came."""
    before: Sizes = Sizes()
    """Text and structured content as the upstream sent them. All zero when ``strategy`` is empty."""
    overhead_tokens: int = 0
    """Tokens of what was sent that are mms's own words: announcements, legends, tables of contents."""
    held_key: str = ""
    """Key of the original in the held texts; empty when nothing was cut."""
    fetched_upstream: str = ""
    """A control tool's call: whose text was read; empty for all other calls."""
    fetched_tool: str = ""
    cache: str = ""
    """``hit``: an answer kept from before; ``shared``: an identical call's; else empty."""
    cache_age_seconds: float = 0.0
    fault: str = ""
    """Why a stage of the pipeline gave up, one line; the answer went out all the same."""
    surfacing_id: str = ""
    """Of the memories that were shown with the answer; empty: none were."""
    surfaced_tokens: int = 0
    """Of ``text``, what these memories added, by an upper estimate."""


@dataclass(frozen=True, slots=True)
class CallDetail:
    """One call with what was sent and what came back, secrets redacted.

    The texts live in the station's memory only, in a ring bounded in bytes: ``None`` means gone.
    """

    record: CallRecord
    arguments: str | None
    result: str | None
    truncated: bool
    """The texts were cut to what a screen can show."""
    original: str | None = None
    """The upstream's answer before it was made smaller; ``None`` when it was not, or is gone."""
    query: str = ""
    """What the answer was searched for."""
    query_source: str = ""
    """Where the query came from: ``_context_query``, ``arguments``, ``recent calls``; or empty."""


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call that has not been answered yet."""

    id: int
    started_at: float
    host: str
    upstream: str
    tool: str


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which finished calls are wanted, newest first. Empty fields match everything."""

    limit: int = 200
    """1 to 10,000."""
    before_id: int | None = None
    """Only calls older than this id: the way to page."""
    upstream: str = ""
    tool: str = ""
    """Exact name, or a pattern with ``*``."""
    host: str = ""
    errors_only: bool = False
    slower_than_ms: float = 0.0
    text: str = ""
    """Substring, case-insensitive, of upstream, tool, host or error."""


class WithheldReason(Enum):
    """Why a tool is not advertised, in one word for other programs."""

    DUPLICATE_NAME = "duplicate_name"
    """Another tool is advertised under this name, or would be."""
    CONFIG_HIDDEN = "config_hidden"
    """Switched off in the settings."""
    NAME_OVERFLOW = "name_overflow"
    """With the prefix the name is longer than hosts take."""
    INVALID_NAME = "invalid_name"
    """It has characters that hosts refuse, or there is none."""
    RESERVED_NAME = "reserved_name"
    """With the prefix it is the name of a tool of mms itself."""
    UNREADABLE = "unreadable"
    """The definition, or a member of it, is not what the protocol says."""
    INVALID_SCHEMA = "invalid_schema"
    """The schema of its arguments is missing or describes no object."""
    TASK_REQUIRED = "task_required"
    """It runs as a task only, and its upstream does not run tasks."""
    SENSITIVE_METADATA = "sensitive_metadata"
    """Its definition holds what looks like a credential."""
    UNHEALTHY = "unhealthy"
    """Too many of its last calls failed by its upstream's fault."""
    DISCONNECTED = "disconnected"
    """Its upstream has been away for long."""
    OTHER = "other"
    """A reason of another version of mms."""


@dataclass(frozen=True, slots=True)
class WithheldTool:
    """A tool that an upstream offers and mms does not advertise."""

    name: str
    reason: str
    """One sentence for a person, without subject and full stop."""
    code: WithheldReason = WithheldReason.OTHER


@dataclass(frozen=True, slots=True)
class WithheldCount:
    """How many tools of an upstream are withheld for one reason."""

    code: WithheldReason
    count: int


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool as the console lists it."""

    name: str
    advertised_as: str
    """``{prefix}__{name}``; empty when withheld."""
    title: str
    description: str
    """As hosts see it."""
    changes: tuple[str, ...] = ()
    """What mms changed about the description, one clause each; empty: nothing."""


@dataclass(frozen=True, slots=True)
class UpstreamView:
    """One upstream at a glance."""

    name: str
    prefix: str
    transport: Transport
    target: str
    """The command line or the URL, secrets redacted."""
    state: UpstreamState
    reason: str
    """Why it is in this state, in one sentence for a person; empty while all is well."""
    since: float
    """When it entered the state."""
    next_action: str
    """What happens next by itself, or what a person can do; empty while all is well."""
    retry_at: float | None
    pid: int | None
    protocol: str
    """Negotiated protocol revision, empty before the first handshake."""
    server: str
    """The upstream's own name and version, empty before the first handshake."""
    tools_discovered: int
    tools_advertised: int
    calls: int
    """Calls since the station started."""
    errors: int
    """Of these, calls that ended in ``ERROR``, ``TIMEOUT`` or ``UPSTREAM_LOST``."""
    in_flight: int
    p50_ms: float | None
    """Over the last 500 calls; ``None`` before the first one."""
    p95_ms: float | None
    restarts: int
    noise_lines: int
    """Lines on its output that were no protocol messages (banners, prints)."""
    last_stderr: str
    withheld: tuple[WithheldCount, ...] = ()
    """Why fewer tools are advertised than discovered, the most frequent reason first."""


@dataclass(frozen=True, slots=True)
class UpstreamDetail:
    """All that a person wants to see about one upstream."""

    view: UpstreamView
    tools: tuple[ToolView, ...]
    withheld: tuple[WithheldTool, ...]
    stderr: tuple[str, ...]
    """Newest last; a bounded tail of 64 KiB."""
    instructions: str
    """What the upstream tells the model about itself."""
    resources: int
    prompts: int


@dataclass(frozen=True, slots=True)
class HostView:
    """A connected host."""

    session: int
    name: str
    version: str
    protocol: str
    connected_at: float
    pid: int | None
    directory: str
    """Working directory of the bridge that the host launched; empty when unknown."""
    endpoint: str
    """``socket``, ``stdio`` or ``http``."""
    calls: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over calls."""

    calls: int = 0
    errors: int = 0
    tokens_in: int = 0
    """Tokens of arguments: what agents sent."""
    tokens_out: int = 0
    """Tokens of answers, text and structured content together."""
    bytes_out: int = 0


@dataclass(frozen=True, slots=True)
class Minute:
    """Sums over one minute. ``start`` is a multiple of 60."""

    start: float
    calls: int
    errors: int
    tokens_in: int
    tokens_out: int


class Severity(Enum):
    """How much something wants a person's attention."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that a person should look at."""

    at: float
    severity: Severity
    subject: str
    """What it is about, for example ``upstream github`` or ``settings``."""
    text: str
    action: str
    """What to do next; may be empty."""


@dataclass(frozen=True, slots=True)
class StationView:
    """The station itself."""

    version: str
    pid: int
    started_at: float
    socket: str
    http: str
    """URL of the loopback endpoint, empty when it is off."""
    config_file: str
    state_directory: str
    settings_loaded_at: float
    settings_problems: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that the overview shows, taken at one moment."""

    taken_at: float
    station: StationView
    upstreams: tuple[UpstreamView, ...]
    hosts: tuple[HostView, ...]
    running: tuple[RunningCall, ...]
    today: Totals
    """Since local midnight."""
    all_time: Totals
    minutes: tuple[Minute, ...]
    """The last 60 minutes, oldest first, without gaps."""
    attention: tuple[Attention, ...]
    """Worst first, then newest first."""
    unrecorded_calls: int
    """Calls that could not be written to the store (disk full, overload)."""
    surfacing: SurfacingGlance = _NO_SURFACING


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as it is in force."""

    key: str
    """Dotted, for example ``proxy.call_timeout_seconds``."""
    value: str
    """As TOML, secrets redacted."""
    default: str
    source: str
    """``default``, ``user file``, ``project file``, ``environment`` or ``flag``."""
    where: str
    """``file:line`` or the variable's name; empty for defaults."""
    live: bool
    """A change takes effect while the station runs."""
    help: str


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """Something wrong in the configuration."""

    file: str
    line: int | None
    key: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True)
class SettingsView:
    """The settings in force, and what is wrong with the file on disk."""

    file: str
    loaded_at: float
    rows: tuple[SettingRow, ...]
    problems: tuple[SettingProblem, ...]
    """Not empty: the file was edited badly and the last good settings are still in force."""
