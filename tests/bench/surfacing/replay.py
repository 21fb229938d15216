"""The decisions of a week without a station: the same queries, search, score and choice, in parts.

What a station does on top is done here, too: gates of size and of writing tools, and ratings, by which
memories are not shown again.

Loads numpy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from config.schema import EmbedderKind, SurfacingSettings
from memory.api import AddRecord, Search, SearchResult
from memory.model import Hit, Kind, MemoryText
from proxy.query import CONTEXT_QUERY
from proxy.surface.calibration import Embedding, overlaps_of, probability
from proxy.surface.choose import choose
from proxy.surface.conversation import Conversation
from proxy.surface.gates import tool_gate
from proxy.surface.levels import SurfacingSearch, query_for
from proxy.surface.model import FoundMemory, QueryLevel
from proxy.tool_traits import NO_TRAITS
from tests.bench.memory.opened import bench_memory
from tests.bench.surfacing.figures import Outcome
from tests.bench.surfacing.scripted import UPSTREAM, answer_text
from tests.bench.surfacing.week import Call, Memory, Week

LIMIT = 12
"""Memories that a station asks for when it may show three."""
SPARE = 10
Score = Callable[[str, Sequence[Hit], str], "list[FoundMemory]"]
"""From a query, its hits and the embedding's id to memories with scores."""


@dataclass(frozen=True, slots=True)
class Looked:
    """One call and what its search found."""

    day: int
    session: int
    call: Call
    matter: frozenset[int]
    search: SurfacingSearch
    hits: tuple[Hit, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Searched:
    """A week's searches, made once for all scores and thresholds."""

    looked: tuple[Looked, ...]
    keys: dict[str, int]
    """From a record's id to the memory's key."""


def searched(the_week: Week, embedder: EmbedderKind) -> Searched:
    """Store and search as the week says."""
    with bench_memory(embedder) as memory:
        keys: dict[str, int] = {}
        found: list[Looked] = []
        day = -2
        for number, session in enumerate(the_week.sessions):
            while day < session.day:
                day += 1
                for one in the_week.stored_on(day):
                    keys[memory.ask(add(one)).record.id] = one.key
            known = the_week.known(session.day)
            for call in session.calls:
                search = search_of(call)
                result = (
                    memory.ask(Search(search.text, top_k=LIMIT + SPARE))
                    if search.text
                    else SearchResult(())
                )
                found.append(
                    Looked(
                        session.day,
                        number,
                        call,
                        call.matter & known,
                        search,
                        result.hits,
                        result.model,
                    )
                )
        return Searched(tuple(found), keys)


def search_of(call: Call) -> SurfacingSearch:
    """What a station would look for; nothing where a gate is closed."""
    told = str(call.arguments.get(CONTEXT_QUERY, ""))
    if tool_gate(SurfacingSettings(), UPSTREAM, call.tool, NO_TRAITS) is not None:
        return SurfacingSearch("", QueryLevel.NONE)
    if len(answer_text(call.tool, call.arguments)) < 200 and not told:
        return SurfacingSearch("", QueryLevel.NONE)
    arguments = {name: value for name, value in call.arguments.items() if name != CONTEXT_QUERY}
    return query_for(call.tool, UPSTREAM, "", told, json.dumps(arguments).encode())


def outcomes(
    week_searched: Searched, score: Score, threshold: float, most: int = 3
) -> list[Outcome]:
    """What would be shown from a threshold on."""
    return decided(
        week_searched.looked,
        lambda one: score(one.search.text, one.hits, one.model)[:LIMIT],
        week_searched.keys,
        threshold,
        most,
    )


def decided(
    looked: Sequence[Looked],
    found: Callable[[Looked], Sequence[FoundMemory]],
    keys: Mapping[str, int],
    threshold: float,
    most: int = 3,
) -> list[Outcome]:
    """The same for memories of any source. ``keys``: from their ids to the memories' keys."""
    conversations: dict[int, Conversation] = {}
    rated_away: dict[str, Counter[str]] = {}
    done: list[Outcome] = []
    for at, one in enumerate(looked):
        conversation = conversations.setdefault(one.session, Conversation())
        demoted = rated_away.setdefault(one.call.tool, Counter())
        choice = choose(found(one), threshold, conversation, demoted, most, float(at))
        ids = tuple(memory.id for memory in choice.memories)
        conversation.showed(ids, float(at))
        shown = tuple(keys[id] for id in ids)
        for memory, key in zip(choice.memories, shown, strict=True):
            if key not in one.matter:  # what an agent would say of it
                conversation.invalidate(memory.id)
                demoted[memory.id] += 1
        done.append(
            Outcome(one.day, one.session, one.call.tool, shown, one.matter, one.search.level)
        )
    return done


def add(memory: Memory) -> AddRecord:
    """The request that stores a memory."""
    kind, _, rest = memory.text.partition(": ")
    if kind == "episode":
        return AddRecord(
            Kind.EPISODIC, MemoryText(rest), session_id="earlier", turn_number=memory.key
        )
    if kind == "procedure":
        name, *steps = rest.split("; ")
        return AddRecord(Kind.PROCEDURAL, MemoryText(name, steps=tuple(steps)))
    return AddRecord(Kind.SEMANTIC, MemoryText(memory.text))


def by_probability(query: str, hits: Sequence[Hit], model: str) -> list[FoundMemory]:
    """Score: what is shipped, `console.memory_source.EmbeddedSource`."""
    embedding = _EMBEDDINGS[model.partition("-")[0]]
    texts = [whole(hit) for hit in hits]
    found = [
        FoundMemory(hit.record.id, text, probability(hit.parts.raw_similarity, overlap, embedding))
        for hit, text, overlap in zip(hits, texts, overlaps_of(query, texts), strict=True)
    ]
    return sorted(found, key=lambda one: -one.score)


_EMBEDDINGS = {"minilm": Embedding.MINILM, "hashing": Embedding.HASHING, "": Embedding.NONE}


def whole(hit: Hit) -> str:
    """A hit's words for a reader."""
    text = hit.record.text
    steps = [f"{number}. {step}" for number, step in enumerate(text.steps, 1)]
    return "\n".join([text.content, *steps])


def by_cosine(query: str, hits: Sequence[Hit], model: str) -> list[FoundMemory]:
    """Score: the cosine as it is."""
    found = [
        FoundMemory(hit.record.id, hit.record.text.content, hit.parts.raw_similarity)
        for hit in hits
    ]
    return sorted(found, key=lambda one: -one.score)


def by_rank(query: str, hits: Sequence[Hit], model: str) -> list[FoundMemory]:
    """Score: 1 for every hit, in the search's own order."""
    plain = by_cosine(query, hits, model)
    order = {hit.record.id: place for place, hit in enumerate(hits)}
    return [replace(one, score=1.0) for one in sorted(plain, key=lambda one: order[one.id])]
