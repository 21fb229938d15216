"""The list of shown memories: grouped by the answer they went with, in an order that holds still. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from console.surfacing_words import rating_words, unrated_in
from proxy.surface.model import MemoryRating, Rater, Rating, ShownMemory, SurfacingEvent


@dataclass(frozen=True, slots=True)
class Row:
    """A line: an answer with memories, or one of its memories."""

    event: SurfacingEvent
    memory: ShownMemory | None
    """``None``: the line of the answer itself."""

    @property
    def key(self) -> tuple[str, str]:
        """Of the event and the memory; the latter is empty for the answer's own line."""
        return self.event.id, self.memory.memory_id if self.memory is not None else ""

    @property
    def unrated(self) -> bool:
        """A memory that nobody rated."""
        return self.memory is not None and self.memory.rating is None


def arranged(
    events: Sequence[SurfacingEvent], known: Sequence[str], *, unrated_first: bool
) -> list[SurfacingEvent]:
    """The events in the order of the list.

    Those whose ids are ``known``, in the order of the list so far, stay where they are, so that rating does
    not move what a person looks at; new ones come before them.
    """

    def place(event: SurfacingEvent) -> tuple[bool, float, str]:
        return (unrated_first and not unrated_in(event), -event.at, event.id)

    by_id = {event.id: event for event in events}
    old = [by_id[id] for id in known if id in by_id]
    fresh = [event for id, event in by_id.items() if id not in set(known)]
    if not old:
        return sorted(fresh, key=place)
    newest = max(event.at for event in old)
    above = [event for event in fresh if event.at >= newest]
    below = [event for event in fresh if event.at < newest]
    return [*sorted(above, key=place), *old, *sorted(below, key=place)]


def rows_of(events: Sequence[SurfacingEvent], words: Sequence[str] = ()) -> list[Row]:
    """Each answer with its memories below it. ``words`` (in lower case) must all be in a memory's line."""
    rows: list[Row] = []
    for event in events:
        kept = [one for one in event.memories if _has(event, one, words)]
        if kept:
            rows.append(Row(event, None))
            rows += [Row(event, memory) for memory in kept]
    return rows


def next_unrated(rows: Sequence[Row], key: tuple[str, str]) -> Row | None:
    """The first unrated memory below the line of that key, else the first from the top."""
    place = next((i for i, row in enumerate(rows) if row.key == key), -1)
    around = (*rows[place + 1 :], *rows[: max(place, 0)])
    return next((row for row in around if row.unrated), None)


def rated(event: SurfacingEvent, memory_id: str, rating: Rating, at: float) -> SurfacingEvent:
    """The event with the person's rating of one of its memories."""

    def changed(memory: ShownMemory) -> ShownMemory:
        if memory.memory_id != memory_id:
            return memory
        others = tuple(one for one in memory.ratings if one.rater is not Rater.PERSON)
        return replace(memory, ratings=(*others, MemoryRating(Rater.PERSON, rating, at)))

    return replace(event, memories=tuple(map(changed, event.memories)))


def _has(event: SurfacingEvent, memory: ShownMemory, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = "\n".join(
        (
            f"{event.upstream}/{event.tool}",
            event.host,
            event.query,
            event.level.value,
            event.id,
            memory.memory_id,
            memory.preview,
            memory.why,
            rating_words(memory.rating),
            "conflict" if memory.conflict else "",
            *(f"{one.rater.value} {one.rating.value}" for one in memory.ratings),
        )
    ).lower()
    return all(word in text for word in words)
