"""What the welcome panel does: add an upstream, import from hosts, start the demo."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from config.edit import EditRefusedError, add_upstream
from console.first_steps import ImportCandidate
from proxy.commands import CommandResult


class Beginnings:
    """Implements `console.first_steps.FirstSteps` on the user's file."""

    def __init__(self, config_file: Path, environ: Mapping[str, str]) -> None:
        self._file = config_file
        self._environ = environ
        self.leave: Callable[[], None] | None = None
        """Closes the screen, so that the demo can open its own."""
        self.demo_wanted = False

    @property
    def has_demo(self) -> bool:
        return self.leave is not None

    async def add_upstream(self, name: str, fields: Mapping[str, str]) -> CommandResult:
        table: dict[str, object] = {"prefix": fields.get("prefix", "")}
        if fields.get("url"):
            table["url"] = fields["url"].strip()
        else:
            try:
                command, *arguments = shlex.split(fields.get("command", ""))
            except ValueError as error:
                return CommandResult(False, f"The command line cannot be split: {error}.")
            table |= {"command": command, "args": arguments}
        return await self._write(name, table, f"Upstream {name} was added.")

    async def preview_import(self) -> Sequence[ImportCandidate]:
        raise NotImplementedError

    async def apply_import(self, names: Sequence[str]) -> CommandResult:
        raise NotImplementedError

    async def start_demo(self) -> CommandResult:
        if self.leave is None:
            return CommandResult(False, "The demo cannot be started from here: run mms demo.")
        self.demo_wanted = True
        self.leave()
        return CommandResult(True, "The demo is starting.")

    async def _write(self, name: str, table: Mapping[str, object], done: str) -> CommandResult:
        try:
            await asyncio.to_thread(add_upstream, self._file, name, table, environ=self._environ)
        except (EditRefusedError, OSError) as error:
            return CommandResult(False, str(error))
        return CommandResult(True, done)
