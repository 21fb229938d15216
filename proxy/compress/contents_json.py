"""The contents of a JSON text in its own shape: small values stay, large ones become announcements.

``{"name": "x", "items": ["… 20 items, 450 tokens: json:/items/0-19", …]}``: valid JSON whose members are
where the reader expects them, each announcement naming the id that brings the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from proxy.compress.contents import SizeMap
from proxy.compress.json_sections import describe, pointer_to
from proxy.compress.json_spans import Child, NotJson, children, quoted, root
from proxy.compress.notices import JSON_MARK, MARK, plural
from proxy.compress.titles import one_line
from proxy.loose_json import compact

DEEPEST = 4
"""Containers inside of more others are not opened."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How much a table of contents tells."""

    groups: int
    """Parts into which the members or items of one container are put at most."""
    inline: int
    """Values of at most this size stand there themselves."""
    depth: int
    """Levels of containers that are opened, 1 to `DEEPEST`."""
    share: float = 0.1
    """A value with at least this share of the whole is opened."""
    titles: bool = True


RICH_TO_BARE = (
    Shape(60, 80, 4, 0.02),
    Shape(40, 40, 3, 0.04),
    Shape(30, 24, 3, 0.08),
    Shape(20, 12, 2, 0.1),
    Shape(12, 8, 2, 0.2),
    Shape(8, 6, 2, 0.3),
    Shape(8, 3, 1),
    Shape(4, 0, 1),
    Shape(1, 0, 1),
    Shape(1, 0, 1, titles=False),
)
_ALWAYS_INLINE = 24
"""Characters; announcing such a value would take more than showing it."""


class JsonOutline:
    """What is known about one JSON text, shared by all attempts at its contents."""

    def __init__(self, text: str) -> None:
        """Raises `NotJson`."""
        self.text = text
        start, end = root(text)
        self.root = Child("", start, start, end)
        self._children: dict[int, list[Child]] = {}
        self._titles: dict[int, str] = {}

    def children(self, whole: Child) -> list[Child]:
        """The values directly inside of a value. Raises `NotJson`."""
        found = self._children.get(whole.start)
        if found is None:
            found = list(children(self.text, whole.start, whole.end))
            self._children[whole.start] = found
        return found

    def title(self, child: Child) -> str:
        """What a value is, on one line. Raises `NotJson`."""
        title = self._titles.get(child.start)
        if title is None:
            title = self._titles[child.start] = one_line(
                describe(self.text, child, self.children(child)), 60
            )
        return title


@dataclass(slots=True)
class JsonContents:
    """One JSON text whose contents are told. ``cut``: what ends before it is shown word for word."""

    outline: JsonOutline
    sizes: SizeMap
    unit: str
    shape: Shape
    cut: int = 0
    inlined: int = 0
    """Size of the values that stand in the table themselves; known after `write`."""
    shown: int = 0
    """The same without what was shown for being small."""
    first_hidden: str = ""
    """The id of the first part that is only announced."""

    def write(self, footer: Callable[[JsonContents], str]) -> str:
        """The table as JSON. ``footer`` is asked last, when all else is known; what it says stands in
        the outermost object's or array's last place.

        Raises `proxy.compress.json_spans.NotJson`.
        """
        if self.outline.text[self.outline.root.start] not in "[{":
            raise NotJson
        return self._container(self.outline.root, "", 1, footer)

    def _container(
        self,
        whole: Child,
        pointer: str,
        depth: int,
        footer: Callable[[JsonContents], str] | None = None,
    ) -> str:
        is_array = self.outline.text[whole.start] == "["
        parts: list[str] = []
        notes: list[str] = []
        waiting: list[tuple[int, Child]] = []
        found = self.outline.children(whole)
        crowded = len(found) > self.shape.groups
        for place, child in enumerate(found):
            value = self._value(child, pointer, place, depth, is_array=is_array, crowded=crowded)
            if value is None:
                waiting.append((place, child))
                continue
            self._flush(waiting, pointer, parts, notes, found, is_array=is_array)
            parts.append(value if is_array else f"{quoted(child.key)}:{value}")
        self._flush(waiting, pointer, parts, notes, found, is_array=is_array)
        if footer is not None:
            notes.insert(0, footer(self))
        if is_array:
            return f"[{','.join([*parts, *map(quoted, notes)])}]"
        if notes:
            keys = {child.key for child in found}
            mark = JSON_MARK
            while mark in keys:
                mark += "_"
            told = quoted(notes[0]) if len(notes) == 1 else f"[{','.join(map(quoted, notes))}]"
            parts.append(f"{quoted(mark)}:{told}")
        return f"{{{','.join(parts)}}}"

    def _value(
        self, child: Child, pointer: str, place: int, depth: int, *, is_array: bool, crowded: bool
    ) -> str | None:
        """The value itself, opened or announced; ``None``: it goes into a group with its neighbours."""
        text = self.outline.text
        if child.end <= self.cut:
            size = self.sizes.between(child.start, child.end)
            self.shown += size
            self.inlined += size
            return self._verbatim(child)
        if crowded and child.start >= self.cut:
            return None
        size = self.sizes.between(child.start, child.end)
        name = pointer_to(pointer, child.key, place, is_array)
        opens = text[child.start] in "[{" and child.end - child.start > 2 and "#" not in name
        if opens and child.start < self.cut and depth < DEEPEST:
            return self._container(child, name, depth + 1)
        if crowded:
            return None
        if size <= self.shape.inline or child.end - child.start <= _ALWAYS_INLINE:
            self.inlined += size
            return self._verbatim(child)
        if opens and depth < self.shape.depth and size >= self.sizes.total * self.shape.share:
            return self._container(child, name, depth + 1)
        if "#" in name:
            return None
        title = f"{self.outline.title(child)}, " if self.shape.titles else ""
        return self._announced(f"{title}{size:,} {self.unit}", f"json:{name}")

    def _verbatim(self, child: Child) -> str:
        raw = self.outline.text[child.start : child.end]
        if "\n" not in raw and "  " not in raw:
            return raw
        try:
            return compact(raw.encode()).decode()
        except UnicodeEncodeError:
            return raw

    def _announced(self, what: str, name: str) -> str:
        self.first_hidden = self.first_hidden or name
        return quoted(f"{MARK} {what}: {name}")

    def _flush(
        self,
        waiting: list[tuple[int, Child]],
        pointer: str,
        parts: list[str],
        notes: list[str],
        found: list[Child],
        *,
        is_array: bool,
    ) -> None:
        """Announce what waits, in groups of about the same size: as items, or in the object's note."""
        if not waiting:
            return
        whole = max(1, found[-1].end - found[0].outer)
        span = waiting[-1][1].end - waiting[0][1].outer
        count = max(1, round(self.shape.groups * span / whole))
        target = span / count
        begun = 0
        for index, (place, child) in enumerate(waiting):
            first_place, first = waiting[begun]
            last = index + 1 == len(waiting)
            if not last and child.end - first.outer < target:
                continue
            begun = index + 1
            amount = plural(place - first_place + 1, "item" if is_array else "member")
            size = self.sizes.between(first.outer, child.end)
            title = ""
            if self.shape.titles and not is_array:
                title = f", {one_line(first.key, 24)} to {one_line(child.key, 24)}"
            separator = "/" if is_array else "#"
            name = f"json:{pointer}{separator}{first_place}-{place}"
            told = self._announced(f"{amount}{title}, {size:,} {self.unit}", name)
            if is_array:
                parts.append(told)
            else:
                notes.append(f"{MARK} {amount}{title}, {size:,} {self.unit}: {name}")
        waiting.clear()
