"""A record of the memory in words: text, where it came from, how it is used, what happened. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from console import format as fmt
from console.safe import safe_line
from console.widgets.memory_glyphs import PROPOSAL_KINDS, PROPOSAL_STATES, RECORD_STATES
from console.widgets.textpane import EMPTY, Flow, TextLine, lines_of
from console.widgets.tone import Cell, Tone
from memory.api import RecordDetail, SearchResult
from memory.errors import MemoryFault
from memory.model import (
    SECOND,
    Hit,
    Instant,
    Kind,
    MemoryText,
    Origin,
    PairClass,
    PairEvidence,
    Record,
    ScoreParts,
    State,
)

SHOWN_CHARACTERS = 128 * 1024
"""Longer texts are cut on the screen; the copy is not."""
TAIL = 8
"""So many last characters of an id tell records apart where there is little room."""

ORIGINS = {
    Origin.OPERATOR: "you",
    Origin.AGENT: "an agent",
    Origin.IMPORT: "an import",
    Origin.EXTERNAL: "a tool's answer",
}

CLASSES = {
    PairClass.IDENTICAL: "the same words",
    PairClass.REWORDING: "the same statement in other words",
    PairClass.VALUE: "another value in the same statement",
    PairClass.POLARITY: "one says what the other denies",
    PairClass.DETAIL: "one says all that the other says, and more",
    PairClass.UNRELATED: "",
}

WARNINGS = {
    "disputed": "contradicted by another record; a decision waits",
    "superseded": "another record took its place",
    "archived": "out of the agent's ordinary search",
    "stale": "probably no longer needed",
    "unverified": "from a source of low trust",
    "instruction_like": "reads like an instruction to the agent",
}


def seconds(at: Instant) -> float:
    """An instant in seconds since 1970."""
    return at / SECOND


def day(at: Instant, tz: tzinfo) -> str:
    """``2026-11-30 14:03``; what no calendar holds is told as a number."""
    try:
        return datetime.fromtimestamp(seconds(at), tz).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{at} \u00b5s"


def ago(at: Instant, now: float) -> str:
    """``3d 4h ago``, or ``in 2h 0m``."""
    lasted = now - seconds(at)
    return f"{fmt.age(lasted)} ago" if lasted >= 0 else f"in {fmt.age(-lasted)}"


def days(number: float) -> str:
    """``211 days``, ``1 day``, ``0.3 days``."""
    if number < 9.95 and number != int(number):
        return f"{number:.1f} days"
    return fmt.plural(round(number), "day")


def tail(record_id: str) -> str:
    """The end of an id."""
    return "\u2026" + record_id[-TAIL:] if len(record_id) > TAIL else record_id


def title_of(record: Record) -> str:
    """The first words of a record, on one line."""
    if record.state is State.EXPUNGED and not record.text.content:
        return "(erased)"
    return safe_line(record.text.summary or record.text.content, 200)


def whole_text(text: MemoryText) -> str:
    """All words of a record, as they may be copied."""
    parts = [text.content]
    if text.summary:
        parts.append(f"Summary: {text.summary}")
    for name, lines in (("Preconditions", text.preconditions), ("Steps", text.steps)):
        if lines:
            numbered = (f"{number}. {line}" for number, line in enumerate(lines, 1))
            parts.append("\n".join((f"{name}:", *numbered)))
    if text.note:
        parts.append(f"Note: {text.note}")
    return "\n\n".join(parts)


def text_lines(text: MemoryText, indent: str = "") -> list[TextLine]:
    """All words of a record, in full up to `SHOWN_CHARACTERS`."""
    whole = whole_text(text)
    lines = lines_of(whole[:SHOWN_CHARACTERS], indent=indent)
    if len(whole) > SHOWN_CHARACTERS:
        left = fmt.plural(len(whole) - SHOWN_CHARACTERS, "more character")
        lines.append((Cell(f"{indent}\u2026 {left}; y copies all", Tone.WARN),))
    return lines


def provenance(record: Record, now: float, tz: tzinfo) -> list[TextLine]:
    """Where it came from and how it is used, in two or three lines."""
    who = ORIGINS[record.origin]
    if record.actor and record.origin is not Origin.OPERATOR:
        who += f" ({safe_line(record.actor, 60)})"
    where = f", session {safe_line(record.session, 60)}" if record.session else ""
    where += f", {safe_line(record.source_ref, 80)}" if record.source_ref else ""
    first = f"from {who}{where}, {day(record.recorded_at, tz)} ({ago(record.recorded_at, now)})"
    used = f"used {fmt.count(record.use_count)}\u00d7" if record.use_count else "never used"
    if record.last_used is not None and record.use_count:
        used += f", last {ago(record.last_used, now)}"
    second = (
        f"importance {record.importance:.2f}  confidence {record.confidence:.2f}  {used}  "
        f"stored {fmt.count(record.support)}\u00d7"
    )
    return [Flow((Cell(first, Tone.MUTED),)), Flow((Cell(second, Tone.MUTED),))]


def flag_lines(record: Record) -> list[TextLine]:
    """What is suspicious about its words; empty when nothing is."""
    if not record.flags:
        return []
    flags = "; ".join(WARNINGS.get(flag, safe_line(flag, 60)) for flag in record.flags)
    return [(Cell("\u25b2 ", Tone.WARN), Cell(flags, Tone.WARN))]


def state_line(record: Record, now: float, tz: tzinfo) -> TextLine:
    """``● active  semantic  pinned  version 3  valid until …``."""
    sign = RECORD_STATES[record.state]
    words = [record.kind.value, f"version {record.version}"]
    if record.pinned:
        words.insert(1, "pinned")
    if record.category != "general":
        words.append(safe_line(record.category, 40))
    if record.domain:
        words.append(safe_line(record.domain, 40))
    if record.kind is Kind.PROCEDURAL:
        tried = record.successes + record.failures
        words.append(f"worked {record.successes} of {tried} times" if tried else "never tried")
    if record.session_id:
        turn = f", turn {record.turn_number}" if record.turn_number is not None else ""
        words.append(f"conversation {safe_line(record.session_id, 60)}{turn}")
    cells = [sign.both, Cell("  " + "  ".join(words))]
    if record.state is not State.ACTIVE:
        why = f": {safe_line(record.state_reason, 120)}" if record.state_reason else ""
        cells.append(Cell(f"  since {day(record.state_at, tz)}{why}", Tone.MUTED))
    if record.valid_to is not None:
        ended = "valid until" if seconds(record.valid_to) > now else "no longer valid since"
        cells.append(Cell(f"  {ended} {day(record.valid_to, tz)}", Tone.WARN))
    return Flow(cells)


def record_lines(record: Record, now: float, tz: tzinfo) -> list[TextLine]:
    """A record as the preview shows it: state, text, provenance, id."""
    return [
        state_line(record, now, tz),
        *flag_lines(record),
        EMPTY,
        *text_lines(record.text),
        EMPTY,
        *provenance(record, now, tz),
        (Cell("id ", Tone.MUTED), Cell(record.id)),
    ]


def evidence_words(evidence: PairEvidence, similarity: float) -> str:
    """Why two records belong together: what differs, how sure, how alike."""
    words = CLASSES[evidence.klass]
    if evidence.older_words or evidence.newer_words:
        older = " ".join(safe_line(word, 24) for word in evidence.older_words[:5]) or fmt.NONE
        newer = " ".join(safe_line(word, 24) for word in evidence.newer_words[:5]) or fmt.NONE
        words += f" ({older} \u2192 {newer})"
    figures: list[str] = []
    if evidence.klass is not PairClass.UNRELATED:
        figures.append(f"sure {evidence.score:.2f}")
    if similarity > 0:
        figures.append(f"alike {similarity:.2f}")
    return "  ".join(filter(None, (words, *figures)))


def parts_words(parts: ScoreParts, *, degraded: bool) -> str:
    """How a hit got its place."""
    meaning = "no vectors" if degraded else f"meaning {parts.raw_similarity:.2f}"
    return (
        f"score {parts.final_score:.2f}: {meaning}, words {parts.words:.2f}, "
        f"recency {parts.recency_score:.2f}, importance {parts.importance_score:.2f}"
    )


def hit_lines(hit: Hit, result: SearchResult, now: float, tz: tzinfo) -> list[TextLine]:
    """A hit as the preview shows it: its place, its warnings, the record."""
    lines: list[TextLine] = [
        Flow((Cell(parts_words(hit.parts, degraded=bool(result.degraded)), Tone.ACCENT),))
    ]
    lines += [
        Flow((Cell("\u25b2 ", Tone.WARN), Cell(warning_words(warning), Tone.WARN)))
        for warning in hit.warnings
    ]
    return [*lines, EMPTY, *record_lines(hit.record, now, tz)]


def warning_words(warning: str) -> str:
    """``disputed: contradicted by another record; a decision waits``."""
    meaning = WARNINGS.get(warning, "")
    return safe_line(warning, 60) + (f": {meaning}" if meaning else "")


def fault_lines(fault: MemoryFault, again: str) -> str:
    """What is shown in place of a list that could not be had. ``again``: the key that tries once more."""
    hint = f"\n{safe_line(fault.hint, 300)}" if fault.hint else ""
    return f"\u2716 {safe_line(fault.message, 300)}{hint}\n{again} tries again."


def detail_lines(detail: RecordDetail, now: float, tz: tzinfo) -> list[TextLine]:
    """The whole page of a record."""
    record = detail.record
    lines = record_lines(record, now, tz)
    if record.related_ids:
        lines += _section("related", [(Cell(f"  {one}"),) for one in record.related_ids])
    if len(detail.chain) > 1:
        lines += _section("what replaced what", [_chained(one, record, tz) for one in detail.chain])
    if detail.proposals:
        lines += _section(
            "decisions about it",
            [
                Flow(
                    (
                        Cell("  "),
                        PROPOSAL_STATES[one.state].both,
                        Cell(f"  {PROPOSAL_KINDS[one.kind].word}  "),
                        Cell(f"{evidence_words(one.evidence, one.similarity)}  ", Tone.MUTED),
                        Cell(day(one.created_at, tz), Tone.MUTED),
                    )
                )
                for one in detail.proposals
            ],
        )
    if detail.neighbours:
        near: list[TextLine] = []
        for one in detail.neighbours:
            near.append(Flow((Cell("  "), Cell(title_of(one.record), Tone.STRONG))))
            words = evidence_words(one.evidence, one.similarity)
            near.append(Flow((Cell(f"    {words}  {one.record.id}", Tone.MUTED),)))
        lines += _section("says something alike", near)
    if detail.outcomes:
        lines += _section(
            "how it went",
            [
                Flow(
                    (
                        Cell("  "),
                        Cell("\u2713 worked", Tone.GOOD)
                        if one.success
                        else Cell("\u2716 failed", Tone.BAD),
                        Cell(f"  {day(one.at, tz)}  {safe_line(one.actor, 60)}", Tone.MUTED),
                        Cell(f"  {safe_line(one.note, 300)}"),
                    )
                )
                for one in detail.outcomes
            ],
        )
    history: Sequence[TextLine] = [
        Flow(
            (
                Cell(f"  {day(one.at, tz)}  ", Tone.MUTED),
                Cell(safe_line(one.action, 40), Tone.STRONG),
                Cell(f" by {safe_line(one.actor or one.origin.value, 60)}"),
                Cell(f"  v{one.version}  #{one.seq}  {safe_line(one.patch, 160)}", Tone.MUTED),
            )
        )
        for one in detail.history
    ]
    return lines + (_section("history, newest first", history) if history else [])


def _chained(one: Record, shown: Record, tz: tzinfo) -> TextLine:
    here = Cell("\u25b8 " if one.id == shown.id else "  ", Tone.ACCENT)
    sign = RECORD_STATES[one.state]
    return Flow(
        (
            here,
            sign.mark,
            Cell(f" {day(one.recorded_at, tz)}  ", Tone.MUTED),
            Cell(title_of(one)),
            Cell(f"  {tail(one.id)}", Tone.MUTED),
        )
    )


def _section(title: str, lines: Sequence[TextLine]) -> list[TextLine]:
    return [EMPTY, (Cell(title, Tone.ACCENT),), *lines]
