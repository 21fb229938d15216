"""JSON in one form: compact, keys sorted, numbers as they were written. Pure.

Reading numbers and writing them again would change large and long ones.
"""

from __future__ import annotations

import json

from proxy import wire


def canonical(raw: bytes) -> str:
    """The text of a JSON value, the same for the same value however it was laid out.

    Of equal keys the last counts. Every character can be encoded: lone surrogates stay escaped. What
    cannot be read comes back as it is.
    """
    try:
        return _text(raw.strip(b" \t\r\n"))
    except (wire.MalformedMessage, RecursionError):
        return raw.decode("utf-8", "replace")


def _text(raw: bytes) -> str:
    first = raw[:1]
    if first == b"{":
        members = wire.members_of(raw)
        inner = (_string(name) + ":" + _text(bytes(members[name])) for name in sorted(members))
        return "{" + ",".join(inner) + "}"
    if first == b"[":
        return "[" + ",".join(_text(bytes(item)) for item in wire.items_of(raw)) + "]"
    if first == b'"':
        text = wire.text_of(raw)
        return raw.decode("utf-8", "replace") if text is None else _string(text)
    return raw.decode("utf-8", "replace")


def _string(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return written
