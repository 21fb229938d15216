"""Make one JSON value smaller inside of its own shape, to a given size.

From the outside in: a value that fits is copied as it stands; of an object or array the best children
get their room, larger ones are cut in turn. What is left out is announced where it was. All of it
works on spans (`proxy.compress.json_tree`), so that what is kept is exactly what the upstream wrote.

Sizes of parts are summed up, and the sum is close to the size of the whole, not equal: the caller
checks the outcome and asks again with a smaller budget.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import msgspec

from proxy.compress import json_strings, notices
from proxy.compress.json_outliers import unusual
from proxy.compress.json_query import NOTHING, Hits
from proxy.compress.json_tree import Children, Document, Pointer, quoted, section
from proxy.compress.model import Gauge

SMALLEST_CUT = 14
"""Budget of a value, in the gauge's unit for tokens, below which it is not opened any more."""
DEEPEST = 40
"""Levels that are opened; deeper values are kept or left out as a whole."""
MARKS_SHARE = 0.15
"""Marks that would take more than this share of an array's room become short ones."""
LARGEST_SCAN = 2_000_000
"""Bytes of an array that is looked through for what is unusual."""


class Order(Enum):
    """What goes first when not everything fits."""

    BEST = "best"
    """What answers the query, what is unusual, the first and the last; then the rest in order."""
    HEAD = "head"
    """Everything in order until the room is used up."""
    FIELDS = "fields"
    """Of objects all members, the smallest whole; of arrays the first items."""


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
        self._gauge = gauge
        self._hits = hits
        self._order = order
        self._lines = lines
        self._ids = ids
        self._ratio = self._density()
        self._unusual: dict[int, list[int]] = {}
        self.notes: list[str] = []
        """Announcements of the last cut."""
        self.example = ""
        """The first section id that was announced."""
        self.root_gap = ""
        """What is to be said about missing members of the outermost object; the caller says it."""

    def cut(self, budget: int) -> bytes | None:
        """The whole document in about ``budget``; ``None`` when that is too little."""
        self.notes = []
        self.example = ""
        self.root_gap = ""
        return self._fit(0, len(self._document.raw), (), budget)

    def section(self, pointer: Pointer, last: str = "") -> str:
        """The id of a part: of a line when the document is made of lines."""
        if not self._ids:
            return ""
        if self._lines is None:
            return section(pointer, last)
        if not pointer:
            first, _, end = last.partition("-")
            if not first:
                return ""
            return f"lines:{self._lines[int(first)]}-{self._lines[int(end or first)]}"
        return f"lines:{self._lines[int(pointer[0])]}"

    # -- one value -------------------------------------------------------------------------------

    def _fit(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """A value that is larger than its budget, made smaller."""
        document = self._document
        if len(pointer) < DEEPEST and budget >= (SMALLEST_CUT if pointer else 4):
            children = document.children(start, end)
            made = None
            if document.is_array(start) and len(children):
                made = self._array(children, start, end, pointer, budget)
            elif document.is_object(start) and len(children):
                made = self._object(children, pointer, budget)
            elif document.is_string(start) and not document.is_deep(start):
                made = self._string(start, end, pointer, budget)
            if made is not None:
                return made
        return self._stub(start, end, pointer, budget)

    def _stub(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """An announcement in place of a value."""
        if not pointer:
            return None
        mark = len(self.notes)
        text = quoted(self._note(*self._amount(start, end), self.section(pointer)))
        if self._size(text) > budget:
            del self.notes[mark:]
            return None
        return text

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

    def _string(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """The beginning of a string, or where the query stands in it, and an announcement."""
        content = self._document.text(start + 1, end - 1)
        whole = json_strings.length(content)
        mark = len(self.notes)
        note = self._note(whole, "character", self.section(pointer))
        room = budget - self._size(quoted(note)) - 1
        kept = self._head_of(content, room) if room > 0 else ""
        if not kept or len(kept) >= len(content):
            del self.notes[mark:]
            return None
        missing = whole - json_strings.length(kept)
        self.notes[-1] = notices.json_gap(missing, "character", self.section(pointer))
        tail = quoted(self.notes[-1])[1:]
        return b'"' + kept.encode("utf-8", "surrogatepass") + tail

    def _head_of(self, content: str, room: int) -> str:
        """As much of the beginning of ``content`` as measures at most ``room``."""
        length = min(len(content), room * 12)
        for _ in range(8):
            part = json_strings.at_word(json_strings.prefix(content, length))
            size = self._gauge.size(part)
            if size <= room:
                return part
            length = min(len(part) - 1, int(len(part) * room / size * 0.97))
            if length <= 0:
                return ""
        return ""

    # -- objects ---------------------------------------------------------------------------------

    def _object(self, children: Children, pointer: Pointer, budget: int) -> bytes | None:
        gap_room = self._size(self._member_gap(children, (*range(len(children)),), pointer)) + 1
        room = budget - 2 - (gap_room if pointer else 8)
        order = self._members_in_order(children, room)
        sizes = self._sizes((children.starts[i], children.ends[i]) for i in order)
        kept: dict[int, bytes] = {}
        if self._order is Order.HEAD:
            self._in_order(children, order, sizes, pointer, room, kept)
        else:
            self._by_worth(children, order, sizes, pointer, room, kept)
        if not kept and pointer:
            return None
        missing = [i for i in range(len(children)) if i not in kept]
        parts = [kept[i] for i in sorted(kept)]
        if missing and pointer:
            parts.append(self._member_gap(children, missing, pointer, announce=True))
        elif missing:
            self.root_gap = self._gap_of_members(children, missing, pointer)
        return b"{" + b",".join(parts) + b"}"

    def _members_in_order(self, children: Children, room: int) -> list[int]:
        """The members that can be looked at: all, or the ones that the query names and the first."""
        most = max(room, 64)
        if len(children) <= most:
            return list(range(len(children)))
        chosen = dict.fromkeys(range(most))
        if self._hits.positions:
            places = self._hits.within(children.starts[0], children.ends[-1])
            chosen.update((bisect_right(children.starts, at) - 1, None) for at in places)
        return sorted(chosen)

    def _in_order(
        self,
        children: Children,
        order: Sequence[int],
        sizes: Sequence[int],
        pointer: Pointer,
        room: int,
        kept: dict[int, bytes],
    ) -> None:
        for index, size in zip(order, sizes, strict=True):
            cost = size + 1
            if cost <= room:
                kept[index] = self._document.raw[children.starts[index] : children.ends[index]]
                room -= cost
                continue
            made = self._member(children, index, pointer, room)
            if made is not None:
                kept[index] = made
            return

    def _by_worth(
        self,
        children: Children,
        order: Sequence[int],
        sizes: Sequence[int],
        pointer: Pointer,
        room: int,
        kept: dict[int, bytes],
    ) -> None:
        """First what the query names, then everything else evenly."""
        score = self._hits.score
        worth = (
            {i: score(children.starts[i], children.ends[i]) for i in order}
            if self._hits.positions
            else {}
        )
        size_of = dict(zip(order, sizes, strict=True))
        named = sorted((i for i in order if worth.get(i)), key=lambda i: (-worth[i], i))
        others = [i for i in order if not worth.get(i)]
        reserve = 0
        if not pointer:
            reserve = min(
                room // 4, sum(min(size_of[i] + 1, self._stub_room(children, i)) for i in others)
            )
        room -= reserve
        rest = sum(worth[i] for i in named)
        for index in named:
            share = max(room // 4, int(room * worth[index] / rest))
            rest -= worth[index]
            room -= self._take(children, index, size_of[index], pointer, min(room, share), kept)
        self._evenly(children, others, size_of, pointer, room + reserve, kept)

    def _take(
        self,
        children: Children,
        index: int,
        size: int,
        pointer: Pointer,
        room: int,
        kept: dict[int, bytes],
    ) -> int:
        """Keep a member, whole or cut; returns what it takes."""
        if size + 1 <= room:
            kept[index] = self._document.raw[children.starts[index] : children.ends[index]]
            return size + 1
        made = self._member(children, index, pointer, room)
        if made is None:
            return 0
        kept[index] = made
        return self._size(made) + 1

    def _evenly(
        self,
        children: Children,
        order: Sequence[int],
        size_of: dict[int, int],
        pointer: Pointer,
        room: int,
        kept: dict[int, bytes],
    ) -> None:
        """Small members whole, the others as much as is left for each."""
        least = {i: min(size_of[i] + 1, self._stub_room(children, i)) for i in order}
        total = sum(least.values())
        if total > room:
            # Too many even for stubs: whole ones from the start, so that at least these say much.
            # A first one that is too large shows how the others look.
            if order and size_of[order[0]] + 1 > room // 2 > SMALLEST_CUT:
                room -= self._take(children, order[0], size_of[order[0]], pointer, room // 2, kept)
                order = order[1:]
            for index in order:
                cost = size_of[index] + 1
                if cost <= room and cost <= max(3 * least[index], room // 4):
                    kept[index] = self._document.raw[children.starts[index] : children.ends[index]]
                    room -= cost
                elif least[index] <= room:
                    room -= self._take(children, index, size_of[index], pointer, least[index], kept)
            return
        spare = room - total
        waiting = sorted(order, key=lambda i: (size_of[i], i))
        for place, index in enumerate(waiting):
            share = least[index] + spare // (len(waiting) - place)
            used = self._take(children, index, size_of[index], pointer, share, kept)
            spare -= max(0, used - least[index])

    def _stub_room(self, children: Children, index: int) -> int:
        """About what a member takes whose value is only announced."""
        key = children.values[index] - children.starts[index]
        return int(key * self._ratio * 1.5) * 2 + self._note_room()

    def _member(self, children: Children, index: int, pointer: Pointer, room: int) -> bytes | None:
        start, value, end = children.starts[index], children.values[index], children.ends[index]
        key = self._document.raw[start:value]
        made = self._fit(value, end, (*pointer, children.keys[index]), room - self._size(key) - 1)
        return None if made is None else key + made

    def _gap_of_members(self, children: Children, missing: Sequence[int], pointer: Pointer) -> str:
        where = (
            self.section((*pointer, children.keys[missing[0]]))
            if len(missing) == 1
            else self.section(pointer)
        )
        return notices.json_gap(len(missing), "member", where)

    def _member_gap(
        self,
        children: Children,
        missing: Sequence[int],
        pointer: Pointer,
        *,
        announce: bool = False,
    ) -> bytes:
        text = self._gap_of_members(children, missing, pointer)
        if announce:
            self.notes.append(text)
            self.example = self.example or self.section(pointer)
        return quoted(mark_key(children.keys)) + b":" + quoted(text)

    # -- arrays ----------------------------------------------------------------------------------

    def _array(
        self, children: Children, start: int, end: int, pointer: Pointer, budget: int
    ) -> bytes | None:
        count = len(children)
        mark = self._size(quoted(self._gap(pointer, 0, count - 1))) + 1
        room = budget - 2 - mark
        if room <= 0:
            return None
        order = self._items_in_order(children, start, end, room)
        sizes = self._sizes((children.starts[i], children.ends[i]) for i in order)
        kept = self._choose(children, order, sizes, pointer, room, mark)
        gaps = _gaps(sorted(kept), count)
        short = len(gaps) > 3 and len(gaps) * mark > MARKS_SHARE * budget
        if short:
            small = self._size(quoted(_short(count))) + 1
            kept = self._choose(children, order, sizes, pointer, room, small)
            gaps = _gaps(sorted(kept), count)
        if not kept and pointer:
            return None
        items = self._items(children, kept, gaps, pointer, short=short)
        if self._lines is not None and not pointer:
            return b"\n".join(items)
        return b"[" + b",".join(items) + b"]"

    def _items(
        self,
        children: Children,
        kept: dict[int, bytes],
        gaps: Sequence[tuple[int, int]],
        pointer: Pointer,
        *,
        short: bool,
    ) -> Iterator[bytes]:
        parts: list[tuple[int, bytes]] = list(kept.items())
        for first, last in gaps:
            text = _short(last - first + 1) if short else self._gap(pointer, first, last)
            self.notes.append(text)
            parts.append((first, self._gap_item(text, pointer)))
            if not short and not self.example:
                self.example = self.section(pointer, f"{first}-{last}")
        parts.sort()
        yield from (part for _, part in parts)
        if short:
            missing = sum(last - first + 1 for first, last in gaps)
            where = self.section(pointer, f"0-{len(children) - 1}")
            unit = "item" if self._lines is None or pointer else "line"
            yield self._gap_item(self._note(missing, unit, where), pointer)

    def _gap_item(self, text: str, pointer: Pointer) -> bytes:
        """An announcement as an item; among lines of objects as an object."""
        if self._lines is not None and not pointer:
            return b'{"%s":%s}' % (notices.JSON_MARK.encode(), quoted(text))
        return quoted(text)

    def _choose(
        self,
        children: Children,
        order: Sequence[int],
        sizes: Sequence[int],
        pointer: Pointer,
        room: int,
        mark: int,
    ) -> dict[int, bytes]:
        """Items by their order of preference while there is room, marks of gaps paid for."""
        kept: dict[int, bytes] = {}
        count = len(children)
        cuts = 0
        start_of_notes = len(self.notes)
        for index, size in zip(order, sizes, strict=True):
            if room < 2:
                break
            before = index == 0 or index - 1 in kept
            after = index == count - 1 or index + 1 in kept
            marks = mark * (1 - before - after)
            cost = size + 1 + marks
            # One large item must not be all there is to see.
            limit = (
                room
                if self._order is Order.HEAD or len(kept) > 2
                else max(room * 2 // 3, SMALLEST_CUT)
            )
            if cost <= limit:
                kept[index] = self._document.raw[children.starts[index] : children.ends[index]]
                room -= cost
            elif cuts < 3 and limit - marks >= SMALLEST_CUT:
                cuts += 1
                made = self._fit(
                    children.values[index],
                    children.ends[index],
                    (*pointer, str(index)),
                    limit - marks - 1,
                )
                if made is not None:
                    kept[index] = made
                    room -= self._size(made) + 1 + marks
                if self._order is Order.HEAD:
                    break
            elif self._order is Order.HEAD:
                break
        if not kept:
            del self.notes[start_of_notes:]
        return kept

    def _items_in_order(self, children: Children, start: int, end: int, room: int) -> list[int]:
        """Items by preference, not more than can matter."""
        count = len(children)
        # An item takes at least two units, its comma included.
        most = min(count, max(8, room // 2 + 2))
        if self._order is not Order.BEST:
            return list(range(most))
        chosen: dict[int, None] = {}
        hits = self._hits
        best: list[int] = []
        if hits.positions and hits.count(start, end):
            named = dict.fromkeys(
                bisect_right(children.starts, at) - 1 for at in hits.within(start + 1, end)
            )
            worth = {i: hits.score(children.starts[i], children.ends[i]) for i in named}
            best = sorted(worth, key=lambda i: (-worth[i], i))[:most]
            # What says much less than the best is only as good as any other.
            best = [i for i in best if worth[i] * 4 >= worth[best[0]]]
        odd = self._odd_items(children, start, end)
        top = len(best) if not odd else max(1, min(len(best), most // 4))
        chosen.update(dict.fromkeys(best[:top]))
        chosen.update(dict.fromkeys(odd))
        chosen.update(dict.fromkeys(best))
        chosen.update(dict.fromkeys((0, count - 1)))
        for index in best[:12]:
            chosen.update((i, None) for i in (index - 1, index + 1) if 0 <= i < count)
        chosen.update(dict.fromkeys(range(most)))
        return list(chosen)

    def _odd_items(self, children: Children, start: int, end: int) -> list[int]:
        if end - start > LARGEST_SCAN:
            return []
        known = self._unusual.get(start)
        if known is None:
            try:
                values: object = msgspec.json.decode(self._document.shadow[start:end])
            except (msgspec.MsgspecError, RecursionError):
                try:
                    values = json.loads(self._document.shadow[start:end])
                except (ValueError, RecursionError):
                    values = None
            known = unusual(values) if isinstance(values, list) else []  # pyright: ignore[reportUnknownArgumentType] - items of any type
            self._unusual[start] = known
        return known

    def _gap(self, pointer: Pointer, first: int, last: int) -> str:
        where = f"{first}-{last}" if last > first else str(first)
        unit = "item" if self._lines is None or pointer else "line"
        return notices.json_gap(last - first + 1, unit, self.section(pointer, where))

    # -- sizes -----------------------------------------------------------------------------------

    def _note(self, count: int, unit: str, where: str) -> str:
        text = notices.json_gap(count, unit, where)
        self.notes.append(text)
        self.example = self.example or where
        return text

    def _note_room(self) -> int:
        return 18 if self._gauge.unit == "tokens" else 60

    def _size(self, data: bytes) -> int:
        return self._gauge.size(data.decode("utf-8", "surrogatepass"))

    def _sizes(self, spans: Iterable[tuple[int, int]]) -> list[int]:
        """Sizes of spans; of long ones about, from their bytes."""
        spans = list(spans)
        long = 40_000
        texts = [
            self._document.text(start, end) if end - start <= long else "" for start, end in spans
        ]
        sizes = list(self._gauge.sizes(texts))
        return [
            size if text else int((end - start) * self._ratio) + 1
            for size, text, (start, end) in zip(sizes, texts, spans, strict=True)
        ]

    def _density(self) -> float:
        """Units per byte, from three places of the document."""
        raw = self._document.raw
        step = max(1, (len(raw) - 2000) // 3)
        parts = [
            raw[at : at + 2000].decode("utf-8", "replace")
            for at in range(0, max(1, len(raw) - 2000), step)
        ]
        total = sum(min(2000, len(raw) - at) for at in range(0, max(1, len(raw) - 2000), step))
        return max(0.05, sum(self._gauge.sizes(parts)) / max(1, total))


def mark_key(keys: Iterable[str]) -> str:
    """The member name for announcements that an object does not have yet."""
    taken = set(keys)
    name = notices.JSON_MARK
    while name in taken:
        name += "_"
    return name


def _short(count: int) -> str:
    return f"{notices.MARK} {count:,}"


def _gaps(kept: Sequence[int], count: int) -> list[tuple[int, int]]:
    """The runs of positions that are not kept, in order."""
    found: list[tuple[int, int]] = []
    begin = 0
    for index in (*kept, count):
        if index > begin:
            found.append((begin, index - 1))
        begin = index + 1
    return found
