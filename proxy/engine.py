"""The station: everything that runs, started and stopped in one task group.

`Engine.run` is one coroutine on one loop. It owns the lock of the data directory, the socket, the
upstreams, the recorder and the watch over the settings.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from config.paths import Paths, ensure_private_directory
from config.schema import LlmSettings, ProxySettings, UpstreamSettings
from config.secrets import known_secrets
from config.store import Applied, Rejected, SettingsStore, Unchanged
from proxy import wire
from proxy.admin.dispatcher import Actions
from proxy.answer_rules import default_budget, rules_for
from proxy.answers import Answers, OriginalCall
from proxy.backchannel import Backchannel
from proxy.callers import Callers
from proxy.eligibility import looks_sensitive
from proxy.event_stream import EventFeed
from proxy.events import (
    CallsRecorded,
    SettingsApplied,
    SettingsRejected,
    StationStopping,
    SurfacingChanged,
)
from proxy.fleet import Fleet
from proxy.front import Front
from proxy.heap import keep_freed_memory
from proxy.host_tools import HostTools, HostToolsTogether, NoHostTools
from proxy.links.link import Link, LinkListener
from proxy.links.stdio import Program, open_stdio
from proxy.listener import Doors, listen
from proxy.lock import StationLock
from proxy.model import CallRecord, Transport, UpstreamView
from proxy.operator import StationService, serve_operator
from proxy.own_tools import OwnTools
from proxy.processes import become_subreaper
from proxy.query import Query
from proxy.recorder import Recorder
from proxy.redact import Redactor
from proxy.router import Router
from proxy.session import HostSession, Outlet, Peer
from proxy.station_tools import StationTools
from proxy.store.catalogues import CatalogueStore
from proxy.store.feedback import FeedbackStore
from proxy.store.held import HeldStore
from proxy.summary import summarize
from proxy.surface.assembly import AssemblyParts, SurfacingAssembly
from proxy.surface.service import SurfacingService
from proxy.surface.source import MemorySource, NoSource
from proxy.telemetry.tracing import Tracing
from proxy.tool_calls import RouterSurfacing
from proxy.tool_health import NEVER, follow_failures
from proxy.upstream import Upstream
from proxy.views import problem_view, transport_of, upstream_view
from proxy.worker.client import Worker

TICK_SECONDS = 0.1
PREWARM_SECONDS = 0.3
"""The worker loads after what hosts wait for at the start; a long answer before that starts it, too."""
SWITCH_SECONDS = 0.0005
"""How soon the recorder's and the screen's threads give way to a call; Python's default of 5 ms shows."""
TRACING_SECONDS = 2.0
"""How long the end of the station may be held up by traces that are not sent yet."""
_log = logging.getLogger("mms.engine")


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What the wiring provides."""

    paths: Paths
    store: SettingsStore
    environ: Mapping[str, str]
    version: str
    watch: Callable[[], AsyncIterator[None]] | None
    """Yields whenever a settings file may have changed; ``None``: never."""
    service: Callable[[Engine], StationService]
    """Makes what operators talk to."""
    host_tools: HostTools = field(default_factory=NoHostTools)
    """Tools of ours that something outside the engine answers."""
    memory_source: MemorySource = field(default_factory=NoSource)
    """The memory that is shown with answers, unless the settings name an external one."""
    beside: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Entered while the station runs, and left after its last call."""


class Engine:
    """A station. Use `run` once; everything else is for the engine's loop only."""

    def __init__(self, parts: EngineParts) -> None:
        self.parts = parts
        self.paths = parts.paths
        self.store = parts.store
        self.feed = EventFeed()
        self.started_at = time.time()
        self.redactor = self._make_redactor()
        self.recorder = Recorder(
            self.paths.calls_database,
            history=self.store.current.proxy.history,
            on_recorded=self._recorded,
        )
        self.worker = Worker()
        self.callers = Callers()
        self.surface = SurfacingAssembly(
            AssemblyParts(
                self.paths,
                lambda: self.store.current,
                parts.environ,
                wire.raw({"name": "mms", "version": parts.version}),
                parts.memory_source,
                lambda text: self.redactor.redact(text),
                lambda work: self.answers.spawn(work),
                lambda at: self.feed.publish(SurfacingChanged(at)),
                lambda: self.answers.progressive_failures,
            )
        )
        self.answers = Answers(
            self._proxy_settings,
            HeldStore(self.paths.held_database, self.store.current.proxy.held.max_bytes),
            self.worker,
            self._summarize,
            lambda text: self.redactor.redact(text),
            self._original,
            self.surface.progressive.note,
        )
        self.feedback = FeedbackStore(
            self.paths.feedback_database, redact=lambda text: self.redactor.redact(text)
        )
        self.tracing = Tracing(self.store.current.tracing, parts.environ, parts.version)
        self.router = Router(
            self._proxy_settings,
            self.recorder,
            self._looks_secret,
            self.answers,
            RouterSurfacing(
                self.surface.surfacer, self.surface.settings, self.callers, self.surface.selection
            ),
            self.tracing,
        )
        self.surfacing: SurfacingService = self.surface.desk
        self.service = parts.service(self)
        """What operators talk to."""
        self.router.offer_own_tools(
            OwnTools(
                self.answers,
                self.feedback,
                self._offered_tools,
                self.recorder,
                HostToolsTogether(self._station_tools(), parts.host_tools),
                self._proxy_settings,
                self.callers,
                self.tracing,
            )
        )
        self.backchannel = Backchannel(self.router)
        self.front = Front(self.router, self.backchannel, self.feed, parts.version)
        self.fleet = Fleet(
            self.router,
            self.backchannel,
            self.feed,
            CatalogueStore(self.paths.catalogue_file),
            self._open_link,
            self.view_of,
            wire.raw({"name": "mms", "version": parts.version}),
        )
        self.http_url = ""
        """Address of the loopback endpoint while it listens."""
        self.http_problem = ""
        """Why the loopback endpoint does not listen, for a person."""
        self.ready = asyncio.Event()
        """Set once the socket answers."""
        self._stopping = asyncio.Event()
        self._stop_reason = ""
        self._group: asyncio.TaskGroup | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._operators: set[asyncio.Task[None]] = set()
        self._http: asyncio.Task[None] | None = None
        self._failures: asyncio.Task[None] | None = None
        self._reloading = asyncio.Lock()

    # life

    async def run(self) -> None:
        """Be the station until `stop`. Raises `StationRunning` or `OSError` when it cannot start."""
        ensure_private_directory(self.paths.state_directory)
        ensure_private_directory(self.paths.runtime_directory)
        with StationLock(self.paths.lock_file):
            self._loop = asyncio.get_running_loop()
            become_subreaper()
            keep_freed_memory()
            sys.setswitchinterval(SWITCH_SECONDS)
            self.recorder.apply_redaction(self.redactor.redact)
            self.recorder.start()
            self.answers.held_store.start()
            self.feedback.start()
            self.surface.start_stores()
            self.tracing.start()
            try:
                async with self.parts.beside():
                    await self._serve()
            finally:
                self.paths.socket.unlink(missing_ok=True)
                await asyncio.to_thread(self.fleet.save)
                await asyncio.to_thread(self.answers.held_store.stop, 5.0)
                await asyncio.to_thread(self.feedback.stop, 5.0)
                await asyncio.to_thread(self.surface.stop_stores, 5.0)
                await asyncio.to_thread(self.tracing.stop, TRACING_SECONDS)
                await asyncio.to_thread(self.recorder.stop, 5.0)

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            self.answers.start(group)
            helpers = self.fleet.start(self.store.current, group)
            helpers.append(group.create_task(self.worker.run()))
            helpers += self.surface.start(group)
            server = await listen(
                self.paths.socket,
                Doors(
                    self.front.open_session,
                    self._open_operator,
                    lambda: self._proxy_settings().max_host_frame_bytes,
                ),
            )
            helpers.append(group.create_task(self._tick()))
            if self.parts.watch is not None:
                helpers.append(group.create_task(self._follow_settings(self.parts.watch())))
            self._restart_http()
            self._watch_failures()
            self.ready.set()
            asyncio.get_running_loop().call_later(PREWARM_SECONDS, self.worker.prewarm)
            try:
                await self._stopping.wait()
            finally:
                server.close()
                self.feed.publish(StationStopping(self._stop_reason or "the station stops"))
                self.front.end_sessions()
                self.fleet.stop()
                helpers += [task for task in (self._http, self._failures) if task is not None]
                for task in helpers:
                    task.cancel()
                await asyncio.sleep(0)  # operators get their last event
                for task in self._operators:
                    task.cancel()

    def stop(self, reason: str) -> None:
        """End `run` in order."""
        self._stop_reason = self._stop_reason or reason
        self._stopping.set()

    def open_session(self, peer: Peer, outlet: Outlet) -> HostSession:
        """A host has connected."""
        return self.front.open_session(peer, outlet)

    def view_of(self, upstream: Upstream) -> UpstreamView:
        """One upstream for a screen."""
        return upstream_view(upstream, self.router.catalogue, self.redactor.redact)

    # settings

    async def reload(self) -> Applied | Rejected | Unchanged:
        """Read the settings again and apply what changed."""
        async with self._reloading:
            result = await asyncio.to_thread(self.store.reload)
            if isinstance(result, Applied):
                self._apply(result)
            elif isinstance(result, Rejected):
                problems = tuple(problem_view(problem) for problem in result.problems)
                self.feed.publish(SettingsRejected(time.time(), problems))
            return result

    def _apply(self, applied: Applied) -> None:
        self.redactor = self._make_redactor()
        self.recorder.apply_redaction(self.redactor.redact)
        self.recorder.apply_history(applied.new.proxy.history)
        self.answers.applied()
        self.surface.applied(applied.old, applied.new)
        if applied.old.tracing != applied.new.tracing:
            self.tracing.applied(applied.new.tracing)
        self.fleet.apply(applied.changes, applied.new)
        if applied.old.proxy.http != applied.new.proxy.http:
            self._restart_http()
        self._watch_failures()
        self.feed.publish(
            SettingsApplied(time.time(), applied.changes.sentences(), applied.changes.needs_restart)
        )

    async def _follow_settings(self, changes: AsyncIterator[None]) -> None:
        await self.reload()  # an edit between the first reading and the start of the watch
        async for _ in changes:
            await self.reload()

    def _proxy_settings(self) -> ProxySettings:
        """The settings in force, looked up anew for each use."""
        return self.store.current.proxy

    # helpers

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.router.tick(time.monotonic())

    async def _open_link(self, settings: UpstreamSettings, listener: LinkListener) -> Link:
        limit = self._proxy_settings().max_upstream_frame_bytes
        if transport_of(settings) is Transport.HTTP:
            from proxy.links.http import open_http  # brings httpx2, a third of a second of imports

            return await open_http(settings, listener, limit)
        program = Program(
            settings.command, settings.args, settings.env, settings.cwd or None, limit
        )
        return await open_stdio(program, self.parts.environ, settings.name, listener)

    def _restart_http(self) -> None:
        """Start, move or stop the loopback endpoint, as the settings say."""
        assert self._group is not None
        if self._http is not None:
            self._http.cancel()
            self._http = None
            self.http_url = self.http_problem = ""
        settings = self._proxy_settings().http
        if settings.enabled:
            from proxy.http_endpoint import serve_http

            self._http = self._group.create_task(serve_http(self, settings))

    def _watch_failures(self) -> None:
        """Find tools whose calls fail, while the settings want them to be withheld."""
        assert self._group is not None
        wanted = self._proxy_settings().max_error_share < NEVER
        if wanted and self._failures is None:
            self._failures = self._group.create_task(
                follow_failures(self.paths.calls_database, self.router.note_failures)
            )
        elif not wanted and self._failures is not None:
            self._failures.cancel()
            self._failures = None

    def _open_operator(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._group is not None
        task = self._group.create_task(
            serve_operator(reader, writer, self.service, product=self.parts.version)
        )
        self._operators.add(task)
        task.add_done_callback(self._operators.discard)

    def _recorded(self, records: tuple[CallRecord, ...]) -> None:
        """Called from the recorder's thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.feed.publish, CallsRecorded(records))

    async def _summarize(
        self, text: str, query: str, settings: LlmSettings, budget_tokens: int
    ) -> str:
        return await summarize(
            text, query, settings, self.parts.environ, self.redactor.redact, budget_tokens
        )

    def _original(self, call_id: int) -> OriginalCall | None:
        """A recorded call with the answer that its upstream gave. Blocking."""
        found = self.recorder.original(call_id)
        if found is None:
            return None
        record = found.record
        held = self.answers.held_store.peek(record.held_key) if record.held_key else None
        body = found.before or (held.body if held is not None else b"")
        if not body and not record.strategy:
            body = found.result
        upstream = self.router.upstreams.get(record.upstream)
        settings = self._proxy_settings()
        budget = default_budget(settings)
        if upstream is not None:
            rules = rules_for(settings, upstream.settings, record.tool)
            budget = rules.budget if rules.unit == "tokens" else max(1, rules.budget // 4)
        return OriginalCall(
            record.upstream,
            record.tool,
            body,
            found.result,
            record.strategy,
            Query(found.query, found.query_source),
            budget,
        )

    def _station_tools(self) -> StationTools:
        return StationTools(
            lambda: self.store.current,
            lambda: self.router.catalogue,
            self.surface.ratings,
            self.surface.source,
            Actions(self.service, self._clear_caches),
        )

    def _clear_caches(self) -> tuple[int, int]:
        return self.answers.clear_cache("", ""), self.surface.surfacer.lookup.clear()

    def _offered_tools(self) -> dict[str, frozenset[str]]:
        """The tools that hosts are offered, by upstream."""
        tools = self.router.catalogue.tools.values()
        return {
            name: frozenset(tool.name for tool in tools if tool.upstream == name)
            for name in self.router.upstreams
        }

    def _looks_secret(self, text: str) -> bool:
        return looks_sensitive(text)

    def _make_redactor(self) -> Redactor:
        loaded = self.store.loaded
        return Redactor(known_secrets(loaded.settings, self.parts.environ, loaded.variables))
