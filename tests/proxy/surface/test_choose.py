"""Which memories are shown, and the reason when none is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.surface.choose import DEMOTED_FROM, Choice, choose, says_the_same
from proxy.surface.conversation import Conversation
from proxy.surface.model import Decision, FoundMemory

TEXTS = (
    "Staging deploys run from the release branch.",
    "Invoices are rounded half to even.",
    "The parser keeps comments.",
    "Backups are taken every night.",
)


def _found(*scores: float) -> list[FoundMemory]:
    """Memories ``m0``, ``m1``, … with different texts."""
    return [FoundMemory(f"m{number}", TEXTS[number], score) for number, score in enumerate(scores)]


def _choose(
    found: list[FoundMemory],
    conversation: Conversation | None = None,
    demoted: dict[str, int] | None = None,
    limit: int = 3,
    threshold: float = 0.5,
) -> Choice:
    return choose(found, threshold, conversation or Conversation(), demoted or {}, limit, 0.0)


def _ids(choice: Choice) -> list[str]:
    return [memory.id for memory in choice.memories]


def test_the_best_from_the_threshold_on_are_taken() -> None:
    choice = _choose(_found(0.5, 0.91, 0.49, 0.7))
    assert _ids(choice) == ["m1", "m3", "m0"]
    assert choice.decision is Decision.SURFACED
    assert choice.best_score == 0.91
    assert _ids(_choose(_found(0.5, 0.91, 0.49, 0.7), limit=1)) == ["m1"]


def test_the_reason_is_the_last_filter_that_took_something_away() -> None:
    talk = Conversation()
    talk.showed(("m0", "m1"), 0.0)
    talk.invalidate("m1")
    demoted = {"m2": DEMOTED_FROM, "m3": DEMOTED_FROM - 1}
    assert _choose([]).decision is Decision.NO_RESULTS
    assert _choose(_found(0.4, 0.3)).decision is Decision.BELOW_THRESHOLD
    assert _choose(_found(0.9, 0.2), talk).decision is Decision.SEEN
    assert _choose(_found(0.9, 0.9), talk).decision is Decision.INVALIDATED
    assert _choose(_found(0.9, 0.9, 0.9), talk, demoted).decision is Decision.DEMOTED
    assert _choose(_found(0.9, 0.9, 0.1), talk, demoted).decision is Decision.INVALIDATED
    assert _choose(_found(0.9), talk).best_score == 0.9
    assert _choose([]).best_score is None
    assert _ids(_choose(_found(0.9, 0.9, 0.9, 0.9), talk, demoted)) == ["m3"]


def test_without_room_in_the_session_nothing_is_shown() -> None:
    choice = _choose(_found(0.9), limit=0)
    assert choice == Choice((), Decision.SESSION_BUDGET, 0.9)


def test_scores_that_are_no_numbers_never_matter() -> None:
    choice = _choose(_found(float("nan"), 0.6))
    assert _ids(choice) == ["m1"]
    assert choice.best_score == 0.6
    alone = _choose(_found(float("nan")), threshold=0.0)
    assert alone == Choice((), Decision.BELOW_THRESHOLD, None)


def test_a_text_that_says_the_same_as_a_better_one_is_left_out() -> None:
    found = [
        FoundMemory("a", "Deploys run from release.", 0.6),
        FoundMemory("b", "deploys run from  RELEASE", 0.9),
        FoundMemory("b", "the same id again", 0.8),
        FoundMemory("c", "Deploys run from main.", 0.5),
    ]
    assert _ids(_choose(found)) == ["b", "c"]


def test_a_text_that_says_the_same_as_a_seen_or_refused_one_shares_its_fate() -> None:
    talk = Conversation()
    talk.showed(("old",), 0.0)
    found = [
        FoundMemory("new", "Deploys run from release!", 0.9),
        FoundMemory("old", "Deploys run from release.", 0.1),
    ]
    assert _choose(found, talk).decision is Decision.SEEN
    talk.invalidate("old")
    assert _choose(found, talk).decision is Decision.INVALIDATED


def test_numbers_negations_order_and_exchanged_words_make_another_text() -> None:
    long = " ".join(f"word{chr(97 + number)}" for number in range(24))
    assert says_the_same(long, long + " indeed")
    assert not says_the_same(long, long + " not")
    assert not says_the_same(long, long + " 8080")
    assert not says_the_same(long + " main", long + " release")
    assert not says_the_same("a needs b", "b needs a")
    assert not says_the_same("\U0001f680", "\U0001f525")
    assert says_the_same("\U0001f680", " \U0001f680 ")


SCORES = st.floats(0, 1)


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(TEXTS), SCORES), max_size=10),
    SCORES,
    st.sets(st.sampled_from("abcdefgh")),
    st.sets(st.sampled_from("abcdefgh")),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 5)),
    st.integers(0, 5),
)
def test_what_is_shown_passed_every_filter(
    rows: list[tuple[str, str, float]],
    threshold: float,
    seen: set[str],
    invalid: set[str],
    demoted: dict[str, int],
    limit: int,
) -> None:
    talk = Conversation()
    talk.showed(tuple(sorted(seen)), 0.0)
    for memory in invalid:
        talk.invalidate(memory)
    found = [FoundMemory(*row) for row in rows]
    choice = choose(found, threshold, talk, demoted, limit, 1.0)
    shown = choice.memories
    assert len(shown) <= limit
    assert all(memory.score >= threshold for memory in shown)
    assert not {memory.id for memory in shown} & (seen | invalid)
    assert all(demoted.get(memory.id, 0) < DEMOTED_FROM for memory in shown)
    assert len({memory.text for memory in shown}) == len(shown)
    assert [memory.score for memory in shown] == sorted(
        (memory.score for memory in shown), reverse=True
    )
    assert (choice.decision is Decision.SURFACED) == bool(shown)
    assert choice.best_score == max((memory.score for memory in found), default=None)
