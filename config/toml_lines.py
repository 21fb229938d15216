"""A tomlkit document as the lines that a person sees, each with its place in the model.

tomlkit hangs every comment and blank line to the table above it, so that the comment right above a
header is the tail of another table's body. As lines in the order of the text, it stands where it is
read. tomlkit is heavy and imported where a document is at hand already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from config.toml_text import KeyPath

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.container import Container
    from tomlkit.items import Item, Key, Table

    Node = tuple[Key | None, Item]
    Body = list[Node]


class LineKind(Enum):
    """What a line says. A value over several lines, or a run of blank lines, counts as one."""

    HEADER = auto()
    KEY = auto()
    COMMENT = auto()
    BLANK = auto()


@dataclass(slots=True, eq=False)
class Line:
    """A line, and the body of a container that it stands in."""

    kind: LineKind
    section: KeyPath
    """The header above it; of a header, its own path."""
    body: Body
    node: Node
    """In ``body``. Of a dotted key, the table of its first name."""
    path: KeyPath = ()
    """In full; empty for comments and blank lines."""
    table: Table | None = None
    """Of a header."""
    assigned: Assigned | None = None
    """Of a key."""

    def is_in(self, path: KeyPath) -> bool:
        """Whether it defines ``path`` or something below it."""
        return bool(self.path) and self.path[: len(path)] == path

    def index(self) -> int:
        """Where it stands in ``body`` at the moment."""
        return next(at for at, node in enumerate(self.body) if node is self.node)

    def behind(self) -> tuple[Body, int]:
        """The place where the next line of the text goes."""
        if self.table is not None:
            return self.table.value.body, 0
        return self.body, self.index() + 1


@dataclass(frozen=True, slots=True)
class Assigned:
    """A value, and the container that holds it under its last name."""

    path: KeyPath
    owner: Container
    key: Key
    item: Item
    written: str
    """The key as the text has it, from the header or brace on: ``a . "b"``."""


def lines_of(document: TOMLDocument) -> list[Line]:
    """All lines, in the order of the text."""
    return list(_lines(document, (), ()))


def assignments(container: Container, path: KeyPath, written: str = "") -> Iterator[Assigned]:
    """What is assigned in a container itself, also by dotted keys; tables with headers are not."""
    from tomlkit.items import Table

    for key, item in container.body:
        if key is not None:
            yield from _assigned(container, key, item, path, written, Table)


def _assigned(
    owner: Container, key: Key, item: Item, path: KeyPath, written: str, table: type[Table]
) -> Iterator[Assigned]:
    here = (*path, key.key)
    if not isinstance(item, table):
        yield Assigned(here, owner, key, item, written + key.as_string())
    elif key.is_dotted():
        yield from assignments(item.value, here, f"{written}{key.as_string()}.")


def _lines(container: Container, path: KeyPath, section: KeyPath) -> Iterator[Line]:
    from tomlkit.items import AoT, Comment, Table, Whitespace

    body = container.body
    for node in body:
        key, item = node
        if isinstance(item, Comment):
            yield Line(LineKind.COMMENT, section, body, node)
        elif isinstance(item, Whitespace):
            yield Line(LineKind.BLANK, section, body, node)
        elif key is None:
            continue
        elif isinstance(item, AoT):
            for table in item.body:
                yield from _section(table, (*path, key.key), section, body, node)
        elif isinstance(item, Table) and not key.is_dotted():
            yield from _section(item, (*path, key.key), section, body, node)
        else:
            for found in _assigned(container, key, item, path, "", Table):
                yield Line(LineKind.KEY, section, body, node, found.path, assigned=found)


def _section(
    table: Table, path: KeyPath, section: KeyPath, body: Body, node: Node
) -> Iterator[Line]:
    if not table.is_super_table():
        section = path
        yield Line(LineKind.HEADER, section, body, node, path, table=table)
    yield from _lines(table.value, path, section)
