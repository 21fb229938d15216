"""The record of surfacing: seen at once, kept over restarts, bounded, whatever the disk does."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.store import surfacing as module
from proxy.store import surfacing_retention as retention
from proxy.store.database import StoreUnavailable
from proxy.store.surfacing import SurfacingStore
from proxy.surface.model import (
    Adjustment,
    Arm,
    Decision,
    MemoryRating,
    RatedScore,
    Rater,
    Rating,
)
from proxy.surface.record import SurfacingRecord
from tests.proxy.surface.samples import DAY, NOW, event, opportunity, shown

WAIT = 20.0
STEP = Adjustment(0, NOW, "files", "read", 0.5, 0.55, "Because.", 20, configured=0.5)


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "surfacing.sqlite3"


@pytest.fixture
def clock() -> Clock:
    return Clock()


Make = Callable[..., SurfacingStore]


@pytest.fixture
def make(file: Path, clock: Clock) -> Iterator[Make]:
    stores: list[SurfacingStore] = []

    def make(redact: Callable[[str], str] = str) -> SurfacingStore:
        stores.append(SurfacingStore(file, redact=redact, clock=clock))
        return stores[-1]

    yield make
    for store in stores:
        assert store.stop(WAIT)


def test_what_is_noted_reads_the_same_before_it_is_written_afterwards_and_by_the_next_station(
    make: Make,
) -> None:
    store: SurfacingRecord = make()
    noted = event("00000000000a", cached=True)
    store.note_event(noted)
    store.note_event(event("00000000000b", shown("m3"), arm=Arm.HELD_OUT, tokens=0))
    store.note_event(replace(noted, query="the same id again changes nothing"))
    for score in (0.1, None, 0.9):
        store.note_opportunity(opportunity(best_score=score))
    assert store.rate(noted.id, "m2", Rating.NOT_RELEVANT, Rater.AGENT, NOW + 1).ok
    first = store.note_adjustment(STEP)
    second = store.note_adjustment(replace(STEP, before=0.55, after=0.6))

    rated = replace(
        noted,
        memories=(
            noted.memories[0],
            replace(
                noted.memories[1],
                ratings=(MemoryRating(Rater.AGENT, Rating.NOT_RELEVANT, NOW + 1),),
            ),
        ),
    )

    def check(record: SurfacingRecord) -> None:
        assert record.read_event(noted.id) == rated
        held = record.read_event("00000000000b")
        assert held is not None
        assert held.arm is Arm.HELD_OUT
        assert record.read_event("ffffffffffff") is None
        scores = record.read_tool("files", "read")
        assert scores.rated == (RatedScore(NOW + 1, 0.6, 0.0),)
        assert scores.offered == (0.1, 0.9)
        assert [one.id for one in scores.adjustments] == [second, first]
        assert record.read_tool("files", "write") == module.ToolScores((), (), ())
        assert record.read_negatives("files", "read") == {"m2": 1}
        assert record.read_adjustments()[0] == replace(STEP, id=second, before=0.55, after=0.6)
        assert len(record.read_adjustments(1)) == 1

    check(store)
    assert isinstance(store, SurfacingStore)
    store.start()
    check(store)
    assert store.stop(WAIT)
    check(store)
    after = make()
    after.start()
    check(after)
    assert after.problem == ""
    assert after.note_adjustment(STEP) == second + 1


def test_nothing_noted_reads_as_nothing(make: Make) -> None:
    store = make()
    assert store.stop(WAIT)
    assert store.read_event("00000000000a") is None
    assert store.read_tool("files", "read") == module.ToolScores((), (), ())
    assert store.read_adjustments() == ()


def test_a_rating_is_kept_once_per_rater_and_says_what_it_did(make: Make) -> None:
    store = make()
    store.note_event(event("00000000000a"))
    store.note_event(event("00000000000b", arm=Arm.HELD_OUT))
    rate = store.rate

    first = rate("00000000000a", "m1", Rating.HELPFUL, Rater.AGENT, NOW)
    assert (first.ok, first.repeated) == (True, False)
    assert first.message == "Recorded helpful for memory m1 of 00000000000a."
    again = rate("00000000000a", "m1", Rating.HELPFUL, Rater.AGENT, NOW + 5)
    assert (again.ok, again.repeated) == (True, True)
    other = rate("00000000000a", "m1", Rating.ALREADY_KNOWN, Rater.AGENT, NOW + 6)
    assert (other.ok, other.repeated) == (True, False)
    assert "instead of helpful" in other.message
    person = rate("00000000000a", "m1", Rating.NOT_RELEVANT, Rater.PERSON, NOW + 7)
    assert (person.ok, person.repeated) == (True, False)
    late = rate("00000000000a", "m1", Rating.HELPFUL, Rater.AGENT, NOW + 8)
    assert "person said not_relevant, which counts" in late.message

    found = store.read_event("00000000000a")
    assert found is not None
    assert found.memories[0].ratings == (
        MemoryRating(Rater.AGENT, Rating.HELPFUL, NOW + 8),
        MemoryRating(Rater.PERSON, Rating.NOT_RELEVANT, NOW + 7),
    )
    assert found.memories[0].rating is Rating.NOT_RELEVANT
    assert found.memories[0].conflict
    assert found.memories[1].ratings == ()
    # The person's word is what is learnt from.
    assert store.read_tool("files", "read").rated == (RatedScore(NOW + 7, 0.8, 0.0),)
    assert store.read_negatives("files", "read") == {"m1": 1}

    for refused, words in (
        (rate("12ab", "m1", Rating.HELPFUL, Rater.AGENT, NOW), "There is no surfacing '12ab'"),
        (
            rate("00000000000a", "m9", Rating.HELPFUL, Rater.AGENT, NOW),
            "'m9' was not among those of 00000000000a; they are: m1, m2.",
        ),
        (rate("00000000000b", "m1", Rating.HELPFUL, Rater.PERSON, NOW), "held out"),
    ):
        assert not refused.ok
        assert words in refused.message


def test_ratings_that_say_nothing_about_relevance_teach_nothing(make: Make, clock: Clock) -> None:
    store = make()
    store.note_event(event("00000000000a", shown("m1", 0.9), shown("m2", 0.7), shown("m3", 0.6)))
    for number, (memory, rating) in enumerate(
        (
            ("m2", Rating.PARTIALLY_HELPFUL),
            ("m1", Rating.HELPFUL),
            ("m3", Rating.ALREADY_KNOWN),
        )
    ):
        assert store.rate("00000000000a", memory, rating, Rater.AGENT, NOW + number).ok
    assert store.read_tool("files", "read").rated == (
        RatedScore(NOW, 0.7, 0.5),
        RatedScore(NOW + 1, 0.9, 1.0),
    )
    clock.now = NOW + module.LEARNT_SECONDS + 0.5
    assert [one.worth for one in store.read_tool("files", "read").rated] == [1.0]


def test_only_the_newest_of_what_the_tuner_learns_from_is_read(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RATED", 3)
    monkeypatch.setattr(module, "MOST_OFFERED", 2)
    store = make()
    for number in range(5):
        store.note_event(event(f"{number:012x}", shown("m1", number / 10)))
        store.note_opportunity(opportunity(best_score=number / 10))
        assert store.rate(f"{number:012x}", "m1", Rating.HELPFUL, Rater.AGENT, NOW + number).ok
    scores = store.read_tool("files", "read")
    assert [one.score for one in scores.rated] == [0.2, 0.3, 0.4]
    assert scores.offered == (0.3, 0.4)


def test_a_reversal_marks_the_step_and_those_after_it(make: Make) -> None:
    store = make()
    store.start()
    ids = [store.note_adjustment(STEP) for _ in range(3)]
    other = store.note_adjustment(replace(STEP, tool="write"))
    back = store.note_adjustment(replace(STEP, at=NOW + 9, reverts=ids[1]))
    found = {one.id: one.reverted_at for one in store.read_adjustments()}
    assert found == {ids[0]: None, ids[1]: NOW + 9, ids[2]: NOW + 9, other: None, back: None}


def test_old_rows_and_those_over_the_bounds_go_and_old_queries_become_digests(
    make: Make, file: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "KEPT_EVENTS", 3)
    monkeypatch.setattr(retention, "KEPT_OPPORTUNITIES", 4)
    monkeypatch.setattr(retention, "KEPT_ADJUSTMENTS", 2)
    store = make()
    clock.now = NOW - 91 * DAY
    store.note_event(event("00000000000f", at=NOW - 91 * DAY))
    store.note_opportunity(opportunity(at=NOW - 91 * DAY))
    assert store.read_event("00000000000f") is not None
    assert store.rate("00000000000f", "m1", Rating.NOT_RELEVANT, Rater.AGENT, NOW - 91 * DAY).ok
    clock.now = NOW
    for number in range(4):
        store.note_event(event(f"{number:012x}", at=NOW - 31 * DAY if number == 2 else NOW))
    for number in range(6):
        store.note_opportunity(opportunity(best_score=number / 10))
    steps = [store.note_adjustment(replace(STEP, tool=tool)) for tool in "abaab"]
    assert store.read_event("00000000000f") is None
    assert store.read_event(f"{0:012x}") is None
    second, third = (store.read_event(f"{number:012x}") for number in (2, 3))
    assert second is not None
    assert second.query.startswith("sha256:")
    assert len(second.query) == 7 + 16
    assert third is not None
    assert third.query == "deploy staging"
    assert store.read_tool("files", "read").offered == (0.2, 0.3, 0.4, 0.5)
    clock.now += 3_600
    store.note_opportunity(opportunity())
    assert [one.id for one in store.read_adjustments()] == steps[:2:-1]
    assert store.stop(WAIT)
    with sqlite3.connect(file) as connection:
        tables = ("events", "shown", "ratings", "verdicts", "opportunities")
        counts = [connection.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in tables]
    connection.close()
    assert counts == [3, 6, 0, 0, 4]


def test_secrets_and_odd_texts_are_stored_as_near_as_possible(make: Make, file: Path) -> None:
    def redact(text: str) -> str:
        return text.replace("hunter-two", "***")

    store = make(redact)
    store.start()
    store.note_event(
        event(
            "00000000000a",
            shown("m\0\ud800", float("nan"), preview="hunter-two\0\ud800" + "x" * 9_000),
            shown("m2", why="hunter-two"),
            query="hunter-two\ud800" * 900,
            host="h" * 9_000,
            search_ms=float("inf"),
        )
    )
    store.note_opportunity(opportunity(best_score=float("nan"), tool="t\0"))
    assert store.rate("00000000000a", "m\0\ud800", Rating.HELPFUL, Rater.AGENT, NOW).ok
    store.note_adjustment(replace(STEP, reason="\ud800" * 9_000))
    found = store.read_event("00000000000a")
    assert found is not None
    first, second = found.memories
    assert first.memory_id == "m\ufffd\ufffd"
    assert first.preview.startswith("***\ufffd\ufffdxx")
    assert len(first.preview) == 300
    assert first.rating is Rating.HELPFUL
    assert second.why == "***"
    assert len(found.host) == 256
    assert len(found.query) == 1_000
    assert store.problem == ""
    assert store.stop(WAIT)
    assert b"hunter-two" not in file.read_bytes()


def test_while_nothing_can_be_written_all_is_seen_and_kept_for_later(
    make: Make, file: Path
) -> None:
    written = make()
    written.note_event(event("00000000000a"))
    assert written.read_event("00000000000a") is not None
    assert written.stop(WAIT)
    aside = file.parent.with_name("aside")
    file.parent.rename(aside)
    file.parent.write_text("in the way")
    store = make()
    store.start()
    store.note_event(event("00000000000b"))
    store.note_opportunity(opportunity())
    assert store.rate("00000000000b", "m1", Rating.HELPFUL, Rater.AGENT, NOW).ok
    assert store.rate("00000000000b", "m1", Rating.HELPFUL, Rater.AGENT, NOW).repeated
    assert store.note_adjustment(STEP) == 1
    assert store.read_tool("files", "read").offered == (0.7,)
    assert "cannot be used" in store.problem
    file.parent.unlink()
    aside.rename(file.parent)
    assert store.stop(WAIT)
    later = make()
    for id, rated in (("00000000000a", 0), ("00000000000b", 1)):
        found = later.read_event(id)
        assert found is not None
        assert len(found.memories[0].ratings) == rated
    assert len(later.read_adjustments()) == 1


def test_what_waits_is_added_to_what_is_stored_while_the_file_is_read_only(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make()
    store.start()
    store.note_event(event("00000000000a"))
    assert store.read_event("00000000000a") is not None

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_retention", retention.Retention(lambda: NOW))
        patch.setattr(module, "transaction", full)
        store.note_event(event("00000000000b"))
        assert store.read_event("00000000000b") is not None
        assert store.rate("00000000000a", "m1", Rating.HELPFUL, Rater.PERSON, NOW).ok
        assert store.rate("00000000000a", "m1", Rating.HELPFUL, Rater.PERSON, NOW).repeated
        assert store.problem
    assert store.stop(WAIT)
    assert store.read_event("00000000000b") is not None
    assert len(store.read_tool("files", "read").rated) == 1


def test_what_waits_is_bounded(make: Make, file: Path) -> None:
    file.parent.write_text("in the way")
    store = make()
    for number in range(module.MOST_WAITING + 5):
        store.note_opportunity(opportunity(best_score=number / 10_000))
    store.note_event(event("00000000000a"))
    file.parent.unlink()
    with store.reading() as connection:
        count = connection.execute("SELECT count(*) FROM opportunities").fetchone()[0]
    assert count == module.MOST_WAITING
    assert store.read_event("00000000000a") is not None


def test_a_damaged_file_is_set_aside_and_a_foreign_one_is_not_read(make: Make, file: Path) -> None:
    file.parent.mkdir(mode=0o700)
    file.write_bytes(b"no database" * 500)
    reader = make()
    assert reader.stop(WAIT)
    with pytest.raises(StoreUnavailable, match="no database"):
        reader.read_event("00000000000a")
    store = make()
    store.note_event(event("00000000000a"))
    store.start()
    assert store.read_event("00000000000a") is not None
    assert "was unusable" in store.problem
    (aside,) = file.parent.glob("damaged-*")
    assert (aside / file.name).read_bytes().startswith(b"no database")


def test_many_threads_at_once_lose_nothing(make: Make) -> None:
    store = make()
    store.start()
    ids: list[int] = []

    def work(start: int) -> None:
        for number in range(start, start + 20):
            id = f"{number:012x}"
            store.note_event(event(id))
            store.note_opportunity(opportunity(Decision.SURFACED))
            assert store.rate(id, "m1", Rating.NOT_RELEVANT, Rater.AGENT, NOW).ok
        ids.append(store.note_adjustment(STEP))

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert sorted(ids) == [1, 2, 3]
    assert store.read_negatives("files", "read") == {"m1": 60}
    assert len(store.read_tool("files", "read").offered) == 60
