"""Draw the console's screens over a running station, as SVG for the documentation.

    MMS_HOME=… python -m tests.support.pictures SOCKET FOLDER

Only looks: the station is attached to and goes on. The memory is that of the same home.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from config.paths import paths_for
from console.app import ConsoleApp
from console.stations.lasting import LastingStation
from memory.process.client import MemoryClient

_SIZE = (120, 36)
_SCREENS = {
    "overview": "1",
    "upstreams": "2",
    "calls": "3",
    "savings": "5",
    "memory": "6",
    "decisions": "7",
    "surfacing": "9",
}


async def draw(socket: Path, folder: Path) -> None:
    """One picture per screen."""
    memory = MemoryClient(paths_for(os.environ), os.environ)
    station = LastingStation(socket, memory)
    app = ConsoleApp(station)
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause(2.5)  # one snapshot, and the history of calls
        for name, key in _SCREENS.items():
            await pilot.press(key)
            await pilot.pause(1.0)
            (folder / f"{name}.svg").write_text(app.export_screenshot(title="mms"))
    await station.aclose()
    await memory.aclose()


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1]), Path(sys.argv[2])))
