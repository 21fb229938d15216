"""A plan of forgetting and its runs in words: what would go, why, what keeps it, how needed it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from console import format as fmt
from console.safe import safe_line
from console.screens.memory_text import CLASSES, ago, day, days, record_lines, seconds, title_of
from console.widgets.textpane import EMPTY, Flow, TextLine
from console.widgets.tone import Cell, Tone
from memory.api import DecisionView, PlanView
from memory.model import (
    ForgettingDecision,
    ForgettingPolicy,
    Guard,
    Kind,
    Plan,
    Reason,
    Run,
    ScoreTerms,
)

HASH_SHOWN = 12
"""So many digits of a plan's hash stand on the screen; the dialog shows all."""

REASONS: dict[Reason, tuple[str, str]] = {
    Reason.SUPERSEDED: ("replaced", "another record took its place long ago"),
    Reason.DUPLICATE: ("duplicate", "another record says the same and stays"),
    Reason.EXPIRED: ("expired", "it said itself until when it holds, and that is over"),
    Reason.LOW_PERFORMANCE: ("failed", "a procedure that hardly ever worked"),
    Reason.STALE: ("unneeded", "so little used and so old that it is hardly needed again"),
}
"""The word in tables, and what it means."""

GUARDS: dict[Guard, tuple[str, str]] = {
    Guard.PINNED: ("pinned", "you pinned it; P takes the pin away"),
    Guard.EXEMPT: ("kept", "you took it out of this plan; Space puts it back"),
    Guard.OPERATOR: ("important", "you gave it a high importance"),
    Guard.QUARANTINED: ("kept back", "it waits for your decision"),
    Guard.OPEN_PROPOSAL: ("decision", "a decision about it waits on Decisions (7)"),
    Guard.YOUNG: ("young", "it is too young to be judged"),
    Guard.LAST_HOLDER: ("last one", "no other record says this"),
    Guard.CAP: ("cap", "the most that one run may archive is reached"),
    Guard.HYSTERESIS: ("seen once", "unneeded for the first time; the next plan decides"),
}


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One line of the table: the head of a reason, or a record below it."""

    reason: Reason
    view: DecisionView | None = None
    pruned: int = 0
    guarded: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Tells rows apart."""
        return (self.reason.value, self.view.decision.id if self.view is not None else "")


def plan_rows(plan: PlanView, items: tuple[DecisionView, ...]) -> list[PlanRow]:
    """The loaded records under the heads of their reasons; a head without loaded records is not shown."""
    rows: list[PlanRow] = []
    counts = {reason: (pruned, guarded) for reason, pruned, guarded in plan.by_reason}
    before: Reason | None = None
    for view in items:
        reason = view.decision.reason
        if reason is not before:
            pruned, guarded = counts.get(reason, (0, 0))
            rows.append(PlanRow(reason, None, pruned, guarded))
            before = reason
        rows.append(PlanRow(reason, view))
    return rows


def row_cells(row: PlanRow) -> tuple[Cell, ...]:
    """Mark, text, what becomes of it, need, age; the head of a group is one cell."""
    if row.view is None:
        word = REASONS[row.reason][0]
        kept = f", {fmt.count(row.guarded)} kept" if row.guarded else ""
        return (Cell(f" {word}: {fmt.count(row.pruned)} go{kept}", Tone.ACCENT),)
    one = row.view.decision
    mark = Cell("\u2212", Tone.BAD) if one.prune else Cell("\u25cf", Tone.GOOD)
    if one.prune:
        becomes = Cell("archive", Tone.BAD)
    else:
        becomes = Cell(GUARDS[one.guard][0] if one.guard is not None else "kept", Tone.GOOD)
    return (
        mark,
        Cell("  " + title_of(row.view.record), Tone.STRONG if one.prune else Tone.NORMAL),
        becomes,
        Cell(need(one.terms.need), Tone.MUTED),
        Cell(f"{one.terms.age_days:.0f}d", Tone.MUTED),
    )


def need(probability: float) -> str:
    """``1.2%``, ``<0.1%``."""
    return fmt.percent(round(probability * 100_000), 100_000)


def terms_words(terms: ScoreTerms, policy: ForgettingPolicy) -> list[str]:
    """How needed the record is thought to be, and from what, one sentence each."""
    below = "below" if terms.need < policy.stale_need else "above"
    used = f"used {fmt.count(terms.uses)}\u00d7" if terms.uses else "never used"
    likely = (
        f"needed again within 60 days: {need(terms.need)} "
        f"({below} the limit of {need(policy.stale_need)})"
    )
    because = (
        f"{used}, stored {days(terms.age_days)} ago, importance {terms.importance:.2f}, "
        f"activation {terms.activation:.1f}"
    )
    words = [likely, because]
    if terms.performance is not None:
        words.append(
            f"works at most {need(terms.performance)} of the time "
            f"(limit {need(policy.failed_upper_bound)}, from "
            f"{policy.failed_min_outcomes} outcomes on)"
        )
    return words


def decision_lines(
    view: DecisionView, policy: ForgettingPolicy, now: float, tz: tzinfo
) -> list[TextLine]:
    """Everything about one decision: what happens, why, the record in full, who stays for it."""
    one = view.decision
    lines = [_verdict(one), EMPTY]
    word, meaning = REASONS[one.reason]
    lines.append(_labelled("why", f"{word}: {meaning}"))
    if one.klass is not None or one.similarity is not None:
        alike = f"  alike {one.similarity:.2f}" if one.similarity is not None else ""
        klass = CLASSES[one.klass] if one.klass is not None else ""
        lines.append(_labelled("pair", f"{klass}{alike}".strip()))
    for number, words in enumerate(terms_words(one.terms, policy)):
        lines.append(_labelled("" if number else "score", words))
    lines += [EMPTY, (Cell("the record", Tone.ACCENT),)]
    lines += record_lines(view.record, now, tz)
    if view.survivor is not None:
        lines += [EMPTY, (Cell("what stays for it", Tone.ACCENT),)]
        lines += record_lines(view.survivor, now, tz)
    return lines


def _verdict(one: ForgettingDecision) -> TextLine:
    if one.prune:
        return Flow(
            (
                Cell("\u2212 would be archived", Tone.BAD),
                Cell("  Space keeps it; nothing is deleted", Tone.MUTED),
            )
        )
    why = GUARDS[one.guard][1] if one.guard is not None else ""
    return (Cell("\u25cf stays: ", Tone.GOOD), Cell(why))


def _labelled(label: str, words: str) -> TextLine:
    return (Cell(f"{label:<7}", Tone.MUTED), Cell(words))


def head_lines(row: PlanRow) -> list[TextLine]:
    """What a group is about."""
    word, meaning = REASONS[row.reason]
    return [
        (Cell(word, Tone.STRONG),),
        (Cell(meaning + "."),),
        EMPTY,
        _labelled("go", fmt.count(row.pruned)),
        _labelled("stay", f"{fmt.count(row.guarded)}, each with its reason"),
    ]


def counted(plan: PlanView) -> tuple[int, int]:
    """How many records the plan archives, and how many it would but for a guard."""
    return (
        sum(pruned for _, pruned, _ in plan.by_reason),
        sum(guarded for _, _, guarded in plan.by_reason),
    )


def summary_lines(plan: PlanView) -> list[TextLine]:
    """Above the table: which plan, how many go and stay; the rules in force."""
    pruned, guarded = counted(plan)
    share = fmt.percent(pruned, plan.plan.scanned)
    return [
        (
            Cell("plan ", Tone.MUTED),
            Cell(safe_line(plan.plan.hash[:HASH_SHOWN], HASH_SHOWN), Tone.ACCENT),
            Cell("  archives "),
            Cell(fmt.count(pruned), Tone.STRONG),
            Cell(f" of {fmt.count(plan.plan.scanned)} ({share}), keeps {fmt.count(guarded)}"),
            Cell("  nothing is done yet", Tone.MUTED),
        ),
        (Cell(policy_words(plan.plan.policy), Tone.MUTED),),
    ]


def policy_words(policy: ForgettingPolicy) -> str:
    """The rules in force, in one line."""
    return (
        f"unneeded < {need(policy.stale_need)}  replaced > {policy.superseded_after_days:g} d  "
        f"none younger than {policy.min_age_days:g} d  at most {policy.max_share:.0%}"
    )


def expected_word(plan: PlanView) -> str:
    """What is typed before it runs: ``forget 12``."""
    return f"forget {counted(plan)[0]}"


def run_question(plan: PlanView) -> str:
    """Counts by reason and kind and the whole hash, before it runs."""
    pruned, guarded = counted(plan)
    reasons = ", ".join(
        f"{REASONS[reason][0]} {fmt.count(number)}"
        for reason, number, _ in plan.by_reason
        if number
    )
    return (
        f"{fmt.count(pruned)} of {fmt.plural(plan.plan.scanned, 'record')} are archived, "
        f"{fmt.count(guarded)} are kept.\n"
        f"{reasons}\n"
        f"{', '.join(_kind_words(plan.plan))}\n\n"
        f"plan {safe_line(plan.plan.hash, 64)}\n\n"
        "Nothing is deleted: u takes the whole run back."
    )


def _kind_words(plan: Plan) -> list[str]:
    counts: dict[Kind, int] = {kind: pruned for kind, _, pruned in plan.by_kind}
    return [f"{kind.value} {counts.get(kind, 0)}" for kind in Kind]


def run_cells(run: Run, now: float, tz: tzinfo) -> tuple[Cell, ...]:
    """Mark, when, by whom, how many, regret."""
    undone = run.undone_at is not None
    hits = run.would_have_hit
    return (
        Cell("\u21ba" if undone else "\u2713", Tone.MUTED if undone else Tone.GOOD),
        Cell(day(run.at, tz), Tone.MUTED if undone else Tone.STRONG),
        Cell(safe_line(run.actor, 60), Tone.MUTED),
        Cell(f"{fmt.count(run.archived)} archived", Tone.MUTED if undone else Tone.NORMAL),
        Cell(
            "undone" if undone else (f"{fmt.count(hits)} missed" if hits else "none missed"),
            Tone.WARN if hits and not undone else Tone.MUTED,
        ),
        Cell(fmt.age(now - seconds(run.at)), Tone.MUTED),
    )


def run_lines(run: Run, now: float, tz: tzinfo) -> list[TextLine]:
    """A run in full: reasons, regret, plan."""
    lines: list[TextLine] = [
        _labelled("run", f"{day(run.at, tz)} ({ago(run.at, now)}) by {safe_line(run.actor, 80)}"),
        _labelled("id", safe_line(run.id, 80)),
        _labelled("plan", safe_line(run.plan_hash, 80)),
    ]
    reasons = ", ".join(f"{REASONS[reason][0]} {number}" for reason, number in run.by_reason)
    number = fmt.plural(run.archived, "record")
    lines.append(_labelled("what", f"{number} archived: {reasons}" if reasons else number))
    if run.would_have_hit:
        times = fmt.plural(run.would_have_hit, "later search", "later searches")
        words = f"{times} would have found one of them among the best three"
        lines.append((Cell("regret ", Tone.MUTED), Cell(words, Tone.WARN)))
    else:
        lines.append(_labelled("regret", "no later search would have found one of them"))
    if run.undone_at is not None:
        lines.append(_labelled("undone", f"{day(run.undone_at, tz)} ({ago(run.undone_at, now)})"))
    return lines
