"""The form of an export: one JSON object per line, in ASCII. Imports SQLAlchemy by its neighbours.

The first line is a header, ``{"format":"mms-memory","version":1,"space":…}``. Then come records in the
order in which they were stored, and then what people decided: proposals, pairs to be kept, runs. Members
that a reader does not know are ignored; a reader refuses a higher version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import msgspec

from memory.model import Instant, PairClass, Proposal, Record, Run
from memory.store.importing import Dismissed, KeptCredit, KeptOutcome, StateStep
from memory.store.journal import canonical

FORMAT = "mms-memory"
VERSION = 1
LONGEST_LINE = 4_194_304
"""Characters. A record with its largest possible text takes less than a tenth of it."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""

    format: str
    version: int
    space: str = ""


@dataclass(frozen=True, slots=True)
class NeighbourLine:
    """An edge to an older record."""

    id: str
    similarity: float
    klass: PairClass
    score: float
    model: str


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A record. Its number and space are those of the memory that it comes from, and are not taken."""

    record: Record
    key: str = ""
    path: tuple[StateStep, ...] = ()
    supporters: tuple[tuple[str, str], ...] = ()
    credits: tuple[KeptCredit, ...] = ()
    outcomes: tuple[KeptOutcome, ...] = ()
    stale_since: Instant | None = None
    neighbours: tuple[NeighbourLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposalLine:
    """A proposal in any state."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class DismissalLine:
    """A pair that is kept."""

    dismissal: Dismissed


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run and what it changed."""

    run: Run
    changed: tuple[tuple[str, int], ...] = ()


Line: TypeAlias = Header | RecordLine | ProposalLine | DismissalLine | RunLine

_KINDS: tuple[tuple[str, type[Any]], ...] = (
    ("format", Header),
    ("record", RecordLine),
    ("proposal", ProposalLine),
    ("dismissal", DismissalLine),
    ("run", RunLine),
)


class BadLine(Exception):
    """A line is not of this form; the text says what is wrong with it."""


def write_line(line: Line) -> str:
    """The line without its end."""
    # DEL is the one control character that JSON leaves as it is.
    return canonical(msgspec.to_builtins(line)).replace("\x7f", "\\u007f")


def read_line(text: str) -> Line:
    """What a line says. Raises `BadLine`."""
    if len(text) > LONGEST_LINE:
        raise BadLine(f"it has {len(text):,} characters; {LONGEST_LINE:,} are possible")
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadLine(f"it is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLine("it is no JSON object")
    for name, kind in _KINDS:
        if name in value:
            try:
                return cast("Line", msgspec.convert(value, kind))
            except (msgspec.ValidationError, RecursionError, OverflowError) as error:
                raise BadLine(str(error)) from None
    raise BadLine("it is no header, record, proposal, dismissal or run")
