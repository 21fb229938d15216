"""The exact index against the plainest one that can be written."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.vectors.brute import BruteIndex
from memory.vectors.port import Mask
from memory.vectors.table import VectorTable, _nearest
from tests.memory.vectors.support import axis, numbers, random_vectors

_POOL = random_vectors(40, dims=4)
_Step = tuple[str, list[int]]
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove"]), st.lists(st.integers(0, 39), max_size=12, unique=True)
    ),
    max_size=12,
)


def _table(steps: list[_Step]) -> tuple[VectorTable, dict[int, int]]:
    """A table after these steps, and which vector of the pool each number should have."""
    table, expected = VectorTable(4), dict[int, int]()
    for shift, (what, nums) in enumerate(steps):
        if what == "put":
            chosen = [(num + shift) % 40 for num in nums]
            table.put(numbers(*nums), _POOL[chosen].reshape(len(nums), 4))
            expected.update(zip(nums, chosen, strict=True))
        else:
            table.remove(numbers(*nums))
            for num in nums:
                expected.pop(num, None)
    return table, expected


@given(_STEPS, st.integers(0, 50), st.none() | st.lists(st.booleans(), max_size=45))
def test_any_history_is_searched_as_a_sorted_list_would_be(
    steps: list[_Step], k: int, admitted: list[bool] | None
) -> None:
    table, expected = _table(steps)
    mask: Mask | None = None if admitted is None else np.array(admitted, dtype=np.bool_)
    query = _POOL[0]

    def cosine(num: int) -> float:
        return float((_POOL[expected[num]].astype(np.float64) * query.astype(np.float64)).sum())

    visible = [num for num in expected if mask is None or (num < len(mask) and mask[num])]
    best = sorted(visible, key=lambda num: (-min(1.0, cosine(num)), num))[:k]
    found = table.search(query, k, mask)
    assert [num for num, _ in found] == best
    assert [value for _, value in found] == pytest.approx([cosine(num) for num in best], abs=1e-9)
    assert len(table) == len(expected)
    assert table.nums().tolist() == sorted(expected)
    assert table.admitted(mask) == len(visible)


@given(_STEPS)
def test_any_history_keeps_every_vector(steps: list[_Step]) -> None:
    table, expected = _table(steps)
    nums = numbers(*sorted(expected))
    assert np.array_equal(table.vectors(nums), _POOL[[expected[num] for num in nums]])


def test_equal_vectors_have_exactly_equal_cosines_wherever_they_lie() -> None:
    index = BruteIndex()
    index.ensure("m", 384)
    vectors = random_vectors(3_001, dims=384)
    same = np.arange(0, 3_001, 7)
    vectors[same] = vectors[0]
    index.upsert(np.arange(3_001), vectors)
    found = index.query(random_vectors(1, seed=5, dims=384)[0], 3_001, None)
    assert len({cosine for num, cosine in found if num % 7 == 0}) == 1
    in_order = [num for num, _ in found if num % 7 == 0]
    assert in_order == same.tolist()


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.95])
def test_a_mask_gives_the_same_whether_rows_are_copied_or_not(share: float) -> None:
    index = BruteIndex()
    index.ensure("m", 16)
    vectors = random_vectors(2_000)
    index.upsert(np.arange(2_000), vectors)
    mask = np.random.default_rng(3).random(2_000) < share
    everything = index.query(vectors[0], 2_000, None)
    assert index.query(vectors[0], 25, mask) == [one for one in everything if mask[one[0]]][:25]


@pytest.mark.parametrize("noise", [0.0, 0.02, 1.0])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_shortened_rows_leave_out_none_of_the_nearest(noise: float, share: float) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(6_000, 40)) @ random.normal(size=(40, 384)) / 40**0.5
    vectors = vectors + noise * random.normal(size=vectors.shape)
    vectors[100:110] = vectors[100]
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    table = VectorTable(384)
    table.put(np.arange(4_500), vectors[:4_500])
    table.search(vectors[0], 10, None)  # from here on rows are shortened
    assert table._short is not None
    table.put(np.arange(4_500, 6_000), vectors[4_500:])
    table.put(np.arange(20), vectors[50:70])
    vectors[:20] = vectors[50:70]
    table.remove(np.arange(300, 900))
    alive = np.ones(6_000, dtype=np.bool_)
    alive[300:900] = False
    mask = random.random(6_000) < share
    for at, k in ((100, 10), (5, 1), (5_900, 100), (400, 40)):
        table._pause = 0
        cosines = (vectors.astype(np.float64) * vectors[at].astype(np.float64)).sum(axis=1)
        nums = np.flatnonzero(alive & mask)
        best = nums[np.lexsort((nums, -np.minimum(cosines[nums], 1.0)))][:k]
        found = table.search(vectors[at], k, mask)
        assert [num for num, _ in found] == best.tolist()
        assert noise or not table._pause


def test_deleted_vectors_leave_no_bytes() -> None:
    table = VectorTable(16)
    vectors = random_vectors(1_000)
    table.put(np.arange(1_000), vectors)
    table.remove(np.arange(0, 1_000, 2))
    kept = table._rows.tobytes()
    assert vectors[1].tobytes() in kept
    assert not [num for num in range(0, 1_000, 2) if vectors[num].tobytes() in kept]


def test_room_is_given_back_when_most_is_deleted() -> None:
    table = VectorTable(16)
    table.put(np.arange(5_000), random_vectors(5_000))
    table.remove(np.arange(10, 5_000))
    assert table._rows.nbytes < 100_000
    assert len(table.search(axis(0), 100, None)) == 10


def test_whoever_may_be_as_good_as_the_last_is_computed_again() -> None:
    rough = np.array([0.1, 0.5, 0.5 - 5e-6, 0.5 - 5e-5], dtype=np.float32)
    assert _nearest(rough, 1).tolist() == [1, 2]
    assert _nearest(rough, 9).tolist() == [0, 1, 2, 3]


def test_a_sparse_number_costs_four_bytes_for_each_before_it() -> None:
    table = VectorTable(16)
    table.put(numbers(1_000_000), axis(0)[np.newaxis])
    assert table.search(axis(0), 1, None) == [(1_000_000, 1.0)]
    assert table._row_of.nbytes < 5_000_000


def test_a_model_never_has_two_dimensions() -> None:
    index = BruteIndex()
    index.ensure("m", 16)
    with pytest.raises(ValueError, match="have 16 dimensions, not 8"):
        index.ensure("m", 8)


def test_before_a_model_is_chosen_nothing_can_be_put_in() -> None:
    index = BruteIndex()
    assert index.count() == 0
    index.delete([1])
    with pytest.raises(ValueError, match="no model"):
        index.upsert(numbers(1), axis(0)[np.newaxis])


def test_cosines_of_given_numbers_leave_out_what_is_not_there() -> None:
    index = BruteIndex()
    index.ensure("m", 16)
    index.upsert(numbers(4, 2), np.stack([axis(0), axis(1)]))
    assert index.cosines(axis(1), [4, 7, 2]) == [(2, 1.0), (4, 0.0)]


def test_all_vectors_come_in_batches() -> None:
    index = BruteIndex()
    index.ensure("m", 16)
    vectors = random_vectors(250)
    index.upsert(np.arange(250), vectors)
    batches = list(index.batches(100))
    assert [len(nums) for nums, _ in batches] == [100, 100, 50]
    assert np.allclose(np.concatenate([rows for _, rows in batches]), vectors, atol=1e-6)


def test_threads_may_write_and_search_at_once() -> None:
    index = BruteIndex()
    index.ensure("m", 16)
    vectors = random_vectors(400)
    missed: list[int] = []

    def work(at: int) -> None:
        for num in range(at, 400, 4):
            index.upsert(numbers(num), vectors[num : num + 1])
            if index.query(vectors[num], 1, None)[0][0] != num:
                missed.append(num)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert missed == []
    assert index.count() == 400
