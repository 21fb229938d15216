"""The bench itself: its weeks are what they say, its figures count right, and its parts agree."""

from __future__ import annotations

from dataclasses import replace

from config.schema import EmbedderKind, SurfacingSettings
from proxy.surface.model import QueryLevel
from tests.bench.surfacing import replay
from tests.bench.surfacing.figures import Outcome, by_level, figures
from tests.bench.surfacing.scripted import TOOLS, answer_text
from tests.bench.surfacing.station_week import shown_in
from tests.bench.surfacing.subject import REPORTED, TUNING, projects
from tests.bench.surfacing.week import CALLS, DAYS, MEMORIES, SESSIONS, Week, week


def test_a_week_is_the_same_for_the_same_seed_and_has_what_it_promises() -> None:
    first = week(projects(TUNING), 1)
    assert first == week(projects(TUNING), 1)
    assert first != week(projects(TUNING), 2)
    assert len(first.memories) == MEMORIES
    assert len({memory.text for memory in first.memories}) == MEMORIES
    calls = [call for session in first.sessions for call in session.calls]
    assert len(calls) == SESSIONS * CALLS
    assert {call.tool for call in calls} <= set(TOOLS)
    assert {session.day for session in first.sessions} == set(range(DAYS))
    about_nothing = sum(not call.matter for call in calls)
    assert 0.45 < about_nothing / len(calls) < 0.65
    assert first.known(-1) < first.known(3) < first.known(DAYS)
    later = week(projects(TUNING), 1, later=1)
    assert [memory.text for memory in later.memories] == [one.text for one in first.memories]
    assert later.known(-1) == first.known(DAYS)
    assert later.sessions != first.sessions


def test_nothing_of_the_tuned_projects_is_in_the_reported_ones() -> None:
    tuned, reported = projects(TUNING), projects(REPORTED)
    assert len(tuned) == len(reported) == 5
    assert not {one.name for one in tuned} & {one.name for one in reported}

    def texts(name: str) -> set[str]:
        return {text for p in projects(name) for s in p.subjects for text in s.memories}

    assert not texts(TUNING) & texts(REPORTED)


def test_figures_count_what_was_needed_shown_and_repeated() -> None:
    none = frozenset[int]()
    calls = [
        Outcome(0, 0, "a", (1, 2), frozenset((1, 3)), QueryLevel.KEYS, 30),
        Outcome(0, 0, "a", (1,), frozenset((1, 3)), QueryLevel.PATHS, 10),
        Outcome(0, 1, "a", (), none, QueryLevel.KEYS),
        Outcome(0, 1, "a", (5,), none, QueryLevel.KEYS, 8),
    ]
    found = figures(calls)
    assert (found.calls, found.calls_with, found.shown, found.useful) == (4, 3, 4, 1)
    assert found.needs == 3  # 1 and 3, then 3 again: 1 had been shown
    assert found.repeats == 1
    assert (found.precision, found.recall) == (0.25, 1 / 3)
    assert found.helped == 0.25
    assert found.quiet == 0.5
    assert (found.tokens_per_call, found.tokens_per_useful) == (12.0, 48.0)
    levels = by_level(calls)
    assert levels[QueryLevel.PATHS].useful == 0
    assert sum(part.needs for part in levels.values()) == found.needs
    assert figures([]).f1 == 1.0


def test_the_script_answers_the_same_call_the_same_way_whatever_the_agent_asks_beside_it() -> None:
    plain = answer_text("read_file", {"path": "a.py"})
    assert plain == answer_text("read_file", {"path": "a.py", "_context_query": "why"})
    assert plain != answer_text("read_file", {"path": "b.py"})
    assert 300 <= len(plain) <= 12_000


def test_memories_are_read_from_an_answer_as_an_agent_reads_them() -> None:
    text = (
        "Memory, not instructions: stm_surfacing_feedback 5f3c9a01b2d4\n"
        "01JB3K6Q8ZC4V9W2M7X5T1R0NE 91% deploy; 2026-11-02: Runs at 50% of the cost.\n"
        "01JAZ70Y2D5H8K3N6Q9S1V4X7B 62% workflow: Needs a role."
    )
    answer = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": text}]}
    assert shown_in(answer) == (
        "5f3c9a01b2d4",
        ("01JB3K6Q8ZC4V9W2M7X5T1R0NE", "01JAZ70Y2D5H8K3N6Q9S1V4X7B"),
    )
    assert shown_in({"content": [{"type": "text", "text": "an answer"}]}) == ("", ())


def test_a_replayed_morning_repeats_nothing_and_is_mostly_quiet_where_nothing_matters() -> None:
    whole = week(projects(REPORTED), 1)
    morning = Week(tuple(replace(one, day=-1) for one in whole.memories[:60]), whole.sessions[:4])
    searched = replay.searched(morning, EmbedderKind.HASHING)
    default = SurfacingSettings().min_score
    found = figures(replay.outcomes(searched, replay.by_probability, default))
    assert found.repeats == 0
    assert found.useful > 0
    assert found.quiet > 0.7
    everything = figures(replay.outcomes(searched, replay.by_rank, 0.0))
    assert everything.shown > found.shown
    assert everything.precision < found.precision
