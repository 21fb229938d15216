"""The one port to the memory: frozen requests in, frozen results out.

Everybody uses it: MCP tools, console, CLI and tests; the same requests go over the socket to the memory's
process (`memory.process`) or straight into the service (`memory.service`). A request that fails raises
`MemoryFault` and has changed nothing. Limits of pages: 1 to 500 items.

Only `msgspec`-friendly types appear here (dataclasses, enums, tuples, numbers, strings), so that the wire
needs no code of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeVar

from memory.model import (
    DEFAULT_SPACE,
    Actor,
    Exemptions,
    ForgettingDecision,
    ForgettingPolicy,
    Hit,
    Instant,
    JournalEntry,
    Kind,
    MemoryText,
    PairEvidence,
    Plan,
    Proposal,
    ProposalKind,
    ProposalState,
    Reason,
    Record,
    Run,
    State,
)

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Request(Generic[R_co]):
    """Asks for an ``R_co``. Subclasses are the whole API."""


class MemoryPort(Protocol):
    """Whoever answers requests: the service itself, or a client of the memory's process."""

    async def ask(self, request: Request[R], actor: Actor) -> R:
        """The answer. Raises `memory.errors.MemoryFault`."""
        ...


# Tools of agents


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The ``result`` member of an MCP answer, as JSON."""

    body: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class CallTool(Request[ToolAnswer]):
    """One call of one of the twelve tools. Argument mistakes are answers with ``is_error``."""

    name: str
    arguments: str
    """JSON of an object."""
    space: str = DEFAULT_SPACE


# Reading


class Order(Enum):
    """How a list is ordered."""

    NEWEST = "newest"
    OLDEST = "oldest"
    TURN = "turn"
    """By turn number, those without one last, then by time."""
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, best first."""

    hits: tuple[Hit, ...]
    degraded: str = ""
    """Why only words were compared, a sentence; empty when vectors took part."""
    repeats_left_out: int = 0
    """Hits that said the same as a better one."""
    model: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class Search(Request[SearchResult]):
    """Find memories by meaning and words."""

    query: str
    space: str = DEFAULT_SPACE
    top_k: int = 5
    """1 to 100."""
    kinds: tuple[Kind, ...] = ()
    """Empty: all."""
    include_superseded: bool = False
    include_archived: bool = False
    as_of: Instant | None = None
    """What held in the world at that time."""
    as_known_at: Instant | None = None
    """What this memory knew at that time."""
    max_tokens: int | None = None
    """Stop before the texts exceed about so many tokens (characters / 4); one hit always fits."""


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Some records and where the next ones begin."""

    records: tuple[Record, ...]
    next: str = ""
    """Cursor of the next page; empty: this is the last."""


@dataclass(frozen=True, slots=True)
class ListRecords(Request[RecordPage]):
    """Browse."""

    space: str = DEFAULT_SPACE
    kinds: tuple[Kind, ...] = ()
    states: tuple[State, ...] = (State.ACTIVE,)
    order: Order = Order.NEWEST
    session_id: str | None = None
    actor: str | None = None
    limit: int = 50
    after: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One use of a procedure."""

    at: Instant
    success: bool
    actor: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A record that says something alike."""

    record: Record
    similarity: float
    evidence: PairEvidence


@dataclass(frozen=True, slots=True)
class RecordDetail:
    """A record with all that is known about it."""

    record: Record
    history: tuple[JournalEntry, ...]
    """Newest first, at most 200."""
    outcomes: tuple[Outcome, ...]
    neighbours: tuple[Neighbour, ...]
    proposals: tuple[Proposal, ...]
    chain: tuple[Record, ...]
    """What it superseded and what superseded it, oldest first, itself included."""


@dataclass(frozen=True, slots=True)
class GetRecord(Request[RecordDetail]):
    """One record in full; its id or a prefix of it that is unique in the space."""

    id: str
    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class ProcedureHit:
    """A procedure for a task; see `memory.procedures`."""

    record: Record
    similarity: float
    wilson_score: float
    """Lower bound of the success rate (95 %); 0 without outcomes."""
    combined_score: float
    """The order follows it."""
    lower: float
    upper: float
    """Bounds of the success rate as the ranking sees it."""
    explore: bool
    """It is worth a try to learn more about it."""


@dataclass(frozen=True, slots=True)
class RankedProcedures:
    """Procedures for a task, best first."""

    items: tuple[ProcedureHit, ...]
    degraded: str = ""
    """Why only words were compared, a sentence."""


@dataclass(frozen=True, slots=True)
class BestProcedures(Request[RankedProcedures]):
    """Procedures that fit a task and have worked, or that are worth a try."""

    task: str
    space: str = DEFAULT_SPACE
    top_k: int = 3
    """1 to 100."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many records of a kind are in a state."""

    kind: Kind
    state: State
    count: int


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A conversation of which episodes are kept."""

    session_id: str
    last_at: Instant
    episodes: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How far the derived indexes are."""

    model: str
    """Id of the model whose vectors are searched; empty: none yet."""
    index: str
    """``brute``, ``chroma`` or ``chroma-http``."""
    vectors: int
    pending: int
    """Records that wait for their vector."""
    problem: str = ""
    """Why search is by words alone or an index is being repaired; a sentence."""
    building: str = ""
    """Id of a new model whose vectors are being made; empty: none."""
    built: int = 0
    to_build: int = 0


@dataclass(frozen=True, slots=True)
class OverviewResult:
    """A space at a glance."""

    space: str
    counts: tuple[KindCount, ...]
    open_proposals: int
    sessions: tuple[SessionSummary, ...]
    """The five newest."""
    events: tuple[JournalEntry, ...]
    """The ten newest."""
    last_run: Run | None
    would_have_hit: int
    """Over the runs of the last 30 days."""
    index: IndexStatus
    position: int
    approval: str
    forgetting: str
    bytes_on_disk: int
    spaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GetOverview(Request[OverviewResult]):
    """Counts, pending decisions, state of the indexes."""

    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class PositionResult:
    """Cheap to ask for: has anything changed?"""

    position: int
    open_proposals: int


@dataclass(frozen=True, slots=True)
class GetPosition(Request[PositionResult]):
    """The journal's last number."""

    space: str = DEFAULT_SPACE


# Writing


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored record that the new one contradicts or repeats."""

    record: Record
    similarity: float
    evidence: PairEvidence
    proposal_id: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a text that was to be stored."""

    record: Record
    repeated: bool
    """True: it was there already; the record is the one that was there, its support counts one more."""
    contradictions: tuple[Candidate, ...] = ()
    """At most five, surest first."""
    duplicates: tuple[Candidate, ...] = ()
    degraded: str = ""
    """Why candidates were looked for by words alone; a sentence."""
    redacted: int = 0
    """Secrets that were replaced in the text."""


@dataclass(frozen=True, slots=True)
class AddRecord(Request[Stored]):
    """Store a memory."""

    kind: Kind
    text: MemoryText
    space: str = DEFAULT_SPACE
    importance: float = 0.5
    confidence: float = 1.0
    category: str = "general"
    domain: str | None = None
    related_ids: tuple[str, ...] = ()
    supersedes: str | None = None
    """Id of a record that this one shall replace: a proposal, or at once, by the approval policy."""
    session_id: str | None = None
    turn_number: int | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    source_ref: str = ""
    quarantine: bool = False
    """Keep it back for review whatever its channel."""
    key: str = ""
    """Idempotency key: the same key again stores nothing and answers the same record."""


@dataclass(frozen=True, slots=True)
class EditRecord(Request[Record]):
    """Change a record; ``None`` leaves a field as it is. Person only."""

    id: str
    version: int
    space: str = DEFAULT_SPACE
    text: MemoryText | None = None
    importance: float | None = None
    pinned: bool | None = None
    category: str | None = None
    valid_to: Instant | None = None


@dataclass(frozen=True, slots=True)
class ArchiveRecord(Request[Record]):
    """Take a record out of search. Person only."""

    id: str
    space: str = DEFAULT_SPACE
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RestoreRecord(Request[Record]):
    """Make an archived or superseded record active again. Person only."""

    id: str
    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was erased where."""

    id: str
    places: tuple[str, ...]
    """One sentence per place: texts, full-text index, vectors, Chroma, write-ahead log, …"""
    problems: tuple[str, ...] = ()
    """What could not be erased, and what to do."""


@dataclass(frozen=True, slots=True)
class ExpungeRecord(Request[Receipt]):
    """Erase text and vectors for ever. Person only."""

    id: str
    reason: str
    space: str = DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class RecordOutcome(Request[Record]):
    """A procedure was used."""

    id: str
    success: bool
    space: str = DEFAULT_SPACE
    key: str = ""
    """Idempotency key; empty: every call counts."""
    note: str = ""


# Decisions


@dataclass(frozen=True, slots=True)
class ProposalView:
    """A proposal with the records that it is about."""

    proposal: Proposal
    keep: tuple[Record, ...]
    replace: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """Proposals by impact: what is used and sure first, then the oldest."""

    items: tuple[ProposalView, ...]
    open: int
    """All open ones of the space."""
    next: str = ""


@dataclass(frozen=True, slots=True)
class ListProposals(Request[ProposalPage]):
    """The queue."""

    space: str = DEFAULT_SPACE
    states: tuple[ProposalState, ...] = (ProposalState.OPEN,)
    kinds: tuple[ProposalKind, ...] = ()
    limit: int = 50
    after: str = ""


class Decision(Enum):
    """What is decided about a proposal."""

    APPROVE = "approve"
    REJECT = "reject"
    KEEP_BOTH = "keep_both"
    """Reject, and never propose this pair again."""
    UNDO = "undo"
    """Take an applied proposal back."""


@dataclass(frozen=True, slots=True)
class Decide(Request[ProposalView]):
    """Decide a proposal. Person only."""

    id: str
    decision: Decision
    space: str = DEFAULT_SPACE
    reason: str = ""
    keep: str = ""
    """Another survivor among the proposal's records; empty: the proposed one."""
    valid_to: Instant | None = None


@dataclass(frozen=True, slots=True)
class ResolveResult:
    """What became of a wish to supersede."""

    kept_id: str
    superseded_id: str
    status: str
    """``resolved`` or ``proposed``."""
    proposal_id: str


@dataclass(frozen=True, slots=True)
class Resolve(Request[ResolveResult]):
    """``keep_id`` replaces ``supersede_id``: applied or proposed, by the approval policy and the actor."""

    keep_id: str
    supersede_id: str
    space: str = DEFAULT_SPACE


# Forgetting


@dataclass(frozen=True, slots=True)
class DecisionView:
    """A decision of a plan with the texts it is about."""

    decision: ForgettingDecision
    record: Record
    survivor: Record | None = None


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan and a page of its decisions."""

    plan: Plan = field(repr=False)
    """Its ``decisions`` are empty: they come by pages."""
    by_reason: tuple[tuple[Reason, int, int], ...]
    """(reason, pruned, guarded)."""
    items: tuple[DecisionView, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class PreviewForgetting(Request[PlanView]):
    """Make a plan and keep it for 24 hours; nothing is forgotten."""

    space: str = DEFAULT_SPACE
    exemptions: Exemptions = field(default_factory=Exemptions)
    policy: ForgettingPolicy | None = None
    """``None``: the settings'."""
    at: Instant | None = None
    """As if it were that time; such a plan can't be run."""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class GetPlan(Request[PlanView]):
    """A page of a kept plan."""

    hash: str = ""
    """Or a prefix of at least 8 digits; empty: the last previewed one."""
    space: str = DEFAULT_SPACE
    reason: Reason | None = None
    limit: int = 50
    after: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run, or the proposal that an agent's wish became."""

    run: Run | None
    plan: Plan = field(repr=False)
    skipped: tuple[str, ...] = ()
    """Ids of records that had changed since the preview."""
    proposal_id: str = ""


@dataclass(frozen=True, slots=True)
class RunForgetting(Request[RunResult]):
    """Archive what a previewed plan says. Raises ``STALE`` when a record in it changed since."""

    plan_hash: str = ""
    """Empty: the last previewed plan of the space."""
    space: str = DEFAULT_SPACE
    skip_changed: bool = False


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, newest first."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class ListRuns(Request[RunPage]):
    """The runs of a space, for ever."""

    space: str = DEFAULT_SPACE
    limit: int = 50


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What came back."""

    run: Run
    restored: tuple[str, ...]
    conflicts: tuple[str, ...]
    """Ids of records that changed since the run; they were left alone."""


@dataclass(frozen=True, slots=True)
class UndoRun(Request[UndoResult]):
    """Restore what a run archived. Person only."""

    id: str
    space: str = DEFAULT_SPACE


# Upkeep


@dataclass(frozen=True, slots=True)
class Reindex(Request[IndexStatus]):
    """Make all vectors again with the settings' model, in the background; resumes where it stopped."""

    from_scratch: bool = False


@dataclass(frozen=True, slots=True)
class GetIndexStatus(Request[IndexStatus]):
    """How far the indexes are."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """Whether journal, records and indexes agree."""

    entries: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verify(Request[VerifyResult]):
    """Check the whole chain and the projection."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """JSON Lines; see `memory.exchange`."""

    lines: tuple[str, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class Export(Request[ExportPage]):
    """A page of everything in a space, in an order that `Import` takes."""

    space: str = DEFAULT_SPACE
    limit: int = 500
    after: str = ""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What became of a page of lines."""

    added: int
    repeated: int
    refused: tuple[str, ...]
    """One sentence per line that was refused, with its number within the page."""


@dataclass(frozen=True, slots=True)
class Import(Request[ImportResult]):
    """Take lines of an export. Ids, states and times are kept; what is there already is repeated."""

    lines: tuple[str, ...]
    space: str = DEFAULT_SPACE
