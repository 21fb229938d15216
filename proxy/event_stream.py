"""One source of events, many readers that cannot slow it.

`EventFeed.publish` never waits: every reader has its own bounded queue, and what does not fit is
counted. The reader learns of the loss through one `EventsLost` at the place where the gap is.
A feed belongs to one event loop; call its methods in that loop only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from proxy.events import Event, EventsLost, StationStopping

DEFAULT_CAPACITY = 1024
"""Events that one reader may be behind. At 20 batches a second that is most of a minute."""


class EventQueue:
    """The events that one reader has not taken yet; iterate it to take them.

    Iteration ends after `StationStopping`. Once that is in the queue nothing else enters it.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        if capacity < 1:
            raise ValueError("capacity must be at least 1")
        self._capacity = capacity
        self._waiting: deque[Event] = deque()
        self._lost = 0
        self._closed = False
        self._finished = False
        self._arrived = asyncio.Event()

    def put(self, event: Event) -> None:
        """Add an event, or count it as lost when the reader is too far behind. Never waits."""
        if self._closed:
            return
        if isinstance(event, StationStopping):
            # The last word is never dropped: a reader that misses it would wait for ever.
            self._closed = True
            self._note_loss()
            self._waiting.append(event)
        elif isinstance(event, EventsLost):
            self._lost += event.count
        elif len(self._waiting) >= self._capacity:
            self._lost += 1
        else:
            self._note_loss()
            self._waiting.append(event)
        self._arrived.set()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        if self._finished:
            raise StopAsyncIteration
        while True:
            if self._waiting:
                event = self._waiting.popleft()
                self._finished = isinstance(event, StationStopping)
                return event
            if self._lost:
                count, self._lost = self._lost, 0
                return EventsLost(count)
            self._arrived.clear()
            await self._arrived.wait()

    def _note_loss(self) -> None:
        if self._lost:
            self._waiting.append(EventsLost(self._lost))
            self._lost = 0


class EventFeed:
    """Hands every published event to every reader that is subscribed at that moment."""

    def __init__(self) -> None:
        self._readers: set[EventQueue] = set()
        self._last_word: StationStopping | None = None

    @property
    def readers(self) -> int:
        """How many subscriptions are open."""
        return len(self._readers)

    def publish(self, event: Event) -> None:
        """Give the event to every reader. After `StationStopping` the feed is at its end."""
        if self._last_word is not None:
            return
        if isinstance(event, StationStopping):
            self._last_word = event
        for reader in self._readers:
            reader.put(event)

    def subscribe(
        self, capacity: int = DEFAULT_CAPACITY
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Read what is published from now on; a feed at its end gives its last word only."""
        return self._subscription(capacity)

    @asynccontextmanager
    async def _subscription(self, capacity: int) -> AsyncGenerator[AsyncIterator[Event]]:
        reader = EventQueue(capacity)
        if self._last_word is not None:
            reader.put(self._last_word)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)
