"""A proposal of the memory in words: the texts with what differs, why, whence, what approving does. Pure."""

from __future__ import annotations

from datetime import tzinfo
from functools import lru_cache

from console import format as fmt
from console.safe import safe, safe_line
from console.screens.memory_text import (
    SHOWN_CHARACTERS,
    ago,
    day,
    evidence_words,
    flag_lines,
    provenance,
    seconds,
    state_line,
    text_lines,
    title_of,
    whole_text,
)
from console.widgets.memory_glyphs import PROPOSAL_KINDS, PROPOSAL_STATES
from console.widgets.textpane import EMPTY, Flow, TextLine
from console.widgets.tone import Cell, Tone
from console.word_diff import Piece, compare
from memory.api import ProposalView
from memory.model import Origin, ProposalKind, ProposalState, Record

_UNDOABLE = (ProposalState.APPLIED, ProposalState.REJECTED, ProposalState.KEPT_BOTH)


def can_undo(view: ProposalView) -> bool:
    """Whether the decision can be taken back here; a run is taken back on Forgetting."""
    one = view.proposal
    ran = one.kind is ProposalKind.RUN and one.state is ProposalState.APPLIED
    return one.state in _UNDOABLE and not ran


def is_proposed(view: ProposalView) -> bool:
    """An agent proposed to remember it (``stm_memory_propose``), rather than that it came from elsewhere."""
    records = view.keep
    return (
        view.proposal.kind is ProposalKind.APPROVE
        and bool(records)
        and all(one.origin is Origin.AGENT for one in records)
    )


def records_of(view: ProposalView) -> tuple[Record, ...]:
    """All records that it is about, those that stay first."""
    return (*view.keep, *view.replace)


def arranged(view: ProposalView, keep: str) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """(those that stay, those that would go) when the record ``keep`` is to stay; empty: as proposed."""
    if not keep or any(one.id == keep for one in view.keep):
        return view.keep, view.replace
    everybody = records_of(view)
    return (
        tuple(one for one in everybody if one.id == keep),
        tuple(one for one in everybody if one.id != keep),
    )


def impact(view: ProposalView) -> str:
    """How much hangs on it, in a word or two: ``used 14x``, ``3 records``."""
    kind = view.proposal.kind
    if kind is ProposalKind.RUN:
        return fmt.plural(len(view.proposal.replace), "record")
    if kind is ProposalKind.APPROVE:
        return "proposed" if is_proposed(view) else "kept back"
    uses = max((one.use_count for one in view.replace), default=0)
    words = f"used {fmt.count(uses)}\u00d7" if uses else "unused"
    return f"{len(records_of(view))} records" if kind is ProposalKind.DUPLICATE else words


def row_title(view: ProposalView) -> str:
    """The first words of the record that it is mostly about."""
    if view.proposal.kind is ProposalKind.RUN:
        return f"{safe_line(view.proposal.proposer, 40)} wants to run a plan"
    shown = records_of(view)
    return title_of(shown[0]) if shown else "(no record)"


def row_cells(view: ProposalView, now: float) -> tuple[Cell, ...]:
    """Kind, words, impact, age; what was decided in place of the impact."""
    one = view.proposal
    sign = PROPOSAL_KINDS[one.kind]
    done = one.state is not ProposalState.OPEN
    if done:
        how = PROPOSAL_STATES[one.state]
        return (
            Cell(how.glyph, how.tone),
            Cell(how.word, how.tone),
            Cell(row_title(view), Tone.MUTED),
            Cell(impact(view), Tone.MUTED),
            Cell(fmt.age(now - seconds(one.decided_at or one.created_at)), Tone.MUTED),
        )
    return (
        sign.mark,
        sign.name,
        Cell(row_title(view), Tone.STRONG),
        Cell(impact(view)),
        Cell(fmt.age(now - seconds(one.created_at)), Tone.MUTED),
    )


def haystack(view: ProposalView) -> str:
    """What the filter searches, in lower case."""
    parts = [PROPOSAL_KINDS[view.proposal.kind].word, view.proposal.proposer, view.proposal.id]
    for one in records_of(view):
        parts += [one.text.content, one.text.summary, one.actor, one.id]
    return "\n".join(parts).lower()


def title(view: ProposalView) -> str:
    """What the detail is headed with."""
    if is_proposed(view):
        return "an agent proposes to remember this"
    return {
        ProposalKind.SUPERSEDE: "one record would replace another",
        ProposalKind.DUPLICATE: f"{len(records_of(view))} records say the same",
        ProposalKind.APPROVE: "a record is kept back",
        ProposalKind.RUN: "an agent wants to forget",
    }[view.proposal.kind]


def effect(view: ProposalView, keep: str, tz: tzinfo) -> str:
    """What approving does, and that it can be taken back."""
    stay, go = arranged(view, keep)
    one = view.proposal
    match one.kind:
        case ProposalKind.SUPERSEDE:
            until = f" from {day(one.valid_to, tz)} on" if one.valid_to is not None else ""
            return (
                f"a: the text marked \u2212 counts as replaced{until}. Agents no longer find it; it is "
                "kept with its history, and u takes that back."
            )
        case ProposalKind.DUPLICATE:
            number = fmt.plural(len(go), "record")
            return f"a: {number} marked \u2212 archived, the one marked + stays. u takes that back."
        case ProposalKind.APPROVE:
            return (
                f"a: agents find {'it' if len(stay) == 1 else 'them'} from now on. "
                "x: archived, never found. u takes either back."
            )
        case ProposalKind.RUN:
            return (
                f"a: the plan {safe_line(one.plan_hash[:12], 12)} runs and archives "
                f"{fmt.plural(len(one.replace), 'record')}. Forgetting (8) shows and undoes runs."
            )


def proposal_lines(view: ProposalView, keep: str, now: float, tz: tzinfo) -> list[TextLine]:
    """Everything about it: why, each text in full with the words that differ, what happens, whence."""
    one = view.proposal
    stay, go = arranged(view, keep)
    lines: list[TextLine] = []
    if one.state is not ProposalState.OPEN:
        lines.append(_decided(view, now))
    why = evidence_words(one.evidence, one.similarity)
    if why:
        lines.append(_labelled("why", why))
    if one.agent_verdict:
        lines.append(_labelled("agent", f"says: {safe_line(one.agent_verdict, 60)}"))
    by = "the memory itself" if one.proposer == "engine" else safe_line(one.proposer, 60)
    tool = " with stm_memory_propose" if is_proposed(view) else ""
    asked = _labelled("asked", f"by {by}{tool}, {ago(one.created_at, now)}")
    for record in go:
        marks = _compared(_shown(record), _shown(stay[0]))[0] if stay else None
        lines += [*_gap(lines), _head(record, "\u2212", "would go", Tone.BAD)]
        lines += flag_lines(record)
        lines += _words(record, marks, ("[-", "-]"), Tone.BAD)
    for record in stay:
        marks = _compared(_shown(go[0]), _shown(record))[1] if len(go) == 1 else None
        name = impact(view) if one.kind is ProposalKind.APPROVE else "stays"
        lines += [*_gap(lines), _head(record, "+", name, Tone.GOOD)]
        lines += flag_lines(record)
        lines += _words(record, marks, ("{+", "+}"), Tone.GOOD)
    if is_proposed(view):
        sources = [record.source_ref for record in stay if record.source_ref]
        lines += [*([EMPTY] if sources else []), *(_labelled("source", ref) for ref in sources)]
    lines.append(EMPTY)
    if one.state is ProposalState.OPEN:
        lines.append(_labelled("effect", effect(view, keep, tz)))
    lines.append(asked)
    for mark, records in (("\u2212", go), ("+", stay)):
        for record in records:
            lines.append(EMPTY)
            lines.append(Flow((Cell(f"{mark} "), *state_line(record, now, tz))))
            lines += [Flow((Cell("  "), *line)) for line in provenance(record, now, tz)]
    return lines


def _gap(lines: list[TextLine]) -> list[TextLine]:
    return [EMPTY] if lines else []


def _labelled(label: str, words: str) -> TextLine:
    return (Cell(f"{label:<8}", Tone.MUTED), Cell(words))


def _head(record: Record, mark: str, name: str, tone: Tone) -> TextLine:
    return Flow((Cell(f"{mark} {name}  ", tone), Cell(record.id, Tone.MUTED)))


_compared = lru_cache(maxsize=16)(compare)
"""A proposal is drawn many times while it is looked at."""


def _shown(record: Record) -> str:
    return safe(whole_text(record.text)[:SHOWN_CHARACTERS]).expandtabs(4)


def _decided(view: ProposalView, now: float) -> TextLine:
    one = view.proposal
    sign = PROPOSAL_STATES[one.state]
    by = f" by {safe_line(one.decided_by, 60)}" if one.decided_by else ""
    when = f" {ago(one.decided_at, now)}" if one.decided_at is not None else ""
    reason = f": {safe_line(one.reason, 300)}" if one.reason else ""
    undo = "  u: undo" if can_undo(view) else ""
    return Flow((sign.both, Cell(f"{by}{when}{reason}"), Cell(undo, Tone.ACCENT)))


def _words(
    record: Record, pieces: tuple[Piece, ...] | None, around: tuple[str, str], tone: Tone
) -> list[TextLine]:
    """The words of a text, those that differ between marks."""
    if pieces is None:
        return text_lines(record.text, "  ")
    lines = _marked_lines(pieces, around, tone)
    left = len(whole_text(record.text)) - SHOWN_CHARACTERS
    if left > 0:
        more = fmt.plural(left, "more character")
        lines.append((Cell(f"  \u2026 {more}; o shows the record", Tone.WARN),))
    return lines


def _marked_lines(pieces: tuple[Piece, ...], around: tuple[str, str], tone: Tone) -> list[TextLine]:
    """The text line by line; a mark never spans two lines."""
    opening, closing = around
    lines: list[list[Cell]] = [[Cell("  ")]]
    for text, changed in pieces:
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([Cell("  ")])
            if part.strip() and changed:
                lines[-1].append(Cell(f"{opening}{part}{closing}", tone))
            elif part:
                lines[-1].append(Cell(part))
    return [Flow(line) for line in lines]
