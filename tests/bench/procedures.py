"""How many successes an order of procedures costs: ``python -m tests.bench.procedures [RUNS] [SEED]``.

Procedures that all fit the task succeed with rates drawn from Beta(3, 2). Each use takes the first of the
order and reports the outcome. Regret is the sum, over the uses, of the best rate less the chosen one's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from random import Random

from memory.procedures import exploration_index, wilson_score
from tests.bench.report import Table, as_markdown

USES = 200
Chooser = Callable[[int, int, int], float]
"""The score of (successes, failures, outcomes of all); the highest is used, ties by chance."""


@cache
def _ours(successes: int, failures: int, trials: int) -> float:
    return exploration_index(successes, failures, trials)


def _blend(successes: int, failures: int, trials: int) -> float:
    """The original's combined score at a similarity of .9."""
    tried = successes + failures > 0
    return 0.45 + 0.5 * wilson_score(successes, failures) if tried else 0.9


def _mean(successes: int, failures: int, trials: int) -> float:
    return (1 + successes) / (2 + successes + failures)


def _normal(successes: int, failures: int, trials: int) -> float:
    """Bayes-UCB by the normal approximation."""
    mean = _mean(successes, failures, trials)
    deviation = sqrt(mean * (1 - mean) / (3 + successes + failures))
    return min(1.0, mean + 0.6 * sqrt(2 * log(trials + 2)) * deviation)


CHOOSERS: dict[str, Chooser] = {
    "this order": _ours,
    "normal approximation": _normal,
    "posterior mean": _mean,
    "blend with similarity": _blend,
    "Wilson's lower bound": lambda successes, failures, trials: wilson_score(successes, failures),
}


@dataclass(frozen=True, slots=True)
class Regret:
    """Means over all runs."""

    after_20: float
    after_200: float
    best_most_used: float
    """Share of runs in which the best procedure was used most."""


def simulate(chooser: Chooser, procedures: int, runs: int, seed: int) -> Regret:
    """The regret of one order. Every chooser meets the same procedures and the same luck."""
    early = late = 0.0
    hits = 0
    for run in range(runs):
        random = Random(f"{seed} {run}")
        rates = [random.betavariate(3, 2) for _ in range(procedures)]
        regrets, uses = _one_run(chooser, rates, random)
        early += sum(regrets[:20])
        late += sum(regrets)
        hits += rates[uses.index(max(uses))] == max(rates)
    return Regret(early / runs, late / runs, hits / runs)


def _one_run(
    chooser: Chooser, rates: Sequence[float], random: Random
) -> tuple[list[float], list[int]]:
    counts = [(0, 0)] * len(rates)
    regrets: list[float] = []
    for trials in range(USES):
        luck, *ties = (random.random() for _ in range(len(rates) + 1))
        scores = [(chooser(s, f, trials), tie) for (s, f), tie in zip(counts, ties, strict=True)]
        chosen = scores.index(max(scores))
        successes, failures = counts[chosen]
        worked = luck < rates[chosen]
        counts[chosen] = (successes + worked, failures + (not worked))
        regrets.append(max(rates) - rates[chosen])
    return regrets, [sum(one) for one in counts]


def main(runs: int = 1000, seed: int = 7) -> None:
    """Print a table for three and one for eight procedures."""
    for procedures in (3, 8):
        rows = []
        for name, chooser in CHOOSERS.items():
            found = simulate(chooser, procedures, runs, seed)
            rows.append(
                {
                    "order": name,
                    "regret after 20": found.after_20,
                    f"after {USES}": found.after_200,
                    "most used is the best": found.best_most_used,
                }
            )
        print(as_markdown(Table(f"{procedures} procedures, {runs} runs", rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
