"""What every index promises, wherever its vectors are."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory.vectors.auto import AutoIndex
from memory.vectors.brute import BruteIndex
from memory.vectors.chroma import ChromaIndex
from memory.vectors.chroma_http import ChromaHttpIndex, ChromaServer
from memory.vectors.port import LARGEST_NUM, Floats, Found, VectorIndex
from tests.memory.vectors.support import DIMS, axis, numbers, random_vectors

pytestmark = pytest.mark.xdist_group("chroma")
MODEL = "model-a-16"


@pytest.fixture(params=["brute", "chroma", "chroma-http", "auto"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    made: VectorIndex
    match request.param:
        case "brute":
            made = BruteIndex()
        case "chroma":
            made = ChromaIndex(tmp_path / "chroma")
        case "auto":
            made = AutoIndex(BruteIndex(), ChromaIndex(tmp_path / "chroma"), threshold=0)
        case _:
            url: str = request.getfixturevalue("chroma_url")
            made = ChromaHttpIndex(ChromaServer(url, namespace=uuid.uuid4().hex, call_seconds=30))
    made.ensure(MODEL, DIMS)
    if isinstance(made, AutoIndex):
        made.maintain(0)
    yield made
    made.close()


def _nums(found: Found) -> list[int]:
    return [num for num, _ in found]


def _exact(vectors: Floats, query: Floats, k: int) -> list[int]:
    return np.argsort(-(vectors @ query), kind="stable")[:k].tolist()


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.count() == 0
    assert index.query(axis(0), 5, None) == []
    assert index.health().ok


def test_the_nearest_come_first_with_their_cosines(index: VectorIndex) -> None:
    vectors = random_vectors(200)
    index.upsert(np.arange(200), vectors)
    assert index.count() == 200
    query = random_vectors(1, seed=2)[0]
    found = index.query(query, 10, None)
    assert _nums(found) == _exact(vectors, query, 10)
    assert [cosine for _, cosine in found] == pytest.approx(
        [float(vectors[num] @ query) for num in _nums(found)], abs=1e-5
    )


def test_more_than_there_are_is_all_there_are(index: VectorIndex) -> None:
    index.upsert(np.arange(7), random_vectors(7))
    assert sorted(_nums(index.query(axis(0), 1_000, None))) == list(range(7))
    assert index.query(axis(0), 0, None) == []


def test_equal_vectors_are_ordered_by_number(index: VectorIndex) -> None:
    index.upsert(numbers(9, 3, 700, 5), np.tile(axis(1), (4, 1)))
    found = index.query(axis(1), 4, None)
    assert _nums(found) == [3, 5, 9, 700]
    assert [cosine for _, cosine in found] == pytest.approx([1.0] * 4, abs=1e-6)


def test_putting_in_again_replaces_and_may_be_repeated(index: VectorIndex) -> None:
    for _ in range(2):
        index.upsert(numbers(1, 2), np.stack([axis(0), axis(1)]))
    index.upsert(numbers(1), axis(2)[np.newaxis])
    assert index.count() == 2
    assert index.query(axis(2), 1, None) == [(1, pytest.approx(1.0, abs=1e-6))]
    assert index.query(axis(0), 1, None)[0][1] == pytest.approx(0.0, abs=1e-6)


def test_the_last_vector_of_a_number_counts(index: VectorIndex) -> None:
    index.upsert(numbers(1, 2, 1), np.stack([axis(0), axis(1), axis(2)]))
    assert index.count() == 2
    assert _nums(index.query(axis(2), 1, None)) == [1]


def test_what_was_deleted_is_not_found(index: VectorIndex) -> None:
    vectors = random_vectors(50)
    index.upsert(np.arange(50), vectors)
    for _ in range(2):
        index.delete([3, 4, 4, 999])
    index.delete([])
    assert index.count() == 48
    assert not {3, 4} & set(_nums(index.query(vectors[3], 50, None)))
    index.upsert(numbers(3), vectors[3:4])
    assert _nums(index.query(vectors[3], 1, None)) == [3]


def test_only_what_the_mask_admits_is_found(index: VectorIndex) -> None:
    vectors = random_vectors(40)
    index.upsert(np.arange(40), vectors)
    mask = np.zeros(30, dtype=np.bool_)
    mask[::2] = True
    found = index.query(vectors[5], 5, mask)
    assert set(_nums(found)) <= set(range(0, 30, 2))
    assert index.query(vectors[5], 5, np.zeros(0, dtype=np.bool_)) == []
    everything = np.ones(1_000, dtype=np.bool_)
    assert index.query(vectors[5], 5, everything) == index.query(vectors[5], 5, None)


def test_vectors_need_not_be_of_length_one(index: VectorIndex) -> None:
    index.upsert(numbers(1, 2), np.stack([axis(0) * 50, axis(1) * 0.01]))
    assert index.query(axis(1) * 7, 1, None) == [(2, pytest.approx(1.0, abs=1e-6))]


def test_many_vectors_go_in_and_out_at_once(index: VectorIndex) -> None:
    vectors = random_vectors(1_300)
    index.upsert(np.arange(1_300), vectors)
    assert index.count() == 1_300
    index.delete(list(range(700)))
    assert index.count() == 600
    assert _nums(index.query(vectors[1_000], 1, None)) == [1_000]


def test_models_do_not_see_each_other(index: VectorIndex) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    index.ensure("model-b-4", 4)
    assert index.count() == 0
    index.upsert(numbers(8, 9), random_vectors(2, dims=4))
    assert index.count() == 2
    index.ensure(MODEL, DIMS)
    assert _nums(index.query(axis(0), 5, None)) == [1]


def test_a_model_can_be_dropped_in_use_or_not(index: VectorIndex) -> None:
    index.upsert(numbers(1), axis(0)[np.newaxis])
    index.ensure("model-b-4", 4)
    index.upsert(numbers(2), random_vectors(1, dims=4))
    index.drop(MODEL)
    index.drop("never-heard-of")
    assert index.count() == 1
    index.drop("model-b-4")
    assert index.count() == 0
    index.upsert(numbers(3), random_vectors(1, dims=4))
    assert index.count() == 1
    index.ensure(MODEL, DIMS)
    assert index.count() == 0


def test_what_makes_no_sense_is_refused_and_changes_nothing(index: VectorIndex) -> None:
    with pytest.raises(ValueError, match="dimensions"):
        index.upsert(numbers(1), random_vectors(1, dims=3))
    with pytest.raises(ValueError, match="vectors"):
        index.upsert(numbers(1, 2), axis(0)[np.newaxis])
    with pytest.raises(ValueError, match="zero"):
        index.upsert(numbers(1), np.zeros((1, DIMS), dtype=np.float32))
    with pytest.raises(ValueError, match="not finite"):
        index.upsert(numbers(1), np.full((1, DIMS), np.nan, dtype=np.float32))
    for num in (-1, LARGEST_NUM + 1):
        with pytest.raises(ValueError, match="go from 0"):
            index.upsert(numbers(num), axis(0)[np.newaxis])
    with pytest.raises(ValueError, match="dimensions"):
        index.query(random_vectors(1, dims=3)[0], 1, None)
    assert index.count() == 0


def test_closing_may_be_repeated(index: VectorIndex) -> None:
    index.close()
    index.close()
