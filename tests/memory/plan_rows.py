"""Rows, edges and whole small memories for tests of forgetting plans."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from memory.model import (
    DAY,
    Edge,
    Exemptions,
    ForgettingPolicy,
    Guard,
    Instant,
    Kind,
    Origin,
    PairClass,
    Plan,
    Reason,
    State,
)
from memory.plan import PlanRow, make_plan

NOW = 4000 * DAY
POLICY = ForgettingPolicy()
NONE = Exemptions()
NO_CAPS = ForgettingPolicy(max_share=1.0, max_records=10_000)


def row(num: int, **values: object) -> PlanRow:
    """A fact, 100 days old, that nothing speaks against."""
    usual = PlanRow(
        num,
        f"r{num:04d}",
        Kind.SEMANTIC,
        1,
        State.ACTIVE,
        f"content {num}",
        f"norm {num}",
        NOW - 100 * DAY,
        NOW - 100 * DAY,
        0.5,
        False,
        Origin.AGENT,
        2,
        1,
        0,
        None,
        None,
        0,
        0,
        None,
    )
    return replace(usual, **values)  # type: ignore[arg-type]


def same(num: int, text: str, **values: object) -> PlanRow:
    return row(num, content_hash=text, norm_hash=text, **values)


def stale(num: int, **values: object) -> PlanRow:
    return row(num, **{"recorded_at": NOW - 1000 * DAY, "stale_before": True, **values})


def edge(older: int, newer: int, klass: PairClass = PairClass.REWORDING) -> Edge:
    return Edge(older, newer, 0.95, klass, 0.9, "model")


def plan_of(
    rows: Sequence[PlanRow],
    edges: Sequence[Edge] = (),
    policy: ForgettingPolicy = POLICY,
    exemptions: Exemptions = NONE,
    now: Instant = NOW,
    archived_lately: int = 0,
    kept_apart: Sequence[tuple[str, str]] = (),
) -> Plan:
    return make_plan(
        rows,
        edges,
        policy,
        exemptions,
        space="default",
        position=7,
        now=now,
        archived_lately=archived_lately,
        kept_apart=kept_apart,
    )


def outcome(plan: Plan) -> dict[str, tuple[Reason, Guard | None, str | None]]:
    return {one.id: (one.reason, one.guard, one.survivor) for one in plan.decisions}


def crowd(seed: int, size: int) -> tuple[list[PlanRow], list[Edge]]:
    """A small random memory in which everything happens that may happen."""
    r = random.Random(seed)
    texts = size // 2 + 1
    rows: list[PlanRow] = []
    for num in range(1, size + 1):
        text = r.randrange(texts)
        age = r.choice([1, 5, 10, 50, 200, 600, 1500]) * DAY
        uses = r.choice([0, 0, 0, 2, 30])
        used = NOW - r.randrange(age) if uses else None
        state = r.choice([State.ACTIVE] * 5 + [State.SUPERSEDED, State.QUARANTINED])
        others = r.sample(range(1, size + 1), k=min(size, r.randrange(3)))
        rows.append(
            PlanRow(
                num,
                f"r{num:04d}",
                r.choice([Kind.SEMANTIC, Kind.SEMANTIC, Kind.EPISODIC, Kind.PROCEDURAL]),
                r.randrange(1, 4),
                state,
                f"{text} {r.randrange(2)}",
                f"{text}",
                NOW - age,
                NOW - r.randrange(age),
                r.choice([0.1, 0.5, 0.5, 0.9]),
                r.random() < 0.1,
                r.choice(list(Origin)),
                r.randrange(4),
                r.choice([1, 1, 4]),
                uses,
                used,
                used,
                r.choice([0, 0, 9]),
                r.choice([0, 30]),
                r.choice([None, None, NOW - DAY, NOW + DAY]),
                "",
                tuple(f"r{other:04d}" for other in others) if state is State.SUPERSEDED else (),
                r.random() < 0.1,
                r.random() < 0.6,
            )
        )
    edges = [
        Edge(
            r.randrange(1, size + 1),
            r.randrange(1, size + 1),
            r.choice([0.9, 0.95]),
            r.choice([PairClass.REWORDING] * 4 + [PairClass.VALUE, PairClass.DETAIL]),
            0.9,
            "model",
        )
        for _ in range(r.randrange(2 * size))
    ]
    return rows, edges
