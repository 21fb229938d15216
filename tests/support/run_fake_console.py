"""Look at the console without a station: ``python -m tests.support.run_fake_console``.

``--empty`` is a first start, ``--hostile`` fills every text with what could hurt a terminal,
``--attached`` pretends to be attached, ``--live`` lets calls happen, ``--fixed`` stops the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from config.schema import ConsoleSettings
from console.app import ConsoleApp
from console.first_steps import ImportCandidate
from proxy.commands import CommandResult
from proxy.events import CallsRecorded
from tests.support.fake_station import NOW, FakeStation


class FakeFirstSteps:
    """Remembers what it was asked to do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, object]] = []
        self.refusal = ""
        self.candidates: tuple[ImportCandidate, ...] = (
            ImportCandidate(
                "github", "~/.claude.json", "github-mcp-server stdio", "env: 1 secret", True
            ),
            ImportCandidate(
                "my-notes",
                "~/.cursor/mcp.json",
                "uvx mcp-notes --dir ~/notes",
                "renamed from my notes",
                True,
            ),
            ImportCandidate("linear", "~/.claude.json", "https://mcp.linear.app/mcp", "", True),
            ImportCandidate("mms", "~/.claude.json", "mms connect", "this is mms itself", False),
        )

    @property
    def has_demo(self) -> bool:
        return True

    async def add_upstream(self, name: str, fields: Mapping[str, str]) -> CommandResult:
        self.done.append(("add", (name, dict(fields))))
        if self.refusal:
            return CommandResult(ok=False, message=self.refusal)
        return CommandResult(ok=True, message=f"{name} was added.")

    async def preview_import(self) -> Sequence[ImportCandidate]:
        return self.candidates

    async def apply_import(self, names: Sequence[str]) -> CommandResult:
        self.done.append(("import", tuple(names)))
        return CommandResult(ok=True, message=f"{len(names)} upstreams were imported.")

    async def start_demo(self) -> CommandResult:
        self.done.append(("demo", None))
        return CommandResult(ok=True, message="The demo runs.")


class LiveConsole(ConsoleApp):
    """Makes up a few calls per second."""

    def on_mount(self) -> None:
        super().on_mount()
        self.run_worker(self._live(), exit_on_error=False)

    async def _live(self) -> None:
        station = self.station
        assert isinstance(station, FakeStation)
        sample = station.records
        number = sample[0].id
        while True:
            await asyncio.sleep(0.15)
            number += 1
            record = replace(sample[number % len(sample)], id=number, started_at=self.now() - 0.05)
            station.records = (record, *station.records)
            station.push(CallsRecorded((record,)))


def main() -> None:
    """Run it until a person leaves."""
    parser = argparse.ArgumentParser()
    for name in ("empty", "hostile", "attached", "live", "fixed"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--theme", default="mms-dark")
    given = parser.parse_args()
    station = FakeStation.empty() if given.empty else FakeStation(hostile=given.hostile)
    station.attached = given.attached
    offset = NOW - time.time()
    clock: Callable[[], float] = (lambda: NOW) if given.fixed else (lambda: time.time() + offset)
    kind = LiveConsole if given.live else ConsoleApp
    app = kind(
        station,
        clock=clock,
        first_steps=FakeFirstSteps(),
        settings=ConsoleSettings(theme=given.theme),
    )
    print(f"chosen: {app.run()}")


if __name__ == "__main__":
    main()
