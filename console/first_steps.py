"""What a person does before there is an upstream: add one, import some, or try the demo.

The console only asks; the wiring implements `FirstSteps` with the settings' file and the importers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from proxy.commands import CommandResult


@dataclass(frozen=True, slots=True)
class ImportCandidate:
    """One server found in the configuration of a host."""

    name: str
    """The name it would get here; what `FirstSteps.apply_import` is given back."""
    source: str
    """The file it comes from."""
    target: str
    """Command line or URL, secrets replaced."""
    note: str = ""
    """For example ``renamed from my server: only letters, digits, - and _``."""
    importable: bool = True
    """False when it is already here or cannot be used; ``note`` says why."""


class FirstSteps(Protocol):
    """A refusal is a result, not an exception."""

    @property
    def has_demo(self) -> bool:
        """Whether `start_demo` can be offered."""
        ...

    async def add_upstream(self, name: str, fields: Mapping[str, str]) -> CommandResult:
        """Write an upstream to the user's file.

        ``fields`` holds what was typed: ``command`` (a whole command line, to be split as a shell
        would) or ``url``, and ``prefix`` when it is not empty.
        """
        ...

    async def preview_import(self) -> Sequence[ImportCandidate]:
        """What the hosts on this machine have; nothing is written."""
        ...

    async def apply_import(self, names: Sequence[str]) -> CommandResult:
        """Write these candidates to the user's file."""
        ...

    async def start_demo(self) -> CommandResult:
        """Start the bundled upstreams and the scripted agent."""
        ...
