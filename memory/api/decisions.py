"""The queue of proposals, and deciding them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memory.api.base import Request
from memory.model import DEFAULT_SPACE, Instant, Proposal, ProposalKind, ProposalState, Record


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
