"""What must hold, in one table, and what was measured against it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.quality.bars import Bar, Measures

OWN, OUTSIDE = "own", "outside"
"""The two corpora of facts."""
SIZES = (1_000, 10_000)


def facts_name(measure: str, corpus: str, size: int) -> str:
    """Name of a measure of labelled facts."""
    return f"{measure}, {corpus} corpus, {size:,} facts"


_FACTS = (
    ("values lost", 0.0, False),
    ("contradiction pairs merged", 0.0, False),
    ("bases with a false candidate", 0.05, False),
    ("duplicates found", 0.95, True),
)
_COSTS = (("store ms", 5.0), ("query ms", 10.0), ("preview s", 1.0))

BARS: tuple[Bar, ...] = (
    *(
        Bar(facts_name(measure, corpus, size), limit, at_least)
        for size in SIZES
        for corpus in (OWN, OUTSIDE)
        for measure, limit, at_least in _FACTS
    ),
    *(
        Bar(facts_name(measure, corpus, SIZES[-1]), limit, at_least=False)
        for corpus in (OWN, OUTSIDE)
        for measure, limit in _COSTS
    ),
    Bar(facts_name("preview s", OWN, 100_000), 10.0, at_least=False),
    Bar("SICK recall", 0.75),
    Bar("SICK precision", 0.80),
    Bar("false flags among neighbours", 0.01, at_least=False),
    Bar("LoCoMo recall at 5", 0.56),
    Bar("LoCoMo recall at 10", 0.63),
    Bar("regret after 200 uses, 3 procedures", 5.0, at_least=False),
    Bar("idle MB", 120.0, at_least=False),
)


def missed(measures: Mapping[str, float]) -> list[str]:
    """The bars that do not hold; what was not measured is not judged."""
    return [
        f"{bar.measure}: {measures[bar.measure]:.3f}, must be "
        f"{'at least' if bar.at_least else 'at most'} {bar.limit:g}"
        for bar in BARS
        if bar.measure in measures and not bar.holds(measures[bar.measure])
    ]


def unmeasured(measures: Measures) -> list[str]:
    """Bars without a measure."""
    return [bar.measure for bar in BARS if bar.measure not in measures]
