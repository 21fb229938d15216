"""Searching, browsing, looking at records and at the whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memory.api.base import Request
from memory.model import (
    DEFAULT_SPACE,
    Hit,
    Instant,
    JournalEntry,
    Kind,
    PairEvidence,
    Proposal,
    Record,
    Run,
    State,
)


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
