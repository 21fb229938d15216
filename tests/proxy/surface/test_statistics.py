"""Surfacing in figures: the same from a running store and from the file alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.schema import Settings, SurfacingSettings, ToolSettings, UpstreamSettings
from proxy.store.database import StoreUnavailable
from proxy.store.surfacing import SurfacingStore
from proxy.sums import local_day
from proxy.surface.model import (
    Adjustment,
    Arm,
    Decision,
    Rater,
    Rating,
    SourceStatus,
    SurfacingQuery,
    SurfacingView,
    ToolHelpfulness,
    Verdict,
)
from proxy.surface.statistics import (
    StationFigures,
    configured_by,
    read_glance,
    read_surfacing,
    surfacing_view,
    verdict_of,
)
from tests.proxy.surface.samples import event, opportunity, shown

WAIT = 20.0
NOON = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))
DAY = 86_400.0
SETTINGS = Settings(
    surfacing=SurfacingSettings(min_score=0.5),
    upstreams={
        "web": UpstreamSettings(name="web", surfacing_min_score=0.7),
        "files": UpstreamSettings(
            name="files", tools={"list": ToolSettings(surfacing_min_score=0.3)}
        ),
    },
)
CONFIGURED = configured_by(SETTINGS)
SOURCE = SourceStatus("memory", "closed")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "surfacing.sqlite3"


@pytest.fixture
def store(file: Path) -> Iterator[SurfacingStore]:
    store = SurfacingStore(file, clock=lambda: NOON)
    yield store
    assert store.stop(WAIT)


def fill(store: SurfacingStore) -> None:
    store.note_event(event("00000000000a", at=NOON - 3 * DAY))
    store.note_event(event("00000000000b", at=NOON - 60, tokens=50))
    store.note_event(event("00000000000c", shown("m3"), at=NOON - 30, upstream="web", tool="get"))
    store.note_event(event("00000000000d", at=NOON - 20, arm=Arm.HELD_OUT, tokens=0))
    store.note_event(event("00000000000e", at=NOON - 40 * DAY, tool="list"))
    for id, memory, rating, rater in (
        ("00000000000a", "m1", Rating.HELPFUL, Rater.AGENT),
        ("00000000000a", "m2", Rating.HELPFUL, Rater.AGENT),
        ("00000000000a", "m2", Rating.NOT_RELEVANT, Rater.PERSON),
        ("00000000000b", "m1", Rating.ALREADY_KNOWN, Rater.AGENT),
        ("00000000000c", "m3", Rating.PARTIALLY_HELPFUL, Rater.PERSON),
    ):
        assert store.rate(id, memory, rating, rater, NOON).ok
    for decision in (Decision.SURFACED, Decision.TOO_SHORT, Decision.TOO_SHORT):
        store.note_opportunity(opportunity(decision, at=NOON))
    store.note_opportunity(opportunity(Decision.TIMEOUT, at=NOON - 5 * DAY, upstream="web"))
    for upstream, tool, configured in (("files", "read", 0.5), ("web", "get", 0.7)):
        store.note_adjustment(
            Adjustment(0, NOON, upstream, tool, 0.5, 0.55, "Why.", 20, configured=configured)
        )


def check(view: SurfacingView) -> None:
    assert (view.events_total, view.distinct_tools, view.withheld) == (4, 3, 1)
    assert view.feedback_total == 5
    assert dict(view.ratings) == {
        Rating.HELPFUL: 2,
        Rating.PARTIALLY_HELPFUL: 1,
        Rating.NOT_RELEVANT: 1,
        Rating.ALREADY_KNOWN: 1,
    }
    assert view.tools == (
        # The person's word counts: of four memories one helped, one did not, one was known.
        ToolHelpfulness("files", "read", 2, 4, 3, 1, 0, 1, 1, 0.55, 0.5, False),
        ToolHelpfulness("files", "list", 1, 2, 0, 0, 0, 0, 0, 0.3, 0.3, True),
        ToolHelpfulness("web", "get", 1, 1, 1, 0, 1, 0, 0, 0.7, 0.7, True),
    )
    assert view.tools[0].helpfulness == 0.5
    assert [(day.day, day.events, day.rated, day.helpfulness) for day in view.days] == [
        (local_day(NOON - 3 * DAY), 1, 2, 0.5),
        (local_day(NOON - 2 * DAY), 0, 0, None),
        (local_day(NOON - DAY), 0, 0, None),
        (local_day(NOON), 2, 2, 0.5),
    ]
    assert [one.id[-1] for one in view.recent] == ["c", "b", "a", "e"]
    assert view.recent[2].memories[1].conflict
    assert view.opportunities == 4
    assert view.decisions == (
        (Decision.TOO_SHORT, 2),
        (Decision.TIMEOUT, 1),
        (Decision.SURFACED, 1),
    )
    assert [one.upstream for one in view.adjustments] == ["web", "files"]
    assert view.unrated == 1
    assert view.tokens == 90 + 50 + 90 + 90
    assert (view.first_at, view.last_at) == (NOON - 40 * DAY, NOON - 30)


def test_a_view_has_the_figures_of_the_store_and_of_the_station(
    store: SurfacingStore, file: Path
) -> None:
    fill(store)
    counts = {Decision.SURFACED: 9, Decision.EMPTY_RENDER: 1, Decision.CANCELLED: 50}
    view = surfacing_view(
        store,
        SurfacingQuery(),
        configured=CONFIGURED,
        figures=StationFigures(SOURCE, counts, 3),
        now=NOON,
    )
    check(view)
    assert view.source == SOURCE
    assert view.verdict is Verdict.HEALTHY
    assert view.sampled_out == 3
    assert view.since_start[0] == (Decision.CANCELLED, 50)
    assert view.problem == ""
    assert store.stop(WAIT)
    alone = read_surfacing(file, SurfacingQuery(), configured=CONFIGURED, now=NOON)
    check(alone)
    assert alone.source.name == "off"
    assert alone.verdict is Verdict.UNKNOWN


def test_a_query_narrows_the_figures(store: SurfacingStore) -> None:
    fill(store)

    def view(query: SurfacingQuery) -> SurfacingView:
        return surfacing_view(store, query, configured=CONFIGURED, now=NOON)

    for name in ("read", "files/read"):
        found = view(SurfacingQuery(tool=name))
        assert [one.id[-1] for one in found.recent] == ["b", "a"]
        assert (found.events_total, found.feedback_total, found.withheld) == (2, 4, 1)
        assert [one.tool for one in found.adjustments] == ["read"]
        assert found.unrated == 1
    assert view(SurfacingQuery(tool="files/read")).opportunities == 3
    assert view(SurfacingQuery(tool="web/read")).decisions == ((Decision.TIMEOUT, 1),)
    assert view(SurfacingQuery(tool="nobody/at/all")).events_total == 0
    recent = view(SurfacingQuery(since=NOON - DAY))
    assert (recent.events_total, recent.opportunities, recent.feedback_total) == (2, 3, 2)
    assert [one.id[-1] for one in view(SurfacingQuery(unrated_first=True)).recent] == [
        "b",
        "e",
        "c",
        "a",
    ]
    assert [one.id[-1] for one in view(SurfacingQuery(limit=1)).recent] == ["c"]
    bare = view(SurfacingQuery(limit=0, days=0))
    assert (bare.recent, bare.days, bare.events_total) == ((), (), 4)


def test_nothing_stored_and_nothing_readable_are_views_too(
    store: SurfacingStore, file: Path, tmp_path: Path
) -> None:
    nothing = read_surfacing(file, SurfacingQuery(), configured=CONFIGURED, now=NOON)
    assert nothing.events_total == 0
    assert [count for _, count in nothing.ratings] == [0, 0, 0, 0]
    assert surfacing_view(store, SurfacingQuery(), configured=CONFIGURED, now=NOON) == nothing
    foreign = tmp_path / "foreign.sqlite3"
    foreign.write_bytes(b"no database" * 500)
    with pytest.raises(StoreUnavailable, match="no database"):
        read_surfacing(foreign, SurfacingQuery(), configured=CONFIGURED, now=NOON)
    other = SurfacingStore(foreign, clock=lambda: NOON)
    assert other.stop(WAIT)
    view = surfacing_view(other, SurfacingQuery(), configured=CONFIGURED, now=NOON)
    assert "no database" in view.problem


def test_the_overview_counts_today_and_the_last_thirty_days(store: SurfacingStore) -> None:
    assert read_glance(store, source=SOURCE, now=NOON).events_today == 0
    fill(store)
    glance = read_glance(store, source=SOURCE, now=NOON)
    assert (glance.events_today, glance.memories_today, glance.tokens_today) == (2, 3, 140)
    assert (glance.rated, glance.helpfulness, glance.unrated) == (4, 0.5, 1)
    assert glance.source == SOURCE


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({Decision.SURFACED: 9, Decision.TOO_SHORT: 90, Decision.CANCELLED: 9}, Verdict.UNKNOWN),
        ({Decision.SURFACED: 9, Decision.EMPTY_RENDER: 1}, Verdict.HEALTHY),
        ({Decision.SURFACED: 76, Decision.TIMEOUT: 24}, Verdict.HEALTHY),
        ({Decision.SEEN: 75, Decision.CIRCUIT_OPEN: 25, Decision.CANCELLED: 900}, Verdict.DEGRADED),
        ({Decision.NO_RESULTS: 25, Decision.FAILED: 75}, Verdict.FAULTY),
    ],
)
def test_the_verdict_is_the_share_of_faults_among_searches(
    counts: dict[Decision, int], verdict: Verdict
) -> None:
    assert verdict_of(counts) is verdict


def test_a_threshold_is_the_tools_own_else_its_upstreams_else_everybodys() -> None:
    assert CONFIGURED("files", "list") == (0.3, True)
    assert CONFIGURED("files", "read") == (0.5, False)
    assert CONFIGURED("web", "anything") == (0.7, True)
    assert CONFIGURED("gone", "tool") == (0.5, False)
