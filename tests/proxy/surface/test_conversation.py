"""One conversation knows what it was shown and what it does not want again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.surface import conversation
from proxy.surface.conversation import Conversation


def test_a_memory_that_was_shown_is_seen_until_its_time_is_over() -> None:
    talk = Conversation(100.0)
    assert not talk.has_seen("a", 0.0)
    talk.showed(("a", "b"), 1000.0)
    assert talk.has_seen("a", 1000.0)
    assert talk.has_seen("b", 1099.9)
    assert not talk.has_seen("a", 1100.0)
    assert not talk.has_seen("c", 1000.0)
    talk.showed(("a",), 1100.0)
    assert talk.has_seen("a", 1150.0)
    assert talk.shown == 3


def test_without_a_time_a_memory_never_comes_again() -> None:
    talk = Conversation(0.0)
    talk.showed(("a",), 0.0)
    assert talk.has_seen("a", 1e12)


def test_another_time_to_live_counts_for_what_was_shown_before() -> None:
    talk = Conversation(0.0)
    talk.showed(("a",), 0.0)
    talk.dedup_ttl_seconds = 10.0
    assert talk.has_seen("a", 9.0)
    assert not talk.has_seen("a", 10.0)


def test_a_memory_rated_away_stays_away_until_the_rating_is_taken_back() -> None:
    talk = Conversation(1.0)
    talk.invalidate("a")
    assert talk.is_invalid("a")
    assert not talk.is_invalid("b")
    talk.revalidate("a")
    talk.revalidate("b")
    assert not talk.is_invalid("a")


def test_all_that_is_remembered_is_bounded_and_the_oldest_is_forgotten() -> None:
    talk = Conversation()
    most = conversation.REMEMBERED
    for number in range(most + 2):
        talk.showed((str(number),), float(number))
        talk.invalidate(str(number))
    last = most + 1
    assert talk.has_seen(str(last), last)
    assert talk.is_invalid(str(last))
    assert not talk.has_seen("1", last)
    assert not talk.is_invalid("1")
    assert talk.shown == most + 2


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1000)), max_size=12),
    st.floats(0, 2000),
    st.floats(0.1, 500),
)
def test_seen_means_shown_less_than_its_time_ago(
    shows: list[tuple[str, float]], now: float, ttl: float
) -> None:
    talk = Conversation(ttl)
    for memory, at in shows:
        talk.showed((memory,), at)
    latest = dict(shows)
    for memory in "abc":
        assert talk.has_seen(memory, now) == (memory in latest and now - latest[memory] < ttl)
