"""Add or remove one member of a JSON object and leave every other byte as it was written. Pure.

Reading and writing the whole would rewrite numbers, white space and odd strings, which a relay must not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from proxy.loose_json import string

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_WHITE = rb"[ \t\r\n]*+"
_NAME = re.compile(_WHITE + rb"(" + _STRING + rb")" + _WHITE + rb":" + _WHITE, re.DOTALL)
_NEXT = re.compile(_WHITE + rb"([,}])")
_TOKEN = re.compile(_STRING + rb"|[{}\[\],]", re.DOTALL)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class MemberSpan:
    """Where one member stands: offsets in bytes."""

    name: str
    start: int
    """Of its name's first quotation mark."""
    value: int
    """Of its value's first byte."""
    end: int
    """One past its value's last byte."""


def member_spans(raw: bytes) -> list[MemberSpan] | None:
    """The members of an object in their order, equal names included; ``None`` when it is no object."""
    start = len(raw) - len(raw.lstrip(b" \t\r\n"))
    if raw[start : start + 1] != b"{" or not raw.rstrip(b" \t\r\n").endswith(b"}"):
        return None
    try:
        found = _MEMBERS.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _spans_by_token(raw, start)
    spans = _spans_by_length(raw, start, [bytes(value) for value in found.values()])
    return _spans_by_token(raw, start) if spans is None else spans


def without_member(raw: bytes, name: str) -> bytes:
    """The object without its members of this name; what is no object comes back as it is."""
    spans = member_spans(raw)
    if spans is None:
        return raw
    kept = [span for span in spans if span.name != name]
    if len(kept) == len(spans):
        return raw
    if not kept:
        return raw[: spans[0].start] + raw[spans[-1].end :]
    parts: list[bytes] = []
    position = 0
    first = True
    for index, span in enumerate(spans):
        if span.name != name:
            first = False
            continue
        # The comma before it goes along, or, before the first that stays, the one behind it.
        parts.append(raw[position : span.start if first else spans[index - 1].end])
        position = spans[index + 1].start if first else span.end
    parts.append(raw[position:])
    return b"".join(parts)


def with_member(raw: bytes, name: str, value: bytes) -> bytes | None:
    """The object with one more member at its end; ``None`` when it is no object."""
    spans = member_spans(raw)
    if spans is None:
        return None
    member = json.dumps(name).encode() + b":" + value
    if spans:
        at = spans[-1].end
        return raw[:at] + b"," + member + raw[at:]
    at = raw.index(b"{") + 1
    return raw[:at] + member + raw[at:]


def with_value(raw: bytes, span: MemberSpan, value: bytes) -> bytes:
    """The object with another value at ``span``, one of its `member_spans`."""
    return raw[: span.value] + value + raw[span.end :]


def with_values(raw: bytes, spans: Sequence[MemberSpan], values: Sequence[bytes | None]) -> bytes:
    """The object with a value for each of its `member_spans`; ``None`` removes the member."""
    if spans and all(value is None for value in values):
        return raw[: spans[0].start] + raw[spans[-1].end :]
    parts: list[bytes] = []
    position = 0
    first = True
    for index, (span, value) in enumerate(zip(spans, values, strict=True)):
        if value is not None:
            first = False
            parts += (raw[position : span.value], value)
            position = span.end
            continue
        # The comma before it goes along, or, before the first that stays, the one behind it.
        parts.append(raw[position : span.start if first else spans[index - 1].end])
        position = spans[index + 1].start if first else span.end
    parts.append(raw[position:])
    return b"".join(parts)


def _spans_by_length(raw: bytes, start: int, values: list[bytes]) -> list[MemberSpan] | None:
    """From the values in order; ``None`` when names are equal and a value therefore missing."""
    spans: list[MemberSpan] = []
    position = start + 1
    for value in values:
        name = _NAME.match(raw, position)
        if name is None or not raw.startswith(value, name.end()):
            return None
        end = name.end() + len(value)
        spans.append(MemberSpan(string(name.group(1)), name.start(1), name.end(), end))
        after = _NEXT.match(raw, end)
        if after is None or (after.group(1) == b",") != (len(spans) < len(values)):
            return None
        position = after.end()
    return spans


def _spans_by_token(raw: bytes, start: int) -> list[MemberSpan] | None:
    """For what the fast reader refuses: NaN, equal names, lone surrogates, any depth."""
    spans: list[MemberSpan] = []
    name: re.Match[bytes] | None = None
    depth = 0
    for token in _TOKEN.finditer(raw, start):
        kind = token.group()
        if depth == 1 and kind[:1] == b'"':
            if name is None:
                name = _NAME.match(raw, token.start())
                if name is None:
                    return None
        elif depth == 1 and kind in (b",", b"}"):
            if name is not None:
                end = name.end() + len(raw[name.end() : token.start()].rstrip(b" \t\r\n"))
                spans.append(MemberSpan(string(name.group(1)), name.start(1), name.end(), end))
                name = None
            elif kind == b"," or spans or raw[start + 1 : token.start()].strip(b" \t\r\n"):
                return None
        if kind in (b"{", b"["):
            depth += 1
        elif kind in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return spans if raw[token.end() :].isspace() or token.end() == len(raw) else None
    return None
