"""Edits of a TOML text through tomlkit that leave every other line as it was. Pure.

A parsed document is changed by placing nodes in the bodies of its containers (`Container.body`) and
not by `append` and `remove`, because those know only tomlkit's own place for a comment: the end of
the table above. A new key would land below the comment of the next header, and a removed table would
take that comment along. A comment right above a header stays with that header here.

What tomlkit cannot give back byte for byte is refused. The caller checks with `tomllib` that the
outcome holds what was wanted, so an unusual layout never leads to a damaged file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config.toml_lines import Assigned, Line, LineKind, assignments, lines_of
from config.toml_text import KeyPath, dotted

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Item

    from config.toml_lines import Body

_QUIET = (LineKind.COMMENT, LineKind.BLANK)


class UnusualLayoutError(Exception):
    """tomlkit cannot read the text, or would write other parts of it in another way."""


def set_value(text: str, path: KeyPath, rendered: str, *, in_table_of_texts: bool = False) -> str:
    """Give the key at ``path`` a value; make the key, and its table, where they are missing.

    ``in_table_of_texts``: the last two names belong together (``env.TOKEN``), so that no header is
    made for the first of them when its own table has one. Raises `UnusualLayoutError`, as all here.
    """
    page = _Page.of(text)
    nearest = page.nearest(path)
    if nearest is not None and nearest.path == path:
        nearest.owner[nearest.key] = _value(rendered)
        return page.text()
    if any(line.is_in(path) for line in page.lines):
        # The table is there with headers or dotted keys; the value comes instead.
        page = _Page.of(remove(text, path))
    if nearest is not None and _is_inline(nearest.item):
        _write_inline_table(nearest, path, rendered)
    else:
        page.add_key(path, rendered, names=(1, 2) if in_table_of_texts else (1,))
    return page.text()


def append_table(text: str, path: KeyPath, rendered: Mapping[str, str]) -> str:
    """Add a table with its keys at the end, or in the inline table that holds its siblings."""
    page = _Page.of(text)
    nearest = page.nearest(path)
    if nearest is not None and _is_inline(nearest.item):
        inside = ", ".join(f"{dotted((name,))} = {value}" for name, value in rendered.items())
        _write_inline_table(nearest, path, f"{{ {inside} }}" if inside else "{}")
    else:
        page.add_table(path, rendered)
    return page.text()


def remove(text: str, path: KeyPath) -> str:
    """Take out the key or the table at ``path`` with all below it and its own comments."""
    page = _Page.of(text)
    around = page.nearest(path[:-1])
    if around is not None and _is_inline(around.item):
        _write_inline_table(around, path, None)
    else:
        page.remove(path)
    return page.text()


@dataclass(frozen=True, slots=True)
class _Page:
    """A document that is being changed, and its lines as they were when it was read."""

    document: TOMLDocument
    lines: list[Line]
    newline: str

    @classmethod
    def of(cls, text: str) -> _Page:
        document = _parsed(text)
        return cls(document, lines_of(document), "\r\n" if "\r\n" in text else "\n")

    def text(self) -> str:
        return self.document.as_string()

    def nearest(self, path: KeyPath) -> Assigned | None:
        """The value at ``path``, or the innermost value around it, which is an inline table."""
        found: Assigned | None = None
        inside: Iterable[Assigned | None] = [line.assigned for line in self.lines]
        while True:
            nearer = next((it for it in inside if it and path[: len(it.path)] == it.path), None)
            if nearer is None:
                return found
            found = nearer
            inside = _items_of(found)

    def add_key(self, path: KeyPath, rendered: str, names: tuple[int, ...]) -> None:
        """Write a line for a new key; ``names``: how many names it may have below its header."""
        if len(path) == 1:
            self._add_to_root(f"{dotted(path)} = {rendered}")
            return
        for count in names:
            header = self._last_header(path[:-count])
            sibling = None if header else self._dotted_sibling(path)
            last = self._section(header)[-1] if header else sibling
            if last is not None:
                self._insert_behind(last, f"{dotted(path[len(last.section) :])} = {rendered}")
                return
        self.add_table(path[:-1], {path[-1]: rendered})

    def add_table(self, path: KeyPath, rendered: Mapping[str, str]) -> None:
        """Write a table to the end, behind a blank line."""
        if self.lines:
            self._end_line(self.lines[-1])
            if self.lines[-1].kind is not LineKind.BLANK:
                self.document.body.extend(self._nodes(""))
        keys = [f"{dotted((name,))} = {value}" for name, value in rendered.items()]
        self.document.body.extend(self._nodes(f"[{dotted(path)}]", *keys))

    def remove(self, path: KeyPath) -> None:
        """Take out lines, and hand those that stay from a removed table to the line before."""
        kept = list(self.lines)
        for start, end in reversed(self._spans(path)):
            has_gap = start == 0 or kept[start - 1].kind is LineKind.BLANK
            if has_gap and end < len(kept) and kept[end].kind is LineKind.BLANK:
                end += 1  # blank lines on both sides: those behind go too
            del kept[start:end]
        stays = {id(line) for line in kept}
        for line in self.lines:
            if line.kind in _QUIET and id(line) not in stays:
                del line.body[line.index()]
        for before, line in zip([None, *kept], kept, strict=False):
            if line.section[: len(path)] == path:
                del line.body[line.index()]
                line.body, at = before.behind() if before else (self.document.body, 0)
                line.body.insert(at, line.node)
        _drop(self.document.body, path)

    def _spans(self, path: KeyPath) -> list[tuple[int, int]]:
        """Ranges of lines that go: keys, and headers with all that belongs to them."""
        spans: list[tuple[int, int]] = []
        for at, line in enumerate(self.lines):
            if not line.is_in(path):
                continue
            if line.kind is LineKind.HEADER:
                spans.append(self._span_of_section(at))
            elif line.section[: len(path)] != path:
                spans.append((at, at + 1))
        return spans

    def _span_of_section(self, at: int) -> tuple[int, int]:
        """A header with the comment right above it, its keys, and comments that end with them."""
        start = self._start_of_comment(at)
        if start == 0:
            start = at  # the comment at the top is about the file
        end = at + len(self._section(self.lines[at]))
        below = end
        while below < len(self.lines) and self.lines[below].kind is LineKind.COMMENT:
            below += 1
        is_end = below == len(self.lines) or self.lines[below].kind is LineKind.BLANK
        return start, below if is_end else end

    def _section(self, header: Line) -> list[Line]:
        """A header and what follows up to its last key."""
        at = end = self.lines.index(header)
        for index in range(at + 1, len(self.lines)):
            kind = self.lines[index].kind
            if kind is LineKind.HEADER:
                break
            if kind is LineKind.KEY:
                end = index
        return self.lines[at : end + 1]

    def _start_of_comment(self, at: int) -> int:
        """The first line of the unbroken comment right above a line."""
        while at > 0 and self.lines[at - 1].kind is LineKind.COMMENT:
            at -= 1
        return at

    def _last_header(self, path: KeyPath) -> Line | None:
        found = (line for line in reversed(self.lines) if line.kind is LineKind.HEADER)
        return next((line for line in found if line.path == path), None)

    def _dotted_sibling(self, path: KeyPath) -> Line | None:
        """A key whose dotted name made a table that ``path`` lies in; no header may reopen it."""
        found: Line | None = None
        depth = 0
        for line in self.lines:
            if line.kind is not LineKind.KEY:
                continue
            common = _common(line.path[:-1], path[:-1])
            if common > len(line.section) and common >= depth:
                found, depth = line, common
        return found

    def _add_to_root(self, text: str) -> None:
        """A key of the top goes behind its siblings, or before the first table and its comment."""
        own = [line for line in self.lines if line.kind is LineKind.KEY and not line.section]
        first = next((n for n, line in enumerate(self.lines) if line.kind is LineKind.HEADER), None)
        if own:
            self._insert_behind(own[-1], text)
        elif first is not None:
            at = self._start_of_comment(first)
            body, index = self.lines[at - 1].behind() if at else (self.document.body, 0)
            body[index:index] = self._nodes(text, "")
        elif self.lines:
            self._insert_behind(self.lines[-1], text)
        else:
            self.document.body.extend(self._nodes(text))

    def _insert_behind(self, line: Line, text: str) -> None:
        """Put a new line below another one, as far to the right as a key above it."""
        self._end_line(line)
        indent = line.assigned.item.trivia.indent if line.assigned else ""
        body, at = line.behind()
        body[at:at] = self._nodes(indent + text)

    def _end_line(self, line: Line) -> None:
        """The last line of a text may lack its line end."""
        import tomlkit

        if line.kind is LineKind.BLANK:
            blank = line.node[1].as_string()
            if not blank.endswith("\n"):
                at = line.index()
                line.body[at] = line.node = (None, tomlkit.ws(blank + self.newline))
            return
        item = line.assigned.item if line.assigned else line.table or line.node[1]
        if not item.trivia.trail.endswith("\n"):
            item.trivia.trail += self.newline

    def _nodes(self, *lines: str) -> Body:
        """New nodes for lines."""
        return _parsed("".join(line + self.newline for line in lines)).body


def _parsed(text: str) -> TOMLDocument:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        same = document.as_string() == text
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise UnusualLayoutError(str(error)) from error
    if not same:
        raise UnusualLayoutError("tomlkit would write the text in another way")
    return document


def _value(rendered: str) -> Item:
    import tomlkit

    return tomlkit.value(rendered)


def _is_inline(item: Item) -> bool:
    return item.is_inline_table()


def _items_of(value: Assigned) -> list[Assigned]:
    """What an inline table holds; of any other value, nothing."""
    from tomlkit.items import InlineTable

    if not isinstance(value.item, InlineTable):
        return []
    return list(assignments(value.item.value, value.path))


def _write_inline_table(table: Assigned, path: KeyPath, rendered: str | None) -> None:
    """Give an inline table a new item, or with ``None`` take one out, at ``path``.

    Its items stay as they are written; the space between them becomes ", ". tomlkit's own `append`
    and `remove` leave "a = 1,  b = 2}" and "{  b = 2 }" behind, and a wrong text for dotted keys.
    """
    items = [
        f"{item.written}{item.key.sep}{item.item.as_string()}"
        for item in _items_of(table)
        if item.path[: len(path)] != path
    ]
    if rendered is not None:
        items.append(f"{dotted(path[len(table.path) :])} = {rendered}")
    old = table.item.as_string()
    pad = "" if old[1] not in " }" else " "
    inside = f"{pad}{', '.join(items)}{pad}" if items else pad
    table.owner[table.key] = _value(f"{{{inside}}}")


def _drop(body: Body, path: KeyPath) -> None:
    """Take out of a body what is at ``path`` or below, and tables that only led there."""
    from tomlkit.items import Table

    name, *rest = path
    for node in list(body):
        key, item = node
        if key is None or key.key != name:
            continue
        if rest:
            if not isinstance(item, Table):
                continue
            _drop(item.value.body, tuple(rest))
            if item.value.body or not item.is_super_table():
                continue
        del body[next(at for at, other in enumerate(body) if other is node)]


def _common(one: KeyPath, other: KeyPath) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
