"""JSON as spans of its own text, opened one level at a time.

What is kept of a JSON text must be exactly what the upstream wrote: the digits of its numbers, the
escapes of its strings, the order of its keys. So nothing here builds numbers or strings: a value is a
span of the compact text (the text without white space between its tokens), in bytes. Only the levels
somebody looks at are opened, by a C parser; a megabyte costs a few milliseconds.

Odd JSON (NaN, lone surrogates, nesting of 10,000) has a *shadow*: a text of the same length in which
the odd parts are replaced by harmless ones, so that the parser finds the same spans in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from operator import add, sub

import msgspec

from proxy import loose_json

MAX_DEPTH = 64
"""Levels that are ever opened in odd JSON; what lies deeper is kept or dropped as a whole."""
KEPT_FROM = 500
"""Bytes of a value whose children are worth keeping."""
_WHITE = b" \t\r\n"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BRACKET = re.compile(_STRING + rb"|[{}\[\]]", re.DOTALL)
_TOKEN = re.compile(_STRING + rb"|[{}\[\],:]", re.DOTALL)
_RAW_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_STAND_INS = ((b"Infinity", b"0e900078", b"0.000000"), (b"NaN", b"0e900077", b"0.0"))
"""Names, numbers that take their places while white space is removed, and what shadows have."""
_NUMBERS = ((b"-Infinity", b"-0.000000"), (b"Infinity", b"0.000000"), (b"NaN", b"0.0"))

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Children:
    """The members of an object or the items of an array, as parallel lists of positions."""

    keys: Sequence[str]
    """Decoded keys of an object; empty for an array."""
    starts: Sequence[int]
    """Where each child begins: at its key, or at its value in an array."""
    values: Sequence[int]
    """Where each child's value begins."""
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)


_NONE = Children((), (), (), ())


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON text without white space."""

    raw: bytes
    """Compact JSON, UTF-8, lone surrogates passed."""
    shadow: bytes
    """The same length, strict and not deep; mostly the same object."""
    _opened: dict[int, Children] = field(
        default_factory=dict[int, Children], compare=False, repr=False
    )
    """Children of large values by their position: cuts are tried several times."""

    def is_object(self, start: int) -> bool:
        return self.shadow[start] == 0x7B

    def is_array(self, start: int) -> bool:
        return self.shadow[start] == 0x5B

    def is_string(self, start: int) -> bool:
        """Also true for what lies too deep to be opened: ask `is_deep`."""
        return self.shadow[start] == 0x22

    def is_deep(self, start: int) -> bool:
        """The value is an array or object too deep to be opened."""
        return self.raw[start] in b"{[" and self.shadow[start] == 0x22

    def text(self, start: int, end: int) -> str:
        return self.raw[start:end].decode("utf-8", "surrogatepass")

    def children(self, start: int, end: int) -> Children:
        """The members or items of the value at a span; none for a scalar."""
        if end - start < KEPT_FROM:
            return self._children(start, end)
        known = self._opened.get(start)
        if known is None:
            known = self._opened[start] = self._children(start, end)
        return known

    def _children(self, start: int, end: int) -> Children:
        kind = self.shadow[start]
        part = memoryview(self.shadow)[start:end]
        try:
            if kind == 0x5B:
                starts, ends = _spans(start, map(len, _items.decode(part)))
                return Children((), starts, starts, ends)
            if kind == 0x7B:
                found = _members.decode(part)
            else:
                return _NONE
        except (msgspec.MsgspecError, RecursionError):
            return _NONE
        keys = list(found)
        joined = "".join(keys)
        if len(joined) == sum(map(len, keys)) and joined.isascii():
            key_lengths = list(map(len, keys))
        else:
            key_lengths = [len(key.encode()) for key in keys]
        lengths = list(map(add, key_lengths, map(len, found.values())))
        # Each member is "key":value, each but the first after a comma. Another sum means escapes in
        # keys or keys that are there twice.
        if sum(lengths) + 4 * len(keys) + 1 + (not keys) != end - start:
            return self._scan(start, end)
        starts, ends = _spans(start, map(add, lengths, repeat(3)))
        values = list(map(add, starts, map(add, key_lengths, repeat(3))))
        if self.raw is not self.shadow:
            for place, (begin, value) in enumerate(zip(starts, values, strict=True)):
                if self.raw[begin:value] != self.shadow[begin:value]:
                    keys[place] = self._key(begin, value - 1)
        return Children(keys, starts, values, ends)

    def _scan(self, start: int, end: int) -> Children:
        """The members of an object with escaped or repeated keys, by looking at every token."""
        keys: list[str] = []
        starts: list[int] = []
        values: list[int] = []
        ends: list[int] = []
        depth = 0
        begin = start + 1
        for token in _TOKEN.finditer(self.shadow, start, end):
            kind = self.shadow[token.start()]
            if kind in b"{[":
                depth += 1
            elif kind in b"}]":
                depth -= 1
                if depth == 0 and token.start() > begin:
                    ends.append(token.start())
            elif depth != 1:
                continue
            elif kind == 0x2C:
                ends.append(token.start())
                begin = token.end()
            elif kind == 0x3A and len(values) == len(ends):
                starts.append(begin)
                values.append(token.end())
                keys.append(self._key(begin, token.start()))
        return Children(keys, starts, values, ends)

    def _key(self, start: int, end: int) -> str:
        """A key as text. The reader replaces raw surrogates, so these are escaped first."""
        return loose_json.string(_RAW_SURROGATE.sub(_escaped, self.raw[start:end]))


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match.group().decode("utf-8", "surrogatepass"))


def _spans(start: int, lengths: Iterable[int]) -> tuple[list[int], list[int]]:
    """Where children of some lengths begin and end after a bracket at ``start``, commas in between."""
    starts = list(accumulate(map(add, lengths, repeat(1)), initial=start + 1))
    ends = list(map(sub, starts[1:], repeat(1)))
    starts.pop()
    return starts, ends


def parse(text: str) -> Document | None:
    """The text as a document; ``None`` when it is not JSON, not even odd JSON."""
    data = text.encode("utf-8", "surrogatepass").removeprefix(b"\xef\xbb\xbf").strip(_WHITE)
    if data[:1] not in (b"{", b"[", b'"'):
        return None
    if b"\xed" not in data or not _RAW_SURROGATE.search(data):
        try:
            compact = msgspec.json.format(data, indent=-1)
        except (msgspec.MsgspecError, RecursionError):
            pass
        else:
            return Document(compact, compact)
        document = _with_odd_numbers(data)
        if document is not None:
            return document
    return _odd(data)


def _with_odd_numbers(data: bytes) -> Document | None:
    """JSON in which only NaN and Infinity are odd, as many programs write it."""
    names = [pair for pair in _STAND_INS if pair[0] in data]
    if not names or any(stand_in in data for _, stand_in, _ in names):
        return None
    for name, stand_in, _ in names:
        data = data.replace(name, stand_in)
    try:
        raw = shadow = msgspec.json.format(data, indent=-1)
    except (msgspec.MsgspecError, RecursionError):
        return None
    for name, stand_in, plain in names:
        raw = raw.replace(stand_in, name)
        shadow = shadow.replace(stand_in, plain)
    return Document(raw, shadow)


def _odd(data: bytes) -> Document | None:
    compact = loose_json.compact(data)
    shadow = _SURROGATE_ESCAPE.sub(b"\\\\u0041", _RAW_SURROGATE.sub(b"\xef\xbf\xbd", compact))
    for odd, plain in _NUMBERS:
        shadow = shadow.replace(odd, plain)
    shadow = _shallow(shadow)
    try:
        if msgspec.json.format(shadow, indent=-1) != shadow:
            return None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return Document(compact, shadow)


def _shallow(data: bytes) -> bytes:
    """``data`` with everything below `MAX_DEPTH` replaced by strings of the same length."""
    pieces: list[bytes] = []
    depth = begin = done = 0
    for token in _BRACKET.finditer(data):
        kind = data[token.start()]
        if kind in b"{[":
            depth += 1
            if depth == MAX_DEPTH + 1:
                begin = token.start()
        elif kind in b"}]":
            if depth == MAX_DEPTH + 1:
                pieces += (data[done:begin], b'"', b"A" * (token.end() - begin - 2), b'"')
                done = token.end()
            depth -= 1
    return b"".join((*pieces, data[done:])) if pieces else data


def quoted(text: str) -> bytes:
    """A JSON string, UTF-8, lone surrogates escaped."""
    encoded = json.dumps(text, ensure_ascii=False)
    try:
        return encoded.encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


Pointer = tuple[str, ...]
"""The reference tokens of a JSON Pointer, not escaped."""
MAX_POINTER = 160
"""Characters of a section id beyond which an announcement leaves it out."""


def section(pointer: Pointer, last: str = "") -> str:
    """The section id ``json:/a/b/0`` of a pointer; empty when it is too long to be of use.

    ``last``: one more token, for example ``3-94``. The whole document has no id of its own: ``""``.
    """
    tokens = (*pointer, last) if last else pointer
    if not tokens:
        return ""
    path = "".join(["/" + token.replace("~", "~0").replace("/", "~1") for token in tokens])
    if len(path) > MAX_POINTER or not path.isprintable():
        return ""
    return "json:" + path
