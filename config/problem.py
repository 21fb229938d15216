"""What can be wrong with the settings, as a value that says where and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """Whether a problem keeps an edited file from being applied."""

    WARNING = "warning"
    """Worth knowing; the settings are applied all the same."""
    ERROR = "error"
    """The value cannot be used."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. Values of secrets never occur in the texts."""

    file: str
    """Path of the file, or ``environment`` or ``command line``."""
    line: int | None
    """From 1; ``None`` where there is no line."""
    column: int | None
    """From 1, in characters."""
    key: str
    """Dotted; empty when the file as a whole is meant."""
    reason: str
    """What is wrong, without a full stop."""
    hint: str
    """What to do next; may be empty."""
    upstream: str | None = None
    """The upstream that is left out because of this."""
    severity: Severity = Severity.ERROR

    @property
    def identity(self) -> tuple[str, str, str]:
        """What stays the same when an edit elsewhere moves the problem to another line."""
        return (self.file, self.key, self.reason)

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        text = ": ".join(part for part in (place, self.key, self.reason) if part)
        return f"{text}. {self.hint}" if self.hint else f"{text}."


def errors_in(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Only those that keep something from being used."""
    return tuple(problem for problem in problems if problem.severity is Severity.ERROR)


def new_errors(after: tuple[Problem, ...], before: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The errors that were not there before: what an edit is to blame for.

    A variable that is missing for one upstream must not keep a person from changing another one.
    """
    known = {problem.identity for problem in before}
    return tuple(problem for problem in errors_in(after) if problem.identity not in known)
