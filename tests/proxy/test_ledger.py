"""The ledger: what counts as saved and what does not, and parts that add up to the whole."""

from __future__ import annotations

import gc
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.answer_model import Savings, SavingsView
from proxy.ledger import (
    OURS,
    Ledger,
    entries_of,
    entry_of,
    figures_of,
    first_day,
    lines_of,
    merge,
    summed,
    tool_list_entry,
)
from proxy.model import CallRecord, Outcome, Sizes
from proxy.sums import local_day
from tests.proxy.store.conftest import make_record

NOON = 1_700_049_600.0
DAY = 86_400.0


def tokens(count: int) -> Sizes:
    return Sizes(4 * count, 4 * count, count)


def call(text: int, *, before: int = 0, **changes: object) -> CallRecord:
    fields: dict[str, object] = {
        "started_at": NOON,
        "text": tokens(text),
        "structured": Sizes(),
        "strategy": "extract" if before else "",
        "before": tokens(before),
    }
    return make_record(1, **{**fields, **changes})


def savings(record: CallRecord, cut: int = 0) -> Savings:
    entry = entry_of(record, cut)
    assert entry is not None
    return entry[1]


def test_a_reduced_answer_saves_the_difference() -> None:
    found = savings(call(100, before=900, overhead_tokens=30))
    assert found == Savings(calls=1, reduced=1, before=900, sent=100, notices=30)
    assert found.net == 800


def test_text_and_structured_content_both_count() -> None:
    found = savings(call(100, before=900, structured=tokens(50)))
    assert (found.before, found.sent) == (900, 150)


def test_an_answer_that_went_out_as_it_came_saves_nothing() -> None:
    assert savings(call(100)) == Savings(calls=1, before=100, sent=100)


def test_a_reduction_that_failed_saves_nothing() -> None:
    assert savings(call(100, fault="the worker died")).net == 0


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_calls_that_ended_well_save_anything(outcome: Outcome) -> None:
    entry = entry_of(call(100, before=900, outcome=outcome))
    if outcome is Outcome.OK:
        assert entry is not None
        assert entry[1].net == 800
    elif outcome is Outcome.TOOL_ERROR:
        assert entry is not None
        assert (entry[1].net, entry[1].reduced, entry[1].calls) == (0, 0, 1)
    else:
        assert entry is None


def test_what_the_host_would_have_cut_itself_is_not_saved() -> None:
    assert savings(call(4_000, before=900_000), 25_000).net == 21_000
    assert savings(call(30_000, before=900_000), 25_000).net == 0
    assert savings(call(30_000), 25_000) == Savings(calls=1, before=25_000, sent=25_000)


def test_text_fetched_back_is_taken_off_the_tool_it_came_from() -> None:
    entry = entry_of(
        call(
            70,
            upstream=OURS,
            tool="stm_proxy_read_more",
            fetched_upstream="docs",
            fetched_tool="get",
        )
    )
    assert entry == ((local_day(NOON), "docs", "get"), Savings(fetched=70))
    assert entry[1].net == -70


def test_our_own_tools_other_answers_and_lists_are_our_cost() -> None:
    entry = entry_of(call(70, upstream=OURS, tool="stm_compression_feedback"))
    assert entry is not None
    assert entry[1] == Savings(control_tools=70)
    assert tool_list_entry(NOON, 400) == ((local_day(NOON), OURS, ""), Savings(control_tools=400))


def test_an_upstream_of_our_name_is_still_an_upstream() -> None:
    assert savings(call(70, upstream=OURS, tool="get")).calls == 1


def test_calls_answered_without_the_upstream_are_counted() -> None:
    assert savings(call(10, cache="hit")).cache_hits == 1
    assert savings(call(10, cache="shared")).cache_hits == 1


@pytest.mark.parametrize(
    ("days", "since"),
    [(0, ""), (-3, ""), (1, 0), (2, 1), (7, 6), (10**9, None)],
)
def test_days_are_counted_back_from_today(days: int, since: str | int | None) -> None:
    if isinstance(since, int):
        assert first_day(days, NOON) == local_day(NOON - since * DAY)
    else:
        assert first_day(days, NOON) == (since if since is not None else "0001-01-01")


def test_days_ahead_of_the_clock_are_not_lost() -> None:
    ledger = Ledger()
    for at in (NOON + 3 * DAY, NOON, NOON - 3 * DAY):
        ledger.include(summed([tool_list_entry(at, 1)]))
    assert len(ledger.lines(1, NOON)) == 2
    assert len(ledger.lines(0, NOON)) == 3


def test_the_sums_cost_the_garbage_collector_nothing() -> None:
    ledger = Ledger()
    ledger.include(summed([tool_list_entry(NOON, 1)]))
    gc.collect()
    for key, figures in ledger._sums.items():
        assert not gc.is_tracked(key)
        assert not gc.is_tracked(figures)


NUMBERS = st.integers(0, 100_000)
RECORDS = st.builds(
    call,
    NUMBERS,
    before=NUMBERS,
    started_at=st.floats(0, 4e9),
    upstream=st.sampled_from(["a", "b", OURS]),
    tool=st.sampled_from(["get", "stm_proxy_read_more"]),
    outcome=st.sampled_from(Outcome),
    overhead_tokens=NUMBERS,
    fetched_upstream=st.sampled_from(["", "", "a"]),
    cache=st.sampled_from(["", "hit"]),
)
CUTS = st.sampled_from([0, 0, 50, 25_000])


@given(st.lists(st.tuples(RECORDS, CUTS), max_size=15))
def test_parts_add_up_to_the_total(calls: list[tuple[CallRecord, int]]) -> None:
    entries = [entry for record, cut in calls if (entry := entry_of(record, cut))]
    view = SavingsView(lines_of(summed(entries), ""), 0, "o200k_base")
    total = Savings()
    for _, one in entries:
        total += one
    assert view.total == total
    for parts in (view.by_day(), view.by_upstream(), view.by_tool()):
        again = Savings()
        for part in parts.values():
            again += part
        assert again == total
    assert sum(line.savings.net for line in view.lines) == total.net
    assert total.notices <= total.sent
    assert all(getattr(total, field.name) >= 0 for field in fields(total))


@given(RECORDS, st.integers(1, 200_000))
def test_a_hosts_cut_never_turns_a_saving_into_a_loss(record: CallRecord, cut: int) -> None:
    whole, capped = entry_of(record, 0), entry_of(record, cut)
    assert (whole is None) is (capped is None)
    if whole is not None and capped is not None and whole[1].calls:
        assert capped[1].before <= cut
        assert capped[1].sent <= cut
        if whole[1].net >= 0:
            assert 0 <= capped[1].net <= whole[1].net


@given(st.lists(RECORDS, max_size=8), st.lists(RECORDS, max_size=8))
def test_batches_come_to_the_same_as_all_at_once(
    first: list[CallRecord], second: list[CallRecord]
) -> None:
    ledger = Ledger()
    for batch in (first, second):
        ledger.include(summed(entry for record in batch if (entry := entry_of(record))))
    at_once = summed(entry for record in (*first, *second) if (entry := entry_of(record)))
    assert ledger.sums() == at_once
    merged = summed(entry for record in first if (entry := entry_of(record)))
    merge(merged, summed(entry for record in second if (entry := entry_of(record))))
    assert merged == at_once
    restored = Ledger()
    restored.restore(at_once)
    assert restored.lines(0, NOON) == ledger.lines(0, NOON)


def test_rows_name_the_fields_in_order() -> None:
    one = Savings(*range(1, 9))
    assert figures_of(one) == tuple(getattr(one, field.name) for field in fields(one))


@given(st.lists(st.tuples(st.floats(0, 4e9), st.integers(0, 500)), max_size=8))
def test_a_batch_counts_as_its_calls_one_by_one(calls: list[tuple[float, int]]) -> None:
    records = [call(300, before=900, started_at=at) for at, _ in calls]
    cuts = [cut for _, cut in calls]

    one_by_one = [entry_of(record, cut) for record, cut in zip(records, cuts, strict=True)]

    assert list(entries_of(records, cuts)) == one_by_one
