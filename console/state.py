"""What the console knows of a station, and how each piece of news changes it.

`reduce` is a pure function: no clock, no Textual, no I/O. The sums of a snapshot (totals, minutes,
calls of an upstream) are moved on by calls that finished after the snapshot was taken, so that
numbers are live between two snapshots and exact after each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from heapq import merge

from proxy.answer_model import SavingsView
from proxy.events import (
    CallsRecorded,
    Event,
    EventsLost,
    HostConnected,
    HostLeft,
    SettingsApplied,
    SettingsRejected,
    StationStopping,
    SurfacingChanged,
    UpstreamChanged,
    UpstreamRemoved,
)
from proxy.model import (
    Attention,
    CallRecord,
    HostView,
    Minute,
    Outcome,
    RunningCall,
    SettingProblem,
    Snapshot,
    StationView,
    Totals,
    UpstreamState,
    UpstreamView,
)
from proxy.surface.model import SurfacingGlance

MAX_CALLS = 10_000
"""So many finished calls are kept for the Calls screen; older ones are in the store."""

SAVINGS_DAYS = 7
"""Local days of the ledger that the Overview shows, today included."""

_FAULTS = (Outcome.ERROR, Outcome.TIMEOUT, Outcome.UPSTREAM_LOST)
_NOTHING = Totals()
_NO_SURFACING = SurfacingGlance()
_RANK = {
    UpstreamState.FAILED: 0,
    UpstreamState.BACKING_OFF: 1,
    UpstreamState.DEGRADED: 2,
    UpstreamState.CONNECTING: 3,
    UpstreamState.READY: 4,
    UpstreamState.IDLE: 5,
    UpstreamState.DISABLED: 6,
}


class Link(Enum):
    """How the console stands with its station."""

    CONNECTING = "connecting"
    """Nothing has been heard yet."""
    LIVE = "live"
    LOST = "lost"
    """It does not answer; what is shown is old and the console tries again."""
    STOPPING = "stopping"
    """It said goodbye."""


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """The station answered with everything."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class CallsLoaded:
    """Finished calls were read from the store, in any order."""

    records: tuple[CallRecord, ...]


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The station did not answer."""

    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class SavingsTaken:
    """The station told the ledger of the last days."""

    view: SavingsView


News = Event | SnapshotTaken | CallsLoaded | LinkLost | SavingsTaken
"""Everything that changes what the console knows."""


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """Everything that screens draw."""

    link: Link = Link.CONNECTING
    link_reason: str = ""
    lost_at: float | None = None
    """Since when the data is stale."""
    taken_at: float = 0.0
    """Of the last snapshot; 0 before the first one."""
    station: StationView | None = None
    upstreams: tuple[UpstreamView, ...] = ()
    """Those that need a person first."""
    hosts: tuple[HostView, ...] = ()
    running: tuple[RunningCall, ...] = ()
    today: Totals = _NOTHING
    all_time: Totals = _NOTHING
    minutes: tuple[Minute, ...] = ()
    attention: tuple[Attention, ...] = ()
    unrecorded_calls: int = 0
    calls: tuple[CallRecord, ...] = ()
    """Oldest first, at most `MAX_CALLS`."""
    calls_seen: int = 0
    """How many calls came in as news since the console started; rises only."""
    events_lost: int = 0
    applied: SettingsApplied | None = None
    rejected: tuple[SettingProblem, ...] = ()
    """Not empty while the file on disk is wrong."""
    rejected_problems: int = 0
    """How many problems a snapshot reports, also when they were found before we listened."""
    settings_version: int = 0
    """Rises when the settings or their problems changed: time to ask for them again."""
    surfacing: SurfacingGlance = _NO_SURFACING
    surfacing_version: int = 0
    """Rises when memories were shown, rated or tuned: time to ask for them again."""
    savings: SavingsView | None = None
    """The ledger of the last `SAVINGS_DAYS` days; ``None`` until it was asked for."""
    changed: frozenset[str] = frozenset()
    """Upstreams of which news came in since the last snapshot."""

    @property
    def loaded(self) -> bool:
        """True once a snapshot arrived."""
        return self.station is not None

    @property
    def stale(self) -> bool:
        """True when what is shown may no longer be so."""
        return self.link in (Link.LOST, Link.STOPPING)

    def upstream(self, name: str) -> UpstreamView | None:
        """The upstream of that name, if there is one."""
        return next((view for view in self.upstreams if view.name == name), None)


def reduce(state: ConsoleState, news: News) -> ConsoleState:
    """The state after one piece of news."""
    match news:
        case SnapshotTaken(snapshot):
            return _take(state, snapshot)
        case CallsLoaded(records):
            return replace(state, calls=_merge(state.calls, records))
        case CallsRecorded(records):
            return _record(state, records)
        case SavingsTaken(view):
            return replace(state, savings=view)
        case LinkLost(at, reason):
            since = state.lost_at if state.lost_at is not None else at
            return replace(state, link=Link.LOST, link_reason=reason, lost_at=since)
        case StationStopping(reason):
            return replace(state, link=Link.STOPPING, link_reason=reason)
        case UpstreamChanged(upstream):
            others = [view for view in state.upstreams if view.name != upstream.name]
            return replace(
                state,
                upstreams=worst_first((*others, upstream)),
                changed=state.changed | {upstream.name},
            )
        case UpstreamRemoved(name):
            return replace(
                state, upstreams=tuple(view for view in state.upstreams if view.name != name)
            )
        case HostConnected(host):
            others = [view for view in state.hosts if view.session != host.session]
            return replace(state, hosts=(*others, host))
        case HostLeft(host):
            return replace(
                state, hosts=tuple(view for view in state.hosts if view.session != host.session)
            )
        case SettingsApplied():
            return replace(
                state,
                applied=news,
                rejected=(),
                rejected_problems=0,
                settings_version=state.settings_version + 1,
            )
        case SettingsRejected(_, problems):
            return replace(
                state,
                rejected=problems,
                rejected_problems=len(problems),
                settings_version=state.settings_version + 1,
            )
        case SurfacingChanged():
            return replace(state, surfacing_version=state.surfacing_version + 1)
        case EventsLost(lost):
            return replace(state, events_lost=state.events_lost + lost)


def worst_first(upstreams: tuple[UpstreamView, ...]) -> tuple[UpstreamView, ...]:
    """Upstreams that need a person first, else by name; disabled ones last."""
    return tuple(sorted(upstreams, key=lambda view: (_RANK[view.state], view.name)))


def calls_per_minute(state: ConsoleState, now: float) -> int:
    """Calls of the last 60 seconds, the older minute counted by the part of it that is in them."""
    newest = {minute.start: minute.calls for minute in state.minutes[-3:]}
    present = now // 60 * 60
    part = 1 - (now - present) / 60
    return round(newest.get(present, 0) + newest.get(present - 60, 0) * part)


def _take(state: ConsoleState, snapshot: Snapshot) -> ConsoleState:
    problems = snapshot.station.settings_problems
    moved = (
        state.station is None
        or problems != state.rejected_problems
        or snapshot.station.settings_loaded_at != state.station.settings_loaded_at
    )
    return replace(
        state,
        link=Link.LIVE,
        link_reason="",
        lost_at=None,
        taken_at=snapshot.taken_at,
        station=snapshot.station,
        upstreams=worst_first(snapshot.upstreams),
        hosts=snapshot.hosts,
        running=snapshot.running,
        today=snapshot.today,
        all_time=snapshot.all_time,
        minutes=snapshot.minutes,
        attention=snapshot.attention,
        unrecorded_calls=snapshot.unrecorded_calls,
        surfacing=snapshot.surfacing,
        rejected=state.rejected if problems else (),
        rejected_problems=problems,
        settings_version=state.settings_version + (1 if moved else 0),
        changed=frozenset(),
    )


def _merge(known: tuple[CallRecord, ...], more: tuple[CallRecord, ...]) -> tuple[CallRecord, ...]:
    """Both by id, each once, the newest `MAX_CALLS`."""
    if not more:
        return known
    ordered = sorted({record.id: record for record in more}.values(), key=lambda one: one.id)
    if not known or ordered[0].id > known[-1].id:
        return (*known, *ordered)[-MAX_CALLS:]
    out: list[CallRecord] = []
    for record in merge(known, ordered, key=lambda record: record.id):
        if not out or out[-1].id != record.id:
            out.append(record)
    return tuple(out[-MAX_CALLS:])


def _record(state: ConsoleState, records: tuple[CallRecord, ...]) -> ConsoleState:
    fresh = tuple(
        record
        for record in records
        if record.started_at + record.duration_ms / 1000 > state.taken_at
    )
    done = {record.id for record in records}
    sums = _totals(fresh)
    return replace(
        state,
        calls=_merge(state.calls, records),
        calls_seen=state.calls_seen + len(records),
        running=tuple(call for call in state.running if call.id not in done),
        today=_plus(state.today, sums),
        all_time=_plus(state.all_time, sums),
        minutes=_minutes(state.minutes, fresh),
        upstreams=_counted(state.upstreams, fresh),
    )


def _totals(records: tuple[CallRecord, ...]) -> Totals:
    return Totals(
        calls=len(records),
        errors=sum(record.outcome in _FAULTS for record in records),
        tokens_in=sum(record.arguments.tokens for record in records),
        tokens_out=sum(record.text.tokens + record.structured.tokens for record in records),
        bytes_out=sum(
            record.text.bytes + record.structured.bytes + record.other_bytes for record in records
        ),
    )


def _plus(one: Totals, other: Totals) -> Totals:
    return Totals(
        one.calls + other.calls,
        one.errors + other.errors,
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
        one.bytes_out + other.bytes_out,
    )


def _minutes(minutes: tuple[Minute, ...], records: tuple[CallRecord, ...]) -> tuple[Minute, ...]:
    """Move the last 60 minutes on; calls before the first of them are not shown."""
    if not records or not minutes:
        return minutes
    by_start = {minute.start: minute for minute in minutes}
    newest = minutes[-1].start
    for record in records:
        start = (record.started_at + record.duration_ms / 1000) // 60 * 60
        if start < minutes[0].start or start - newest > 3600:
            continue
        while newest < start:
            newest += 60
            by_start[newest] = Minute(newest, 0, 0, 0, 0)
        old = by_start.get(start, Minute(start, 0, 0, 0, 0))
        sums = _totals((record,))
        by_start[start] = Minute(
            start,
            old.calls + 1,
            old.errors + sums.errors,
            old.tokens_in + sums.tokens_in,
            old.tokens_out + sums.tokens_out,
        )
    return tuple(by_start[start] for start in sorted(by_start))[-len(minutes) :]


def _counted(
    upstreams: tuple[UpstreamView, ...], records: tuple[CallRecord, ...]
) -> tuple[UpstreamView, ...]:
    calls: dict[str, int] = {}
    errors: dict[str, int] = {}
    for record in records:
        calls[record.upstream] = calls.get(record.upstream, 0) + 1
        errors[record.upstream] = errors.get(record.upstream, 0) + (record.outcome in _FAULTS)
    if not calls:
        return upstreams
    return tuple(
        replace(
            view,
            calls=view.calls + calls[view.name],
            errors=view.errors + errors[view.name],
        )
        if view.name in calls
        else view
        for view in upstreams
    )
