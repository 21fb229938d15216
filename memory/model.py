"""The values of the memory: records, their states, pairs, proposals, plans and runs.

Times are `Instant`: whole microseconds since 1970-01-01 UTC, so that they are exact, ordered, and equal
in every database. Scores are floats from 0 to 1 unless said otherwise. Everything here is frozen; JSON is
made of it at the wire only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Instant: TypeAlias = int
"""Microseconds since 1970-01-01T00:00:00Z."""
SECOND = 1_000_000
DAY = 86_400 * SECOND

DEFAULT_SPACE = "default"


class Kind(Enum):
    """The three kinds of memory, by the names of the tools."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class State(Enum):
    """Where a record is in its life. Nothing but `EXPUNGED` loses its text."""

    QUARANTINED = "quarantined"
    """Waits for the person: it came from an untrusted channel or a policy asks for review."""
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    """A successor took its place; its validity has an end."""
    ARCHIVED = "archived"
    """Pruned by a run, or by the person. Restore always works."""
    EXPUNGED = "expunged"
    """Text and vector were erased on request; only the tombstone is left."""


class Origin(Enum):
    """The channel by which a text came, set by the channel and never by the model. See `TRUST`."""

    OPERATOR = "operator"
    AGENT = "agent"
    IMPORT = "import"
    EXTERNAL = "external"
    """Formed from what a tool returned."""


TRUST = {Origin.OPERATOR: 3, Origin.AGENT: 2, Origin.IMPORT: 1, Origin.EXTERNAL: 0}
"""A text of lower trust never replaces one of higher trust without the person."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, as the channel knows it."""

    origin: Origin
    name: str = ""
    """The host's or program's name, for example ``claude-code``."""
    session: str = ""
    """The host session's id; empty for the person."""

    @property
    def is_operator(self) -> bool:
        """Whether this is the person (console or CLI)."""
        return self.origin is Origin.OPERATOR


@dataclass(frozen=True, slots=True)
class MemoryText:
    """The words of one record: all that `expunge` erases. Search sees every field."""

    content: str
    summary: str = ""
    steps: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    note: str = ""
    """The person's own remark."""


@dataclass(frozen=True, slots=True)
class Record:
    """One memory at its current version."""

    id: str
    """A ULID: 26 characters, sorts by time of storing."""
    num: int
    """The database's own small number, from 1, dense; indexes and masks use it."""
    kind: Kind
    space: str
    version: int
    """1 when stored, +1 with every journaled change. Counts of use are not part of it."""
    state: State
    text: MemoryText
    content_hash: str
    """See `memory.text.content_hash`; after `expunge` the salted digest."""
    norm_hash: str
    """See `memory.text.norm_hash`; empty after `expunge`."""
    recorded_at: Instant
    changed_at: Instant
    origin: Origin
    actor: str = ""
    session: str = ""
    """Host session that stored it (provenance)."""
    source_ref: str = ""
    trust: int = 2
    importance: float = 0.5
    """0 to 1; set by who stores or by the person, never by forgetting."""
    confidence: float = 1.0
    category: str = "general"
    domain: str | None = None
    pinned: bool = False
    flags: tuple[str, ...] = ()
    """Warnings about the text, such as ``instruction_like``; see `memory.screen`."""
    related_ids: tuple[str, ...] = ()
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    """End of validity, exclusive; ``None``: still valid."""
    session_id: str | None = None
    """Of the conversation that an episode belongs to."""
    turn_number: int | None = None
    state_reason: str = ""
    """Why it is superseded, archived or quarantined; `Reason` values or the person's words."""
    state_at: Instant = 0
    """When it came into this state."""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    support: int = 1
    """How often the same text was stored: 1 plus the repeats."""
    use_count: int = 0
    """Credited uses: outcomes and helpful ratings, not mere retrieval."""
    first_used: Instant | None = None
    last_used: Instant | None = None
    successes: int = 0
    failures: int = 0


class PairClass(Enum):
    """What the texts of a pair have to do with each other; see `memory.compare`."""

    IDENTICAL = "identical"
    """The same after folding case, spaces and punctuation."""
    REWORDING = "rewording"
    """The same statement in other words: no value, polarity or detail differs."""
    VALUE = "value_difference"
    """One statement with another number, date, version, unit, id, name or attribute value."""
    POLARITY = "polarity_difference"
    """One says what the other denies."""
    DETAIL = "added_detail"
    """One says all that the other says, and more."""
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """Why a pair got its class."""

    klass: PairClass
    score: float
    """How sure: a contradiction is shown from .5 on, strong from .7 on."""
    older_words: tuple[str, ...] = ()
    """The words of the first text that make the difference."""
    newer_words: tuple[str, ...] = ()

    @property
    def contradicts(self) -> bool:
        """Whether only one of the two can hold."""
        return self.klass in (PairClass.VALUE, PairClass.POLARITY)

    @property
    def duplicates(self) -> bool:
        """Whether one of the two is enough."""
        return self.klass in (PairClass.IDENTICAL, PairClass.REWORDING)


@dataclass(frozen=True, slots=True)
class Edge:
    """A neighbour that a record had when it was stored; derived, can be made again."""

    older: int
    """`Record.num`."""
    newer: int
    similarity: float
    """Cosine by ``model``; 0 when only words were compared."""
    klass: PairClass
    score: float
    model: str


class ProposalKind(Enum):
    """What a proposal asks for."""

    SUPERSEDE = "supersede"
    DUPLICATE = "duplicate"
    """Archive all but one."""
    APPROVE = "approve"
    """Let a quarantined record in."""
    RUN = "run"
    """Run the forgetting plan that an agent wants to run."""


class ProposalState(Enum):
    """Where a proposal is."""

    OPEN = "open"
    APPLIED = "applied"
    REJECTED = "rejected"
    KEPT_BOTH = "kept_both"
    """Rejected, and the pair does not come back."""
    STALE = "stale"
    """A record changed since; a new proposal may take its place."""
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that waits for a decision."""

    id: str
    kind: ProposalKind
    state: ProposalState
    space: str
    keep: tuple[str, ...]
    """Ids of the records that stay."""
    replace: tuple[str, ...]
    """Ids of the records that would be superseded or archived."""
    versions: tuple[tuple[str, int], ...]
    """(id, version) of every record as it was seen."""
    evidence: PairEvidence
    similarity: float
    proposer: str
    """``engine`` or the actor's name."""
    created_at: Instant
    agent_verdict: str = ""
    """What an agent said about it: ``supersede`` when it asked for it by tool; else empty."""
    valid_to: Instant | None = None
    """End of validity that the replaced record would get."""
    plan_hash: str = ""
    decided_at: Instant | None = None
    decided_by: str = ""
    reason: str = ""


class Reason(Enum):
    """Why forgetting archives a record, by the original's names; first match counts."""

    SUPERSEDED = "superseded"
    DUPLICATE = "likely_duplicate"
    EXPIRED = "expired"
    LOW_PERFORMANCE = "low_performance"
    STALE = "time_decay"


class Guard(Enum):
    """Why forgetting keeps a record that it would archive otherwise."""

    PINNED = "pinned"
    EXEMPT = "exempt"
    """The person took it out of this plan."""
    OPERATOR = "important_to_operator"
    QUARANTINED = "quarantined"
    OPEN_PROPOSAL = "open_proposal"
    YOUNG = "young"
    LAST_HOLDER = "last_holder"
    CAP = "run_cap"
    HYSTERESIS = "seen_once"
    """Stale in this plan for the first time; archived only if the next plan says so, too."""


@dataclass(frozen=True, slots=True)
class ScoreTerms:
    """How needed a record is thought to be, and from what; see `memory.retention`."""

    need: float
    """Probability that it is needed in the next 60 days."""
    activation: float
    importance: float
    uses: int
    age_days: float
    performance: float | None = None
    """Upper bound of a procedure's success rate; ``None`` for other kinds."""


@dataclass(frozen=True, slots=True)
class ForgettingDecision:
    """What a plan would do with one record, and why. A plan lists those it archives or guards."""

    id: str
    version: int
    kind: Kind
    prune: bool
    """False: it was a candidate, but ``guard`` keeps it."""
    reason: Reason
    terms: ScoreTerms
    guard: Guard | None = None
    survivor: str | None = None
    """Id of the record that stays for it: the duplicate's survivor or the successor."""
    similarity: float | None = None
    klass: PairClass | None = None


@dataclass(frozen=True, slots=True)
class ForgettingPolicy:
    """The rules of a plan; all in days unless said otherwise."""

    superseded_after_days: float = 30.0
    min_age_days: float = 7.0
    stale_need: float = 0.02
    """Below this `ScoreTerms.need` a record is stale."""
    failed_upper_bound: float = 0.2
    failed_min_outcomes: int = 10
    operator_importance: float = 0.8
    max_share: float = 0.10
    """Most of the active records that one run archives."""
    max_records: int = 500
    """The least of the two caps counts, but never less than 10 records."""


@dataclass(frozen=True, slots=True)
class Exemptions:
    """The person's changes to a plan."""

    keep: tuple[str, ...] = ()
    """Ids that this plan leaves alone."""
    survivors: tuple[str, ...] = ()
    """Ids that survive in their duplicate group."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A forgetting plan: what is previewed is what runs."""

    hash: str
    """SHA-256 over the canonical form of everything below; see `memory.plan.plan_hash`."""
    space: str
    position: int
    """The journal's last number when the plan was made."""
    now: Instant
    policy: ForgettingPolicy
    exemptions: Exemptions
    scanned: int
    kept: int
    by_kind: tuple[tuple[Kind, int, int], ...]
    """(kind, kept, pruned)."""
    decisions: tuple[ForgettingDecision, ...] = field(repr=False)
    """Ordered by reason, kind, id."""

    @property
    def pruned(self) -> tuple[ForgettingDecision, ...]:
        """The decisions that archive."""
        return tuple(one for one in self.decisions if one.prune)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a plan."""

    id: str
    space: str
    plan_hash: str
    at: Instant
    actor: str
    archived: int
    by_reason: tuple[tuple[Reason, int], ...]
    undone_at: Instant | None = None
    would_have_hit: int = 0
    """Queries since then whose best three would have had a record of this run: the regret meter."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of the append-only journal; see `memory.store.journal`."""

    seq: int
    at: Instant
    space: str
    action: str
    """A past participle: ``stored``, ``superseded``, ``archived``, ``restored``, ``edited``, …"""
    entity: str
    """``record``, ``proposal``, ``run``, ``outcome``, ``dismissal`` or ``link``."""
    entity_id: str
    version: int
    actor: str
    origin: Origin
    patch: str
    """Canonical JSON of the fields that changed, with their new values; never the text itself."""
    hash: str


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """How a hit got its place. The first four names are the original's."""

    raw_similarity: float
    """Cosine of query and record; 0 without a vector."""
    recency_score: float
    """0 to 1, absolute: 1 now, .5 after the half-life."""
    importance_score: float
    final_score: float
    words: float
    """BM25 over the best BM25 of this query, 0 to 1."""
    vectors: float
    """Cosine scaled over this query's candidates, 0 to 1."""
    fused: float
    """Convex combination of the last two."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    record: Record
    parts: ScoreParts
    warnings: tuple[str, ...] = ()
    """``disputed``, ``superseded``, ``archived``, ``stale``, ``unverified``, ``instruction_like``."""
