"""What is found in a configuration file, before it is compared with what is here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FoundServer:
    """One server of one file."""

    name: str
    """As it is called there."""
    file: str
    scope: str
    """Which part of the file, for example the project's directory; empty for the whole."""
    table: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The keys of our ``[upstreams.NAME]``."""
    notes: tuple[str, ...] = ()
    """What a person should know: what could not be taken over, what was translated."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file, or a part of it, that could not be read."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Findings:
    """The content of one file."""

    servers: tuple[FoundServer, ...] = ()
    problems: tuple[FileProblem, ...] = ()


class UnreadableError(Exception):
    """A file is not what it should be."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
