"""Where each key stands in a TOML text, for messages.

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


class _Stop(Exception):  # a signal between two methods, no error
    """The text is not what the scanner expects."""


def locate_keys(text: str) -> Mapping[KeyPath, Position]:
    """The position of every table header and key; the first one where there are several."""
    scanner = _Scanner(text)
    with contextlib.suppress(_Stop, RecursionError):
        scanner.document()
    starts: dict[KeyPath, int] = {}
    for path, start in scanner.found:
        # A dotted key or header makes the tables on its way.
        for end in range(1, len(path) + 1):
            starts.setdefault(path[:end], start)
    positions: dict[KeyPath, Position] = {}
    line, line_start, counted = 1, 0, 0
    for path, start in sorted(starts.items(), key=lambda item: item[1]):
        if start > counted:
            line += text.count("\n", counted, start)
            line_start = text.rfind("\n", 0, start) + 1
            counted = start
        positions[path] = Position(line, start - line_start + 1)
    return positions


class _Scanner:
    """Reads forward once; ``_at`` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.found: list[tuple[KeyPath, int]] = []
        """The full path and the start of every header and assignment, as they come."""

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
                self.found.append((table, start))
            else:
                self._assignment(table)

    def _assignment(self, around: KeyPath) -> None:
        start = self._at
        path = (*around, *self._key())
        self._expect("=")
        self._skip(_SPACE)
        self.found.append((path, start))
        self._value(path)

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

    def _value(self, path: KeyPath) -> None:
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
            self._items(path, "]")
        elif text.startswith("{", at):
            self._items(path, "}")
        else:
            # The pattern takes spaces for dates such as 2000-01-01 00:00:00.
            self._at = at + len(self._match(_PLAIN).rstrip())

    def _items(self, path: KeyPath, end: str) -> None:
        """The inside of an array or of an inline table."""
        self._at += 1
        while True:
            self._skip(_BLANK)
            if self._text.startswith(end, self._at):
                self._at += 1
                return
            if end == "}":
                self._assignment(path)
            else:
                self._value(path)
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
