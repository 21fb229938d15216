"""Surfacing: a list that holds still, ratings by key, one answer in full, figures, and tuning."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.screens.call import CallScreen
from console.screens.dialogs import ChoiceDialog
from console.screens.memory_record import RecordScreen
from console.screens.surfacing_event import EventScreen
from console.screens.surfacing_figures import FiguresScreen
from console.screens.surfacing_figures_text import answering_lines, decision_lines
from console.screens.surfacing_glance import glance_line
from console.screens.surfacing_rows import Row, arranged, next_unrated, rated, rows_of
from console.screens.surfacing_text import empty_words, event_lines, problem_words
from console.screens.surfacing_tuning import TuningScreen
from console.surfacing_words import DECISIONS, LEVELS, bar, percent, reason_words, unrated_in
from console.widgets.textpane import TextLine, TextPane
from proxy.commands import RateMemory, RevertAdjustment, SetSetting
from proxy.events import SurfacingChanged
from proxy.surface.model import (
    Arm,
    Decision,
    MemoryRating,
    QueryLevel,
    Rater,
    Rating,
    ShownMemory,
    SourceStatus,
    SurfacingEvent,
    SurfacingGlance,
)
from proxy.surface.service import NO_SURFACING
from tests.console.driving import console, picture, press, screen_of, settle, until, write
from tests.support.fake_station import NOW, FakeStation
from tests.support.sample_surfacing import EVENTS, SURFACING, TUNING

still = pytest.mark.usefixtures("still")

_RATINGS = st.lists(
    st.builds(MemoryRating, st.just(Rater.PERSON), st.sampled_from(Rating), st.just(NOW)),
    max_size=1,
).map(tuple)


def _event(number: int, at: float, ratings: list[tuple[MemoryRating, ...]]) -> SurfacingEvent:
    memories = tuple(
        ShownMemory(f"m{place}", 0.6, "60 %: a", f"text {place}", one)
        for place, one in enumerate(ratings)
    )
    return replace(EVENTS[0], id=f"{number:012x}", at=at, memories=memories)


_EVENTS = st.lists(
    st.tuples(st.integers(0, 1000), st.lists(_RATINGS, min_size=1, max_size=3)), max_size=8
).map(lambda some: [_event(i, float(at), ratings) for i, (at, ratings) in enumerate(some)])


def plain(lines: list[TextLine]) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in lines)


# -- the list ---------------------------------------------------------------------------------


@given(_EVENTS, st.booleans())
def test_a_fresh_list_is_unrated_first_if_wanted_and_newest_first_within(
    events: list[SurfacingEvent], unrated_first: bool
) -> None:
    shown = arranged(events, (), unrated_first=unrated_first)
    assert sorted(one.id for one in shown) == sorted(one.id for one in events)
    keys = [(unrated_first and not unrated_in(one), -one.at) for one in shown]
    assert keys == sorted(keys)


@given(_EVENTS, st.data())
def test_rating_moves_no_event_and_new_ones_do_not_come_between_old_ones(
    events: list[SurfacingEvent], data: st.DataObject
) -> None:
    known = [one.id for one in events if data.draw(st.booleans())]
    data.draw(st.permutations(known))
    again = [
        rated(one, one.memories[0].memory_id, Rating.HELPFUL, NOW)
        if data.draw(st.booleans())
        else one
        for one in events
    ]
    shown = [one.id for one in arranged(again, known, unrated_first=True)]
    assert [id for id in shown if id in known] == known
    assert sorted(shown) == sorted(one.id for one in events)


@given(_EVENTS, st.integers(0, 30))
def test_the_next_unrated_memory_is_below_or_else_above(
    events: list[SurfacingEvent], place: int
) -> None:
    rows = rows_of(events)
    start = rows[place % len(rows)].key if rows else ("", "")
    found = next_unrated(rows, start)
    waiting = [row for row in rows if row.unrated and row.key != start]
    assert (found is None) == (not waiting)
    if found is not None:
        index = [row.key for row in rows].index
        below = [row for row in waiting if index(row.key) > index(start)]
        assert found == (below or waiting)[0]


def test_a_filter_keeps_the_answer_of_every_memory_that_it_finds() -> None:
    rows = rows_of(EVENTS, ["deploy_role"])
    assert [(row.event.id, row.memory is None) for row in rows] == [
        (EVENTS[0].id, True),
        (EVENTS[0].id, False),
    ]
    assert len(rows_of(EVENTS, ["unrated"])) == 3
    assert [row.memory for row in rows_of(EVENTS, ["conflict"])][1] == EVENTS[1].memories[0]
    assert rows_of(EVENTS, ["codex", "known"])
    assert rows_of(EVENTS, ["nothing has this"]) == []


# -- words ------------------------------------------------------------------------------------


def test_every_decision_and_level_has_words() -> None:
    assert set(DECISIONS) == set(Decision)
    assert set(LEVELS) == set(QueryLevel)


def test_shares_are_written_as_figures_and_bars() -> None:
    assert (percent(None), percent(0.0), percent(0.555)) == ("\u2013", "0%", "56%")
    assert (bar(0.5, 4), bar(0.0, 2), bar(None, 3)) == (
        "\u2588\u2588\u2591\u2591",
        "\u2591\u2591",
        "   ",
    )
    assert reason_words(EVENTS[0].memories[0]) == "deploy, staging"
    assert reason_words(replace(EVENTS[0].memories[0], why="note: a")) == "note: a"


def test_an_answer_names_call_query_threshold_cost_and_every_rating() -> None:
    text = plain(event_lines(EVENTS[1], "77aa01cd90ef", NOW, UTC))
    for words in (
        "#4117  filesystem/read_file  for claude-code, 13:48:07 (15m ago)",
        "\u201cbilling invoice rounding\u201d  from arguments that carry meaning",
        "1 memory from 50% on, all rated; in the memory of mms within 9 ms",
        "about 96 tokens added",
        "a91e77c0de55  conversation 1900a-3",
        "\u25b8 77aa01cd90ef",
        "you: not relevant 11m ago  agent: helpful 13m ago  \u25b2 you differ; your word counts",
        "78% (shown from 50% on)  invoice, rounding",
        "Invoices are rounded half to even since the audit.",
    ):
        assert words in text, words
    withheld = replace(EVENTS[2], arm=Arm.HELD_OUT, source="ltm")
    text = plain(event_lines(withheld, "", NOW, UTC))
    assert "(the query's text was not kept)" in text
    assert "withheld, to measure" in text
    assert "the external memory within 6 ms, found before by the same words" in text


def test_figures_name_a_sick_source_hints_and_what_was_not_written_down() -> None:
    source = SourceStatus("ltm", "open", "It ended.", 12.0, "core 0.7", 3, 2)
    view = replace(SURFACING, source=source, sampled_out=7, problem="The disk is full.")
    text = plain(answering_lines(view))
    for words in (
        "an external memory (core 0.7)",
        "open: given a rest after faults, next attempt in 12s",
        "3 answers of it with hints about searching, the last one with 2",
        "\u25b2 It ended.",
        "\u25b2 The disk is full.",
    ):
        assert words in text, words
    assert "1,880 calls on record, 7 more not written down" in plain(decision_lines(view))
    assert "none yet" in plain(decision_lines(NO_SURFACING))
    assert problem_words(view) == (
        "The disk is full. No memories are shown now: It ended; tried again in 12s."
    )


def test_an_empty_list_says_what_surfacing_is_and_what_to_do() -> None:
    assert "surfacing.enabled" in empty_words(NO_SURFACING, filtered=False)
    on = replace(NO_SURFACING, source=SourceStatus("memory", "closed"))
    assert "Store memories on Memory (6)" in empty_words(on, filtered=False)
    tried = replace(on, decisions=((Decision.TOO_SHORT, 9),))
    assert "      9  the answer is short" in empty_words(tried, filtered=False)
    assert "Esc clears" in empty_words(SURFACING, filtered=True)
    assert max(map(len, empty_words(tried, filtered=False).split("\n"))) <= 76


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("glance", "words"),
    [
        (SurfacingGlance(), "off"),
        (SurfacingGlance(source=SourceStatus("memory", "closed")), "no ratings yet"),
        (SurfacingGlance(unrated=3, helpfulness=0.25), "3 unrated"),
        (
            SurfacingGlance(source=SourceStatus("ltm", "open", "It ended. " * 20)),
            "\u25b2 It ended.",
        ),
        (SurfacingGlance(99_999, 99_999, 9_999_999, 99_999, 1.0, 99_999), "100% helpful"),
    ],
)
def test_the_overview_has_one_line_that_fits(
    glance: SurfacingGlance, words: str, wide: bool
) -> None:
    line = plain([glance_line(glance, "9", wide=wide)])
    assert words in line
    assert len(line) <= (200 if wide else 78)


# -- on the screen ----------------------------------------------------------------------------


@still
def test_ratings_pages_and_tuning_by_key() -> None:
    station = FakeStation()
    first, second = EVENTS[0].memories
    call = replace(next(iter(station.call_details.values())))
    station.call_details[EVENTS[0].call_id] = call

    async def run() -> None:
        app = console(station)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await settle(pilot)
            assert "78% helpful  \u25cc118 unrated \u2014 9 rates them" in picture(app)
            await press(pilot, "9")
            # The cursor begins on an unrated memory and goes on to the next one; all rows stay.
            before = [row.key for row in screen_of(pilot)._table.items]  # type: ignore[attr-defined]
            await press(pilot, "h")
            await press(pilot, "t")
            assert station.executed == [
                RateMemory(EVENTS[0].id, first.memory_id, Rating.HELPFUL),
                RateMemory(EVENTS[0].id, second.memory_id, Rating.PARTIALLY_HELPFUL),
            ]
            rows: list[Row] = list(screen_of(pilot)._table.items)  # type: ignore[attr-defined]
            assert [row.key for row in rows] == before
            shown = picture(app)
            assert "\u2713  helpful" in shown
            assert "\u25d0  partly" in shown
            assert "116 unrated" in shown
            # Nothing unrated is left: the cursor stays, and another key changes the rating.
            await press(pilot, "w")
            assert station.executed[-1] == RateMemory(
                EVENTS[0].id, second.memory_id, Rating.ALREADY_KNOWN
            )
            # The line of an answer cannot be rated, but opens.
            await press(pilot, "g", "n")
            assert len(station.executed) == 3
            await press(pilot, "c")
            assert isinstance(app.screen, CallScreen)
            await press(pilot, "escape", "9", "enter")
            assert isinstance(app.screen, EventScreen)
            shown = picture(app)
            assert "2 memories, all rated" in shown
            assert "from paths of the arguments" in shown
            await press(pilot, "j", "n")
            assert station.executed[-1].rating is Rating.NOT_RELEVANT  # type: ignore[union-attr]
            assert "not relevant" in picture(app)
            await press(pilot, "y")
            assert first.preview in app.clipboard
            await press(pilot, "o")
            assert isinstance(app.screen, RecordScreen)
            await press(pilot, "escape", "escape")
            # A filter, and a call that is gone.
            await press(pilot, "slash")
            await write(pilot, "conflict")
            await press(pilot, "enter")
            assert "memories 1   /conflict" in picture(app)
            await press(pilot, "c")
            assert "Call #4117 is no longer recorded" in picture(app)
            await press(pilot, "escape", "o")
            panel = app.screen.query_one("#surfacing-list")
            assert "newest first" in str(panel.border_subtitle)
            # What others do shows by itself, also new answers, which come first.
            fresh = replace(EVENTS[0], id="ffffffffffff", at=NOW, query="rollback steps")
            station.surfacing_value = replace(
                station.surfacing_value, recent=(fresh, *station.surfacing_value.recent)
            )
            station.push(SurfacingChanged(NOW))
            await until(pilot, lambda: "rollback steps" in picture(app))
            # A refusal is said.
            station.surfacing_value = replace(station.surfacing_value, recent=())
            await press(pilot, "g", "j", "h")
            assert "There is no event ffffffffffff." in picture(app)
            await press(pilot, "f")
            assert isinstance(app.screen, FiguresScreen)
            assert "HEALTHY: answers well" in picture(app)
            await press(pilot, "G")
            assert "the source was too slow" in picture(app)
            await press(pilot, "T")
            assert isinstance(app.screen, TuningScreen)
            await press(pilot, "u")
            assert isinstance(app.screen, ChoiceDialog)
            assert "Take step 2 of the tuner back?" in picture(app)
            await press(pilot, "n")
            assert not any(isinstance(one, RevertAdjustment) for one in station.executed)
            await press(pilot, "u", "y")
            assert station.executed[-1] == RevertAdjustment(2)
            await until(pilot, lambda: picture(app).count("taken back") >= 2)
            await press(pilot, "u")
            assert not isinstance(app.screen, ChoiceDialog)
            await press(pilot, "tab")
            why = app.screen.query_one("#tuning-why-text", TextPane).plain
            assert TUNING.recommendations[0].reason in why
            await press(pilot, "A", "y")
            advice = TUNING.recommendations[0]
            assert station.executed[-1] == SetSetting(advice.key, advice.proposed)
            await press(pilot, "s")
            title = str(app.screen.query_one("#tuning-more").border_title)
            assert title == "advice by the calls of a week: 1"
            await press(pilot, "y")
            assert advice.reason in app.clipboard

    asyncio.run(run())
