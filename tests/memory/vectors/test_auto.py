"""The exact search with a store beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.vectors.auto import RETRY_MICROSECONDS, AutoIndex, Large
from memory.vectors.brute import BruteIndex
from memory.vectors.collection import CollectionIndex
from memory.vectors.port import IndexBroken, IndexFault, IndexUnavailable
from tests.memory.vectors.support import DIMS, FakeStore, axis, numbers, random_vectors

VECTORS = random_vectors(60)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def _auto(store: FakeStore, threshold: int = 20) -> AutoIndex:
    index = AutoIndex(BruteIndex(), CollectionIndex(store.open, "in a test"), threshold)
    index.ensure("m", DIMS)
    return index


def _ready(store: FakeStore) -> AutoIndex:
    index = _auto(store)
    index.upsert(np.arange(60), VECTORS)
    _maintain(index)
    assert index.state is Large.READY
    store.calls.clear()
    return index


def _maintain(index: AutoIndex, now: int = 0) -> None:
    for _ in range(50):
        if not index.maintain(now):
            return
    pytest.fail("maintenance does not end")


def _asked(store: FakeStore) -> bool:
    return any(call.startswith("query") for call in store.calls)


def test_few_vectors_never_touch_the_store(store: FakeStore) -> None:
    index = _auto(store)
    index.upsert(np.arange(19), VECTORS[:19])
    _maintain(index)
    assert index.query(VECTORS[3], 1, None)[0][0] == 3
    index.delete([3])
    assert store.calls == []
    assert index.state is Large.UNUSED


def test_many_vectors_are_copied_and_then_asked_for(store: FakeStore) -> None:
    index = _ready(store)
    assert len(store.only) == 60
    assert index.query(VECTORS[3], 1, None)[0][0] == 3
    assert _asked(store)
    assert index.health().ok


def test_answers_are_the_same_as_from_memory(store: FakeStore) -> None:
    index = _ready(store)
    brute = BruteIndex()
    brute.ensure("m", DIMS)
    brute.upsert(np.arange(60), VECTORS)
    mask = np.arange(60) % 4 != 0
    for allowed in (None, mask):
        assert index.query(axis(1), 10, allowed) == brute.query(axis(1), 10, allowed)


def test_selective_questions_are_answered_from_memory(store: FakeStore) -> None:
    index = _ready(store)
    mask = np.arange(60) < 20
    assert len(index.query(axis(1), 30, mask)) == 20
    assert not _asked(store)


def test_too_few_results_are_made_up_for_from_memory(store: FakeStore) -> None:
    index = _ready(store)
    for num in range(0, 60, 2):
        del store.only[str(num)]
    assert len(index.query(axis(1), 60, None)) == 60
    assert _asked(store)


def test_changes_go_to_both(store: FakeStore) -> None:
    index = _ready(store)
    index.delete([1, 2])
    index.upsert(numbers(70, 3), np.stack([axis(0), axis(1)]))
    assert sorted(map(int, store.only)) == sorted(set(range(60)) - {1, 2} | {70})
    assert index.query(axis(0), 1, None) == [(70, 1.0)]
    assert index.query(axis(1), 1, None) == [(3, 1.0)]


def test_a_number_that_the_store_made_up_is_not_told(store: FakeStore) -> None:
    index = _ready(store)
    store.only["4711"] = axis(0)
    assert 4711 not in [num for num, _ in index.query(axis(0), 60, None)]


def test_an_older_vector_in_the_store_does_not_change_a_cosine(store: FakeStore) -> None:
    index = _ready(store)
    store.only["5"] = axis(0)
    found = dict(index.query(axis(0), 60, None))
    assert found[5] == pytest.approx(float(VECTORS[5][0]), abs=1e-6)


def test_after_a_restart_a_store_that_has_everything_is_not_filled_again(store: FakeStore) -> None:
    _ready(store).close()
    store.calls.clear()
    index = _auto(store)
    index.load(np.arange(60), VECTORS)
    _maintain(index)
    assert index.state is Large.READY
    assert not [call for call in store.calls if call.startswith("upsert")]


@pytest.mark.parametrize("damage", ["missing", "added", "other"])
def test_after_a_restart_a_store_that_differs_is_filled_again(
    store: FakeStore, damage: str
) -> None:
    _ready(store).close()
    match damage:
        case "missing":
            del store.only["7"]
        case "added":
            store.only["99"] = axis(0)
        case _:
            for num in range(60):
                store.only[str(num)] = axis(0)
    index = _auto(store)
    index.load(np.arange(60), VECTORS)
    _maintain(index)
    assert index.state is Large.READY
    assert set(store.only) == {str(num) for num in range(60)}
    assert np.allclose(store.only["7"], VECTORS[7], atol=1e-6)


def test_after_a_restart_what_is_replayed_reaches_the_store(store: FakeStore) -> None:
    _ready(store).close()
    index = _auto(store)
    index.load(np.arange(60), VECTORS)
    index.upsert(numbers(7, 60), np.stack([axis(0), axis(1)]))
    index.delete([8])
    _maintain(index)
    assert index.state is Large.READY
    assert np.allclose(store.only["7"], axis(0))
    assert "60" in store.only
    assert "8" not in store.only


def test_a_store_that_goes_away_costs_no_answer_and_is_tried_again_later(store: FakeStore) -> None:
    index = _ready(store)
    store.fault = IndexUnavailable("The server sleeps.")
    assert len(index.query(axis(0), 10, None)) == 10
    assert (index.state, index.problem) == (Large.AWAY, "The server sleeps.")
    assert not index.health().ok
    index.upsert(numbers(70), axis(0)[np.newaxis])
    index.delete([5])
    _maintain(index, now=0)
    store.calls.clear()
    _maintain(index, now=RETRY_MICROSECONDS - 1)
    assert store.calls == []
    store.fault = None
    _maintain(index, now=RETRY_MICROSECONDS)
    assert (index.state, index.problem) == (Large.READY, "")
    assert "70" in store.only
    assert "5" not in store.only


def test_a_store_that_stays_away_is_not_asked_all_the_time(store: FakeStore) -> None:
    index = _ready(store)
    store.fault = IndexUnavailable("The server sleeps.")
    index.query(axis(0), 10, None)
    store.calls.clear()
    for seconds in range(600):
        index.maintain(seconds * 1_000_000)
        index.query(axis(0), 10, None)
    assert len(store.calls) <= 10


def test_a_store_that_breaks_is_begun_anew_and_filled(store: FakeStore) -> None:
    index = _ready(store)
    store.fault = IndexBroken("The pickle is sour.")
    index.upsert(numbers(70), axis(0)[np.newaxis])
    assert index.state is Large.BROKEN
    assert index.query(axis(0), 1, None) == [(70, 1.0)]
    store.fault = None
    store.only["999"] = axis(2)
    _maintain(index)
    assert (index.state, index.problem) == (Large.READY, "")
    assert set(store.only) == {str(num) for num in [*range(60), 70]}


def test_a_store_that_breaks_twice_is_left_alone(store: FakeStore) -> None:
    index = _ready(store)
    for _ in range(2):
        store.fault = IndexBroken("The pickle is sour.")
        index.query(axis(0), 1, None)
        store.fault = None
        _maintain(index)
    assert index.state is Large.OFF
    store.calls.clear()
    index.upsert(numbers(70), axis(0)[np.newaxis])
    _maintain(index)
    assert index.query(axis(0), 1, None) == [(70, 1.0)]
    assert store.calls == []
    assert "The pickle is sour." in index.health().text


def test_filling_is_done_in_parts_and_searches_work_meanwhile(store: FakeStore) -> None:
    index = _auto(store)
    vectors = random_vectors(3_000)
    index.load(np.arange(3_000), vectors)
    parts = 0
    while index.maintain(0):
        parts += 1
        assert index.query(vectors[2_999], 1, None)[0][0] == 2_999
        assert index.state is Large.FILLING
    assert parts == 3
    assert index.state is Large.READY


def test_erasing_deletes_the_store_and_fills_a_new_one(store: FakeStore) -> None:
    index = _ready(store)
    index.delete([5])
    index.erase()
    assert store.collections == {}
    _maintain(index)
    assert set(store.only) == {str(num) for num in range(60) if num != 5}


def test_whoever_erases_learns_that_the_store_could_not_be_reached(store: FakeStore) -> None:
    index = _ready(store)
    store.fault = IndexUnavailable("The server sleeps.")
    with pytest.raises(IndexFault, match="sleeps"):
        index.erase()
    with pytest.raises(IndexFault, match="sleeps"):
        index.drop("m")


def test_another_model_begins_with_its_own_vectors(store: FakeStore) -> None:
    index = _ready(store)
    index.ensure("n", 4)
    index.upsert(np.arange(30), random_vectors(30, dims=4))
    _maintain(index)
    assert index.state is Large.READY
    assert sorted(map(len, store.collections.values())) == [30, 60]
    index.drop("m")
    assert [len(rows) for rows in store.collections.values()] == [30]


@given(
    st.lists(
        st.sampled_from(["put", "delete", "break", "away", "heal", "maintain", "query"]),
        max_size=25,
    )
)
def test_no_order_of_faults_costs_an_answer(steps: list[str]) -> None:
    store = FakeStore()
    index = _auto(store, threshold=5)
    expected: set[int] = set()
    for at, step in enumerate(steps):
        match step:
            case "put":
                nums = [(at * 7 + one) % 60 for one in range(8)]
                index.upsert(numbers(*nums), VECTORS[nums])
                expected |= set(nums)
            case "delete":
                index.delete([at % 60, (at * 3) % 60])
                expected -= {at % 60, (at * 3) % 60}
            case "break":
                store.fault = IndexBroken("broken")
            case "away":
                store.fault = IndexUnavailable("away")
            case "heal":
                store.fault = None
            case "maintain":
                _maintain(index, now=at * RETRY_MICROSECONDS)
            case _:
                pass
        found = index.query(VECTORS[at], 60, None)
        assert {num for num, _ in found} == expected
        assert index.count() == len(expected)
    store.fault = None
    for later in range(3):
        _maintain(index, now=(len(steps) + later) * 2 * RETRY_MICROSECONDS)
    if len(expected) >= 5 and index.state is not Large.OFF:
        assert index.state is Large.READY
        assert set(store.only) == {str(num) for num in expected}
