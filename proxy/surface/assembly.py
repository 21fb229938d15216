"""All that a station needs for surfacing and telemetry, put together; the engine starts and ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from config.paths import Paths
from config.schema import Settings, SurfacingSettings, SurfacingSource, UpstreamSettings
from proxy import wire
from proxy.store.progressive import ProgressiveStore
from proxy.store.surfacing import SurfacingStore
from proxy.surface.desk import DeskParts, SurfacingDesk
from proxy.surface.ltm import ExternalSource
from proxy.surface.model import TuningReport
from proxy.surface.rating import Ratings
from proxy.surface.rules import ToolSurfacing, surfacing_of
from proxy.surface.source import MemorySource
from proxy.surface.surfacer import Surfacer
from proxy.telemetry.selection_log import SelectionLog
from proxy.tool_traits import NO_TRAITS


@dataclass(frozen=True, slots=True)
class AssemblyParts:
    """What the engine provides."""

    paths: Paths
    settings: Callable[[], Settings]
    environ: Mapping[str, str]
    client_info: wire.Raw
    """How the station introduces itself to an external memory."""
    embedded: MemorySource
    redact: Callable[[str], str]
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    publish: Callable[[float], None]
    progressive_failures: Callable[[], int]


class SurfacingAssembly:
    """Everything is made at once; nothing runs before `start_stores` and `start`."""

    def __init__(self, parts: AssemblyParts) -> None:
        self._parts = parts
        paths, settings = parts.paths, parts.settings
        self.store = SurfacingStore(paths.surfacing_database, redact=parts.redact)
        self.progressive = ProgressiveStore(paths.progressive_database)
        self.selection = SelectionLog(paths.selection_log, settings().proxy.selection_telemetry)
        self.external = ExternalSource(settings().surfacing, parts.environ, parts.client_info)
        self.surfacer = Surfacer(
            self.settings,
            self.source,
            self.store,
            parts.redact,
            self._changed,
            lambda: settings().proxy.consumer_model,
        )
        self.ratings = Ratings(
            self.surfacer,
            self.store,
            self.source,
            self.settings,
            self._rules_of,
            parts.spawn,
            self._changed,
        )
        self.desk = SurfacingDesk(
            DeskParts(
                settings,
                self.surfacer,
                self.store,
                self.ratings,
                self.progressive,
                parts.progressive_failures,
                self.selection.view,
                self._advice,
                parts.spawn,
                parts.publish,
            )
        )

    def settings(self) -> SurfacingSettings:
        """Those in force."""
        return self._parts.settings().surfacing

    def source(self) -> MemorySource:
        """Where memories come from, by the settings in force."""
        if self.settings().source is SurfacingSource.LTM:
            return self.external
        return self._parts.embedded

    def start_stores(self) -> None:
        """Open the files, each in its own thread."""
        self.store.start()
        self.progressive.start()
        self.selection.start()

    def stop_stores(self, timeout_seconds: float) -> None:
        """Write what waits, all at the same time. Blocking."""
        stops = (self.store.stop, self.progressive.stop, self.selection.stop)
        threads = [threading.Thread(target=stop, args=(timeout_seconds,)) for stop in stops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def start(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """Begin to work in the engine's group; returns tasks that it has to cancel at the end."""
        self.surfacer.start(group)
        return [
            group.create_task(self.external.run()),
            group.create_task(self.desk.load()),
        ]

    def problems(self) -> tuple[str, ...]:
        """What is wrong with files and the source, sentences for a person; empty ones where all is well."""
        source = self.surfacer.lookup.status()
        trouble = ""
        if source.problem and source.state != "closed":
            trouble = f"Memories are not shown with answers: {source.problem}."
        return (self.store.problem, self.progressive.problem, self.selection.problem, trouble)

    def applied(self, old: Settings, new: Settings) -> None:
        """New settings are in force."""
        self.selection.applied(new.proxy.selection_telemetry)
        self.external.applied(new.surfacing)
        before, now = old.surfacing, new.surfacing
        if (before.source, before.ltm) != (now.source, now.ltm) or old.memory != new.memory:
            self.surfacer.lookup.source_changed()

    def _changed(self) -> None:
        self.desk.changed()

    def _rules_of(self, upstream: str, tool: str) -> ToolSurfacing:
        settings = self._parts.settings()
        return surfacing_of(
            settings.surfacing,
            settings.upstreams.get(upstream, UpstreamSettings()),
            tool,
            NO_TRAITS,
        )

    def _advice(self, since_hours: float, tool: str | None) -> TuningReport:
        from proxy.surface.advice import read_tuning  # only needed when somebody asks

        return read_tuning(
            self._parts.paths, self._parts.settings(), since_hours, tool, now=time.time()
        )
