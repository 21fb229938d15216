"""One answer under other settings, as rows, sentences and keys of the settings file. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from config.schema import Compression
from console import format as fmt
from console.safe import safe_line
from console.trials import LEAST_BUDGET
from console.widgets.textpane import EMPTY, TextLine
from console.widgets.tone import Cell, Tone
from proxy.answer_model import FactCounts, Variant, WhatIf

BUDGETS = (250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""Steps of the budget, in tokens."""
OFFERED = tuple(one for one in Compression if one is not Compression.NONE)
"""Strategies one can try; ``none`` is the original itself."""


class Kind(Enum):
    """What a row is."""

    ORIGINAL = "original"
    SENT = "sent"
    VARIANT = "variant"


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One line of the comparison."""

    kind: Kind
    variant: Variant

    @property
    def key(self) -> tuple[str, str]:
        """What the cursor stays on."""
        return (self.kind.value, self.variant.asked)

    @property
    def name(self) -> str:
        """``extract``, or ``lossless \u2192 extract`` after a fallback."""
        one = self.variant
        if self.kind is Kind.ORIGINAL:
            return "original"
        if self.kind is Kind.SENT:
            return f"was sent: {one.strategy}"
        return one.asked if one.strategy == one.asked else f"{one.asked} \u2192 {one.strategy}"


def trial_rows(view: WhatIf) -> list[TrialRow]:
    """The original, what was really sent, then the variants in the order they were made."""
    if not view.variants and view.sent is None:
        return []
    known = view.sent or view.variants[0]
    facts = FactCounts(known.facts.total, known.facts.total, 0, 0)
    none = Compression.NONE.value
    original = Variant(none, none, 0, view.before_tokens, view.before_text, facts, 0.0)
    rows = [TrialRow(Kind.ORIGINAL, original)]
    if view.sent is not None:
        rows.append(TrialRow(Kind.SENT, view.sent))
    return rows + [TrialRow(Kind.VARIANT, variant) for variant in view.variants]


def trial_cells(row: TrialRow, before_tokens: int) -> tuple[Cell, ...]:
    """Mark, name, tokens, share of the original, facts kept, to fetch, lost, milliseconds."""
    one, facts = row.variant, row.variant.facts
    over = row.kind is Kind.VARIANT and one.tokens > one.budget_tokens
    mark = Cell("\u2716", Tone.BAD) if facts.lost else Cell("\u25b2" if over else " ", Tone.WARN)
    timed = row.kind is Kind.VARIANT
    return (
        mark,
        Cell(row.name, Tone.STRONG if timed else Tone.NORMAL),
        Cell(fmt.tokens(one.tokens), Tone.WARN if over else Tone.NORMAL),
        Cell(fmt.percent(one.tokens, before_tokens), Tone.MUTED),
        Cell(fmt.count(facts.retained), Tone.GOOD if facts.retained else Tone.MUTED),
        Cell(fmt.count(facts.recoverable), Tone.NORMAL if facts.recoverable else Tone.MUTED),
        Cell(fmt.count(facts.lost), Tone.BAD if facts.lost else Tone.MUTED),
        Cell(fmt.milliseconds(one.milliseconds) if timed else fmt.NONE, Tone.MUTED),
    )


def fact_lines(row: TrialRow) -> list[TextLine]:
    """What became of the checkable facts, with examples."""
    facts = row.variant.facts
    lines: list[TextLine] = [
        (Cell(f"{fmt.plural(facts.total, 'fact')} that can be checked:", Tone.STRONG),),
        (Cell("numbers with keys, paths, URLs, ids, error lines", Tone.MUTED),),
        _share("kept", facts.retained, facts.total, Tone.GOOD),
        _share("to fetch", facts.recoverable, facts.total, Tone.NORMAL),
        _share("lost", facts.lost, facts.total, Tone.BAD if facts.lost else Tone.MUTED),
    ]
    for title, examples, tone in (
        ("lost for good:", facts.lost_examples, Tone.BAD),
        ("not in it, but its handle fetches:", facts.missing_examples, Tone.WARN),
    ):
        if examples:
            lines += [EMPTY, (Cell(title, tone),)]
            lines += [(Cell("  "), Cell(safe_line(example, 300))) for example in examples]
    return lines


def _share(label: str, part: int, whole: int, tone: Tone) -> TextLine:
    return (
        Cell(f"  {label:<9}", Tone.MUTED),
        Cell(f"{fmt.count(part):>6}", tone),
        Cell(f"  {fmt.percent(part, whole)}", Tone.MUTED),
    )


def next_budget(present: int, *, larger: bool) -> int:
    """The step above or below; the first or last one at the ends."""
    if larger:
        return next((step for step in BUDGETS if step > present), max(present, BUDGETS[-1]))
    below = [step for step in BUDGETS if step < present]
    return below[-1] if below else min(present, BUDGETS[0])


def read_budget(text: str) -> int | None:
    """Tokens that a person typed (``4000``, ``4,000``, ``4k``); ``None`` when it is no budget."""
    digits = text.strip().lower().replace(",", "").replace("_", "")
    factor = 1
    if digits.endswith("k"):
        digits, factor = digits[:-1], 1000
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return None
    budget = int(digits) * factor
    return budget if budget >= LEAST_BUDGET else None


def apply_words(changes: Sequence[tuple[str, str]], row: TrialRow, before_tokens: int) -> str:
    """The question before the settings are written: the keys, and what they would have done."""
    lines = [f"{safe_line(key, 200)} = {value}" for key, value in changes]
    share = fmt.percent(row.variant.tokens, before_tokens)
    what = (
        "Its answers go out whole, whatever their size."
        if row.kind is Kind.ORIGINAL
        else f"This answer would have been {fmt.tokens(row.variant.tokens)} of "
        f"{fmt.tokens(before_tokens)} tokens ({share})."
    )
    return "Written to your settings file, for calls from now on:\n" + "\n".join((*lines, what))
