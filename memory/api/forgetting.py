"""Plans of forgetting, their runs, and undoing those."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory.api.base import Request
from memory.model import (
    DEFAULT_SPACE,
    Exemptions,
    ForgettingDecision,
    ForgettingPolicy,
    Instant,
    Plan,
    Reason,
    Record,
    Run,
)


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
    """A run, or the proposal that an agent's wish became; neither when there was nothing to archive."""

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
