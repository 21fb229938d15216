"""How needed a record still is: ACT-R's base level, importance as a prior, and a logistic.

Sources: Anderson and Schooler 1991 (need follows a power law of past uses), Anderson and Lebiere 1998
(base level ``ln(sum t^-d)``), Petrov 2006 (the same from the first use, the last use and their number).

    activation = ln( T^-d + repeats * mean(t^-d, from t to T) + t^-d + (uses - 1) * mean(t^-d, from t to F) )
    need       = 1 / (1 + exp(-(activation + prior(importance) - threshold) / SPREAD))

T, F, t: days since the record was stored, first used, and last used. Only credited uses count, never mere
retrieval; repeats are further times that the same text was stored. The means stand for the uses whose times
are not kept, spread evenly. A later use never lowers the need, time alone never raises it, importance never
lowers it; all three hold for every value of the constants with 0 < decay < 1.

The threshold of each kind is set so that a record of middle importance that is never used has a need of
`STALE_NEED` after `LIFETIME_DAYS`. These are choices of ours, not fitted to anybody's data: `need` orders
records well and its thresholds have a meaning in days, but it is no measured frequency.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p
from typing import Protocol

from memory.model import DAY, ForgettingPolicy, Instant, Kind, ScoreTerms
from memory.procedures import wilson_upper

STALE_NEED = ForgettingPolicy().stale_need
LIFETIME_DAYS = {Kind.SEMANTIC: 548.0, Kind.EPISODIC: 122.0, Kind.PROCEDURAL: 365.0}
"""18, 4 and 12 months: age at which a record of importance .5 that nobody uses becomes stale."""
DECAY = {Kind.SEMANTIC: 0.8, Kind.EPISODIC: 0.9, Kind.PROCEDURAL: 0.8}
"""ACT-R's d. Its usual .5 fits recall in minutes to hours; .8 to 1 ordered 12,800 items of real access
histories better (area under the curve .845 against .835)."""
SPREAD = 0.6
"""Of the logistic. With it a new fact has a need of .99 after a day and of one half after a month."""
IMPORTANCE_STEP = 0.3
IMPORTANCE_FACTOR = 4.0
"""`IMPORTANCE_STEP` more importance makes an unused record last this many times longer."""
SHORTEST_DAYS = 1.0 / 24
"""Ages below an hour count as one: a power law has no value at 0, and clocks may go backwards."""

_LEAST_NEED = 1e-6
_DIGITS = 6
_STALE_LOGIT = log(STALE_NEED / (1 - STALE_NEED))
_CONSTANTS = {
    kind: (
        d,
        d * log(IMPORTANCE_FACTOR) / IMPORTANCE_STEP,
        -d * log(LIFETIME_DAYS[kind]) - SPREAD * _STALE_LOGIT,
    )
    for kind, d in DECAY.items()
}
"""Decay, weight of importance, and threshold."""


class Usage(Protocol):
    """The part of a record that tells how it was used; `Record` and `PlanRow` have it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def recorded_at(self) -> Instant: ...
    @property
    def importance(self) -> float: ...
    @property
    def support(self) -> int: ...
    @property
    def use_count(self) -> int: ...
    @property
    def first_used(self) -> Instant | None: ...
    @property
    def last_used(self) -> Instant | None: ...
    @property
    def successes(self) -> int: ...
    @property
    def failures(self) -> int: ...


def terms(usage: Usage, now: Instant) -> ScoreTerms:
    """The need of a record at ``now``, and what it is made of; all rounded to six digits."""
    decay, weight, threshold = _CONSTANTS[usage.kind]
    activation = _activation(usage, now, decay)
    performance = None
    if usage.kind is Kind.PROCEDURAL:
        performance = round(wilson_upper(usage.successes, usage.failures), _DIGITS)
    return ScoreTerms(
        need=_need(activation, usage.importance, weight, threshold),
        activation=round(activation, _DIGITS),
        importance=usage.importance,
        uses=usage.support + usage.use_count,
        age_days=round(max(0, now - usage.recorded_at) / DAY, _DIGITS),
        performance=performance,
    )


def need(usage: Usage, now: Instant) -> float:
    """`ScoreTerms.need` alone, from 0.000001 to 0.999999."""
    decay, weight, threshold = _CONSTANTS[usage.kind]
    return _need(_activation(usage, now, decay), usage.importance, weight, threshold)


def _need(activation: float, importance: float, weight: float, threshold: float) -> float:
    found = 1 / (1 + exp((threshold - activation - weight * (importance - 0.5)) / SPREAD))
    return min(max(round(found, _DIGITS), _LEAST_NEED), 1 - _LEAST_NEED)


def _activation(usage: Usage, now: Instant, d: float) -> float:
    stored = _days(usage.recorded_at, now)
    last = usage.last_used
    recent = stored if last is None else min(stored, _days(last, now))
    odds = stored**-d
    if usage.support > 1:
        odds += (usage.support - 1) * _mean_power(recent, stored, d)
    if usage.use_count > 0:
        first = stored if usage.first_used is None else _days(usage.first_used, now)
        odds += recent**-d + (usage.use_count - 1) * _mean_power(recent, max(recent, first), d)
    return log(odds)


def _days(since: Instant, now: Instant) -> float:
    return max((now - since) / DAY, SHORTEST_DAYS)


def _mean_power(near: float, far: float, d: float) -> float:
    """The mean of ``t^-d`` for t from ``near`` to ``far``; the two may be equal."""
    # The integral over the length, with x = ln(far / near), so that nothing cancels where they are close.
    x = log1p((far - near) / near)
    if x <= 0:
        return near**-d
    return near**-d * expm1((1 - d) * x) / ((1 - d) * expm1(x))
