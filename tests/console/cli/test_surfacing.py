"""``mms surfacing``: the whole view as text and JSON, from a station and from its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import Arm, Rater, Rating, SourceStatus
from tests.console.cli.conftest import Instance
from tests.support.fake_engine import Engine
from tests.support.fake_station import HOSTILE, make_hostile
from tests.support.sample_surfacing import EVENTS, SURFACING

PINNED = """\
[upstreams.github]
command = "sh"
[upstreams.github.tools.get_file_contents]
surfacing_min_score = 0.7
"""


def test_everything_that_the_screen_shows_is_printed(mms: Instance, running: Engine) -> None:
    out = mms.run("surfacing").out
    for words in (
        "source      the memory of mms (mms memory, 1,204 records)",
        "verdict     HEALTHY: answers well",
        "breaker     closed",
        "shown       with 214 answers of 5 tools, about 24,310 tokens in all",
        "ratings     96: 61 helpful, 14 partly, 15 not relevant, 6 known",
        "unrated     118 of the last 30 days",
        "withheld    3 answers",
        "filesystem/read_file          78%     60    231      120  0.55 tuned (0.50)",
        "0.70 pinned",
        "2026-11-30  \u2588\u2588\u2588",
        "902  the answer is short  [skip:response_too_short]",
        "9 of 24 ratings said not_relevant; 8 of these scored below 0.55.",
        "taken back",
        "5f3c9a01b2d4",
        "\u201cdeploy staging workflow\u201d from paths of the arguments",
        "(the query's text was not kept)",
        "77aa01cd90ef  78%  not relevant (agent: helpful, person: not relevant)  CONFLICT",
        "    Staging deploys run from the release branch, never from main.",
    ):
        assert words in out, words
    data = mms.run("surfacing", "--json").json
    assert data["station"] is True
    view = data["surfacing"]
    assert view["tools"][0]["helpfulness"] == 45 / 58
    assert view["recent"][0]["memories"][1]["memory_id"] == "0b6de1f93a20"
    assert view["decisions"][0] == ["skip:response_too_short", 902]


def test_a_sick_source_is_said_and_foreign_text_is_neutralised(
    mms: Instance, running: Engine
) -> None:
    source = SourceStatus("ltm", "open", "It ended with exit code 1.", 12.0)
    running.fake.surfacing_value = replace(make_hostile(SURFACING), source=source)
    out = mms.run("surfacing").out
    assert "open: given a rest after faults, next attempt in 12s" in out
    assert "problem     It ended with exit code 1." in out
    assert "[@click" in out
    assert not set(HOSTILE) & {"\x1b", "\u202e", "\x9b"} & set(out)


def test_without_a_station_the_file_is_read_and_limits_hold(mms: Instance) -> None:
    assert "No memory" not in mms.run("surfacing").err
    assert mms.run("surfacing", "--json").json["surfacing"]["events_total"] == 0
    _record(mms.paths.surfacing_database)
    mms.write(PINNED)
    out = mms.run("surfacing").out
    assert "unknown: no station is running" in out
    assert "github/get_file_contents" in out
    assert "0.70 pinned" in out
    assert "(person: helpful)" in out
    data = mms.run("surfacing", "--tool", "filesystem/read_file", "--limit", "1", "--json").json
    assert data["station"] is False
    assert {one["tool"] for one in data["surfacing"]["recent"]} == {"read_file"}
    assert len(data["surfacing"]["recent"]) == 1
    assert mms.run("surfacing", "--since", "2200-01-01", "--json").json["surfacing"]["recent"] == []
    assert mms.run("surfacing", "--since", "soon").code == 2
    assert mms.run("surfacing", "--limit", "1001").code == 2


def _record(database: Path) -> None:
    """Leave events behind, as a station that ran before."""
    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    store = SurfacingStore(database)
    store.start()
    try:
        for event in EVENTS:
            bare = tuple(replace(one, ratings=()) for one in event.memories)
            store.note_event(replace(event, memories=bare, arm=Arm.SHOWN))
        first = EVENTS[0]
        store.rate(
            first.id, first.memories[0].memory_id, Rating.HELPFUL, Rater.PERSON, first.at + 1
        )
    finally:
        assert store.stop(5)
