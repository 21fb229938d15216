"""Reader of Markdown notes: one memory per list item or paragraph, with the headings above it. Pure.

An item keeps what is indented below it, a paragraph the code block that follows it at once. Front matter,
rules and comments say nothing and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory.exchange.foreign import ForeignFile, Found, reference

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_ITEM = re.compile(r"( {0,3})(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*|[ \t]*={2,}[ \t]*|[ \t]*-{2,}[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def read_markdown(files: Iterable[tuple[str, str]]) -> ForeignFile:
    """Notes by name and text, in the order given."""
    found: list[Found] = []
    for name, text in files:
        found += _Note(name).read(text)
    return ForeignFile(tuple(found))


class _Note:
    """One file, read line by line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._headings: list[tuple[int, str]] = []
        self._found: list[Found] = []
        self._block: list[str] = []
        self._start = 0
        self._is_item = False
        self._gap = False
        self._fence = ""

    def read(self, text: str) -> list[Found]:
        """Its memories."""
        for number, line in enumerate(_without_remarks(text).split("\n"), 1):
            self._take(number, line.rstrip())
        self._end()
        return self._found

    def _take(self, number: int, line: str) -> None:
        fence = _FENCE.match(line)
        if self._fence:
            self._block.append(line)
            if fence and fence[1].startswith(self._fence) and line.strip() == fence[1]:
                self._fence = ""
            return
        if not line:
            self._gap = True
            return
        indented = line.startswith(("  ", "\t"))
        heading = _HEADING.fullmatch(line)
        if heading and not indented:
            self._end()
            self._under(len(heading[1]), (heading[2] or "").strip())
            return
        if self._is_item and indented:
            self._continue(line)
        elif _RULE.fullmatch(line):
            self._underline(line)
        elif item := _ITEM.fullmatch(line):
            self._end()
            self._begin(number, item[2], is_item=True)
        elif self._gap and not (fence and self._block and not self._is_item):
            self._end()
            self._begin(number, line)
        elif self._block:
            self._continue(line)
        else:
            self._begin(number, line)
        if fence:
            self._fence = fence[1]
        self._gap = False

    def _begin(self, number: int, line: str, *, is_item: bool = False) -> None:
        self._block, self._start, self._is_item = [line], number, is_item
        self._gap = False

    def _continue(self, line: str) -> None:
        self._block.append(line)

    def _underline(self, line: str) -> None:
        """A rule between paragraphs, or the line below a heading of one line."""
        is_heading = len(self._block) == 1 and not self._is_item and not self._gap
        if is_heading and line.strip()[0] in "=-":
            title, self._block = self._block[0].strip(), []
            self._under(1 if "=" in line else 2, title)
        else:
            self._end()

    def _under(self, level: int, title: str) -> None:
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        if title:
            self._headings.append((level, title))

    def _end(self) -> None:
        content = "\n".join(self._block).strip()
        self._block, self._is_item, self._gap = [], False, False
        if not content:
            return
        path = " > ".join(title for _, title in self._headings)
        of = f"#{self._headings[-1][1]}" if self._headings else ""
        self._found.append(
            Found(
                f"{self._name} line {self._start}",
                f"{path}: {content}" if path else content,
                reference(self._name, of),
            )
        )


def _without_remarks(text: str) -> str:
    """The text with blank lines where front matter and comments were."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() == "---":
        for place, line in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                lines[: place + 1] = [""] * (place + 1)
                break
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines))
