"""Follow one station for as long as the console lives: its events, and a snapshot now and then.

Events are news at once; a snapshot corrects the sums every `SNAPSHOT_SECONDS`, and at once when one
is asked for or events were lost. A station that does not answer is asked again, for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from console.state import CallsLoaded, ConsoleState, LinkLost, News, SnapshotTaken, reduce
from console.station import Station, StationUnavailable
from proxy.events import EventsLost, SettingsApplied, SettingsRejected
from proxy.model import CallQuery

SNAPSHOT_SECONDS = 2.0
"""Between two snapshots while nothing asks for one."""
SNAPSHOT_REST_SECONDS = 0.25
"""Two snapshots are at least so far apart."""
CALLS_AT_START = 500
"""So many past calls are read when the console starts, and after a loss."""

_RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0)


class Following:
    """Holds the state. `listen` and `sample` run as long as the console; both tell it ``heard``."""

    def __init__(
        self, station: Station, now: Callable[[], float], heard: Callable[[News], None]
    ) -> None:
        self.state = ConsoleState()
        self._station = station
        self._now = now
        self._heard = heard
        self._wanted = asyncio.Event()

    def learn(self, news: News) -> None:
        """Fold news into the state and pass it on."""
        self.state = reduce(self.state, news)
        if isinstance(news, (EventsLost, SettingsApplied, SettingsRejected)):
            self.snapshot_soon()
        self._heard(news)

    def lost(self, error: StationUnavailable) -> None:
        """The station did not answer."""
        self.learn(LinkLost(self._now(), str(error)))

    def snapshot_soon(self) -> None:
        """Do not wait for the next turn."""
        self._wanted.set()

    async def listen(self) -> None:
        """Fold the station's events into the state, for ever."""
        failures = 0
        while True:
            try:
                async with self._station.events() as events:
                    self.snapshot_soon()
                    await self._read_calls()
                    async for event in events:
                        failures = 0
                        self.learn(event)
                        if isinstance(event, EventsLost):
                            await self._read_calls()
            except StationUnavailable as error:
                self.lost(error)
            await asyncio.sleep(_RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
            failures += 1

    async def _read_calls(self) -> None:
        self.learn(CallsLoaded(await self._station.calls(CallQuery(limit=CALLS_AT_START))))

    async def sample(self) -> None:
        """Take a snapshot when asked and every `SNAPSHOT_SECONDS`, for ever."""
        while True:
            try:
                async with asyncio.timeout(SNAPSHOT_SECONDS):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            self._wanted.clear()
            try:
                self.learn(SnapshotTaken(await self._station.snapshot()))
            except StationUnavailable as error:
                self.lost(error)
            await asyncio.sleep(SNAPSHOT_REST_SECONDS)
