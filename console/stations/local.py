"""The engine of this process, seen from the screen's thread.

The engine runs in its own thread with its own event loop. Questions travel there as coroutines and
their answers come back as futures; events come back through a bounded queue. The engine's loop never
waits for a lock, a queue or the screen.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from console.station import StationUnavailable
from console.stations.no_memory import NoMemory
from memory.api import MemoryPort
from proxy.answer_model import HeldDetail, HeldList, SavingsView, WhatIf, WhatIfQuery
from proxy.commands import Command, CommandResult
from proxy.event_stream import DEFAULT_CAPACITY, EventQueue
from proxy.events import Event, EventsLost, StationStopping
from proxy.model import (
    CallDetail,
    CallQuery,
    CallRecord,
    SettingsView,
    Snapshot,
    UpstreamDetail,
)
from proxy.operator import StationService
from proxy.surface.model import SurfacingQuery, SurfacingView, TuningReport
from proxy.telemetry.model import ProgressiveView, SelectionView

_Answer = TypeVar("_Answer")

_log = logging.getLogger("mms.local")

_ENDED = "The engine of this process has ended. Leave and start mms again."
_CHECK_SECONDS = 0.5
"""How often a waiting question looks whether the engine's loop still exists."""
_LEAVE_SECONDS = 1.0
"""How long leaving a subscription waits for the engine to have noticed."""


class LocalStation:
    """`console.station.Station` over an engine that runs in ``loop``, another thread's loop."""

    def __init__(
        self,
        service: StationService,
        loop: asyncio.AbstractEventLoop,
        memory: MemoryPort | None = None,
    ) -> None:
        """``memory`` is asked in the screen's loop; without it, requests to it fail."""
        self._service = service
        self._loop = loop
        self._memory = memory if memory is not None else NoMemory()

    @property
    def attached(self) -> bool:
        return False

    @property
    def memory(self) -> MemoryPort:
        return self._memory

    async def snapshot(self) -> Snapshot:
        return await self._ask(self._service.snapshot())

    async def upstream(self, name: str) -> UpstreamDetail | None:
        return await self._ask(self._service.upstream(name))

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        return await self._ask(self._service.calls(query))

    async def call(self, call_id: int) -> CallDetail | None:
        return await self._ask(self._service.call(call_id))

    async def settings(self) -> SettingsView:
        return await self._ask(self._service.settings())

    async def savings(self, days: int) -> SavingsView:
        return await self._ask(self._service.savings(days))

    async def held(self, limit: int) -> HeldList:
        return await self._ask(self._service.held(limit))

    async def held_answer(self, key: str) -> HeldDetail | None:
        return await self._ask(self._service.held_answer(key))

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        return await self._ask(self._service.what_if(query))

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        return await self._ask(self._service.surfacing(query))

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        return await self._ask(self._service.tuning(since_hours, tool))

    async def selection(self) -> SelectionView:
        return await self._ask(self._service.selection())

    async def progressive(self, tool: str) -> ProgressiveView:
        return await self._ask(self._service.progressive(tool))

    async def execute(self, command: Command) -> CommandResult:
        return await self._ask(self._service.execute(command))

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        return self._events()

    async def _ask(self, question: Coroutine[Any, Any, _Answer]) -> _Answer:
        """Run the coroutine in the engine's loop and wait for it in ours."""
        future = self._start(question)
        try:
            return await self._wait(future)
        finally:
            if self._loop.is_closed():
                # The loop may have dropped the coroutine before its first step.
                question.close()
            else:
                future.cancel()

    def _start(self, work: Coroutine[Any, Any, _Answer]) -> Future[_Answer]:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError as error:
            work.close()
            raise StationUnavailable(_ENDED) from error

    async def _wait(self, future: Future[_Answer]) -> _Answer:
        answer = asyncio.wrap_future(future)
        # A loop that ends between the hand-over and the first step drops the work without a word,
        # so the wait looks now and then whether anybody is left to answer.
        while not (await asyncio.wait({answer}, timeout=_CHECK_SECONDS))[0]:
            if self._loop.is_closed():
                raise StationUnavailable(_ENDED)
        if answer.cancelled():
            raise StationUnavailable(_ENDED)
        error = answer.exception()
        if error is None:
            return answer.result()
        if isinstance(error, StationUnavailable) or not isinstance(error, Exception):
            raise error
        # The edge between the threads: a screen knows one kind of failure, as it does for a station
        # in another process.
        raise StationUnavailable(str(error) or type(error).__name__) from error

    @asynccontextmanager
    async def _events(self) -> AsyncGenerator[AsyncIterator[Event]]:
        relay = _EventRelay(self._service, asyncio.get_running_loop())
        running = self._start(relay.run())
        try:
            await self._wait(relay.subscribed)
            yield relay.queue
        finally:
            if not self._loop.is_closed():
                running.cancel()
                # Bounded, since an engine that is busy or at its end must not hold up the screen.
                await asyncio.wait({asyncio.wrap_future(relay.ended)}, timeout=_LEAVE_SECONDS)


class _EventRelay:
    """Carries events from the engine's loop to a queue in the screen's loop.

    ``_lost`` is written by the engine's thread only and ``_inbox`` has one thread at each end, so
    neither needs a lock.
    """

    def __init__(self, service: StationService, screen: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._screen = screen
        self._inbox: deque[Event] = deque()
        self._lost = 0
        self._lost_told = 0
        self._wake_up_pending = False
        self.queue = EventQueue(2 * DEFAULT_CAPACITY)
        self.subscribed: Future[None] = Future()
        """Done once no event can be missed any more."""
        self.ended: Future[None] = Future()
        """Done once the engine has let go of the subscription."""

    async def run(self) -> None:
        """In the engine's loop: pass events on until the station stops or the reader leaves."""
        stopping = StationStopping("The engine has ended.")
        try:
            async with self._service.subscribe() as source:
                self.subscribed.set_result(None)
                async for event in source:
                    if isinstance(event, StationStopping):
                        stopping = event
                    else:
                        self._pass_on(event)
        except Exception as error:
            if self.subscribed.done():
                _log.exception("the stream of events failed")
            else:
                self.subscribed.set_exception(error)
        finally:
            self.subscribed.cancel()
            self._inbox.append(stopping)
            self._wake_screen()
            self.ended.set_result(None)

    def _pass_on(self, event: Event) -> None:
        if len(self._inbox) < DEFAULT_CAPACITY:
            self._inbox.append(event)
        else:
            self._lost += event.count if isinstance(event, EventsLost) else 1
        self._wake_screen()

    def _wake_screen(self) -> None:
        if self._wake_up_pending:
            return
        self._wake_up_pending = True
        try:
            self._screen.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            # The screen's loop is gone; nobody reads any more and `run` is about to be cancelled.
            self._wake_up_pending = False

    def _deliver(self) -> None:
        """In the screen's loop."""
        self._wake_up_pending = False
        while self._inbox:
            event = self._inbox.popleft()
            if isinstance(event, StationStopping):
                self._tell_loss()
            self.queue.put(event)
        self._tell_loss()

    def _tell_loss(self) -> None:
        lost = self._lost
        if lost > self._lost_told:
            self.queue.put(EventsLost(lost - self._lost_told))
            self._lost_told = lost
