"""Where the values of a JSON text stand in it: exact spans of the source, never re-written values.

One level at a time. Strict JSON is taken apart by msgspec, about 1 ms per 300 KB; what it refuses (NaN,
lone surrogates, control characters, duplicate names) by the scanner of the standard library, ten times
slower; and what that refuses (nesting too deep, integers too long) token by token. Linear in what is
scanned, no recursion of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, repeat
from operator import add
from typing import Any, NamedTuple, cast

import msgspec

_scan = json.JSONDecoder(strict=False).raw_decode
_space = re.compile(r"[ \t\r\n]*").match
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_scalar = re.compile(r'[^\s,:\[\]{}"]+').match
_WHITE = " \t\r\n"
_array = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_WORTH_MSGSPEC = 400
"""Characters of a container from which on its faster scan pays."""


class NotJson(ValueError):
    """The text is no JSON where JSON was expected."""


class Child(NamedTuple):
    """One value inside an object or array. A tuple, since there can be very many."""

    key: str
    """The member's name; empty for an item of an array."""
    outer: int
    """Where the member begins, its name included; for items the same as ``start``."""
    start: int
    end: int


_item = cast(
    "Callable[[tuple[str, int, int, int]], Child]", partial(cast("Any", tuple).__new__, Child)
)
"""Makes an item without a call of Python code, three times as fast."""


def root(text: str) -> tuple[int, int]:
    """The span of the whole text's value, without what stands around it. Raises `NotJson`."""
    start = skip_space(text, 1 if text.startswith("\ufeff") else 0)
    end = len(text)
    while end > start and text[end - 1] in _WHITE:
        end -= 1
    if start == end:
        raise NotJson
    return start, end


def children(text: str, start: int, end: int) -> Iterable[Child]:
    """The values directly inside the object or array ``text[start:end]``; none inside a scalar.

    May be lazy, so that a search reads no further than its find. Raises `NotJson`, also while it is
    read, where the text breaks off or is malformed.
    """
    opening = text[start : start + 1]
    if opening not in ("{", "["):
        return ()
    if end - start >= _WORTH_MSGSPEC:
        found = _quickly(text, start, end)
        if found is not None:
            return found
    return _members(text, start) if opening == "{" else _items(text, start)


def _quickly(text: str, start: int, end: int) -> list[Child] | None:
    """The same by msgspec's scanner; ``None`` when that does not take the text as it is."""
    part = text[start:end] if start or end != len(text) else text
    try:
        if text[start] == "[":
            return _placed_items(text, start, end, _array.decode(part))
        return _placed_members(text, start, end, _object.decode(part))
    except (msgspec.MsgspecError, UnicodeError, RecursionError, NotJson):
        return None


def _placed_items(text: str, start: int, end: int, values: list[msgspec.Raw]) -> list[Child] | None:
    """Where the items stand whose lengths are known."""
    measure = len if text.isascii() else _characters
    lengths = list(map(measure, values))
    if sum(lengths) + max(0, len(lengths) - 1) + 2 == end - start:
        # No white space: between two items there is a comma and nothing else.
        starts = list(accumulate((length + 1 for length in lengths), initial=start + 1))[:-1]
    else:
        starts: list[int] = []
        at = start + 1
        for length in lengths:
            if text[at] in _WHITE:
                at = skip_space(text, at)
            starts.append(at)
            at += length
            if text[at] in _WHITE:
                at = skip_space(text, at)
            at += 1  # the comma, or the closing bracket
        if (at if lengths else skip_space(text, at) + 1) != end:
            return None
    return list(
        map(_item, zip(repeat(""), starts, starts, map(add, starts, lengths), strict=False))
    )


def _characters(raw: msgspec.Raw) -> int:
    return len(str(raw, "utf-8"))


def _placed_members(
    text: str, start: int, end: int, values: dict[str, msgspec.Raw]
) -> list[Child] | None:
    """Where the members stand. A name that occurs twice shows up as a value that is not there."""
    found: list[Child] = []
    at = start + 1
    for key, raw in values.items():
        outer = skip_space(text, at)
        after = outer + len(key) + 2
        if "\\" in text[outer:after] or text[outer + 1 : after] != f'{key}"':
            decoded, after = _scan(text, outer)
            if decoded != key:
                return None
        at = skip_space(text, skip_space(text, after) + 1)
        value = str(raw, "utf-8")
        found.append(Child(key, outer, at, at + len(value)))
        if not text.startswith(value, at):
            return None
        at = skip_space(text, at + len(value)) + 1
    if not values:
        at = skip_space(text, at) + 1
    return found if at == end else None


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
