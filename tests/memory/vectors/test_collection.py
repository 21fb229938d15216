"""How a collection is used, whatever store it is in."""

from __future__ import annotations

import numpy as np
import pytest

from memory.vectors.collection import BATCH, CollectionIndex
from memory.vectors.port import IndexBroken, IndexUnavailable
from tests.memory.vectors.support import DIMS, FakeStore, axis, numbers, random_vectors


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def index(store: FakeStore) -> CollectionIndex:
    made = CollectionIndex(store.open, "in a test")
    made.ensure("m", DIMS)
    return made


def test_nothing_is_opened_before_it_is_needed(store: FakeStore) -> None:
    index = CollectionIndex(store.open, "in a test")
    assert index.count() == 0
    index.delete([1])
    index.close()
    assert store.calls == []


def test_requests_are_small(store: FakeStore, index: CollectionIndex) -> None:
    index.upsert(np.arange(700), random_vectors(700))
    index.delete(list(range(650)))
    sizes = [call for call in store.calls if call.startswith(("upsert", "delete "))]
    assert sizes == [
        "upsert 300",
        "upsert 300",
        "upsert 100",
        "delete 300",
        "delete 300",
        "delete 50",
    ]
    assert BATCH == 300


def test_a_mask_makes_it_ask_for_more(store: FakeStore, index: CollectionIndex) -> None:
    mask = np.ones(10, dtype=np.bool_)
    for k, allowed in ((10, None), (10, mask), (400, mask), (2_000, mask)):
        index.query(axis(0), k, allowed)
    assert [call for call in store.calls if call.startswith("query")] == [
        "query 10",
        "query 40",
        "query 1000",
        "query 2000",
    ]


def test_a_selective_mask_leaves_too_few(index: CollectionIndex) -> None:
    vectors = random_vectors(500)
    index.upsert(np.arange(500), vectors)
    farthest = int(np.argmin(vectors @ vectors[0]))
    mask = np.zeros(500, dtype=np.bool_)
    mask[farthest] = True
    assert index.query(vectors[0], 1, mask) == []


def test_namespaces_and_models_have_collections_of_their_own(store: FakeStore) -> None:
    for namespace in ("one", "two"):
        for model in ("a", "b"):
            CollectionIndex(store.open, "", namespace).ensure(model, DIMS)
    assert len(store.collections) == 4
    assert all(name.startswith("mem-") and len(name) < 60 for name in store.collections)


def test_other_dimensions_than_expected_are_a_broken_index(
    store: FakeStore, index: CollectionIndex
) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    with pytest.raises(IndexBroken, match="16 dimensions instead of 8"):
        index.ensure("m", 8)
    assert index.reset(0)
    index.upsert(numbers(1), axis(0, 8)[np.newaxis])
    assert index.count() == 1


def test_health_tells_the_fault(store: FakeStore, index: CollectionIndex) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    assert index.health().ok
    store.fault = IndexUnavailable("The server sleeps.")
    assert (index.health().ok, index.health().text) == (False, "The server sleeps.")


def test_an_index_that_counts_and_finds_nothing_is_not_well(
    store: FakeStore, index: CollectionIndex
) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    store.before_query = store.only.clear
    assert not index.health().ok


def test_rebuilding_keeps_what_it_is_given(store: FakeStore, index: CollectionIndex) -> None:
    vectors = random_vectors(10)
    index.upsert(np.arange(10), vectors)
    index.rebuild([(np.arange(3), vectors[:3]), (np.arange(5, 7), vectors[5:7])])
    assert sorted(store.only) == ["0", "1", "2", "5", "6"]


def test_erasing_leaves_nothing_and_it_can_be_used_again(
    store: FakeStore, index: CollectionIndex
) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    index.erase()
    assert store.collections == {}
    assert index.count() == 0


def test_a_closed_store_is_opened_again(store: FakeStore, index: CollectionIndex) -> None:
    index.close()
    index.upsert(numbers(1), axis(0)[np.newaxis])
    assert store.opened == 2
