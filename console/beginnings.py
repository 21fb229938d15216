"""What the welcome panel does: add an upstream, import from hosts, start the demo."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from config.edit import EditRefusedError, add_upstream
from console.first_steps import ImportCandidate
from proxy.commands import CommandResult

if TYPE_CHECKING:
    from console.importing.plan import PlannedServer


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
                words = shlex.split(fields.get("command", ""))
            except ValueError as error:
                return CommandResult(False, f"The command line cannot be split: {error}.")
            if not words:
                return CommandResult(False, "Give a command line or a URL.")
            command, *arguments = words
            table |= {"command": command, "args": arguments}
        return await self._write(name, table, f"Upstream {name} was added.")

    async def preview_import(self) -> Sequence[ImportCandidate]:
        servers = await asyncio.to_thread(self._found)
        return [
            ImportCandidate(
                server.name,
                server.file,
                server.target,
                "; ".join((server.status.value, *server.notes))
                if not server.importable
                else "; ".join(server.notes),
                server.importable,
            )
            for server in servers
        ]

    async def apply_import(self, names: Sequence[str]) -> CommandResult:
        found = await asyncio.to_thread(self._found)
        chosen = [server for server in found if server.importable and server.name in names]
        refused: list[str] = []
        for server in chosen:
            result = await self._write(server.name, server.table, "")
            if not result.ok:
                refused.append(result.message)
        taken = len(chosen) - len(refused)
        text = f"{taken} of {len(names)} servers were taken over."
        return CommandResult(not refused and taken > 0, " ".join((text, *refused)))

    def _found(self) -> Sequence[PlannedServer]:
        from console.importing.find import plan_import

        return plan_import(self._environ, Path.cwd(), self._file).servers

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
