"""What of progressive answers was read."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from proxy.compress.notices import progressive_footer
from proxy.progressive_reads import ProgressiveRead, chunk_read, initial_reads, progressive_view

KEY = "0123456789abcdef"


def _read(offset: int, end: int, *, initial: bool | None, key: str = KEY) -> ProgressiveRead:
    return ProgressiveRead(1.0, key, "fs", "read", offset, end, 1000, initial)


def test_a_first_chunk_is_recognised_by_its_footer() -> None:
    text = "x" * 100 + progressive_footer(0, 100, 1000, KEY)
    body = json.dumps({"content": [{"type": "text", "text": text}, {"type": "text", "text": "y"}]})
    assert initial_reads(body.encode(), 5.0, "fs", "read") == [
        ProgressiveRead(5.0, KEY, "fs", "read", 0, 100, 1000, True)
    ]
    assert initial_reads(b"no json", 5.0, "fs", "read") == []


def test_the_last_chunk_is_counted_under_the_key_that_was_asked_for() -> None:
    text = "x" * 50 + progressive_footer(950, 1000, 1000, KEY)
    assert chunk_read(text, KEY, 5.0, "fs", "read", initial=False) == ProgressiveRead(
        5.0, KEY, "fs", "read", 950, 1000, 1000, False
    )
    assert chunk_read("no footer", KEY, 5.0, "fs", "read", initial=False) is None


def test_a_response_with_five_follow_ups_weighs_the_same_as_one_with_none() -> None:
    reads = [_read(0, 100, initial=True)]
    reads += [_read(100 * n, 100 * n + 100, initial=False) for n in range(1, 6)]
    reads += [_read(0, 200, initial=True, key="f" * 16)]
    view = progressive_view(reads)
    assert (view.reads, view.responses, view.followed_up) == (7, 2, 1)
    assert view.follow_up_rate == 0.5
    assert view.average_coverage == (0.6 + 0.2) / 2
    assert view.average_served == 400
    assert view.average_total == 1000
    assert (view.initial_characters, view.follow_up_characters) == (300, 500)


def test_what_is_read_twice_counts_once_in_coverage_and_again_in_volume() -> None:
    view = progressive_view(
        [_read(0, 100, initial=True), _read(50, 150, initial=False), _read(50, 150, initial=False)]
    )
    assert view.average_coverage == 0.15
    assert view.follow_up_characters == 200


def test_reads_of_an_older_version_are_counted_apart() -> None:
    view = progressive_view([_read(0, 100, initial=None)])
    assert (view.legacy_reads, view.initial_characters, view.follow_up_characters) == (1, 0, 0)


def test_reading_on_in_an_answer_shortened_otherwise_is_no_progressive_response() -> None:
    assert progressive_view([_read(100, 200, initial=False)]).responses == 0


def test_a_tool_is_chosen_by_its_name_with_or_without_its_upstream() -> None:
    reads = [_read(0, 100, initial=True)]
    assert progressive_view(reads, tool="read").responses == 1
    assert progressive_view(reads, tool="fs/read").responses == 1
    assert progressive_view(reads, tool="git/read").responses == 0
    assert progressive_view([]).follow_up_rate == 0.0


_SPANS = st.lists(
    st.tuples(st.integers(0, 999), st.integers(1, 500), st.booleans(), st.sampled_from("abc")),
    max_size=30,
)


@given(_SPANS)
def test_coverage_stays_within_the_text_and_groups_add_up(
    spans: list[tuple[int, int, bool, str]],
) -> None:
    reads = [
        _read(start, min(1000, start + size), initial=initial, key=key * 16)
        for start, size, initial, key in spans
    ]
    view = progressive_view(reads)
    assert 0 <= view.average_coverage <= 1
    begun = {read.key for read in reads if read.initial}
    assert view.responses == len(begun)
    of_begun = sum(read.key in begun for read in reads)
    assert sum(line.reads for line in view.tools) == view.reads == of_begun
    assert view.followed_up <= view.responses
