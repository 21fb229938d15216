"""What operators can see and do: the engine behind the port that screens and commands use."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol

from config.problem import errors_in
from config.store import Applied, Rejected
from proxy.answer_model import (
    FeedbackLine,
    HeldDetail,
    HeldList,
    SavingsView,
    WhatIf,
    WhatIfQuery,
)
from proxy.commands import (
    ClearCache,
    Command,
    CommandResult,
    DropHeld,
    RateMemory,
    ReconnectUpstream,
    ReloadSettings,
    RemoveUpstream,
    RevertAdjustment,
    SetSetting,
    SetUpstreamEnabled,
    StopStation,
    UnsetSetting,
)
from proxy.engine import Engine
from proxy.events import Event
from proxy.model import (
    CallDetail,
    CallQuery,
    CallRecord,
    SettingRow,
    SettingsView,
    Snapshot,
    StationView,
    UpstreamDetail,
)
from proxy.store.database import StoreUnavailable
from proxy.surface.model import Rater, SurfacingQuery, SurfacingView, TuningReport
from proxy.telemetry.model import ProgressiveView, SelectionView
from proxy.views import attention, problem_view, upstream_detail


class SettingsEditor(Protocol):
    """Changes the user's file. Every method blocks for the disk and raises `EditRefused`."""

    def set(self, key: str, value: str) -> None:
        """Write one key."""
        ...

    def unset(self, key: str) -> None:
        """Take one key out."""
        ...

    def remove_upstream(self, name: str) -> None:
        """Take an upstream out."""
        ...

    def rows(self) -> tuple[SettingRow, ...]:
        """All settings as they are in force."""
        ...


class EditRefused(Exception):
    """The file was not changed; ``str()`` says why."""


class AnswerService(Protocol):
    """What is kept of answers: held originals, answers to give again, trials of other settings."""

    async def held(self, limit: int) -> HeldList:
        """Held answers, used last first."""
        ...

    async def held_answer(self, key: str) -> HeldDetail | None:
        """One held answer with its text, redacted."""
        ...

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        """A recorded call's answer under other settings."""
        ...

    def clear_cache(self, upstream: str, tool: str) -> int:
        """Forget kept answers of a tool, an upstream or all (empty names); how many there were."""
        ...

    async def drop_held(self, key: str) -> bool:
        """Delete a held answer; False when there is none of that key."""
        ...


class EngineService:
    """Implements `proxy.operator.StationService` over an engine, on the engine's loop."""

    def __init__(self, engine: Engine, editor: SettingsEditor) -> None:
        self._engine = engine
        self._editor = editor

    async def snapshot(self) -> Snapshot:
        """Everything that the overview shows."""
        engine = self._engine
        recorder = engine.recorder
        views = tuple(engine.view_of(upstream) for upstream in engine.router.upstreams.values())
        withheld = sum(len(tools) for tools in engine.router.catalogue.withheld.values())
        problems = engine.store.problems
        now = time.time()
        return Snapshot(
            taken_at=now,
            station=StationView(
                version=engine.parts.version,
                pid=os.getpid(),
                started_at=engine.started_at,
                socket=str(engine.paths.socket),
                http=engine.http_url,
                config_file=str(engine.paths.config_file),
                state_directory=str(engine.paths.state_directory),
                settings_loaded_at=engine.store.loaded_at,
                settings_problems=len(errors_in(problems)),
            ),
            upstreams=views,
            hosts=tuple(
                session.view() for session in engine.router.sessions.values() if session.initialized
            ),
            running=engine.router.running(),
            today=recorder.totals_today(),
            all_time=recorder.totals_all_time(),
            minutes=recorder.minutes(60),
            attention=attention(
                views,
                withheld,
                problems,
                engine.store.loaded_at,
                [text for text in self._troubles() if text],
                now,
            ),
            unrecorded_calls=recorder.unrecorded,
            surfacing=engine.surfacing.glance(),
        )

    async def upstream(self, name: str) -> UpstreamDetail | None:
        """One upstream in full."""
        engine = self._engine
        found = engine.router.upstreams.get(name)
        if found is None:
            return None
        return upstream_detail(found, engine.router.catalogue, engine.redactor.redact)

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        """Finished calls, newest first."""
        return await asyncio.to_thread(self._engine.recorder.calls, query)

    async def call(self, call_id: int) -> CallDetail | None:
        """One call with its texts."""
        return await asyncio.to_thread(self._engine.recorder.detail, call_id)

    async def settings(self) -> SettingsView:
        """The settings in force."""
        store = self._engine.store
        rows = await asyncio.to_thread(self._editor.rows)
        return SettingsView(
            str(self._engine.paths.config_file),
            store.loaded_at,
            rows,
            tuple(problem_view(problem) for problem in store.problems),
        )

    async def savings(self, days: int) -> SavingsView:
        """The ledger of the last ``days`` local days; 0: of all time."""
        view = await asyncio.to_thread(self._engine.recorder.savings, days)
        return replace(view, missed=await asyncio.to_thread(self._missed))

    def _missed(self) -> tuple[FeedbackLine, ...]:
        try:
            return self._engine.feedback.counts().lines
        except StoreUnavailable:  # the store's own problem is shown to the person already
            return ()

    async def held(self, limit: int) -> HeldList:
        """Held answers, used last first."""
        return await self._answers.held(max(1, min(limit, 10_000)))

    async def held_answer(self, key: str) -> HeldDetail | None:
        """One held answer with its text."""
        return await self._answers.held_answer(key)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        """A recorded call's answer under other settings."""
        return await self._answers.what_if(query)

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        """Surfacing as a whole."""
        return await self._engine.surfacing.view(query)

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        """Advice from recent calls and feedback."""
        return await self._engine.surfacing.tuning(since_hours, tool)

    async def selection(self) -> SelectionView:
        """The log of tool selections, added up."""
        return await self._engine.surfacing.selection()

    async def progressive(self, tool: str) -> ProgressiveView:
        """How progressive answers are read on."""
        return await self._engine.surfacing.progressive(tool)

    async def execute(self, command: Command) -> CommandResult:
        """Do what a person asked."""
        match command:
            case ReconnectUpstream(name):
                return self._reconnect(name)
            case SetUpstreamEnabled(name, enabled):
                value = "true" if enabled else "false"
                done = f"upstream {name} is switched {'on' if enabled else 'off'}"
                return await self._edit(
                    lambda: self._editor.set(f"upstreams.{name}.enabled", value), done
                )
            case RemoveUpstream(name):
                return await self._edit(
                    lambda: self._editor.remove_upstream(name), f"upstream {name} is removed"
                )
            case SetSetting(key, value):
                return await self._edit(lambda: self._editor.set(key, value), f"{key} is set")
            case UnsetSetting(key):
                return await self._edit(
                    lambda: self._editor.unset(key), f"{key} has its default again"
                )
            case ReloadSettings():
                return await self._reload("the settings were read again")
            case RateMemory(surfacing_id, memory_id, rating):
                return await self._engine.surfacing.rate(
                    surfacing_id, memory_id, rating, Rater.PERSON
                )
            case RevertAdjustment(id):
                return await self._engine.surfacing.revert(id)
            case ClearCache(upstream, tool):
                return self._clear_cache(upstream, tool)
            case DropHeld(key):
                return await self._drop_held(key)
            case StopStation():
                self._engine.stop("a person stopped the station")
                return CommandResult(True, "the station stops")

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Events from now on."""
        return self._engine.feed.subscribe()

    def _reconnect(self, name: str) -> CommandResult:
        upstream = self._engine.router.upstreams.get(name)
        if upstream is None:
            return CommandResult(False, f"there is no upstream {name}")
        if not upstream.settings.enabled:
            return CommandResult(False, f"upstream {name} is switched off; switch it on first")
        upstream.reconnect()
        return CommandResult(True, f"upstream {name} is being started anew")

    def _troubles(self) -> tuple[str, ...]:
        engine = self._engine
        return (
            engine.recorder.problem,
            _worker_problem(engine.worker.problem),
            engine.answers.held_store.problem,
            engine.feedback.problem,
            engine.http_problem,
            engine.tracing.problem,
            *engine.surface.problems(),
        )

    @property
    def _answers(self) -> AnswerService:
        return self._engine.answers

    def _clear_cache(self, upstream: str, tool: str) -> CommandResult:
        if upstream and upstream not in self._engine.router.upstreams:
            return CommandResult(False, f"there is no upstream {upstream}")
        dropped = self._answers.clear_cache(upstream, tool)
        whose = f" of {'/'.join(filter(None, (upstream, tool)))}" if upstream or tool else ""
        count = "no kept answer" if not dropped else f"{dropped:,} kept answer{'s'[: dropped != 1]}"
        return CommandResult(True, f"{count}{whose} {'were' if dropped > 1 else 'was'} forgotten")

    async def _drop_held(self, key: str) -> CommandResult:
        if await self._answers.drop_held(key):
            return CommandResult(True, f"the held answer {key} is deleted")
        return CommandResult(False, f"no answer is held under {key}; look with: mms held")

    async def _edit(self, change: Callable[[], None], done: str) -> CommandResult:
        try:
            await asyncio.to_thread(change)
        except EditRefused as error:
            return CommandResult(False, str(error))
        except OSError as error:
            return CommandResult(False, f"the settings could not be written: {error}")
        return await self._reload(done)

    async def _reload(self, done: str) -> CommandResult:
        result = await self._engine.reload()
        if isinstance(result, Rejected):
            texts = " ".join(str(problem) for problem in result.problems)
            return CommandResult(False, f"the settings were not applied: {texts}")
        if isinstance(result, Applied) and result.changes.needs_restart:
            keys = ", ".join(result.changes.needs_restart)
            return CommandResult(True, f"{done}; {keys} takes effect at the next start")
        return CommandResult(True, done)


def _worker_problem(problem: str) -> str:
    return f"Long answers are only cut for now: {problem}." if problem else ""
