"""Memories as lines and tables for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.cli.context import Context
from console.cli.memory_asking import moment
from console.safe import safe_line
from memory.model import Record

if TYPE_CHECKING:
    from memory.api import RecordDetail

_INDENT = "  "


def say_record(context: Context, relation: str, record: Record) -> None:
    """One line: what a record has to do with what was said before."""
    context.out.line(f"{_INDENT}{relation} {record.id}: {words_of(record)}")


def words_of(record: Record, limit: int = 200) -> str:
    """The beginning of its text in one line."""
    from memory.text import title

    return safe_line(title(record.text, limit)) or "(erased)"


def print_records(records: Sequence[Record], context: Context) -> None:
    """A table."""
    if not records:
        context.out.line("There are no such memories.")
        return
    context.out.table(
        ("ID", "KIND", "STATE", "STORED", "BY", "USES", "TEXT"),
        [
            (
                record.id,
                record.kind.value,
                record.state.value + (" (pinned)" if record.pinned else ""),
                moment(record.recorded_at, context),
                record.actor or record.origin.value,
                str(record.use_count),
                words_of(record),
            )
            for record in records
        ],
        right=("USES",),
    )


def print_record(detail: RecordDetail, context: Context) -> None:
    """One record in full."""
    record, out = detail.record, context.out
    out.line(f"{record.id}  {record.kind.value}, {record.state.value}, version {record.version}")
    for name, value in _facts(record, context):
        if value:
            out.line(f"{_INDENT}{name}: {value}")
    text = record.text
    for head, body in (
        ("", text.content or "(erased)"),
        ("Summary", text.summary),
        ("Preconditions", "\n".join(f"- {one}" for one in text.preconditions)),
        ("Steps", "\n".join(f"{place}. {one}" for place, one in enumerate(text.steps, 1))),
        ("Note", text.note),
    ):
        if body:
            out.line(f"\n{head}:\n{body}" if head else f"\n{body}")
    _print_about(detail, context)


def _facts(record: Record, context: Context) -> Sequence[tuple[str, str]]:
    def when(at: int | None) -> str:
        return "" if at is None else moment(at, context)

    return (
        ("reason", record.state_reason),
        ("stored", f"{when(record.recorded_at)} by {record.actor or record.origin.value}"),
        ("changed", when(record.changed_at) if record.version > 1 else ""),
        ("holds from", when(record.valid_from)),
        ("holds until", when(record.valid_to)),
        ("importance", f"{record.importance:g}"),
        ("confidence", f"{record.confidence:g}" if record.confidence != 1 else ""),
        ("category", record.category + (f" / {record.domain}" if record.domain else "")),
        ("session", record.session_id or ""),
        ("source", record.source_ref),
        ("warnings", ", ".join(record.flags)),
        ("pinned", "yes" if record.pinned else ""),
        ("stored again", str(record.support - 1) if record.support > 1 else ""),
        ("used", str(record.use_count) if record.use_count else ""),
        (
            "outcomes",
            f"{record.successes} good, {record.failures} bad"
            if record.successes or record.failures
            else "",
        ),
    )


def _print_about(detail: RecordDetail, context: Context) -> None:
    out, record = context.out, detail.record
    if len(detail.chain) > 1:
        out.line("\nOne in place of the other, oldest first:")
        for one in detail.chain:
            mark = "*" if one.id == record.id else " "
            out.line(f"{_INDENT}{mark} {one.id}  {one.state.value}: {words_of(one)}")
    if detail.neighbours:
        out.line("\nAlike:")
        for one in detail.neighbours:
            klass = one.evidence.klass.value.replace("_", " ")
            out.line(f"{_INDENT}{one.record.id}  {klass}: {words_of(one.record)}")
    if detail.proposals:
        out.line("\nDecisions:")
        for one in detail.proposals:
            state = one.state.value.replace("_", " ")
            out.line(f"{_INDENT}{one.id}  {one.kind.value}, {state}")
    if detail.outcomes:
        out.line("\nOutcomes, newest first:")
        for one in detail.outcomes:
            word = "worked" if one.success else "failed"
            tail = f": {safe_line(one.note)}" if one.note else ""
            out.line(f"{_INDENT}{moment(one.at, context)}  {word}, {one.actor}{tail}")
    latest = detail.history[0] if detail.history else None
    if latest is not None:
        out.line(
            f"\nLast change: {latest.action.replace('_', ' ')}. mms memory history {record.id}"
        )
