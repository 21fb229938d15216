"""A forgetting plan over very many facts. They are stored with no vectors, which would take most of an hour.

Neighbours are found by their words alone then; the edges that a plan reads are made by storing, as always.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from config.schema import EmbedderKind
from memory.api import AddRecord, PreviewForgetting
from memory.model import DAY, Kind, MemoryText
from tests.bench.memory.corpus import Fact
from tests.bench.memory.labelled import NO_CAPS
from tests.bench.memory.opened import ModelTime, Stopwatch, bench_memory, note

_AFTER_DAYS = 8.0
"""Then no fact is too young to be forgotten."""
_LAST = 100


@dataclass(frozen=True, slots=True)
class Large:
    """Medians of CPU time."""

    facts: int
    store_ms: float
    preview_s: float
    planned: int
    """Records that the plan would archive."""


def measure(facts: Sequence[Fact]) -> Large:
    """Store all facts, and preview three times."""
    with bench_memory(EmbedderKind.OPENAI) as memory:
        storing, started = Stopwatch(memory, ModelTime()), time.perf_counter()
        for number, fact in enumerate(facts, 1):
            storing.ask(AddRecord(Kind.SEMANTIC, MemoryText(fact.text)))
            if number % 10_000 == 0:
                took, each = time.perf_counter() - started, storing.median(_LAST)
                note(f"{number:,} facts in {took:.0f} s, {each:.1f} ms CPU")
        memory.now += round(_AFTER_DAYS * DAY)
        previewing = Stopwatch(memory, ModelTime())
        pages = [previewing.ask(PreviewForgetting(policy=NO_CAPS, limit=1)) for _ in range(3)]
        return Large(
            len(facts),
            storing.median(_LAST),
            statistics.median(previewing.times) / 1000,
            sum(pruned for _, _, pruned in pages[-1].plan.by_kind),
        )
