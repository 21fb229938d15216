"""Where the values of a JSON text stand in it: exact spans of the source, never re-written values.

One level at a time. Values in between are skipped by the C scanner of the standard library; what it
refuses (nesting too deep, integers too long) is skipped token by token. NaN, lone surrogates and
control characters in strings are taken. Linear in what is scanned, no recursion of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_scan = json.JSONDecoder(strict=False).raw_decode
_space = re.compile(r"[ \t\r\n]*").match
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_scalar = re.compile(r'[^\s,:\[\]{}"]+').match
_WHITE = " \t\r\n"


class NotJson(ValueError):
    """The text is no JSON where JSON was expected."""


@dataclass(frozen=True, slots=True)
class Child:
    """One value inside an object or array."""

    key: str
    """The member's name; empty for an item of an array."""
    outer: int
    """Where the member begins, its name included; for items the same as ``start``."""
    start: int
    end: int


def root(text: str) -> tuple[int, int]:
    """The span of the whole text's value, without what stands around it. Raises `NotJson`."""
    start = skip_space(text, 1 if text.startswith("\ufeff") else 0)
    end = len(text)
    while end > start and text[end - 1] in _WHITE:
        end -= 1
    if start == end:
        raise NotJson
    return start, end


def children(text: str, start: int) -> Iterator[Child]:
    """The values directly inside the object or array at ``start``; none inside a scalar.

    Lazy, so that a search reads no further than its find. Raises `NotJson` where the text breaks off
    or is malformed.
    """
    opening = text[start : start + 1]
    if opening == "{":
        return _members(text, start)
    if opening == "[":
        return _items(text, start)
    return iter(())


def skip_space(text: str, at: int) -> int:
    """The first place at or after ``at`` that is no white space of JSON."""
    found = _space(text, at)
    return at if found is None else found.end()


def skip(text: str, at: int) -> int:
    """One past the value that begins at ``at``. Raises `NotJson`."""
    try:
        return _scan(text, at)[1]
    except json.JSONDecodeError:
        raise NotJson from None
    except (ValueError, RecursionError):
        return _skip_slowly(text, at)  # an integer of thousands of digits, or nested too deeply


def _skip_slowly(text: str, at: int) -> int:
    first = text[at : at + 1]
    if first not in ("{", "[", '"'):
        found = _scalar(text, at)
        if found is None:
            raise NotJson
        return found.end()
    depth = 0
    for token in _TOKEN.finditer(text, at):
        kind = token.group()
        if kind in ("{", "["):
            depth += 1
        elif kind in ("}", "]"):
            depth -= 1
        if depth <= 0:
            return token.end()
    raise NotJson


def _items(text: str, start: int) -> Iterator[Child]:
    at = skip_space(text, start + 1)
    if text[at : at + 1] == "]":
        return
    while True:
        end = skip(text, at)
        yield Child("", at, at, end)
        at = _comma(text, end, "]")
        if at < 0:
            return


def _members(text: str, start: int) -> Iterator[Child]:
    at = skip_space(text, start + 1)
    if text[at : at + 1] == "}":
        return
    while True:
        outer = at
        if text[at : at + 1] != '"':
            raise NotJson
        try:
            key, at = _scan(text, at)
        except ValueError:
            raise NotJson from None
        if text[at : at + 1] != ":":
            at = skip_space(text, at)
            if text[at : at + 1] != ":":
                raise NotJson
        at = skip_space(text, at + 1)
        end = skip(text, at)
        yield Child(key, outer, at, end)
        at = _comma(text, end, "}")
        if at < 0:
            return


def _comma(text: str, at: int, closing: str) -> int:
    """Where the next value begins; -1 after the last one."""
    mark = text[at : at + 1]
    if mark != "," and mark != closing:
        at = skip_space(text, at)
        mark = text[at : at + 1]
    if mark == ",":
        return skip_space(text, at + 1)
    if mark == closing:
        return -1
    raise NotJson


def escaped(key: str) -> str:
    """A member's name as one step of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def unescaped(step: str) -> str:
    """The member's name that one step of a JSON Pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~")


def quoted(text: str) -> str:
    """A text as a JSON string; what UTF-8 cannot hold is escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)
