"""Where each key stands in a TOML text, for messages and for edits that touch nothing else.

`tomllib` gives values without positions.
The scanner expects text that `tomllib` accepted; on anything else it stops early and keeps what it
found, so a missing position costs a line number and nothing more.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from config.toml_text import KeyPath

_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""(?:"{1,2}(?!"))?')
_LONG_LITERAL = re.compile(r"'''[\s\S]*?'''(?:'{1,2}(?!'))?")
_PLAIN = re.compile(r"[^\s,\]}#][^,\]}#\n]*")


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, both from 1; the column counts characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A table header or an assignment. All offsets are in characters from 0, ends exclusive."""

    path: KeyPath
    """In full: below its table and the inline tables around it."""
    table: KeyPath
    """The header above it; of a header itself, its own path."""
    start: int
    end: int
    """Behind the closing bracket or the value, before a comment."""
    value_start: int
    """Of a header, its end."""
    is_header: bool = False
    is_array: bool = False
    """A header in double brackets."""
    inside: int | None = None
    """Within an inline table: the offset of that table's opening brace."""


class _Stop(Exception):  # a signal between two methods, no error
    """The text is not what the scanner expects."""


def locate_keys(text: str) -> Mapping[KeyPath, Position]:
    """The position of every table header and key; the first one where there are several."""
    starts: dict[KeyPath, int] = {}
    for entry in scan_entries(text):
        # A dotted key or header makes the tables on its way.
        for end in range(1, len(entry.path) + 1):
            starts.setdefault(entry.path[:end], entry.start)
    positions: dict[KeyPath, Position] = {}
    line, line_start, counted = 1, 0, 0
    for path, start in sorted(starts.items(), key=lambda item: item[1]):
        if start > counted:
            line += text.count("\n", counted, start)
            line_start = text.rfind("\n", 0, start) + 1
            counted = start
        positions[path] = Position(line, start - line_start + 1)
    return positions


def scan_entries(text: str) -> tuple[Entry, ...]:
    """Every header and assignment, by rising start."""
    scanner = _Scanner(text)
    with contextlib.suppress(_Stop, RecursionError):
        scanner.document()
    return tuple(sorted(scanner.entries, key=lambda entry: entry.start))


class _Scanner:
    """Reads forward once; ``_at`` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.entries: list[Entry] = []

    def document(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_BLANK)
            start = self._at
            if start >= len(self._text):
                return
            if self._text[start] == "[":
                is_array = self._text.startswith("[[", start)
                self._at += 2 if is_array else 1
                table = self._key()
                self._expect("]]" if is_array else "]")
                end = self._at
                self.entries.append(
                    Entry(table, table, start, end, end, is_header=True, is_array=is_array)
                )
            else:
                self._assignment(table, table, None)

    def _assignment(self, table: KeyPath, around: KeyPath, inside: int | None) -> None:
        start = self._at
        path = (*around, *self._key())
        self._expect("=")
        self._skip(_SPACE)
        value_start = self._at
        self._value(table, path)
        self.entries.append(Entry(path, table, start, self._at, value_start, inside=inside))

    def _key(self) -> KeyPath:
        names: list[str] = []
        while True:
            self._skip(_SPACE)
            start = self._at
            if start >= len(self._text):
                raise _Stop
            pattern = {'"': _BASIC, "'": _LITERAL}.get(self._text[start], _BARE)
            word = self._match(pattern)
            names.append(_unquoted(word) if pattern is not _BARE else word)
            self._skip(_SPACE)
            if not self._text.startswith(".", self._at):
                return tuple(names)
            self._at += 1

    def _value(self, table: KeyPath, path: KeyPath) -> None:
        text, at = self._text, self._at
        if text.startswith('"""', at):
            self._match(_LONG_BASIC)
        elif text.startswith("'''", at):
            self._match(_LONG_LITERAL)
        elif text.startswith('"', at):
            self._match(_BASIC)
        elif text.startswith("'", at):
            self._match(_LITERAL)
        elif text.startswith("[", at):
            self._items(table, path, "]")
        elif text.startswith("{", at):
            self._items(table, path, "}")
        else:
            # The pattern takes spaces for dates such as 2000-01-01 00:00:00.
            self._at = at + len(self._match(_PLAIN).rstrip())

    def _items(self, table: KeyPath, path: KeyPath, end: str) -> None:
        """The inside of an array or of an inline table."""
        opening = self._at
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text.startswith(end, self._at):
                self._at += 1
                return
            if end == "}":
                self._assignment(table, path, opening)
            else:
                self._value(table, path)
            self._skip(_BLANK)
            if self._text.startswith(",", self._at):
                self._at += 1
            elif not self._text.startswith(end, self._at):
                raise _Stop

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise _Stop
        self._at = match.end()
        return match.group()

    def _expect(self, token: str) -> None:
        self._skip(_SPACE)
        if not self._text.startswith(token, self._at):
            raise _Stop
        self._at += len(token)


def _unquoted(word: str) -> str:
    if word.startswith("'"):
        return word[1:-1]
    try:
        return str(tomllib.loads(f"value = {word}")["value"])
    except ValueError:
        raise _Stop from None
