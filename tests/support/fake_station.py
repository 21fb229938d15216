"""A station in memory, for screens, CLI and contract tests.

It implements `console.station.Station` and, since it lives on the loop of whoever uses it, also
`proxy.operator.StationService`. Its parts are plain attributes: set them to what a test needs.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar, cast

from console.station import StationUnavailable
from proxy.answer_model import (
    HeldDetail,
    HeldList,
    HeldTotals,
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
from proxy.event_stream import DEFAULT_CAPACITY, EventFeed
from proxy.events import (
    Event,
    SettingsApplied,
    StationStopping,
    SurfacingChanged,
    UpstreamChanged,
    UpstreamRemoved,
)
from proxy.ledger import first_day
from proxy.model import (
    CallDetail,
    CallQuery,
    CallRecord,
    SettingsView,
    Snapshot,
    Totals,
    UpstreamDetail,
    UpstreamState,
    UpstreamView,
)
from proxy.store.calls import matches
from proxy.surface.model import MemoryRating, Rater, SurfacingQuery, SurfacingView, TuningReport
from proxy.surface.service import NO_PROGRESSIVE, NO_SELECTION, NO_SURFACING
from proxy.telemetry.model import ProgressiveView, SelectionView
from tests.support import sample_answers, sample_data, sample_surfacing
from tests.support.fake_memory import FakeMemory
from tests.support.sample_data import NOW

__all__ = ["HOSTILE", "NOW", "FakeStation", "make_hostile"]

HOSTILE = (
    "[/b] [link=x]y[/link] [@click=app.quit]z[/]"
    "\x1b[2J\x1b[31mred\x1b[0m"  # clear the screen, colour
    "\x1b]52;c;cm0gLXJm\x07"  # OSC 52: write the clipboard
    "\x1b]0;title\x1b\\\x9b31m\x00\x07\x08\x7f\r"  # title, C1 CSI, NUL, BEL, BS, DEL, CR
    "\u202egnirts\u202c\u2066x\u2069\u200f"  # bidi overrides, isolates, marks
    "\u200b\u200c\u2060\ufeff"  # zero width
    "\U000e0041\U000e0042\U000e007f"  # tag characters
    "漢字かな한글 👩\u200d👩\u200d👧 ✈\ufe0f e\u0301"  # wide, ZWJ emoji, selector, combining
    "\nsecond line\tafter a tab "
) + "x" * 5000
"""Everything that could control a terminal, break markup or spoil a layout."""

_Value = TypeVar("_Value")


def make_hostile(value: _Value) -> _Value:
    """The same value with `HOSTILE` added to every text in it; enums, numbers and None stay."""
    return _hostile(value)


def _hostile(value: Any) -> Any:
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, Enum):
        return value
    if isinstance(value, tuple):
        return tuple(_hostile(item) for item in cast("tuple[Any, ...]", value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{
                field.name: _hostile(getattr(value, field.name))
                for field in dataclasses.fields(value)
            },
        )
    return value


class FakeStation:
    """See the module's text.

    ``unavailable``: not empty makes every method raise `StationUnavailable` with that sentence.
    ``answer``: set it to decide about commands yourself; otherwise the fake does what they say.
    ``executed``: every command that came in, in order.
    """

    def __init__(self, *, hostile: bool = False, attached: bool = False) -> None:
        self.attached: bool = attached
        self.unavailable: str = ""
        self.memory: FakeMemory = FakeMemory(hostile=make_hostile if hostile else None)
        self.snapshot_value: Snapshot = sample_data.SNAPSHOT
        self.details: dict[str, UpstreamDetail] = dict(sample_data.DETAILS)
        self.records: tuple[CallRecord, ...] = sample_data.CALLS
        """Newest first."""
        self.call_details: dict[int, CallDetail] = {
            record.id: sample_data.call_detail(record) for record in sample_data.CALLS
        }
        self.savings_value: SavingsView = sample_answers.SAVINGS
        self.surfacing_value = sample_surfacing.SURFACING
        self.tuning_value = sample_surfacing.TUNING
        self.selection_value = sample_surfacing.SELECTION
        self.progressive_value = sample_surfacing.PROGRESSIVE
        """Of all time; `savings` answers the last days before `NOW` of it."""
        self.held_value: HeldList = sample_answers.HELD
        self.held_details: dict[str, HeldDetail] = dict(sample_answers.HELD_DETAILS)
        self.what_ifs: Callable[[WhatIfQuery], WhatIf] = sample_answers.what_if
        self.settings_value: SettingsView = sample_data.SETTINGS
        self.executed: list[Command] = []
        self.answer: Callable[[Command], CommandResult] | None = None
        self.feed = EventFeed()
        self.event_capacity = DEFAULT_CAPACITY
        self.subscribed = asyncio.Event()
        """Set once somebody reads events."""
        self.asked: list[str] = []
        """Names of the methods called, in order."""
        if hostile:
            self._become_hostile()

    @classmethod
    def empty(cls) -> FakeStation:
        """A station at its first start: no upstreams, hosts, calls or settings of its own."""
        station = cls()
        station.memory = FakeMemory.empty()
        plain = station.snapshot_value
        station.snapshot_value = replace(
            plain,
            upstreams=(),
            hosts=(),
            running=(),
            today=Totals(),
            all_time=Totals(),
            minutes=tuple(
                replace(minute, calls=0, errors=0, tokens_in=0, tokens_out=0)
                for minute in plain.minutes
            ),
            attention=(),
        )
        station.details = {}
        station.records = ()
        station.call_details = {}
        station.savings_value = replace(
            station.savings_value, lines=(), control_tools_tokens=0, missed=()
        )
        station.surfacing_value = NO_SURFACING
        station.tuning_value = TuningReport(24.0, (), 0)
        station.selection_value = NO_SELECTION
        station.progressive_value = NO_PROGRESSIVE
        station.held_value = HeldList(
            HeldTotals(0, 0, 0, station.held_value.totals.capacity_bytes, 0), ()
        )
        station.held_details = {}
        station.settings_value = replace(
            station.settings_value,
            rows=tuple(
                replace(row, value=row.default, source="default", where="")
                for row in station.settings_value.rows
                if not row.key.startswith("upstreams.")
            ),
        )
        return station

    # -- what a test does to it ---------------------------------------------------------------

    def push(self, event: Event) -> None:
        """Publish an event to every subscription, as the engine would."""
        self.feed.publish(event)

    def set_upstream(self, view: UpstreamView) -> None:
        """Put an upstream into the snapshot (replacing one of that name) and tell the readers."""
        old = self.snapshot_value.upstreams
        if any(one.name == view.name for one in old):
            upstreams = tuple(view if one.name == view.name else one for one in old)
        else:
            upstreams = (*old, view)
        self.snapshot_value = replace(self.snapshot_value, upstreams=upstreams)
        detail = self.details.get(view.name) or UpstreamDetail(view, (), (), (), "", 0, 0)
        self.details[view.name] = replace(detail, view=view)
        self.push(UpstreamChanged(view))

    # -- Station and StationService -----------------------------------------------------------

    async def snapshot(self) -> Snapshot:
        self._asked("snapshot")
        return self.snapshot_value

    async def upstream(self, name: str) -> UpstreamDetail | None:
        self._asked("upstream")
        return self.details.get(name)

    async def calls(self, query: CallQuery) -> tuple[CallRecord, ...]:
        self._asked("calls")
        return tuple(record for record in self.records if matches(record, query))[: query.limit]

    async def call(self, call_id: int) -> CallDetail | None:
        self._asked("call")
        return self.call_details.get(call_id)

    async def settings(self) -> SettingsView:
        self._asked("settings")
        return self.settings_value

    async def savings(self, days: int) -> SavingsView:
        self._asked("savings")
        since = first_day(days, NOW)
        lines = tuple(line for line in self.savings_value.lines if line.day >= since)
        return replace(self.savings_value, lines=lines)

    async def held(self, limit: int) -> HeldList:
        self._asked("held")
        return replace(self.held_value, answers=self.held_value.answers[:limit])

    async def held_answer(self, key: str) -> HeldDetail | None:
        self._asked("held_answer")
        return self.held_details.get(key)

    async def what_if(self, query: WhatIfQuery) -> WhatIf:
        self._asked("what_if")
        return self.what_ifs(query)

    async def surfacing(self, query: SurfacingQuery) -> SurfacingView:
        self._asked("surfacing")
        recent = self.surfacing_value.recent[: query.limit]
        return replace(self.surfacing_value, recent=recent)

    async def tuning(self, since_hours: float, tool: str | None) -> TuningReport:
        self._asked("tuning")
        advice = self.tuning_value.recommendations
        chosen = tuple(one for one in advice if tool is None or one.tool == tool)
        return replace(self.tuning_value, since_hours=since_hours, recommendations=chosen)

    async def selection(self) -> SelectionView:
        self._asked("selection")
        return self.selection_value

    async def progressive(self, tool: str) -> ProgressiveView:
        self._asked("progressive")
        return self.progressive_value

    async def execute(self, command: Command) -> CommandResult:
        self._asked("execute")
        self.executed.append(command)
        if self.answer is not None:
            return self.answer(command)
        return self._carry_out(command)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        self._asked("events")
        return self._subscription()

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """What `proxy.operator.StationService` calls `events`."""
        return self.events()

    @asynccontextmanager
    async def _subscription(self) -> AsyncGenerator[AsyncIterator[Event]]:
        async with self.feed.subscribe(self.event_capacity) as events:
            self.subscribed.set()
            yield events

    # -- insides ------------------------------------------------------------------------------

    def _asked(self, method: str) -> None:
        self.asked.append(method)
        if self.unavailable:
            raise StationUnavailable(self.unavailable)

    def _carry_out(self, command: Command) -> CommandResult:
        match command:
            case ReconnectUpstream(name) | SetUpstreamEnabled(name, _) | RemoveUpstream(name):
                detail = self.details.get(name)
                if detail is None:
                    return CommandResult(ok=False, message=f"There is no upstream {name}.")
                return self._on_upstream(command, detail.view)
            case SetSetting(key, value):
                return self._set(key, value)
            case UnsetSetting(key):
                return self._set(key, None)
            case ReloadSettings():
                return CommandResult(ok=True, message="The settings were read again.")
            case ClearCache(upstream, tool):
                whose = "/".join(filter(None, (upstream, tool))) or "all tools"
                return CommandResult(ok=True, message=f"3 kept answers of {whose} were forgotten.")
            case DropHeld(key):
                return self._drop_held(key)
            case RateMemory():
                return self._rate(command)
            case RevertAdjustment(id):
                return self._revert(id)
            case StopStation():
                self.push(StationStopping("Stopped on request."))
                return CommandResult(ok=True, message="The station stops.")

    def _rate(self, command: RateMemory) -> CommandResult:
        view = self.surfacing_value
        event = next((one for one in view.recent if one.id == command.surfacing_id), None)
        if event is None:
            return CommandResult(ok=False, message=f"There is no event {command.surfacing_id}.")
        wanted = [one for one in event.memories if command.memory_id in ("", one.memory_id)]
        if not wanted:
            text = f"There is no memory {command.memory_id} in {command.surfacing_id}."
            return CommandResult(ok=False, message=text)
        rated = tuple(
            replace(
                one,
                ratings=(
                    *(other for other in one.ratings if other.rater is not Rater.PERSON),
                    MemoryRating(Rater.PERSON, command.rating, NOW),
                ),
            )
            if one in wanted
            else one
            for one in event.memories
        )
        changed = replace(event, memories=rated)
        self.surfacing_value = replace(
            view,
            recent=tuple(changed if one is event else one for one in view.recent),
            unrated=view.unrated - sum(one.rating is None for one in wanted),
        )
        self.push(SurfacingChanged(NOW))
        which = command.memory_id or f"{len(wanted)} memories"
        return CommandResult(ok=True, message=f"{which} rated {command.rating.value}.")

    def _revert(self, id: int) -> CommandResult:
        view = self.surfacing_value
        if all(one.id != id for one in view.adjustments):
            return CommandResult(ok=False, message=f"There is no adjustment {id}.")
        steps = tuple(
            replace(one, reverted_at=NOW) if one.id == id else one for one in view.adjustments
        )
        self.surfacing_value = replace(view, adjustments=steps)
        self.push(SurfacingChanged(NOW))
        return CommandResult(ok=True, message=f"Adjustment {id} is taken back.")

    def _on_upstream(
        self,
        command: ReconnectUpstream | SetUpstreamEnabled | RemoveUpstream,
        view: UpstreamView,
    ) -> CommandResult:
        up = replace(
            view, state=UpstreamState.READY, reason="", next_action="", retry_at=None, since=NOW
        )
        if isinstance(command, ReconnectUpstream):
            self.set_upstream(replace(up, restarts=view.restarts + 1))
            return CommandResult(ok=True, message=f"{view.name} was started again.")
        if isinstance(command, SetUpstreamEnabled):
            down = replace(
                up, state=UpstreamState.DISABLED, reason="Switched off in the settings.", pid=None
            )
            self.set_upstream(up if command.enabled else down)
            word = "enabled" if command.enabled else "disabled"
            return CommandResult(ok=True, message=f"{view.name} is {word}.")
        rest = tuple(one for one in self.snapshot_value.upstreams if one.name != view.name)
        self.snapshot_value = replace(self.snapshot_value, upstreams=rest)
        del self.details[view.name]
        self.push(UpstreamRemoved(view.name))
        return CommandResult(ok=True, message=f"{view.name} was removed.")

    def _drop_held(self, key: str) -> CommandResult:
        if self.held_details.pop(key, None) is None:
            return CommandResult(ok=False, message=f"No answer is held under {key}.")
        answers = tuple(one for one in self.held_value.answers if one.key != key)
        self.held_value = HeldList(sample_answers.held_totals(answers), answers)
        return CommandResult(ok=True, message=f"The held answer {key} is deleted.")

    def _set(self, key: str, value: str | None) -> CommandResult:
        rows = self.settings_value.rows
        row = next((one for one in rows if one.key == key), None)
        if row is None:
            return CommandResult(ok=False, message=f"There is no key {key}.")
        if value is None:
            changed = replace(row, value=row.default, source="default", where="")
        else:
            changed = replace(
                row, value=value, source="user file", where=f"{self.settings_value.file}:9"
            )
        self.settings_value = replace(
            self.settings_value, rows=tuple(changed if one.key == key else one for one in rows)
        )
        waits = () if row.live else (key,)
        self.push(SettingsApplied(NOW, (f"{key} is now {changed.value}",), waits))
        return CommandResult(ok=True, message=f"{key} is now {changed.value}.")

    def _become_hostile(self) -> None:
        self.snapshot_value = make_hostile(self.snapshot_value)
        self.details = {
            detail.view.name: detail for detail in map(make_hostile, self.details.values())
        }
        self.records = make_hostile(self.records)
        self.call_details = {key: make_hostile(one) for key, one in self.call_details.items()}
        self.savings_value = replace(
            self.savings_value,
            lines=tuple(
                replace(line, upstream=line.upstream + HOSTILE, tool=line.tool + HOSTILE)
                for line in self.savings_value.lines
            ),
            missed=make_hostile(self.savings_value.missed),
        )
        self.held_value = replace(
            self.held_value,
            answers=tuple(
                replace(one, upstream=one.upstream + HOSTILE, tool=one.tool + HOSTILE)
                for one in self.held_value.answers
            ),
        )
        self.held_details = {
            one.key: HeldDetail(
                one, self.held_details[one.key].text + HOSTILE, self.held_details[one.key].truncated
            )
            for one in self.held_value.answers
        }
        self.surfacing_value = make_hostile(self.surfacing_value)
        self.tuning_value = make_hostile(self.tuning_value)
        calm = self.what_ifs
        self.what_ifs = lambda query: make_hostile(calm(query))
        self.settings_value = make_hostile(
            replace(self.settings_value, problems=sample_data.PROBLEMS)
        )
