"""What every verb is given: the instance it works on, where to write, and how to reach a station."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from config.paths import Paths, paths_for
from console.cli.output import Output

if TYPE_CHECKING:
    from config.load import Loaded
    from console.stations.attached import AttachedStation
    from memory.api import MemoryPort

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Context:
    """One run of the command line."""

    environ: Mapping[str, str]
    paths: Paths
    directory: Path
    """Where it was started; the place of a project file."""
    out: Output
    clock: Callable[[], float] = time.time

    @classmethod
    def here(cls, environ: Mapping[str, str], *, as_json: bool) -> Context:
        """For this process."""
        out = Output(sys.stdout, as_json=as_json)
        return cls(environ, paths_for(environ), Path.cwd(), out)

    def load(self) -> Loaded:
        """The settings as a station started here and now would have them."""
        from config.load import load_settings

        return load_settings(self.paths, self.environ, project_directory=self.directory)

    @asynccontextmanager
    async def station(self) -> AsyncGenerator[AttachedStation]:
        """The running station. Raises `StationUnavailable` (exit code 3)."""
        from console.stations.attached import AttachedStation

        station = await AttachedStation.connect(self.paths.socket)
        try:
            yield station
        finally:
            await station.aclose()

    @asynccontextmanager
    async def station_if_any(self) -> AsyncGenerator[AttachedStation | None]:
        """The running station, or ``None`` when none runs.

        Raises `StationUnavailable` when one runs and cannot be talked to.
        """
        from console.stations.attached import AttachedStation, NoStation

        try:
            station = await AttachedStation.connect(self.paths.socket)
        except NoStation:
            station = None
        try:
            yield station
        finally:
            if station is not None:
                await station.aclose()

    @asynccontextmanager
    async def memory(self) -> AsyncGenerator[MemoryPort]:
        """The agent's memory, whose process is started when none runs. Its requests raise `MemoryFault`."""
        from memory.process.client import MemoryClient

        async with MemoryClient(self.paths, self.environ) as memory:
            yield memory


def run(work: Coroutine[Any, Any, _Value]) -> _Value:
    """Run a verb's asynchronous part."""
    return asyncio.run(work)


def local_zone() -> tzinfo:
    """The zone in which times are shown."""
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None
    return zone
