"""Answers made smaller, at the moment of `sample_data`: the ledger, held texts, trials of settings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from proxy.answer_model import (
    FactCounts,
    FeedbackLine,
    HeldDetail,
    HeldList,
    HeldTotals,
    HeldView,
    Savings,
    SavingsLine,
    SavingsView,
    Variant,
    WhatIf,
    WhatIfQuery,
)
from tests.support.sample_data import CALLS, NOW, call_detail

_TODAY: date = datetime.fromtimestamp(NOW, UTC).date()

_TOOLS = (
    ("docs", "read_page", 41, 0.55, 5_200, 6),
    ("docs", "search", 63, 0.30, 2_900, 2),
    ("filesystem", "read_text_file", 188, 0.24, 1_900, 9),
    ("filesystem", "search_files", 34, 0.41, 3_800, 1),
    ("github", "get_file_contents", 29, 0.48, 6_100, 4),
    ("github", "search_code", 22, 0.72, 9_700, 3),
    ("postgres", "query", 17, 0.35, 4_400, 0),
)
"""Upstream, tool, calls of a day, share of reduced ones, tokens of one answer, fetches of a day."""


def _lines() -> Iterable[SavingsLine]:
    for age in range(13, -1, -1):
        day = (_TODAY - timedelta(days=age)).isoformat()
        busy = 3 + (age * 5) % 8
        for upstream, tool, calls, share, tokens, fetches in _TOOLS:
            count = calls * busy // 8
            reduced = int(count * share)
            sent = (count - reduced) * tokens // 4 + reduced * tokens // 3
            yield SavingsLine(
                day,
                upstream,
                tool,
                Savings(
                    calls=count,
                    reduced=reduced,
                    before=(count - reduced) * tokens // 4 + reduced * tokens * 3,
                    sent=sent,
                    fetched=fetches * busy * 310,
                    notices=reduced * 52,
                    control_tools=0,
                    cache_hits=count // 9,
                ),
            )
        yield SavingsLine(day, "mms", "", Savings(control_tools=412 * (busy + 2)))


SAVINGS = SavingsView(
    tuple(sorted(_lines(), key=lambda line: (line.day, line.upstream, line.tool))),
    412,
    "o200k_base",
    (
        FeedbackLine("docs", "read_page", "truncated", 2, NOW - 3_600, ("the table of limits",)),
        FeedbackLine("github", "search_code", "wrong_topic", 1, NOW - 90_000, ("closed ones",)),
    ),
)
"""Two weeks up to today."""

_HELD: tuple[HeldView, ...] = tuple(
    HeldView(
        key=record.held_key,
        upstream=record.upstream,
        tool=record.tool,
        bytes=record.before.bytes,
        stored_bytes=record.before.bytes // 5 + 200,
        created_at=record.started_at,
        used_at=record.started_at + number % 4 * 0.5,
        reads=number % 4,
        pinned=number < 9,
    )
    for number, record in enumerate(record for record in CALLS if record.held_key)
)


def held_totals(answers: tuple[HeldView, ...]) -> HeldTotals:
    """The store as a whole when it holds these."""
    return HeldTotals(
        answers=len(answers),
        bytes=sum(one.bytes for one in answers),
        stored_bytes=sum(one.stored_bytes for one in answers),
        capacity_bytes=256 * 1024 * 1024,
        evicted=3,
    )


HELD = HeldList(held_totals(_HELD), tuple(sorted(_HELD, key=lambda one: -one.used_at)))

HELD_DETAILS: dict[str, HeldDetail] = {
    one.key: HeldDetail(
        one,
        "\n".join(f"{number}: a line of {one.upstream} {one.tool}" for number in range(1, 41)),
        truncated=number % 3 == 0,
    )
    for number, one in enumerate(HELD.answers)
}


def what_if(query: WhatIfQuery) -> WhatIf:
    """Trials of the strategies asked for, or of four; a problem for a call that is not held."""
    record = next((one for one in CALLS if one.id == query.call_id), None)
    if record is None:
        return _none(query, "", "", f"There is no call {query.call_id}.")
    if not record.held_key:
        return _none(query, record.upstream, record.tool, "The original of this call is not held.")
    budget = query.budget_tokens or 4_000
    before = record.before.tokens
    strategies = query.strategies or ("extract", "lossless", "selective", "truncate")
    sent = call_detail(record).result
    return WhatIf(
        call_id=record.id,
        upstream=record.upstream,
        tool=record.tool,
        content="json array" if record.id % 2 else "markdown",
        before_tokens=before,
        before_text=f"the whole long answer of call {record.id}\n" * 30,
        sent=(
            None
            if sent is None
            else _variant(record.strategy, record.text.tokens, before, budget, sent)
        ),
        variants=tuple(
            _variant(name, min(budget, before) - 37 * number, before, budget, f"as {name}\n" * 20)
            for number, name in enumerate(strategies)
        ),
    )


def _variant(strategy: str, tokens: int, before: int, budget: int, text: str) -> Variant:
    retained = 120 * max(tokens, 0) // max(before, 1) if strategy != "lossless" else 120
    lost = 7 if strategy == "truncate" else 0
    return Variant(
        strategy=strategy,
        asked=strategy,
        budget_tokens=budget,
        tokens=tokens,
        text=text,
        facts=FactCounts(
            total=120 + lost,
            retained=retained,
            recoverable=120 - retained,
            lost=lost,
            lost_examples=("ERROR 14:03:07 disk full",) if lost else (),
            missing_examples=("items/17/id = 48213", "/srv/app/config.toml"),
        ),
        milliseconds=3.5,
    )


def _none(query: WhatIfQuery, upstream: str, tool: str, problem: str) -> WhatIf:
    return WhatIf(query.call_id, upstream, tool, "", 0, "", None, (), problem)
