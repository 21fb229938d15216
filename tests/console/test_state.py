"""How news changes what the console knows."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from console.state import (
    MAX_CALLS,
    CallsLoaded,
    ConsoleState,
    Link,
    LinkLost,
    News,
    SnapshotTaken,
    calls_per_minute,
    reduce,
)
from proxy.events import (
    CallsRecorded,
    EventsLost,
    HostConnected,
    HostLeft,
    SettingsApplied,
    SettingsRejected,
    StationStopping,
    UpstreamChanged,
    UpstreamRemoved,
)
from proxy.model import CallRecord, Outcome, UpstreamState
from tests.support.sample_data import CALLS, HOSTS, NOW, PROBLEMS, RUNNING, SNAPSHOT, UPSTREAMS


def told(*news: News, state: ConsoleState | None = None) -> ConsoleState:
    out = state if state is not None else ConsoleState()
    for one in news:
        out = reduce(out, one)
    return out


def later(record: CallRecord, number: int, **changes: object) -> CallRecord:
    """A call that ended ``number`` seconds after the snapshot."""
    moved = replace(record, id=10_000 + number, started_at=NOW + number, duration_ms=0.0)
    return replace(moved, **changes)  # type: ignore[arg-type]  # test data


def test_a_snapshot_makes_the_link_live_and_sorts_the_sick_first() -> None:
    state = told(SnapshotTaken(SNAPSHOT))
    assert state.link is Link.LIVE
    assert state.loaded
    assert not state.stale
    assert state.upstreams[0].state is UpstreamState.FAILED
    assert state.upstreams[-1].state is UpstreamState.DISABLED


def test_a_lost_link_keeps_the_data_and_since_when() -> None:
    state = told(SnapshotTaken(SNAPSHOT), LinkLost(NOW + 5, "gone"), LinkLost(NOW + 9, "still"))
    assert state.stale
    assert state.lost_at == NOW + 5
    assert state.link_reason == "still"
    assert state.upstreams
    again = reduce(state, SnapshotTaken(SNAPSHOT))
    assert again.link is Link.LIVE
    assert again.lost_at is None


def test_calls_after_the_snapshot_move_the_sums_and_earlier_ones_do_not() -> None:
    before = told(SnapshotTaken(SNAPSHOT))
    old = CALLS[0]
    state = reduce(before, CallsRecorded((old,)))
    assert state.today == before.today
    assert state.calls == (old,)
    new = later(old, 1, upstream="docs", outcome=Outcome.TIMEOUT)
    state = reduce(state, CallsRecorded((new,)))
    assert state.today.calls == before.today.calls + 1
    assert state.today.errors == before.today.errors + 1
    assert state.today.tokens_in == before.today.tokens_in + new.arguments.tokens
    docs = state.upstream("docs")
    was = before.upstream("docs")
    assert docs is not None
    assert was is not None
    assert (docs.calls, docs.errors) == (was.calls + 1, was.errors + 1)
    assert state.calls_seen == 2


def test_a_snapshot_replaces_sums_that_events_moved() -> None:
    state = told(SnapshotTaken(SNAPSHOT), CallsRecorded((later(CALLS[0], 1),)))
    assert reduce(state, SnapshotTaken(SNAPSHOT)).today == SNAPSHOT.today


def test_minutes_go_on_without_gaps_and_stay_sixty() -> None:
    before = told(SnapshotTaken(SNAPSHOT))
    state = reduce(before, CallsRecorded((later(CALLS[0], 200),)))
    starts = [minute.start for minute in state.minutes]
    assert len(starts) == 60
    assert starts == [starts[0] + 60 * i for i in range(60)]
    assert state.minutes[-1].calls == 1
    assert state.minutes[-2].calls == 0


def test_a_finished_call_is_no_longer_running() -> None:
    state = told(SnapshotTaken(SNAPSHOT))
    done = replace(CALLS[0], id=RUNNING[0].id)
    state = reduce(state, CallsRecorded((done,)))
    assert [call.id for call in state.running] == [RUNNING[1].id, RUNNING[2].id]


def test_upstreams_come_change_and_go() -> None:
    state = told(SnapshotTaken(SNAPSHOT))
    sick = replace(UPSTREAMS[0], state=UpstreamState.FAILED)
    state = reduce(state, UpstreamChanged(sick))
    assert len(state.upstreams) == len(UPSTREAMS)
    assert sick in state.upstreams[:2]
    assert state.changed == {sick.name}
    state = reduce(state, UpstreamRemoved(sick.name))
    assert state.upstream(sick.name) is None


def test_hosts_come_and_go_by_session() -> None:
    state = told(SnapshotTaken(replace(SNAPSHOT, hosts=())))
    state = told(HostConnected(HOSTS[0]), HostConnected(HOSTS[1]), state=state)
    state = told(HostConnected(HOSTS[0]), HostLeft(HOSTS[1]), state=state)
    assert state.hosts == (HOSTS[0],)


def test_rejected_settings_stay_until_a_good_file_or_a_clean_snapshot() -> None:
    rejected = told(SnapshotTaken(SNAPSHOT), SettingsRejected(NOW, PROBLEMS))
    assert rejected.rejected == PROBLEMS
    assert rejected.rejected_problems == 2
    applied = reduce(rejected, SettingsApplied(NOW, ("x",), ()))
    assert applied.rejected == ()
    assert applied.settings_version > rejected.settings_version
    with_problems = replace(SNAPSHOT, station=replace(SNAPSHOT.station, settings_problems=2))
    assert reduce(rejected, SnapshotTaken(with_problems)).rejected == PROBLEMS
    assert reduce(rejected, SnapshotTaken(SNAPSHOT)).rejected_problems == 0


def test_a_console_that_came_later_knows_of_problems_from_the_snapshot() -> None:
    with_problems = replace(SNAPSHOT, station=replace(SNAPSHOT.station, settings_problems=2))
    state = told(SnapshotTaken(with_problems))
    assert state.rejected_problems == 2
    assert state.rejected == ()


def test_lost_events_and_a_goodbye_are_remembered() -> None:
    state = told(SnapshotTaken(SNAPSHOT), EventsLost(3), EventsLost(4), StationStopping("bye"))
    assert state.events_lost == 7
    assert state.link is Link.STOPPING
    assert state.stale


def test_calls_per_minute_covers_the_last_sixty_seconds() -> None:
    state = told(SnapshotTaken(SNAPSHOT))
    present, before = SNAPSHOT.minutes[-1].calls, SNAPSHOT.minutes[-2].calls
    start = SNAPSHOT.minutes[-1].start
    assert calls_per_minute(state, start) == present + before
    assert calls_per_minute(state, start + 30) == round(present + before / 2)
    assert calls_per_minute(state, start + 90) == round(present / 2)
    assert calls_per_minute(state, NOW + 3600) == 0
    assert calls_per_minute(ConsoleState(), NOW) == 0


@given(st.lists(st.lists(st.sampled_from(CALLS), max_size=8), max_size=6))
def test_calls_are_kept_by_id_each_once_however_they_arrive(
    batches: list[list[CallRecord]],
) -> None:
    state = ConsoleState()
    for index, batch in enumerate(batches):
        state = reduce(state, (CallsLoaded if index % 2 else CallsRecorded)(tuple(batch)))
    ids = [record.id for record in state.calls]
    assert ids == sorted({record.id for batch in batches for record in batch})


def test_only_the_newest_calls_are_kept() -> None:
    many = tuple(replace(CALLS[0], id=number) for number in range(MAX_CALLS + 10))
    state = told(CallsRecorded(many[:50]), CallsRecorded(many[50:]))
    assert len(state.calls) == MAX_CALLS
    assert state.calls[-1].id == MAX_CALLS + 9
