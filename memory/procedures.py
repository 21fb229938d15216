"""Which procedure to try: similarity is the gate, outcomes give the order.

The order follows Bayes-UCB (Kaufmann, Cappé and Garivier 2012): the rate that a procedure with s successes
and f failures reaches at best, by the posterior Beta(1 + s, 1 + f), at a level that rises with T, all
outcomes of the procedures that passed the gate:

    level = 1 - 1 / (2 sqrt(T + 1))
    index = the quantile of Beta(1 + s, 1 + f) at that level

What was tried seldom gets its chance, and gets it less as others prove good. The quantile is exact. The
usual normal approximation costs more regret and ranks 11 successes of 11 below 10 of 10; with the quantile,
a success never lowers and a failure never raises a procedure against one that is otherwise the same. Wilson's
lower bound is told as well, but as an order it starves what is new, and a blend of it with similarity (the
original's ``combined_score``) puts 10 successes of 10 behind a procedure that was never tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, lgamma, log, log1p, sqrt

SIMILARITY_FLOOR = 0.75
"""A match with less than this share of the best one's similarity is for another task."""
Z = 1.96
"""Of Wilson's interval: 95 %, two-sided."""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ProcedureMatch:
    """A procedure that a search found for a task."""

    id: str
    similarity: float
    """Cosine, or another measure that is 1 for the same and 0 for anything else."""
    successes: int
    failures: int


@dataclass(frozen=True, slots=True)
class RankedProcedure:
    """A procedure in its place, with all that put it there. Rates are from 0 to 1."""

    id: str
    similarity: float
    wilson_score: float
    """Lower bound of the success rate by the original's name; the same as ``lower``."""
    combined_score: float
    """What the order follows, by the original's name; here it is `exploration_index`."""
    mean: float
    """Expected success rate; .5 without outcomes."""
    lower: float
    upper: float
    """Wilson's interval; 0 to 1 without outcomes."""
    explore: bool
    """Never tried, or it stands before one with a better mean: too little is known of it."""


def rank(
    candidates: Sequence[ProcedureMatch], floor: float = SIMILARITY_FLOOR
) -> tuple[RankedProcedure, ...]:
    """The procedures for this task, best first; those under the floor are left out.

    ``floor``: 0 to 1, times the best similarity. Ties go to the better mean, then the more similar, then
    the smaller id, so the order of the candidates does not count.
    """
    if not candidates:
        return ()
    best = max(one.similarity for one in candidates)
    least = best * floor if best > 0 else best
    passed = [one for one in candidates if one.similarity >= least]
    trials = sum(one.successes + one.failures for one in passed)
    ranked = sorted(
        (_ranked(one, trials) for one in passed),
        key=lambda one: (-one.combined_score, -one.mean, -one.similarity, one.id),
    )
    tried = {one.id for one in passed if one.successes + one.failures}
    better = 0.0
    found: list[RankedProcedure] = []
    for one in reversed(ranked):
        found.append(replace(one, explore=one.id not in tried or one.mean < better))
        better = max(better, one.mean)
    return tuple(reversed(found))


def exploration_index(successes: int, failures: int, trials: int) -> float:
    """The number that procedures are ordered by, 0 to 1.

    ``trials``: outcomes of all the procedures that are compared, these included. Counts are 0 or more.
    """
    level = 1 - 0.5 / sqrt(trials + 1)
    return round(beta_quantile(successes + 1, failures + 1, level), _DIGITS)


def wilson_score(successes: int, failures: int) -> float:
    """Lower end of Wilson's score interval of the success rate (Wilson 1927); 0 without outcomes."""
    return _wilson(successes, failures)[0]


def wilson_upper(successes: int, failures: int) -> float:
    """Upper end of the same interval; 1 without outcomes."""
    return _wilson(successes, failures)[1]


def beta_quantile(a: int, b: int, level: float) -> float:
    """The x below which a Beta(a, b) variable lies with probability ``level``, to 1e-12.

    ``a``, ``b``: at least 1. ``level``: over 0 and under 1.
    """
    # Newton's method as Halley sharpened it, from the normal approximation, inside a bracket.
    low, high = 0.0, 1.0
    n = a + b
    x = a / n + _normal_quantile(level) * sqrt(a * b / (n * n * (n + 1)))
    x = min(max(x, 0.5 * a / n), 1 - 0.5 * b / n)
    constant = lgamma(n) - lgamma(a) - lgamma(b)
    for _ in range(200):
        over = _beta_cdf(a, b, x, constant) - level
        if over > 0:
            high = x
        else:
            low = x
        density = exp(constant + (a - 1) * log(x) + (b - 1) * log1p(-x))
        following = -1.0
        if density > 0:
            step = over / density
            bend = 1 - step * ((a - 1) / x - (b - 1) / (1 - x)) / 2
            following = x - step / max(bend, 0.5)
            if abs(following - x) < 1e-8 * x * (1 - x):
                return following
        x = following if low < following < high else (low + high) / 2
    return x


def _normal_quantile(level: float) -> float:
    """To .003, which is enough to start from (Abramowitz and Stegun 26.2.22)."""
    t = sqrt(-2 * log(min(level, 1 - level)))
    z = t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + t * 0.04481))
    return z if level > 0.5 else -z


def _ranked(match: ProcedureMatch, trials: int) -> RankedProcedure:
    lower, upper = _wilson(match.successes, match.failures)
    return RankedProcedure(
        match.id,
        match.similarity,
        lower,
        exploration_index(match.successes, match.failures, trials),
        (1 + match.successes) / (2 + match.successes + match.failures),
        lower,
        upper,
        False,
    )


def _wilson(successes: int, failures: int) -> tuple[float, float]:
    n = successes + failures
    if n <= 0:
        return 0.0, 1.0
    rate, z2 = successes / n, Z * Z
    middle = rate + z2 / (2 * n)
    width = Z * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return max(0.0, (middle - width) / (1 + z2 / n)), min(1.0, (middle + width) / (1 + z2 / n))


def _beta_cdf(a: int, b: int, x: float, constant: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = exp(constant + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: int, b: int, x: float) -> float:
    """The fraction from the front, by Lentz's method as Thompson and Barnett (1986) changed it."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
