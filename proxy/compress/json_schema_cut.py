"""Cut a JSON value so that it still satisfies its schema: nothing of ours is put into it.

The selection is the one of `proxy.compress.json_cut`, so structured content and text agree.
"""

from __future__ import annotations

from collections.abc import Sequence

from proxy.compress import json_strings, notices
from proxy.compress.json_cut import Cutter, Order, Room
from proxy.compress.json_query import Hits
from proxy.compress.json_schema import SchemaLimits
from proxy.compress.json_tree import Children, Document, Pointer
from proxy.compress.model import Gauge

SMALLEST_TEXT = 8
"""Room of a string, in units of the budget, below which it is not shortened."""


class SchemaCutter(Cutter):
    """A `Cutter` without announcements that keeps what the schema requires."""

    def __init__(self, document: Document, gauge: Gauge, hits: Hits, limits: SchemaLimits) -> None:
        super().__init__(document, gauge, hits, Order.BEST, ids=False)
        self._limits = limits

    def _stub(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        """Nothing stands for a value: an emptied list would say that there is nothing."""
        return None

    def _open(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        if self._document.is_string(start) and budget < SMALLEST_TEXT:
            return None
        return super()._open(start, end, pointer, budget)

    def _string(self, start: int, end: int, pointer: Pointer, budget: int) -> bytes | None:
        limits = self._limits.at(pointer)
        if not limits.text:
            return None
        made = super()._string(start, end, pointer, budget)
        if made is None or not limits.shortest:
            return made
        kept = made.decode("utf-8", "surrogatepass")[1:-1]
        return made if json_strings.length(kept) >= limits.shortest else None

    def _string_note(self, missing: int, where: str) -> str:
        # A single character, so that a length limit that the whole string keeps to holds, too.
        return notices.MARK

    def _written_object(self, room: Room) -> bytes | None:
        limits = self._limits.at(room.pointer)
        children, kept = room.children, room.kept
        for index, key in enumerate(children.keys):
            if index in kept or (limits.members and key not in limits.required):
                continue
            return None
        if not kept:
            return None
        return b"{" + b",".join([kept[i] for i in sorted(kept)]) + b"}"

    def _gap_room(self, room: Room) -> int:
        return 0

    def _by_worth(self, room: Room, free: int) -> None:
        """Members that must stay get their least first, the rest is as without a schema."""
        limits = self._limits.at(room.pointer)
        needed = [
            index
            for index in room.sizes
            if not limits.members or room.children.keys[index] in limits.required
        ]
        reserve = min(free // 2, sum(self._least(room, index) for index in needed))
        super()._by_worth(room, free - reserve)
        used = sum(self._sizes.of(part) + 1 for part in room.kept.values())
        self._evenly(room, [index for index in needed if index not in room.kept], free - used)

    def _least(self, room: Room, index: int) -> int:
        key = room.children.values[index] - room.children.starts[index]
        return min(room.sizes[index] + 1, int(key * self._sizes.density * 1.5) + 8)

    def _written_array(
        self,
        children: Children,
        kept: dict[int, bytes],
        gaps: Sequence[tuple[int, int]],
        pointer: Pointer,
        *,
        short: bool,
    ) -> bytes:
        return b"[" + b",".join([kept[i] for i in sorted(kept)]) + b"]"

    def _array(
        self, children: Children, start: int, end: int, pointer: Pointer, budget: int
    ) -> bytes | None:
        limits = self._limits.at(pointer)
        if not limits.items:
            return self._all_items(children, pointer, budget)
        made = super()._array(children, start, end, pointer, budget)
        if made == b"[]":
            return None
        if made is None or not limits.fewest_items:
            return made
        fewest = min(limits.fewest_items, len(children))
        parsed = Document(made, made).children(0, len(made))
        if len(parsed) >= fewest:
            return made
        first = Children(
            (), *(part[:fewest] for part in (children.starts, children.values, children.ends))
        )
        return self._all_items(first, pointer, budget)

    def _all_items(self, children: Children, pointer: Pointer, budget: int) -> bytes | None:
        """Every item, each as small as it must be."""
        if len(children) * 2 > budget:
            return None
        parts: list[bytes] = []
        sizes = self._sizes.spans(zip(children.starts, children.ends, strict=True))
        free = budget - 2
        for index, size in enumerate(sizes):
            start, end = children.starts[index], children.ends[index]
            share = free // (len(children) - index)
            made: bytes | None = self._document.raw[start:end]
            if size + 1 > share:
                made = self._fit(start, end, (*pointer, str(index)), share - 1)
            if made is None:
                return None
            free -= self._sizes.of(made) + 1
            parts.append(made)
        return b"[" + b",".join(parts) + b"]"

    def _mark_room(self, pointer: Pointer, count: int) -> int:
        return 0

    def _say(self, text: str, where: str) -> None:
        """Nothing is announced."""
