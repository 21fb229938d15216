"""All upstreams: started, told to whom it concerns, replaced without losing a call, remembered."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable

from config.diff import SettingsDiff
from config.schema import ProxySettings, Settings, UpstreamSettings
from proxy import wire
from proxy.backchannel import Backchannel
from proxy.dialects import InputRequired
from proxy.event_stream import EventFeed
from proxy.events import UpstreamChanged, UpstreamRemoved
from proxy.exchange import Exchange
from proxy.model import UpstreamState, UpstreamView
from proxy.router import Router
from proxy.store.catalogues import CatalogueStore, RememberedCatalogue
from proxy.upstream import Upstream
from proxy.upstream_ports import OpenLink, identity_of

DRAIN_SECONDS = 30.0
"""How long calls of a removed or changed upstream may still run before it is stopped."""
SAVE_PAUSE_SECONDS = 0.5
"""Changes of what upstreams offer are gathered this long before they are written."""
CRASH_PAUSE_SECONDS = 5.0
_log = logging.getLogger("mms.fleet")


class Fleet:
    """The upstreams of a station; it is their owner. Lives in the engine's task group."""

    def __init__(
        self,
        router: Router,
        backchannel: Backchannel,
        feed: EventFeed,
        catalogues: CatalogueStore,
        open_link: OpenLink,
        view: Callable[[Upstream], UpstreamView],
        client_info: wire.Raw,
    ) -> None:
        self._router = router
        self._backchannel = backchannel
        self._feed = feed
        self._catalogues = catalogues
        self._open_link = open_link
        self._view = view
        self._client_info = client_info
        self._tasks: dict[Upstream, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._remembered: dict[str, RememberedCatalogue] = {}
        self._unsaved: dict[str, RememberedCatalogue] = {}

    # life

    def start(self, settings: Settings, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """Start every upstream; returns the helpers to be cancelled at the end."""
        self._group = group
        self._remembered = self._catalogues.load()
        for wanted in settings.upstreams.values():
            self._add(wanted, settings.proxy)
        self._router.rebuild()
        return [group.create_task(self._save_now_and_then())]

    def stop(self) -> None:
        """End all upstreams, those that still drain included."""
        for task in self._tasks.values():
            task.cancel()

    def save(self) -> None:
        """Write what is not yet written; blocks for the disk."""
        unsaved, self._unsaved = self._unsaved, {}
        for name, catalogue in unsaved.items():
            try:
                self._catalogues.save(name, catalogue)
            except OSError as error:
                _log.warning("cannot remember the tools of upstream %s: %s", name, error)

    def apply(self, changes: SettingsDiff, settings: Settings) -> None:
        """Follow new settings; what did not change is not touched."""
        before = dict(self._router.upstreams)
        self._router.upstreams.clear()
        for name, wanted in settings.upstreams.items():
            old = before.pop(name, None)
            if old is None:
                self._add(wanted, settings.proxy)
            elif name not in changes.upstreams_changed or same_process(old.settings, wanted):
                old.adjust(wanted, settings.proxy)
                self._router.upstreams[name] = old
            else:
                self._replace(old, wanted, settings.proxy)
        for name, old in before.items():
            self._retire(old, None)
            self._feed.publish(UpstreamRemoved(name))
        self._router.announce(self._router.rebuild())
        for upstream in self._router.upstreams.values():
            self._publish(upstream)

    # what upstreams report

    def state_changed(self, upstream: Upstream) -> None:
        """An upstream's state, process or reason changed."""
        if not upstream.connected:
            self._backchannel.upstream_lost(upstream)
        if self._current(upstream):
            self._router.state_changed()
            self._publish(upstream)

    def became_ready(self, upstream: Upstream) -> None:
        """An upstream answers calls."""
        self._backchannel.became_ready(upstream)
        if self._current(upstream):
            self._router.announce(self._router.rebuild())

    def offer_changed(self, upstream: Upstream, announced: frozenset[str]) -> None:
        """An upstream offers something else, or says so."""
        if self._current(upstream):
            self._router.announce(self._router.rebuild(), announced)
            self._remembered[upstream.name] = upstream.remembered()
            self._unsaved[upstream.name] = self._remembered[upstream.name]
            self._publish(upstream)

    def asked(self, upstream: Upstream, message: wire.Members) -> None:
        """An upstream's own request."""
        self._backchannel.asked(upstream, message)

    def asked_back(self, upstream: Upstream, exchange: Exchange, asked: InputRequired) -> None:
        """A stateless upstream wants input."""
        self._backchannel.asked_back(upstream, exchange, asked)

    def notified(self, upstream: Upstream, message: wire.Members) -> None:
        """An upstream's notification."""
        self._backchannel.notified(upstream, message)

    # helpers

    def _add(self, settings: UpstreamSettings, proxy: ProxySettings) -> Upstream:
        upstream = Upstream(
            settings,
            proxy,
            self._open_link,
            self,
            self._remembered.get(settings.name),
            self._client_info,
            random.random,
        )
        self._router.upstream_added(upstream)
        assert self._group is not None
        task = self._group.create_task(self._run(upstream), name=f"upstream-{settings.name}")
        self._tasks[upstream] = task
        return upstream

    async def _run(self, upstream: Upstream) -> None:
        """The fence around one upstream: a fault of ours in it must not end the station."""
        try:
            while True:
                try:
                    await upstream.run()
                except Exception:
                    _log.exception("upstream %s failed inside mms", upstream.name)
                    upstream.enter(UpstreamState.FAILED, "mms itself failed; the log has more")
                    await asyncio.sleep(CRASH_PAUSE_SECONDS)
                else:
                    return
        finally:
            self._tasks.pop(upstream, None)

    def _replace(self, old: Upstream, wanted: UpstreamSettings, proxy: ProxySettings) -> None:
        """Start the successor first; until it has listed, it offers what the old one did."""
        successor = self._add(wanted, proxy)
        if not successor.known:
            successor.inherit(old)
        self._retire(old, successor)

    def _retire(self, upstream: Upstream, successor: Upstream | None) -> None:
        """Let what it was sent come to its end, then stop it; what waits goes to the successor."""
        if not upstream.ready:
            for exchange in upstream.traffic.drain():
                self._router.hand_over(exchange, successor)
        assert self._group is not None
        self._group.create_task(self._drain(upstream))

    async def _drain(self, upstream: Upstream) -> None:
        end = time.monotonic() + DRAIN_SECONDS
        while upstream.traffic.busy and upstream.ready and time.monotonic() < end:
            upstream.tick(time.monotonic())
            await asyncio.sleep(0.05)
        task = self._tasks.get(upstream)
        if task is not None:
            task.cancel()

    async def _save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAVE_PAUSE_SECONDS)
            if self._unsaved:
                await asyncio.to_thread(self.save)

    def _current(self, upstream: Upstream) -> bool:
        """False for one that only drains."""
        return self._router.upstreams.get(upstream.name) is upstream

    def _publish(self, upstream: Upstream) -> None:
        if self._feed.readers:
            self._feed.publish(UpstreamChanged(self._view(upstream)))


def same_process(old: UpstreamSettings, new: UpstreamSettings) -> bool:
    """Whether the running process or connection serves the new settings as well."""
    return (
        old.enabled == new.enabled
        and old.transport == new.transport
        and identity_of(old) == identity_of(new)
        and dict(old.env) == dict(new.env)
        and dict(old.headers) == dict(new.headers)
    )
