"""Advice: which settings would serve a tool's answers better, judged by how they were used. Pure.

Nothing is changed by it; ``mms tune --apply`` writes what a person agrees to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from config.paths import Paths
from config.schema import Compression, Settings, UpstreamSettings
from config.toml_text import dotted, toml_value
from proxy.answer_rules import AnswerRules, rules_for
from proxy.control_tools import FeedbackKind
from proxy.surface.habits import ToolHabits, read_habits
from proxy.surface.model import Recommendation, TuningReport
from proxy.surface.statistics import configured_by
from proxy.surface.tuner import SHORTEST_STEP, best_threshold, loudest, threshold_in_force

LEAST_CALLS = 5
"""Of a tool, and of its shortened answers, before anything is said."""
OFTEN_READ_ON = 0.2
COVERED = 0.8
"""So many of the answers that were read on would fit the larger budget."""
ROUNDED_TO = 500
MOST_TOKENS = 16_000
CHARACTERS_PER_TOKEN = 4
"""Budgets in characters are rounded and bounded in proportion."""
LEAST_REPORTS = 3
LEAST_RATINGS = 10
POOR_HELPFULNESS = 0.4
USELESS_EVENTS = 20
HIGH_SAMPLES, MEDIUM_SAMPLES = 20, 10
_HOUR = 3_600.0


def read_tuning(
    paths: Paths, settings: Settings, since_hours: float, tool: str | None, *, now: float
) -> TuningReport:
    """Advice from the files of a station, running or not. Blocking; a file's trouble is a problem of it.

    ``tool`` as for `recommend`.
    """
    habits, problem = read_habits(paths, now - since_hours * _HOUR)
    return recommend(habits, settings, since_hours, tool, problem=problem)


def recommend(
    habits: Sequence[ToolHabits],
    settings: Settings,
    since_hours: float,
    tool: str | None = None,
    *,
    problem: str = "",
) -> TuningReport:
    """Advice for tools with at least `LEAST_CALLS` calls.

    ``tool``: ``UPSTREAM/TOOL`` or a tool's name; ``None`` stands for all, the empty name for none.
    """
    chosen = [
        one for one in habits if tool is None or tool in (one.tool, f"{one.upstream}/{one.tool}")
    ]
    best: dict[str, Recommendation] = {}
    for one in chosen:
        # A tool of an upstream that is gone has no place in the settings.
        if one.calls < LEAST_CALLS or one.upstream not in settings.upstreams:
            continue
        for found in _of_tool(one, settings):
            known = best.get(found.key)
            if known is None or _weight(found) > _weight(known):
                best[found.key] = found
    ordered = sorted(best.values(), key=lambda one: (one.upstream, one.tool, one.key))
    return TuningReport(since_hours, tuple(ordered), len(chosen), problem)


def confidence_of(samples: int) -> str:
    """``high``, ``medium`` or ``low``."""
    if samples >= HIGH_SAMPLES:
        return "high"
    return "medium" if samples >= MEDIUM_SAMPLES else "low"


def _of_tool(one: ToolHabits, settings: Settings) -> Iterator[Recommendation]:
    upstream = settings.upstreams[one.upstream]
    rules = rules_for(settings.proxy, upstream, one.tool)
    if rules.strategy is not Compression.NONE:
        yield from _larger_budget(one, rules)
        yield from _other_strategy(one, rules)
        if not settings.proxy.advertise_context_query:
            yield from _context_query(one)
    yield from _surfacing(one, settings, upstream)


def _larger_budget(one: ToolHabits, rules: AnswerRules) -> Iterator[Recommendation]:
    in_tokens = rules.unit == "tokens"
    if one.shortened >= LEAST_CALLS and len(one.read_on) >= OFTEN_READ_ON * one.shortened:
        sizes = sorted(tokens if in_tokens else characters for tokens, characters in one.read_on)
        size = sizes[math.ceil(COVERED * len(sizes)) - 1]
        reason = (
            f"{len(one.read_on)} of {one.shortened} shortened answers were read on; four fifths of "
            f"these had at most {size:,} {rules.unit} before."
        )
        yield from _budget(one, rules, size, reason, one.shortened)
    reports = one.missed.get(FeedbackKind.MISSING_EXAMPLE.value, 0)
    if reports >= LEAST_REPORTS:
        reason = f"Agents missed examples in shortened answers {reports} times: half as much again."
        yield from _budget(one, rules, rules.budget * 3 // 2, reason, reports)


def _budget(
    one: ToolHabits, rules: AnswerRules, size: int, reason: str, samples: int
) -> Iterator[Recommendation]:
    in_tokens = rules.unit == "tokens"
    unit = 1 if in_tokens else CHARACTERS_PER_TOKEN
    rounded = -(-size // (ROUNDED_TO * unit)) * ROUNDED_TO * unit
    proposed = min(rounded, MOST_TOKENS * unit)
    if proposed > rules.budget:
        key = "max_result_tokens" if in_tokens else "max_result_chars"
        yield _made(one, key, rules.budget, proposed, reason, samples)


def _other_strategy(one: ToolHabits, rules: AnswerRules) -> Iterator[Recommendation]:
    for kind, strategy, missed in (
        (FeedbackKind.TRUNCATED, Compression.HYBRID, "the rest of"),
        (FeedbackKind.MISSING_METADATA, Compression.EXTRACT_FIELDS, "fields in"),
    ):
        reports = one.missed.get(kind.value, 0)
        if reports >= LEAST_REPORTS and rules.strategy is not strategy:
            reason = f"Agents missed {missed} shortened answers {reports} times."
            yield _made(one, "compression", rules.strategy, strategy, reason, reports)


def _context_query(one: ToolHabits) -> Iterator[Recommendation]:
    reports = one.missed.get(FeedbackKind.WRONG_TOPIC.value, 0)
    if reports >= LEAST_REPORTS:
        reason = (
            f"Agents were given the wrong parts of {one.upstream}/{one.tool} {reports} times; with a "
            "_context_query they can say what they look for."
        )
        yield Recommendation(
            one.upstream,
            one.tool,
            "proxy.advertise_context_query",
            toml_value(False),
            toml_value(True),
            reason,
            reports,
            confidence_of(reports),
        )


def _surfacing(
    one: ToolHabits, settings: Settings, upstream: UpstreamSettings
) -> Iterator[Recommendation]:
    own = upstream.tools.get(one.tool)
    layers = (upstream,) if own is None else (own, upstream)
    is_on = next((layer.surfacing for layer in layers if layer.surfacing is not None), True)
    if not (is_on and settings.surfacing.enabled):
        return
    if one.rated_events >= USELESS_EVENTS and not one.other_ratings:
        reason = f"All memories shown in {one.rated_events} rated answers were not relevant."
        yield _made(one, "surfacing", True, False, reason, one.rated_events)
        return
    ratings = len(one.rated)
    helpfulness = sum(rated.worth for rated in one.rated) / ratings if ratings else 1.0
    if ratings < LEAST_RATINGS or helpfulness > POOR_HELPFULNESS:
        return
    configured, pinned = configured_by(settings)(one.upstream, one.tool)
    current = configured if pinned else threshold_in_force(one.step, configured)
    most = max(settings.surfacing.tuner.most_score, current)
    best, _ = best_threshold(one.rated, current, most)
    reachable = loudest(one.offered)
    # As with the tuner, a quarter of the searches must still show something.
    proposed = math.floor(1_000 * (best if reachable is None else min(best, reachable))) / 1_000
    if proposed - current >= SHORTEST_STEP:
        reason = (
            f"The memories shown were {helpfulness:.0%} helpful by {ratings} ratings; from "
            f"{proposed:.2f} on they help most."
        )
        yield _made(one, "surfacing_min_score", round(current, 3), proposed, reason, ratings)


def _made(
    one: ToolHabits, key: str, current: object, proposed: object, reason: str, samples: int
) -> Recommendation:
    return Recommendation(
        one.upstream,
        one.tool,
        dotted(("upstreams", one.upstream, "tools", one.tool, key)),
        toml_value(current),
        toml_value(proposed),
        reason,
        samples,
        confidence_of(samples),
    )


def _weight(one: Recommendation) -> tuple[float, int]:
    """Of two for the same key the larger budget wins, else what rests on more."""
    is_number = one.proposed.isdecimal()
    return (float(one.proposed) if is_number else 0.0, one.samples)
