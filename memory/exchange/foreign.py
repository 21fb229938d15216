"""What a reader of a foreign file gives: texts to be stored, and what it could not read. Pure.

Nothing is lost in silence: every entry of a file is among the found ones or among the refused ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from memory.api import AddRecord
from memory.model import DEFAULT_SPACE, Instant, Kind, MemoryText

LONGEST_REFERENCE = 200
"""Characters of `AddRecord.source_ref`."""


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a file."""

    place: str
    """Where it stands, for a person: ``line 12``."""
    content: str
    source_ref: str
    category: str = "general"
    valid_from: Instant | None = None

    def request(self, space: str = DEFAULT_SPACE, *, quarantine: bool = False) -> AddRecord:
        """What stores it. Asked for twice, also of another copy of the file, it is stored once."""
        told = hashlib.sha256(
            "\0".join((self.source_ref, self.content)).encode("utf-8", "replace")
        ).hexdigest()
        return AddRecord(
            Kind.SEMANTIC,
            MemoryText(self.content),
            space,
            category=self.category,
            valid_from=self.valid_from,
            source_ref=self.source_ref,
            quarantine=quarantine,
            key=f"import:{told[:40]}",
        )


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """A file as it was read."""

    found: tuple[Found, ...] = ()
    refused: tuple[str, ...] = ()
    """One sentence per entry that could not be read, with its place."""


def reference(*parts: str) -> str:
    """A source reference of these parts, in one line and not too long."""
    line = " ".join("".join(parts).replace("\0", " ").split())
    return line if len(line) <= LONGEST_REFERENCE else line[: LONGEST_REFERENCE - 1] + "\u2026"
