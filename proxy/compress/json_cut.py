"""Make one JSON value smaller inside of its own shape, to a given size.

From the outside in: a value that fits is copied as it stands; of an object or array the best children
get their room, larger ones are cut in turn. What is left out is announced where it was. All of it
works on spans (`proxy.compress.json_tree`), so that what is kept is exactly what the upstream wrote.

Sizes of parts are summed up, and the sum is close to the size of the whole, not equal: the caller
checks the outcome and asks again with a smaller budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from proxy.compress import json_strings, notices
from proxy.compress.json_order import WORTH_NAMING, Ranked, items_in_order
from proxy.compress.json_query import NOTHING, Hits
from proxy.compress.json_sizes import Sizes
from proxy.compress.json_tree import Children, Document, Pointer, quoted, section
from proxy.compress.model import Gauge

SMALLEST_CUT = 14
"""Room of a value, in units of the budget, below which it is not opened any more."""
DEEPEST = 40
"""Levels that are opened; deeper values are kept or left out as a whole."""
MARKS_SHARE = 0.15
"""Marks that would take more than this share of an array's room become short ones."""
ODD_SHARE = 0.4
"""Share of an array's room that unusual items can take, errors apart."""
MEASURED = 2.5
"""How many times an array's room the items may take, about, that are measured for it."""
FEWEST_MEASURED = 16
"""Items that are measured in any case."""
MOST_CUTS = 3
"""Items of an array that are cut; further large ones are left out."""


class Order(Enum):
    """What goes first when not everything fits."""

    BEST = "best"
    """What answers the query, what is unusual, the first and the last; then the rest in order."""
    HEAD = "head"
    """Everything in order until the room is used up."""
    FIELDS = "fields"
    """Of objects all members, the smallest whole; of arrays the first items."""


@dataclass(frozen=True, slots=True)
class Room:
    """Members of an object that wait for room."""

    children: Children
    pointer: Pointer
    sizes: dict[int, int]
    """By position; only of the members that are looked at."""
    kept: dict[int, bytes]
    """By position, as written; grows."""


class Cutter:
    """Cuts the values of one document. Keeps what it announced, for the footer and the overhead."""

    def __init__(
        self,
        document: Document,
        gauge: Gauge,
        hits: Hits = NOTHING,
        order: Order = Order.BEST,
        *,
        lines: Sequence[int] | None = None,
        ids: bool = True,
    ) -> None:
        """``lines``: the document is an array made of lines, and these are their numbers.

        ``ids``: announcements name the section that brings the rest back.
        """
        self._document = document
        self._sizes = Sizes(document, gauge)
        self._hits = hits
        self._order = order
        self._lines = lines
        self._ids = ids
        self._ranked: dict[int, Ranked] = {}
        self._sentences: dict[int, json_strings.Sentences] = {}
        self.notes: list[str] = []
        """Announcements of the last cut."""
        self.example = ""
        """The outermost of the section ids that were announced, the first of them."""
        self.root_gap = ""
        """What is to be said about missing members of the outermost object; the caller says it."""

    def cut(self, budget: int) -> bytes | None:
        """The whole document in about ``budget``; ``None`` when that is too little."""
        self.notes = []
        self.example = ""
        self.root_gap = ""
        return self._open(0, len(self._document.raw), (), budget)

    # -- one value -------------------------------------------------------------------------------

    def _fit(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """A value that is larger than its budget: cut, or only announced."""
        made = None
        if budget >= SMALLEST_CUT:
            made = self._open(start, end, pointer, budget)
        return made or self._stub(start, end, pointer, budget)

    def _open(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """A value that is larger than its budget, cut inside; ``None`` when nothing of it fits."""
        document = self._document
        if len(pointer) >= DEEPEST or document.is_deep(start):
            return None
        if document.is_string(start):
            return self._string(start, end, pointer, budget)
        children = document.children(start, end)
        if not len(children):
            return None
        undo = len(self.notes)
        if document.is_array(start):
            made = self._array(children, start, end, pointer, budget)
        else:
            made = self._object(children, pointer, budget)
        if made is None:
            del self.notes[undo:]
        return made

    def _stub(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """An announcement in place of a value."""
        text = notices.json_gap(*self._amount(start, end), self.section(pointer))
        written = quoted(text)
        if self._sizes.of(written) > budget:
            return None
        self._say(text, self.section(pointer))
        return written

    def _amount(self, start: int, end: int) -> tuple[int, str]:
        """How much a value is, in which unit."""
        document = self._document
        if document.is_deep(start):
            return end - start, "byte"
        if document.is_array(start):
            return len(document.children(start, end)), "item"
        if document.is_object(start):
            return len(document.children(start, end)), "member"
        if document.is_string(start):
            return json_strings.length(document.text(start + 1, end - 1)), "character"
        return end - start, "character"

    # -- strings ---------------------------------------------------------------------------------

    def _string(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """The beginning of a string and what of it answers the query, then an announcement."""
        content = self._document.raw[start + 1 : end - 1]
        whole = json_strings.length(content.decode("utf-8", "surrogatepass"))
        where = self.section(pointer)
        room = budget - self._sizes.of(quoted(self._string_note(whole, where))) - 1
        if room <= 0:
            return None
        kept = ""
        if self._order is Order.BEST and self._hits.count(start, end):
            found = self._sentences.get(start)
            if found is None:
                found = json_strings.sentences(content, start + 1, self._hits.score)
                self._sentences[start] = found
            raw, sizes = self._document.raw, self._sizes
            kept = json_strings.excerpt(raw, found, sizes.spans, sizes.text, room)
        kept = kept or json_strings.head(content, self._sizes.text, room)
        missing = whole - json_strings.length(kept)
        if not kept or missing <= 0:
            return None
        note = self._string_note(missing, where)
        if note:
            self._say(note, where)
        return b'"' + kept.encode("utf-8", "surrogatepass") + quoted(note)[1:]

    def _string_note(self, missing: int, where: str) -> str:
        return notices.json_gap(missing, "character", where)

    # -- objects ---------------------------------------------------------------------------------

    def _object(self, children: Children, pointer: Pointer, budget: int) -> bytes | None:
        order = self._members_in_order(children, budget)
        spans = [(children.starts[i], children.ends[i]) for i in order]
        room = Room(children, pointer, dict(zip(order, self._sizes.spans(spans), strict=True)), {})
        free = budget - 2 - (self._gap_room(room) if pointer else 8)
        if free <= 0:
            return None
        if self._order is Order.HEAD:
            self._from_the_start(room, free)
        else:
            self._by_worth(room, free)
        return self._written_object(room)

    def _written_object(self, room: Room) -> bytes | None:
        """The kept members, and an announcement of the others."""
        children, pointer, kept = room.children, room.pointer, room.kept
        if not kept and pointer:
            return None
        parts = [kept[i] for i in sorted(kept)]
        missing = len(children) - len(kept)
        if missing:
            lost = next(i for i in range(len(children)) if i not in kept) if missing == 1 else -1
            where = self.section((*pointer, children.keys[lost]) if missing == 1 else pointer)
            text = notices.json_gap(missing, "member", where)
            if pointer:
                self._say(text, where)
                parts.append(quoted(mark_key(children.keys)) + b":" + quoted(text))
            else:
                self.root_gap = text
        return b"{" + b",".join(parts) + b"}"

    def _gap_room(self, room: Room) -> int:
        text = notices.json_gap(len(room.children), "member", self.section(room.pointer))
        return self._sizes.of(quoted(mark_key(room.children.keys)) + b":" + quoted(text)) + 1

    def _members_in_order(self, children: Children, room: int) -> list[int]:
        """The members that can be looked at: all, or the ones that the query names and the first."""
        most = max(room, 64)
        if len(children) <= most:
            return list(range(len(children)))
        chosen = dict.fromkeys(range(most))
        places = self._hits.within(children.starts[0], children.ends[-1])
        chosen.update((bisect_right(children.starts, at) - 1, None) for at in places)
        return sorted(chosen)

    def _from_the_start(self, room: Room, free: int) -> None:
        for index, size in room.sizes.items():
            free -= self._take(room, index, free)
            if free <= size and index not in room.kept:
                return

    def _by_worth(self, room: Room, free: int) -> None:
        """First what the query names, then everything else evenly."""
        starts, ends = room.children.starts, room.children.ends
        score = self._hits.score
        worth = {i: score(starts[i], ends[i]) for i in room.sizes} if self._hits.positions else {}
        # What says much less than the best is only as good as what is not named at all.
        least = WORTH_NAMING * max(worth.values(), default=0.0)
        found = [i for i in room.sizes if worth.get(i) and worth[i] >= least]
        best = frozenset(found)
        named = sorted(found, key=lambda i: (-worth[i], i))
        others = [i for i in room.sizes if i not in best]
        reserve = 0
        if not room.pointer:
            # All fields at the top are to be seen, if possible.
            reserve = min(free // 4, sum(self._least(room, i) for i in others))
        free -= reserve
        rest = sum(worth[i] for i in named)
        for index in named:
            share = max(free // 4, int(free * worth[index] / rest))
            rest -= worth[index]
            free -= self._take(room, index, min(free, share))
        self._evenly(room, others, free + reserve)

    def _evenly(self, room: Room, order: Sequence[int], free: int) -> None:
        """Small members whole, the others as much as is left for each."""
        least = {i: self._least(room, i) for i in order}
        if sum(least.values()) > free:
            self._first_ones(room, order, free, least)
            return
        spare = free - sum(least.values())
        waiting = sorted(order, key=lambda i: (room.sizes[i], i))
        for place, index in enumerate(waiting):
            share = least[index] + spare // (len(waiting) - place)
            spare -= max(0, self._take(room, index, share) - least[index])

    def _first_ones(
        self, room: Room, order: Sequence[int], free: int, least: dict[int, int]
    ) -> None:
        """Too many for all to be seen: whole ones from the start, so that at least these say much.

        When they are large, the first one is cut to show how the others look.
        """
        if order and room.sizes[order[0]] + 1 > free // 2 > SMALLEST_CUT:
            free -= self._take(room, order[0], free // 2)
            order = order[1:]
        for index in order:
            cost = room.sizes[index] + 1
            if cost <= max(3 * least[index], free // 4):
                free -= self._take(room, index, free) if cost <= free else 0
            elif least[index] <= free:
                free -= self._take(room, index, least[index])

    def _least(self, room: Room, index: int) -> int:
        """About what a member takes that is whole or at least announced."""
        key = room.children.values[index] - room.children.starts[index]
        announced = int(key * self._sizes.density * 1.5) * 2 + (18 if self._sizes.is_tokens else 60)
        return min(room.sizes[index] + 1, announced)

    def _take(self, room: Room, index: int, free: int) -> int:
        """Keep a member, whole or cut; returns what it takes, 0 when it cannot be kept."""
        children = room.children
        start, value, end = children.starts[index], children.values[index], children.ends[index]
        size = room.sizes[index] + 1
        if size <= free:
            room.kept[index] = self._document.raw[start:end]
            return size
        key = self._document.raw[start:value]
        inner = free - self._sizes.of(key) - 1
        made = self._fit(value, end, (*room.pointer, children.keys[index]), inner)
        if made is None:
            return 0
        room.kept[index] = key + made
        return self._sizes.of(room.kept[index]) + 1

    # -- arrays ----------------------------------------------------------------------------------

    def _array(
        self, children: Children, start: int, end: int, pointer: Pointer, budget: int
    ) -> bytes | None:
        count = len(children)
        mark = self._mark_room(pointer, count)
        free = budget - 2 - mark
        if free <= 0:
            return None
        ranked = self._worth_measuring(children, self._rank(children, start, end, free), free)
        sizes = self._sizes.spans((children.starts[i], children.ends[i]) for i in ranked.order)
        kept = self._choose(children, ranked, sizes, pointer, free, mark)
        gaps = runs_without(kept, count)
        short = len(gaps) > 3 and len(gaps) * mark > MARKS_SHARE * budget
        if short:
            small = self._sizes.of(quoted(_short(count))) + 1
            kept = self._choose(children, ranked, sizes, pointer, free, small)
            gaps = runs_without(kept, count)
        if not kept and pointer:
            return None
        return self._written_array(children, kept, gaps, pointer, short=short)

    def _rank(self, children: Children, start: int, end: int, free: int) -> Ranked:
        if self._order is not Order.BEST:
            return Ranked(tuple(range(most_items(children, free))), frozenset(), frozenset())
        known = self._ranked.get(start)
        if known is None:
            # With some more for the next attempt, which may have more room.
            most = most_items(children, free + free // 4)
            known = items_in_order(self._document, children, (start, end), self._hits, most)
            self._ranked[start] = known
        return known

    def _worth_measuring(self, children: Children, ranked: Ranked, free: int) -> Ranked:
        """Without the last choices, for which there will be no room by far, judged by their bytes."""
        most = int(free / self._sizes.density * MEASURED) + 1
        total = 0
        for place, index in enumerate(ranked.order):
            # A large item does not hide the small ones after it.
            total += min(children.ends[index] - children.starts[index], most // 4)
            if total > most and place >= FEWEST_MEASURED:
                return replace(ranked, order=ranked.order[: place + 1])
        return ranked

    def _choose(
        self,
        children: Children,
        ranked: Ranked,
        sizes: Sequence[int],
        pointer: Pointer,
        free: int,
        mark: int,
    ) -> dict[int, bytes]:
        """Items by their order of preference while there is room, marks of gaps paid for."""
        kept: dict[int, bytes] = {}
        count = len(children)
        cuts = 0
        odd_room = int(free * ODD_SHARE)
        in_order = self._order is not Order.BEST
        for index, size in zip(ranked.order, sizes, strict=True):
            if free < 2:
                break
            beside = (index == 0 or index - 1 in kept) + (index == count - 1 or index + 1 in kept)
            marks = mark * (1 - beside)
            # One large item must not be all there is to see.
            limit = free if in_order or len(kept) > 2 else max(free * 2 // 3, SMALLEST_CUT)
            cost = size + 1 + marks
            if index in ranked.odd:
                if cost > odd_room:
                    continue
                odd_room -= cost
            if cost <= limit:
                kept[index] = self._document.raw[children.starts[index] : children.ends[index]]
                free -= cost
                continue
            inner = limit - marks - 1
            worth_it = not kept or index in ranked.named or inner * 3 >= size
            if cuts < MOST_CUTS and inner >= SMALLEST_CUT and worth_it:
                cuts += 1
                place = (*pointer, str(index))
                made = self._open(children.values[index], children.ends[index], place, inner)
                if made is not None:
                    kept[index] = made
                    free -= self._sizes.of(made) + 1 + marks
            if in_order:
                break
        return kept

    def _written_array(
        self,
        children: Children,
        kept: dict[int, bytes],
        gaps: Sequence[tuple[int, int]],
        pointer: Pointer,
        *,
        short: bool,
    ) -> bytes:
        of_lines = self._lines is not None and not pointer
        parts = list(kept.items())
        for first, last in gaps:
            text = _short(last - first + 1)
            if not short:
                where = self.section(pointer, f"{first}-{last}" if last > first else str(first))
                text = notices.json_gap(last - first + 1, "line" if of_lines else "item", where)
                self._say(text, where)
            else:
                self.notes.append(text)
            parts.append((first, self._mark_item(text, pointer)))
        parts.sort()
        items = [part for _, part in parts]
        if short:
            missing = sum(last - first + 1 for first, last in gaps)
            where = self.section(pointer, f"0-{len(children) - 1}")
            text = notices.json_gap(missing, "line" if of_lines else "item", where)
            self._say(text, where)
            items.append(self._mark_item(text, pointer))
        return b"\n".join(items) if of_lines else b"[" + b",".join(items) + b"]"

    def _mark_room(self, pointer: Pointer, count: int) -> int:
        where = self.section(pointer, f"0-{count - 1}")
        return self._sizes.of(self._mark_item(notices.json_gap(count, "item", where), pointer)) + 1

    def _mark_item(self, text: str, pointer: Pointer) -> bytes:
        """An announcement as an item; among lines as an object, which every line is expected to be."""
        if self._lines is not None and not pointer:
            return quoted(notices.JSON_MARK).join((b"{", b":")) + quoted(text) + b"}"
        return quoted(text)

    # -- announcements ---------------------------------------------------------------------------

    def section(self, pointer: Pointer, last: str = "") -> str:
        """The id of a part: of a line when the document is made of lines."""
        if not self._ids:
            return ""
        if self._lines is None:
            return section(pointer, last)
        first, _, end = (pointer[0] if pointer else last).partition("-")
        if not first:
            return ""
        begin, stop = self._lines[int(first)], self._lines[int(end or first)]
        return f"lines:{begin}-{stop}" if stop > begin else f"lines:{begin}"

    def _say(self, text: str, where: str) -> None:
        self.notes.append(text)
        if where and (not self.example or where.count("/") < self.example.count("/")):
            self.example = where


def mark_key(keys: Iterable[str]) -> str:
    """The member name for announcements that an object does not have yet."""
    name = notices.JSON_MARK
    while name in keys:
        name += "_"
    return name


def most_items(children: Children, free: int) -> int:
    """Items of an array that can matter: each takes at least two units, its comma included."""
    return min(len(children), max(8, free // 2 + 2))


def runs_without(kept: Iterable[int], count: int) -> list[tuple[int, int]]:
    """The runs of positions below ``count`` that are not kept, in order, with first and last."""
    found: list[tuple[int, int]] = []
    begin = 0
    for index in (*sorted(kept), count):
        if index > begin:
            found.append((begin, index - 1))
        begin = index + 1
    return found


def _short(count: int) -> str:
    return f"{notices.MARK} {count:,}"
