"""The tuner: from ratings to thresholds, one small step at a time. `next_step` is pure.

A rated memory's worth is 1 (helpful), 0.5 (partially) or 0 (not relevant). The best threshold is the one
that maximises the sum of (worth - 0.5) over all rated memories at or above it: whoever is helped gains as
much as whoever is bothered loses. Scores are comparable between queries, so old ratings go on counting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from config.schema import TunerSettings
from proxy.commands import CommandResult
from proxy.surface.model import Adjustment, RatedScore
from proxy.surface.record import SurfacingRecord, ToolScores

LONGEST_STEP = 0.1
SHORTEST_STEP = 0.03
TRY_MORE = 0.05
"""The step down when nearly all that is shown is worth something."""
NEARLY_ALL = 0.8
NOISE = 1.0
"""A gain of so little, two useless memories in all, does not raise a threshold."""
NEUTRAL = 0.5
"""A memory worth this much neither gains nor loses anything."""
ENOUGH_SEARCHES = 20
"""Searches from which it is judged whether a tuned threshold has silenced a tool."""
ALL_ADJUSTMENTS = 10_000
"""More than are kept."""
_DIGITS = 3


def threshold_in_force(step: Adjustment | None, configured: float) -> float:
    """The tool's threshold. ``step``: its last one, see `thresholds_in_force`.

    A step made under another setting than today's is void: the person has spoken since.
    """
    if step is None or step.configured not in (None, configured):
        return configured
    return step.after


def last_step(adjustments: Sequence[Adjustment]) -> Adjustment | None:
    """The one in force of a tool's adjustments, newest first: a step, or what took one back."""
    return next((one for one in adjustments if one.reverted_at is None), None)


def next_step(
    scores: ToolScores,
    threshold_in_force: float,
    configured: float,
    rules: TunerSettings,
    now: float,
) -> Adjustment | None:
    """The step that the ratings ask for, with ``id`` 0; ``None``: none yet.

    It stays within ``least_score`` and ``most_score``, is at most `LONGEST_STEP` long (but for a
    threshold outside of these bounds), never shorter than `SHORTEST_STEP`, and never goes up beyond what
    a quarter of the last searches reach. It needs ``min_ratings`` new ratings since the last step or its
    reversal, twice as many to turn round. A threshold above the setting which less than a quarter of
    the searches reach comes down without ratings, as there would never be any.
    """
    if not rules.enabled or rules.least_score > rules.most_score:
        return None
    before = threshold_in_force
    ceiling = loudest(scores.offered)
    drifted = _back_from_silence(scores.offered, before, configured, ceiling)
    if drifted is not None:
        wanted, reason, samples = drifted
    else:
        fresh = _since(scores)
        if len(fresh) < rules.min_ratings:
            return None
        found = _wanted(scores.rated, fresh, before, rules.most_score)
        if found is None:
            return None
        wanted, reason = found
        samples = len(fresh)
        if _turns(scores, wanted - before, configured) and samples < 2 * rules.min_ratings:
            return None
    after = round(min(max(wanted, rules.least_score), rules.most_score), _DIGITS)
    if after > before:
        if ceiling is None:
            ceiling = loudest([one.score for one in scores.rated]) or before
        after = min(after, _rounded_down(ceiling))
        if after < rules.least_score:
            return None
    if (after - before) * (wanted - before) <= 0 or abs(after - before) < SHORTEST_STEP - 1e-9:
        return None
    return Adjustment(0, now, "", "", before, after, reason, samples, configured=configured)


def best_threshold(
    rated: Sequence[RatedScore], in_force: float, most: float = 1.0
) -> tuple[float, float]:
    """The threshold with the largest gain, and that gain; the lowest of equally good ones.

    Looked for among the rated scores, the one in force and ``most``: what nobody has rated is unknown.
    """
    candidates = sorted({in_force, most, *(one.score for one in rated)})
    ordered = sorted(rated, key=lambda one: -one.score)
    best, best_gain, gain, position = in_force, -math.inf, 0.0, 0
    for candidate in reversed(candidates):
        while position < len(ordered) and ordered[position].score >= candidate:
            gain += ordered[position].worth - NEUTRAL
            position += 1
        if gain >= best_gain:
            best, best_gain = candidate, gain
    return best, best_gain


def loudest(offered: Sequence[float]) -> float | None:
    """The highest threshold at which a quarter of the searches still show something.

    ``None``: no search is known.
    """
    if not offered:
        return None
    return sorted(offered, reverse=True)[math.ceil(len(offered) / 4) - 1]


def tune_tool(
    record: SurfacingRecord,
    upstream: str,
    tool: str,
    configured: float,
    rules: TunerSettings,
    now: float,
) -> Adjustment | None:
    """Make the step that is due for a tool, and keep it. Blocking. Raises `StoreUnavailable`.

    ``configured``: the tool's threshold by the settings, which must not be one set for this very tool.
    """
    if not rules.enabled:
        return None
    scores = record.read_tool(upstream, tool)
    in_force = threshold_in_force(last_step(scores.adjustments), configured)
    step = next_step(scores, in_force, configured, rules, now)
    if step is None:
        return None
    step = replace(step, upstream=upstream, tool=tool)
    return replace(step, id=record.note_adjustment(step))


def revert(record: SurfacingRecord, id: int, now: float) -> CommandResult:
    """Take a step back, with those that were made after it. Blocking. Raises `StoreUnavailable`."""
    adjustments = record.read_adjustments(ALL_ADJUSTMENTS)
    step = next((one for one in adjustments if one.id == id), None)
    if step is None:
        return CommandResult(
            False, f"There is no step {id} of the tuner; mms surfacing lists those there are."
        )
    name = f"{step.upstream}/{step.tool}"
    if step.reverts is not None:
        return CommandResult(
            False, f"Step {id} took step {step.reverts} back; it is no step of the tuner itself."
        )
    if step.reverted_at is not None:
        return CommandResult(False, f"Step {id} of {name} was taken back before.")
    newest = last_step([one for one in adjustments if _tool(one) == _tool(step)])
    assert newest is not None  # the step itself is one
    if newest.configured != step.configured:
        return CommandResult(
            False, f"Step {id} of {name} is void since the setting changed; nothing is to be done."
        )
    record.note_adjustment(
        Adjustment(
            0,
            now,
            step.upstream,
            step.tool,
            newest.after,
            step.before,
            f"Step {id} was taken back by the person.",
            0,
            reverts=id,
            configured=step.configured,
        )
    )
    return CommandResult(
        True,
        f"Step {id} is taken back: {name} shows memories from {step.before:.2f} on, as before it. "
        "The tuner waits for new ratings.",
    )


def thresholds_in_force(record: SurfacingRecord) -> dict[tuple[str, str], Adjustment]:
    """The last step of each upstream's tool; `threshold_in_force` says what it means. Blocking.

    Raises `StoreUnavailable`.
    """
    return newest_by_tool(record.read_adjustments(ALL_ADJUSTMENTS))


def newest_by_tool(adjustments: Sequence[Adjustment]) -> dict[tuple[str, str], Adjustment]:
    """Of adjustments, newest first, the one in force of each upstream's tool."""
    found: dict[tuple[str, str], Adjustment] = {}
    for one in adjustments:
        if one.reverted_at is None:
            found.setdefault(_tool(one), one)
    return found


def _tool(step: Adjustment) -> tuple[str, str]:
    return step.upstream, step.tool


def _since(scores: ToolScores) -> list[RatedScore]:
    """Ratings after the last step or its reversal."""
    if not scores.adjustments:
        return list(scores.rated)
    last = scores.adjustments[0].at
    return [one for one in scores.rated if one.at > last]


def _turns(scores: ToolScores, change: float, configured: float) -> bool:
    """The change goes against the last step; one that is void or was taken back does not count."""
    last = next(iter(scores.adjustments), None)
    if last is None or last.reverts is not None or last.configured not in (None, configured):
        return False
    return (last.after - last.before) * change < 0


def _wanted(
    rated: Sequence[RatedScore], fresh: Sequence[RatedScore], before: float, most: float
) -> tuple[float, str] | None:
    best, gain = best_threshold(rated, before, max(most, before))
    gain -= sum(one.worth - NEUTRAL for one in rated if one.score >= before)
    worth = sum(one.worth > 0 for one in fresh)
    figures = f"{worth} of {len(fresh)} new ratings found the memory useful"
    if best > before and gain > NOISE:
        bad = [one for one in rated if before <= one.score < best]
        useless = sum(one.worth == 0 for one in bad)
        return (
            before + min((best - before) / 2, LONGEST_STEP),
            f"{figures}; {useless} of {len(bad)} between {before:.2f} and {best:.2f} were useless.",
        )
    wanted = before - min(max(before - best, 0.0) / 2, LONGEST_STEP)
    if worth >= NEARLY_ALL * len(fresh):
        return min(wanted, before - TRY_MORE), f"{figures}: more may be shown."
    if best < before:
        return wanted, f"{figures}; by all {len(rated)} ratings {best:.2f} would serve best."
    return None


def _back_from_silence(
    offered: Sequence[float], before: float, configured: float, ceiling: float | None
) -> tuple[float, str, int] | None:
    if ceiling is None or len(offered) < ENOUGH_SEARCHES or before <= max(configured, ceiling):
        return None
    reached = sum(score >= before for score in offered)
    return (
        max(configured, _rounded_down(ceiling), before - LONGEST_STEP),
        f"Only {reached} of the last {len(offered)} searches reached {before:.2f}.",
        0,
    )


def _rounded_down(score: float) -> float:
    return math.floor(score * 10**_DIGITS) / 10**_DIGITS
