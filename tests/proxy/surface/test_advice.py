"""Advice: from how answers were used to settings, with figures, and only where there is something to say."""

from __future__ import annotations

import sqlite3
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from config.edit import set_key
from config.paths import Paths
from config.schema import (
    Compression,
    ProxySettings,
    Settings,
    SurfacingSettings,
    ToolSettings,
    UpstreamSettings,
)
from proxy.control_tools import FeedbackKind
from proxy.model import Outcome, Sizes
from proxy.store.call_schema import MIGRATIONS
from proxy.store.calls import insert_calls
from proxy.store.database import close_writer, open_for_writing, transaction
from proxy.store.feedback import FeedbackStore
from proxy.store.surfacing import SurfacingStore
from proxy.surface.advice import confidence_of, read_tuning, recommend
from proxy.surface.habits import ToolHabits, read_habits
from proxy.surface.model import Adjustment, RatedScore, Rater, Rating, Recommendation
from tests.proxy.store.conftest import make_record
from tests.proxy.surface.samples import NOW, event, opportunity, shown

WAIT = 20.0


def settings_of(
    upstream: UpstreamSettings | None = None, proxy: ProxySettings | None = None, **changes: Any
) -> Settings:
    return Settings(
        proxy=proxy or ProxySettings(),
        upstreams={"files": upstream or UpstreamSettings(name="files")},
        **changes,
    )


def habits(**changes: Any) -> ToolHabits:
    return ToolHabits("files", "read", calls=changes.pop("calls", 40), **changes)


def said(one: ToolHabits, settings: Settings | None = None) -> list[Recommendation]:
    return list(recommend([one], settings or settings_of(), 24.0).recommendations)


def changes_of(one: ToolHabits, settings: Settings | None = None) -> list[tuple[str, str, str]]:
    start = "upstreams.files.tools.read."
    return [
        (found.key.removeprefix(start), found.current, found.proposed)
        for found in said(one, settings)
    ]


def read_on(*tokens: int) -> list[tuple[int, int]]:
    return [(count, 3 * count) for count in tokens]


def test_answers_that_are_often_read_on_get_a_larger_budget() -> None:
    one = habits(shortened=20, read_on=read_on(4_100, 5_000, 5_870, 5_870, 90_000))
    assert said(one) == [
        Recommendation(
            "files",
            "read",
            "upstreams.files.tools.read.max_result_tokens",
            "4000",
            "6000",
            (
                "5 of 20 shortened answers were read on; four fifths of these had at most 5,870 "
                "tokens before."
            ),
            20,
            "high",
        )
    ]
    # At most so much, and in the unit in which the budget is set.
    assert changes_of(replace(one, read_on=read_on(*[50_000] * 5))) == [
        ("max_result_tokens", "4000", "16000")
    ]
    characters = settings_of(UpstreamSettings(name="files", max_result_chars=8_000))
    assert changes_of(one, characters) == [("max_result_chars", "8000", "18000")]


@pytest.mark.parametrize(
    "one",
    [
        habits(shortened=26, read_on=read_on(*[6_000] * 5)),  # less than a fifth
        habits(shortened=4, read_on=read_on(*[6_000] * 4)),  # too few
        habits(calls=4, shortened=20, read_on=read_on(*[6_000] * 5)),
        habits(shortened=20, read_on=read_on(*[3_000] * 5)),  # they would have fitted
        habits(calls=4_000, shortened=0),  # always within its budget
        habits(missed={kind.value: 2 for kind in FeedbackKind}),
        habits(missed={FeedbackKind.OTHER.value: 90}),
    ],
)
def test_nothing_is_said_without_a_reason(one: ToolHabits) -> None:
    assert said(one) == []


def test_what_agents_missed_changes_how_answers_become_smaller() -> None:
    def missed(**kinds: int) -> ToolHabits:
        return habits(missed=kinds)

    assert changes_of(missed(truncated=3)) == [("compression", '"auto"', '"hybrid"')]
    assert changes_of(missed(missing_metadata=3)) == [("compression", '"auto"', '"extract_fields"')]
    both = said(missed(truncated=4, missing_metadata=12))
    assert [(one.proposed, one.samples, one.confidence) for one in both] == [
        ('"extract_fields"', 12, "medium")
    ]
    assert changes_of(missed(missing_example=3)) == [("max_result_tokens", "4000", "6000")]
    larger = habits(shortened=5, read_on=read_on(9_800, 9_800), missed={"missing_example": 30})
    assert changes_of(larger) == [("max_result_tokens", "4000", "10000")]
    wrong = missed(wrong_topic=3)
    assert changes_of(wrong) == [("proxy.advertise_context_query", "false", "true")]
    hybrid = settings_of(UpstreamSettings(name="files", compression=Compression.HYBRID))
    assert changes_of(missed(truncated=3), hybrid) == []
    asked = settings_of(proxy=ProxySettings(advertise_context_query=True))
    assert changes_of(wrong, asked) == []
    never = settings_of(UpstreamSettings(name="files", compression=Compression.NONE))
    everything = {kind.value: 9 for kind in FeedbackKind}
    assert (
        changes_of(habits(shortened=9, read_on=read_on(*[9_000] * 9), missed=everything), never)
        == []
    )


def ratings(*pairs: tuple[float, float]) -> list[RatedScore]:
    return [RatedScore(NOW + number, *pair) for number, pair in enumerate(pairs)]


POOR = ratings(*[(0.55, 0.0)] * 7, *[(0.8, 1.0)] * 3)


def test_memories_that_help_little_need_a_higher_threshold_where_searches_reach_it() -> None:
    half = settings_of(surfacing=SurfacingSettings(min_score=0.5))
    one = habits(rated=POOR, rated_events=10, other_ratings=3)
    (found,) = said(one, half)
    assert (found.key[-19:], found.current, found.proposed) == ("surfacing_min_score", "0.5", "0.8")
    assert found.reason == (
        "The memories shown were 30% helpful by 10 ratings; from 0.80 on they help most."
    )
    assert found.confidence == "medium"
    assert changes_of(replace(one, offered=[0.6, 0.55, 0.3, 0.2]), half) == [
        ("surfacing_min_score", "0.5", "0.6")
    ]
    step = Adjustment(1, NOW, "files", "read", 0.5, 0.7, "", 20, configured=0.5)
    assert changes_of(replace(one, step=step), half) == []  # the tuner has been there before
    low = replace(step, after=0.53)
    assert changes_of(replace(one, step=low), half) == [("surfacing_min_score", "0.53", "0.8")]
    pinned = settings_of(
        UpstreamSettings(name="files", tools={"read": ToolSettings(surfacing_min_score=0.79)})
    )
    assert changes_of(replace(one, step=step), pinned) == []
    assert changes_of(replace(one, rated=POOR[1:]), half) == []
    assert changes_of(replace(one, rated=[*POOR, *ratings(*[(0.6, 1.0)] * 4)]), half) == []


def test_memories_that_never_help_are_switched_off() -> None:
    one = habits(rated=ratings(*[(0.7, 0.0)] * 30), rated_events=20)
    assert changes_of(one) == [("surfacing", "true", "false")]
    assert changes_of(replace(one, other_ratings=1))[0][0] == "surfacing_min_score"
    assert changes_of(replace(one, rated_events=19))[0][0] == "surfacing_min_score"
    off = UpstreamSettings(name="files", tools={"read": ToolSettings(surfacing=False)})
    assert changes_of(one, settings_of(off)) == []
    assert changes_of(one, settings_of(surfacing=SurfacingSettings(enabled=False))) == []


def test_a_name_chooses_tools_and_the_empty_one_none() -> None:
    def tool(upstream: str, name: str) -> ToolHabits:
        return ToolHabits(upstream, name, calls=9, missed={"truncated": 5, "wrong_topic": 5})

    known = [tool("files", "read"), tool("files", "a b"), tool("web", "read"), tool("gone", "read")]
    settings = replace(
        settings_of(),
        upstreams={name: UpstreamSettings(name=name) for name in ("files", "web")},
    )

    def keys(name: str | None) -> list[str]:
        return [one.key for one in recommend(known, settings, 24.0, name).recommendations]

    assert keys("web/read") == [
        "proxy.advertise_context_query",
        "upstreams.web.tools.read.compression",
    ]
    assert keys("read") == [
        "proxy.advertise_context_query",
        "upstreams.files.tools.read.compression",
        "upstreams.web.tools.read.compression",
    ]
    assert keys("") == []
    assert keys("nothing") == []
    # A setting of the whole station is named once.
    assert keys(None).count("proxy.advertise_context_query") == 1
    assert 'upstreams.files.tools."a b".compression' in keys(None)
    report = recommend(known, settings, 12.0, None)
    assert (report.since_hours, report.tools_seen) == (12.0, 4)
    assert recommend(known, settings, 12.0, "").tools_seen == 0


def test_confidence_follows_the_samples() -> None:
    assert [confidence_of(count) for count in (20, 19, 10, 9)] == [
        "high",
        "medium",
        "medium",
        "low",
    ]


@dataclass(frozen=True)
class Report:
    server: str = "files"
    tool: str = "read"
    missing: str = "an example"
    kind: FeedbackKind = FeedbackKind.MISSING_EXAMPLE
    trace_id: str = ""


def test_habits_are_read_from_the_files_of_a_station_within_the_time_asked_for(
    tmp_path: Path,
) -> None:
    paths = Paths(tmp_path / "config.toml", tmp_path, tmp_path / "mms.sock")
    assert read_habits(paths, NOW) == ([], "")
    assert read_tuning(paths, settings_of(), 24.0, None, now=NOW).recommendations == ()

    def call(id: int, **changes: object) -> Any:
        return make_record(id, **{"tool": "read", "started_at": NOW - 60 + id, **changes})

    def short(id: int, tokens: int, session: int = 1, **changes: object) -> Any:
        return call(id, before=Sizes(1, 3 * tokens, tokens), session=session, **changes)

    def fetch(id: int, session: int = 1, tool: str = "read") -> Any:
        return call(
            id,
            upstream="mms",
            tool="stm_proxy_read_more",
            session=session,
            fetched_upstream="files",
            fetched_tool=tool,
        )

    opened = open_for_writing(paths.calls_database, MIGRATIONS)
    with transaction(opened.connection):
        insert_calls(
            opened.connection,
            [
                short(1, 9_999, started_at=NOW - 90_000),
                short(2, 5_000),
                short(3, 6_000),
                fetch(4),
                fetch(5),
                short(6, 7_000, session=2),
                fetch(7, session=2),
                fetch(8, session=3),
                fetch(9, tool="list"),
                short(10, 8_000, outcome=Outcome.CANCELLED),
                call(11, upstream="mms", tool="of_a_namesake"),
            ],
        )
    close_writer(paths.calls_database, opened.connection)
    feedback = FeedbackStore(paths.feedback_database, clock=lambda: NOW)
    for at in (NOW - 90_000, NOW - 5, NOW - 4, NOW - 3):
        feedback.report(Report(), at)
    feedback.report(Report(tool="never called"), NOW)
    feedback.start()
    assert feedback.stop(WAIT)
    store = SurfacingStore(paths.surfacing_database, clock=lambda: NOW)
    store.note_event(event("00000000000a", shown("m1", 0.6), shown("m2", 0.7)))
    store.note_opportunity(opportunity(best_score=0.4))
    for memory, rating, at in (
        ("m1", Rating.NOT_RELEVANT, NOW - 90_000),
        ("m2", Rating.HELPFUL, NOW),
    ):
        assert store.rate("00000000000a", memory, rating, Rater.AGENT, at).ok
    step = Adjustment(0, NOW, "files", "read", 0.5, 0.55, "", 20, configured=0.5)
    assert store.note_adjustment(step) == 1
    assert store.stop(WAIT)

    found, problem = read_habits(paths, NOW - 86_400)
    assert problem == ""
    assert found == [
        ToolHabits(
            "files",
            "read",
            calls=4,
            shortened=3,
            read_on=[(6_000, 18_000), (7_000, 21_000)],
            missed={"missing_example": 3},
            rated=[RatedScore(NOW, 0.7, 1.0)],
            rated_events=1,
            other_ratings=1,
            offered=[0.4],
            step=replace(step, id=1),
        ),
        ToolHabits("mms", "of_a_namesake", calls=1),
    ]
    report = read_tuning(paths, settings_of(), 26.0, "files/read", now=NOW)
    assert [(one.key[-17:], one.proposed) for one in report.recommendations] == [
        ("max_result_tokens", "6000")
    ]
    assert report.tools_seen == 1

    paths.feedback_database.write_bytes(b"no database" * 500)
    with sqlite3.connect(paths.surfacing_database) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    report = read_tuning(paths, settings_of(), 26.0, None, now=NOW)
    assert report.tools_seen == 2
    assert "it is no database" in report.problem
    assert "newer mms" in report.problem


def test_every_change_that_is_proposed_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[upstreams.files]\ncommand = "true"\n')
    missed = {kind.value: 9 for kind in FeedbackKind}
    for one in (
        habits(missed=missed, rated=POOR, rated_events=10, other_ratings=3),
        habits(
            missed={"truncated": 9}, rated_events=20, shortened=9, read_on=read_on(6_000, 6_000)
        ),
    ):
        for found in said(one):
            set_key(file, found.key, found.proposed, environ={})
    written = tomllib.loads(file.read_text())
    assert written["proxy"] == {"advertise_context_query": True}
    assert written["upstreams"]["files"]["tools"]["read"] == {
        "compression": "hybrid",
        "max_result_tokens": 6000,
        "surfacing_min_score": 0.8,
        "surfacing": False,
    }
