"""The vocabulary of surfacing: memories shown with answers, their ratings, and why nothing was shown.

Frozen values for the store, the tools, screens and the CLI. Times are seconds since the epoch (UTC);
scores are probabilities that a memory matters for the call, 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class QueryLevel(Enum):
    """Where the query of a search came from, in the order in which it is looked for."""

    TEMPLATE = "template"
    """The tool's ``surfacing_query``."""
    CONTEXT_QUERY = "_context_query"
    PATHS = "paths"
    """Words of arguments that are paths, URLs or patterns."""
    KEYS = "keys"
    """Arguments whose names say that they carry meaning: query, title, message."""
    TOOL_NAME = "tool_name"
    NONE = "none"


class Decision(Enum):
    """What became of one call's chance to show memories. All but the ``error_`` ones are healthy."""

    SURFACED = "surfaced"
    HELD_OUT = "held_out"
    """Found and withheld, to measure what showing does."""
    EMPTY_RENDER = "empty_render"
    """Searched and found, but nothing fitted the injection budget. A completed search."""
    CANCELLED = "cancelled"
    """The call was cancelled before a decision. Left out of every verdict."""
    TOO_SHORT = "skip:response_too_short"
    NO_QUERY = "skip:no_query"
    TOOL_ERROR = "skip:tool_error"
    DISABLED = "skip:disabled"
    TOOL_OFF = "skip:gate_tool_disabled"
    EXCLUDED_TOOL = "skip:gate_excluded_tool"
    WRITE_TOOL = "skip:gate_write_tool"
    RATE_LIMIT = "skip:gate_rate_limit"
    COOLDOWN = "skip:gate_cooldown"
    SESSION_BUDGET = "skip:gate_session_budget"
    NO_MEMORIES = "skip:no_memories"
    """The source is empty."""
    NO_RESULTS = "skip:no_results"
    """The search found nothing."""
    BELOW_THRESHOLD = "skip:no_results_score"
    SEEN = "skip:no_results_dedup"
    """All that mattered was shown in this session before."""
    INVALIDATED = "skip:no_results_invalidated"
    """All that mattered was rated away in this session."""
    DEMOTED = "skip:no_results_demoted"
    """All that mattered was rated away for this tool again and again."""
    NOT_TEXT = "skip:not_text"
    """The answer has no place where a text could stand."""
    CIRCUIT_OPEN = "error:circuit_open"
    TIMEOUT = "error:timeout"
    """The source did not answer within the deadline."""
    UNAVAILABLE = "error:ltm_unavailable"
    """The source could not be reached."""
    FAILED = "error:ltm_call_failed"
    """The source answered with an error, or with what nobody can read."""

    @property
    def fault(self) -> bool:
        """It counts against the source."""
        return self.value.startswith("error:")

    @property
    def searched(self) -> bool:
        """The source was asked and answered, or failed to: what the health verdict is made of."""
        return self.fault or self in _SEARCHED


_SEARCHED = frozenset(
    (
        Decision.SURFACED,
        Decision.HELD_OUT,
        Decision.EMPTY_RENDER,
        Decision.NO_RESULTS,
        Decision.BELOW_THRESHOLD,
        Decision.SEEN,
        Decision.INVALIDATED,
        Decision.DEMOTED,
    )
)


class Rating(Enum):
    """What somebody says of a memory that was shown."""

    HELPFUL = "helpful"
    PARTIALLY_HELPFUL = "partially_helpful"
    NOT_RELEVANT = "not_relevant"
    ALREADY_KNOWN = "already_known"

    @property
    def invalidates(self) -> bool:
        """The memory is not shown again in the session."""
        return self in (Rating.NOT_RELEVANT, Rating.ALREADY_KNOWN)

    @property
    def worth(self) -> float | None:
        """How well the threshold did, 0 to 1; ``None``: it says nothing about relevance."""
        return _WORTH[self]


_WORTH: dict[Rating, float | None] = {
    Rating.HELPFUL: 1.0,
    Rating.PARTIALLY_HELPFUL: 0.5,
    Rating.NOT_RELEVANT: 0.0,
    Rating.ALREADY_KNOWN: None,
}


class Rater(Enum):
    """Who rates. The person's word counts where the two differ."""

    AGENT = "agent"
    PERSON = "person"


class Arm(Enum):
    """Of the trial that ``surfacing.holdout_rate`` makes."""

    SHOWN = "shown"
    HELD_OUT = "held_out"


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """One memory as a source found it, best first."""

    id: str
    """Of the source; as it is shown to agents, at most 64 characters."""
    text: str
    """In full."""
    score: float
    """Probability that it matters, 0 to 1, comparable between queries."""
    kind: str = ""
    """For example ``semantic``, or an external source's namespace."""
    created_at: float | None = None
    notes: tuple[str, ...] = ()
    """What a reader should know: ``disputed``, ``superseded``, ``unverified``."""
    common_words: tuple[str, ...] = ()
    """Words of the query in the text, rarest first: why it was found."""


@dataclass(frozen=True, slots=True)
class MemoryRating:
    """One person's or agent's word about one shown memory."""

    rater: Rater
    rating: Rating
    at: float


@dataclass(frozen=True, slots=True)
class ShownMemory:
    """One memory of an event."""

    memory_id: str
    score: float
    why: str
    """One line, as the agent saw it, for example ``87 %: deploy, staging``."""
    preview: str
    """Its text as it was shown, secrets redacted."""
    ratings: tuple[MemoryRating, ...] = ()
    """At most one per rater."""

    @property
    def rating(self) -> Rating | None:
        """What counts: the person's rating, else the agent's."""
        by = {one.rater: one.rating for one in self.ratings}
        return by.get(Rater.PERSON) or by.get(Rater.AGENT)

    @property
    def conflict(self) -> bool:
        """Person and agent say different things."""
        return len({one.rating for one in self.ratings}) > 1


@dataclass(frozen=True, slots=True)
class SurfacingEvent:
    """Memories found for one call, shown or held out."""

    id: str
    """``surfacing_id``: 12 hexadecimal digits."""
    at: float
    conversation: str
    """Of the host's session, unique among all stations and times."""
    host: str
    call_id: int
    upstream: str
    tool: str
    query: str
    """Redacted; a digest ``sha256:…`` where its text may not be kept."""
    level: QueryLevel
    arm: Arm
    source: str
    """``memory`` or ``ltm``."""
    threshold: float
    tokens: int
    """Added to the answer, by estimate; 0 when held out."""
    search_ms: float
    cached: bool
    """Found before by the same query."""
    memories: tuple[ShownMemory, ...]


@dataclass(frozen=True, slots=True)
class Opportunity:
    """One call that could have had memories shown, and what became of that."""

    at: float
    upstream: str
    tool: str
    decision: Decision
    level: QueryLevel
    answer_chars: int
    """Bytes of the result's JSON where it was not read further."""
    best_score: float | None
    """Of what the source found, before the threshold; ``None``: nothing was found or searched."""
    threshold: float
    waited_ms: float
    """How much later the answer left because of it."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One step of the tuner: a tool's threshold was changed."""

    id: int
    at: float
    upstream: str
    tool: str
    before: float
    after: float
    reason: str
    """One sentence with the figures."""
    ratings: int
    """How many it rests on."""
    reverted_at: float | None = None
    reverts: int | None = None
    """The adjustment that this one takes back."""
    configured: float | None = None
    """The threshold by the settings when the step was made: with another one now it is void."""


@dataclass(frozen=True, slots=True)
class RatedScore:
    """What the tuner learns from: a shown memory's score and what its rating is worth."""

    at: float
    score: float
    worth: float
    """See `Rating.worth`."""


@dataclass(frozen=True, slots=True)
class ToolHelpfulness:
    """How well surfacing does for one tool."""

    upstream: str
    tool: str
    events: int
    memories: int
    rated: int
    helpful: int
    partially_helpful: int
    not_relevant: int
    already_known: int
    threshold: float
    """In force now."""
    configured: float
    """By the settings, before the tuner."""
    pinned: bool
    """The settings name a threshold for this tool: the tuner leaves it alone."""

    @property
    def helpfulness(self) -> float | None:
        """(helpful + half of partially helpful) of all ratings about relevance; ``None``: unrated."""
        about = self.helpful + self.partially_helpful + self.not_relevant
        return (self.helpful + self.partially_helpful / 2) / about if about else None


@dataclass(frozen=True, slots=True)
class DayOfRatings:
    """One local day."""

    day: str
    """``YYYY-MM-DD``."""
    events: int
    rated: int
    helpfulness: float | None


class Verdict(Enum):
    """How well the source answers, by this station's searches since its start."""

    HEALTHY = "HEALTHY"
    """Under a quarter faults."""
    DEGRADED = "DEGRADED"
    FAULTY = "FAULTY"
    """Three quarters and more."""
    UNKNOWN = "insufficient data"
    """Fewer than 10 searches."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The source of memories, for a person."""

    name: str
    """``memory``, ``ltm`` or ``off``."""
    state: str
    """``closed``, ``open`` or ``half-open``: the breaker."""
    problem: str = ""
    """Why it does not answer, a sentence; empty while it does."""
    retry_in_seconds: float | None = None
    detail: str = ""
    """For example the external memory's version and what it can do."""
    hint_events: int = 0
    """Answers of an external memory that brought hints about searching, since the start."""
    last_hints: int = 0
    """How many hints the last one of these brought."""


@dataclass(frozen=True, slots=True)
class SurfacingQuery:
    """Which part of the past is asked for."""

    limit: int = 50
    """Newest events; 0 to 1,000."""
    tool: str = ""
    """``UPSTREAM/TOOL`` or a tool's name; empty: all."""
    since: float | None = None
    unrated_first: bool = False
    days: int = 14
    """Days of `SurfacingView.days`."""


@dataclass(frozen=True, slots=True)
class SurfacingView:
    """Surfacing as a whole: what screens, ``mms surfacing`` and ``surfacing_stats`` show."""

    source: SourceStatus
    verdict: Verdict
    events_total: int
    distinct_tools: int
    feedback_total: int
    ratings: tuple[tuple[Rating, int], ...]
    """Every rating, with how often it was given."""
    tools: tuple[ToolHelpfulness, ...]
    """Most events first."""
    days: tuple[DayOfRatings, ...]
    """Oldest first."""
    recent: tuple[SurfacingEvent, ...]
    """Newest first, shown ones only, at most `SurfacingQuery.limit`."""
    withheld: int
    """Held-out events; not in ``events_total``."""
    opportunities: int
    sampled_out: int
    """By this station since its start."""
    decisions: tuple[tuple[Decision, int], ...]
    """Stored opportunities, most frequent first."""
    since_start: tuple[tuple[Decision, int], ...]
    """This station's own count, nothing sampled out."""
    adjustments: tuple[Adjustment, ...]
    """Newest first, at most 50."""
    unrated: int
    """Shown memories of the last 30 days that nobody rated."""
    tokens: int
    """Added to answers in all."""
    first_at: float | None = None
    last_at: float | None = None
    problem: str = ""
    """Why nothing is written or read, a sentence."""


@dataclass(frozen=True, slots=True)
class RateResult:
    """What became of a rating."""

    ok: bool
    message: str
    """One sentence."""
    repeated: bool = False
    """It had been given before, by the same rater."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What ``mms tune`` would change for one tool."""

    upstream: str
    tool: str
    key: str
    """The setting, dotted, for example ``upstreams.git.tools.log.max_result_tokens``."""
    current: str
    """As TOML; what is in force."""
    proposed: str
    """As TOML."""
    reason: str
    """One sentence with the figures."""
    samples: int
    confidence: str
    """``high`` (20 samples and more), ``medium`` (10), ``low``."""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """Advice from recent calls and feedback. Nothing is changed by reading it."""

    since_hours: float
    recommendations: tuple[Recommendation, ...]
    """By upstream, tool, key."""
    tools_seen: int
    """Tools with calls in that time."""
    problem: str = ""
    """Why some of it could not be read, a sentence."""


@dataclass(frozen=True, slots=True)
class SurfacingGlance:
    """Surfacing on the overview."""

    events_today: int = 0
    """Answers with memories since local midnight."""
    memories_today: int = 0
    tokens_today: int = 0
    rated: int = 0
    """Ratings of the last 30 days."""
    helpfulness: float | None = None
    """Of the last 30 days; see `ToolHelpfulness.helpfulness`."""
    unrated: int = 0
    """Shown memories of the last 30 days that nobody rated."""
    source: SourceStatus = SourceStatus("off", "closed")
