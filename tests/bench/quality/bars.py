"""What must hold, in one table, and what was measured against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Measures = dict[str, float]
"""By name: shares from 0 to 1, or counts."""


@dataclass(frozen=True)
class Bar:
    """A measure that must not be missed."""

    measure: str
    limit: float
    at_least: bool = True

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


LOOKUPS = ("D", "D generated", "E", "E2")
NESTED = ("citm_catalog.json", "gh_issues_events.json")
FLAT = ("cars.json", "flights2k.json", "github-repos.json")

BARS: tuple[Bar, ...] = (
    Bar("A kept at 20 %", 0.97),
    Bar("B kept at 20 %", 0.94),
    Bar("C kept at 30 %", 0.85),
    *(Bar(f"{shape} kept at 10 %", 1.0) for shape in LOOKUPS),
    *(Bar(f"{shape} valid JSON at 10 %", 1.0) for shape in LOOKUPS),
    Bar("F 1 MB kept at 4,000", 1.0),
    Bar("F 1 MB, no query kept at 4,000", 1.0),
    *(Bar(f"lossless {name}", -0.70, at_least=False) for name in NESTED),
    *(Bar(f"lossless {name}", -0.25, at_least=False) for name in FLAT),
    Bar("valid JSON", 1.0),
    Bar("recoverable", 1.0),
    Bar("over budget", 0, at_least=False),
    Bar("grown", 0, at_least=False),
    Bar("not deterministic", 0, at_least=False),
    Bar("faults", 0, at_least=False),
)


def missed(measures: Mapping[str, float]) -> list[str]:
    """The bars that do not hold; what was not measured is not judged."""
    return [
        f"{bar.measure}: {measures[bar.measure]:.3f}, must be "
        f"{'at least' if bar.at_least else 'at most'} {bar.limit:g}"
        for bar in BARS
        if bar.measure in measures and not bar.holds(measures[bar.measure])
    ]


def unmeasured(measures: Mapping[str, float]) -> list[str]:
    """Bars without a measure, because their data is not there."""
    return [bar.measure for bar in BARS if bar.measure not in measures]
