"""Evidence for questions about long conversations: which share of the turns that answer is found."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from config.schema import EmbedderKind
from memory.api import AddRecord, Search
from memory.model import Kind, MemoryText
from tests.bench.memory.data import Conversation
from tests.bench.memory.opened import ModelTime, bench_memory, note
from tests.memory.opening import AGENT, Opened

KINDS = {Kind.EPISODIC: "episodes", Kind.SEMANTIC: "facts"}


@dataclass(frozen=True, slots=True)
class Recall:
    """Means over all questions of the share of their evidence among the best 5 and 10."""

    way: str
    questions: int
    at_5: float
    at_10: float
    by_category: tuple[tuple[int, float], ...]
    """(category, at 10)."""


def measure(
    conversations: Sequence[Conversation],
    kind: Kind,
    model: ModelTime,
    *,
    dated: bool,
    embedder: EmbedderKind = EmbedderKind.MINILM,
) -> Recall:
    """Each conversation in a space of its own, asked when its last turn is stored.

    ``dated``: turns are stored at the time they were said; otherwise all within minutes.
    """
    at_5: list[float] = []
    at_10: dict[int, list[float]] = defaultdict(list)
    with model.watched(), bench_memory(embedder) as memory:
        for conversation in conversations:
            ids = _store(memory, conversation, kind, dated=dated)
            for question in conversation.questions:
                asked = Search(question.text, conversation.name, top_k=10)
                found = [ids[hit.record.id] for hit in memory.ask(asked).hits]
                wanted = len(question.evidence)
                at_5.append(len(_turns(found[:5]) & question.evidence) / wanted)
                at_10[question.category].append(len(_turns(found) & question.evidence) / wanted)
            note(f"{conversation.name}: {len(ids):,} turns, {len(at_5):,} questions so far")
    every = [share for shares in at_10.values() for share in shares]
    return Recall(
        f"{KINDS[kind]}, {'on their dates' if dated else 'all at once'}",
        len(at_5),
        statistics.fmean(at_5),
        statistics.fmean(every),
        tuple((category, statistics.fmean(at_10[category])) for category in sorted(at_10)),
    )


def _store(
    memory: Opened, conversation: Conversation, kind: Kind, *, dated: bool
) -> dict[str, frozenset[str]]:
    """The turns of every record; the same words in two turns are one fact."""
    ids: dict[str, frozenset[str]] = {}
    later = memory.now - conversation.turns[0].at  # the clock never goes back
    for turn in conversation.turns:
        if dated:
            memory.now = max(memory.now, turn.at + later)
        stored = memory.ask(
            AddRecord(
                kind,
                MemoryText(turn.text),
                conversation.name,
                session_id=turn.session if kind is Kind.EPISODIC else None,
                turn_number=turn.number if kind is Kind.EPISODIC else None,
            ),
            AGENT,
        )
        ids[stored.record.id] = ids.get(stored.record.id, frozenset()) | {turn.id}
    return ids


def _turns(found: Sequence[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*found)
