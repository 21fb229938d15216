"""Which of the found memories are shown with an answer, or why none is. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.surface.conversation import Conversation
from proxy.surface.model import Decision, FoundMemory

DEMOTED_FROM = 3
"""Rated not relevant in so many events of a tool, a memory is not shown with it any more."""
SAME_TEXT = 0.9
"""Share of words in common from which a text with nothing but a few words more says the same."""
_COMPARED = 4000
"""Characters of a text that are compared."""
_WORDS = re.compile(r"\w+")
_TELLING = re.compile(
    r"\d|^(?:not?|never|none|without|dont|isnt|except|only|kein.*|nicht|nie|ohne)$"
)
"""Words that turn a sentence into another one."""

_FILTERS = (
    Decision.NO_RESULTS,
    Decision.BELOW_THRESHOLD,
    Decision.SEEN,
    Decision.INVALIDATED,
    Decision.DEMOTED,
)
"""In their order. Nothing is left: the last one that took a memory away is the reason."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is shown."""

    memories: tuple[FoundMemory, ...]
    """Best first."""
    decision: Decision
    """``SURFACED``, or why there are none."""
    best_score: float | None
    """The highest of all that were found, whatever became of it; ``None``: nothing was found."""


def choose(
    found: Sequence[FoundMemory],
    threshold: float,
    conversation: Conversation,
    demoted: Mapping[str, int],
    limit: int,
    now: float,
) -> Choice:
    """Take the best memories that matter and that the conversation can still learn from.

    ``threshold``: from this score on a memory matters, 0 to 1. ``demoted``: by memory, in how many events
    of the tool it was rated not relevant. ``limit``: most memories; 0 or less: the session's budget is
    spent. ``now``: of the clock that the conversation was told of. A text that says the same as a better
    one, or as one that was seen or rated away, shares its fate.
    """
    scores = [memory.score for memory in found if memory.score == memory.score]
    best = max(scores, default=None)
    gone = _Texts([memory for memory in found if _was_here(memory, conversation, now)])
    kept = _Texts([])
    last = Decision.NO_RESULTS
    ids: set[str] = set()
    for memory in sorted(found, key=_rank):
        if memory.id in ids:
            continue
        ids.add(memory.id)
        verdict = _verdict(memory, threshold, conversation, demoted, now)
        if verdict is None:
            twin = gone.twin(memory)
            verdict = None if twin is None else _was_here(twin, conversation, now)
        if verdict is not None:
            last = max(last, verdict, key=_FILTERS.index)
        elif kept.twin(memory) is None:
            kept.add(memory)
            if len(kept.memories) >= limit:
                break
    if not kept.memories:
        return Choice((), last, best)
    if limit <= 0:
        return Choice((), Decision.SESSION_BUDGET, best)
    return Choice(tuple(kept.memories), Decision.SURFACED, best)


class _Texts:
    """Memories whose texts others are compared with."""

    def __init__(self, memories: Sequence[FoundMemory]) -> None:
        self.memories: list[FoundMemory] = []
        self._words: list[list[str]] = []
        for memory in memories:
            self.add(memory)

    def add(self, memory: FoundMemory) -> None:
        self.memories.append(memory)
        self._words.append(_words(memory.text))

    def twin(self, memory: FoundMemory) -> FoundMemory | None:
        """One that says the same."""
        words = _words(memory.text) if self.memories else []
        pairs = zip(self.memories, self._words, strict=True)
        return next((other for other, those in pairs if _same(words, those)), None)


def says_the_same(one: str, other: str) -> bool:
    """The texts have the same words, or one has a few more that turn nothing around.

    Numbers and negations count: of two rules that differ in one of these, both are worth showing.
    """
    return _same(_words(one), _words(other))


def _same(first: Sequence[str], second: Sequence[str]) -> bool:
    if first == second:
        return True
    few, many = sorted((frozenset(first), frozenset(second)), key=len)
    if not few < many or len(few) < SAME_TEXT * len(many):
        return False  # the same words in another order may say something else, too
    return not any(_TELLING.search(word) for word in many - few)


def _words(text: str) -> list[str]:
    """In their order; of a text without any, the text."""
    folded = text[:_COMPARED].casefold().replace("'", "").replace("\u2019", "")
    return _WORDS.findall(folded) or [text.strip()]


def _rank(memory: FoundMemory) -> float:
    return -memory.score if memory.score == memory.score else 1.0


def _verdict(
    memory: FoundMemory,
    threshold: float,
    conversation: Conversation,
    demoted: Mapping[str, int],
    now: float,
) -> Decision | None:
    """Which filter takes the memory away."""
    if not memory.score >= threshold:  # also for NaN
        return Decision.BELOW_THRESHOLD
    here = _was_here(memory, conversation, now)
    if here is not None:
        return here
    if demoted.get(memory.id, 0) >= DEMOTED_FROM:
        return Decision.DEMOTED
    return None


def _was_here(memory: FoundMemory, conversation: Conversation, now: float) -> Decision | None:
    """It was rated away, or only seen: the rating is what a person wants to read."""
    if conversation.is_invalid(memory.id):
        return Decision.INVALIDATED
    return Decision.SEEN if conversation.has_seen(memory.id, now) else None
