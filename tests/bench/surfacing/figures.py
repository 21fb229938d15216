"""Precision, recall and costs of what was shown. Pure.

A memory *matters* for a call when the week says so. A call *needs* it when it matters, is stored, and was
not shown in the session before. Precision: the share of all shown memories that matter for their call.
Recall: the share of all needs that were met by that very call.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proxy.surface.model import QueryLevel


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call."""

    day: int
    session: int
    tool: str
    shown: tuple[int, ...]
    """Keys of the memories that came with its answer."""
    matter: frozenset[int]
    """Keys of the stored memories that matter for it."""
    level: QueryLevel = QueryLevel.NONE
    tokens: int = 0
    """Added to the answer, as the station counts them."""
    surfacing_id: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of many calls."""

    calls: int
    calls_with: int
    """Calls whose answer brought memories."""
    shown: int
    useful: int
    """Of the shown ones, those that mattered."""
    needs: int
    repeats: int
    """Memories shown in a session that had seen them."""
    tokens: int
    helped: float
    """Mean over calls with a need: share of their needs that was met."""
    quiet: float
    """Share of the calls for which nothing mattered that brought nothing."""

    @property
    def precision(self) -> float:
        """0 to 1; 1 where nothing was shown."""
        return self.useful / self.shown if self.shown else 1.0

    @property
    def recall(self) -> float:
        """0 to 1; 1 where nothing was needed."""
        return self.useful / self.needs if self.needs else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def tokens_per_call(self) -> float:
        """Of all calls."""
        return self.tokens / self.calls if self.calls else 0.0

    @property
    def tokens_per_useful(self) -> float:
        """Spent for one memory that mattered; 0 where there was none."""
        return self.tokens / self.useful if self.useful else 0.0


def figures(outcomes: Iterable[Outcome]) -> Figures:
    """Add up. Calls of a session must come in their order."""
    seen: dict[int, set[int]] = {}
    shown = useful = needs = repeats = tokens = calls = calls_with = 0
    met: list[float] = []
    quiet: list[bool] = []
    for one in outcomes:
        before = seen.setdefault(one.session, set())
        need = one.matter - before
        hit = need & set(one.shown)
        calls += 1
        calls_with += bool(one.shown)
        shown += len(one.shown)
        useful += len(hit)
        needs += len(need)
        repeats += sum(key in before for key in one.shown)
        tokens += one.tokens
        if need:
            met.append(len(hit) / len(need))
        if not one.matter:
            quiet.append(not one.shown)
        before.update(one.shown)
    return Figures(
        calls,
        calls_with,
        shown,
        useful,
        needs,
        repeats,
        tokens,
        statistics.fmean(met) if met else 1.0,
        statistics.fmean(quiet) if quiet else 1.0,
    )


def by_level(outcomes: Sequence[Outcome]) -> dict[QueryLevel, Figures]:
    """Of the calls of each level of query.

    What one call needs depends on what its session saw with calls of all levels, so that is worked out first.
    """
    seen: dict[int, set[int]] = {}
    parts: dict[QueryLevel, list[Outcome]] = {}
    for number, one in enumerate(outcomes):
        before = seen.setdefault(one.session, set())
        alone = Outcome(
            one.day,
            number,
            one.tool,
            one.shown,
            one.matter - before,
            one.level,
            one.tokens,
        )
        parts.setdefault(one.level, []).append(alone)
        before.update(one.shown)
    return {level: figures(parts[level]) for level in QueryLevel if level in parts}


def share(value: float) -> str:
    """For a table."""
    return f"{value:.2f}"
