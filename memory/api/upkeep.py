"""Indexes, checks, export and import."""

from __future__ import annotations

from dataclasses import dataclass

from memory.api.base import Request
from memory.api.reading import IndexStatus
from memory.model import DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class Reindex(Request[IndexStatus]):
    """Make all vectors again with the settings' model, in the background; resumes where it stopped."""

    from_scratch: bool = False


@dataclass(frozen=True, slots=True)
class GetIndexStatus(Request[IndexStatus]):
    """How far the indexes are."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """Whether journal, records and indexes agree."""

    entries: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verify(Request[VerifyResult]):
    """Check the whole chain and the projection."""


@dataclass(frozen=True, slots=True)
class ExportPage:
    """JSON Lines; see `memory.exchange`."""

    lines: tuple[str, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class Export(Request[ExportPage]):
    """A page of everything in a space, in an order that `Import` takes."""

    space: str = DEFAULT_SPACE
    limit: int = 500
    after: str = ""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What became of a page of lines."""

    added: int
    repeated: int
    refused: tuple[str, ...]
    """One sentence per line that was refused, with its number within the page."""


@dataclass(frozen=True, slots=True)
class Import(Request[ImportResult]):
    """Take lines of an export. Ids, states and times are kept; what is there already is repeated."""

    lines: tuple[str, ...]
    space: str = DEFAULT_SPACE
