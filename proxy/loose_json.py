"""Read JSON that strict readers refuse: NaN, lone surrogates, invalid UTF-8, very deep nesting.

Only one level at a time and without recursion: an object's members or an array's elements as raw
JSON, a string as text, a value without white space. Linear in the input; nothing here raises for any
bytes.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

import msgspec

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_TOKEN = re.compile(_STRING + rb"|[{}\[\],:]", re.DOTALL)
_SPACE = re.compile(rb"(" + _STRING + rb")|[ \t\r\n]++", re.DOTALL)
_WHITE = b" \t\r\n"
_STRICT = msgspec.json.Decoder(str)
_LENIENT = json.JSONDecoder(strict=False)
_ESCAPES = re.compile(r"(?<!\\)((?:\\\\)*+)((?:\\u[0-9a-fA-F]{4})++)")


def members(raw: bytes) -> dict[str, bytes] | None:
    """The members of an object as raw JSON; the last one wins. ``None`` when it is no object."""
    parts = _parts(raw, b"{", b"}")
    if parts is None:
        return None
    found: dict[str, bytes] = {}
    for part in parts:
        key = _TOKEN.match(part)
        if key is None or part[:1] != b'"':
            continue
        rest = part[key.end() :].lstrip(_WHITE)
        if rest[:1] == b":":
            found[string(key.group())] = rest[1:].strip(_WHITE)
    return found


def elements(raw: bytes) -> list[bytes]:
    """The elements of an array as raw JSON; none when it is no array."""
    return list(_parts(raw, b"[", b"]") or ())


def string(raw: bytes) -> str:
    """The text of a JSON string, lone surrogates included; empty when it is no string."""
    raw = raw.strip(_WHITE)
    if raw[:1] != b'"':
        return ""
    try:
        return _STRICT.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = raw.decode("utf-8", "replace")
    try:
        value: object = _LENIENT.decode(text)
    except ValueError:
        return text.strip('"')
    return value if isinstance(value, str) else ""


def compact(raw: bytes) -> bytes:
    """``raw`` without the white space between its tokens."""
    try:
        return msgspec.json.format(raw, indent=-1)
    except (msgspec.MsgspecError, RecursionError):
        return _SPACE.sub(lambda match: match.group(1) or b"", raw)


def indented(raw: bytes) -> bytes:
    """``raw`` laid out for a person, two spaces per level; unchanged when it is no strict JSON."""
    try:
        return msgspec.json.format(raw, indent=2)
    except (msgspec.MsgspecError, RecursionError):
        return raw


def readable(text: str) -> str:
    """JSON text with its ``\\uXXXX`` escapes of printable characters resolved; it stays JSON."""
    return _ESCAPES.sub(_resolve, text) if "\\u" in text else text


def _resolve(match: re.Match[str]) -> str:
    before, escapes = match.groups()
    characters: str = json.loads(f'"{escapes}"')
    if characters.isprintable() and '"' not in characters and "\\" not in characters:
        return before + characters
    return before + escapes


def _parts(raw: bytes, opening: bytes, closing: bytes) -> Iterator[bytes] | None:
    """The comma-separated parts of one array or object; ``None`` when ``raw`` is no complete one."""
    raw = raw.removeprefix(b"\xef\xbb\xbf").strip(_WHITE)
    if raw[:1] != opening or raw[-1:] != closing or len(raw) < 2:
        return None
    cuts = [1]
    depth = 0
    for token in _TOKEN.finditer(raw):
        kind = token.group()
        if kind in (b"{", b"["):
            depth += 1
        elif kind in (b"}", b"]"):
            depth -= 1
            if depth == 0 and token.end() != len(raw):
                return None
        elif kind == b"," and depth == 1:
            cuts.append(token.end())
    if depth != 0:
        return None
    cuts.append(len(raw))
    spans = itertools.pairwise(cuts)
    return (part for start, end in spans if (part := raw[start : end - 1].strip(_WHITE)))
