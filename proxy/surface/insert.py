"""Put a text into the result of a tool's call and leave every other byte as it was. Pure.

``append`` and ``prepend`` add a block of text to ``content``; ``section`` continues the last block of
text. The token that agents split a chunk of a progressive answer at, and whatever else announces a cut,
stays the last thing in its block: there, and where the text is JSON, ``section`` does as ``append``.
"""

from __future__ import annotations

import re

import msgspec

from config.schema_surfacing import SurfacingPosition
from proxy.compress.notices import MARK, PROGRESSIVE_FOOTER_TOKEN
from proxy.loose_json import elements, string
from proxy.splice import MemberSpan, member_spans
from proxy.tokens import SURROGATES

SECTION_BREAK = "\n\n"
"""Before a section."""
_WHITE = b" \t\r\n"
_ANNOUNCES = ("[" + MARK, '"' + MARK)
"""The last line of a shortened text begins so, or, as a line of JSON, with a quotation mark."""
_FENCES = re.compile(r"^[ \t]*+```", re.MULTILINE)
_JSON_ENDS = {"{": "}", "[": "]"}


def insert(result: bytes, text: str, position: SurfacingPosition) -> bytes | None:
    """The result with ``text`` in it; ``None``: it has no ``content`` where it could stand.

    ``result``: the ``result`` member of an answer to ``tools/call``, as JSON of whatever quality.
    ``text``: of one line and more; lone surrogates become U+FFFD.
    """
    spans = member_spans(result)
    content = _last(spans or (), "content")
    if content is None or result[content.value : content.value + 1] != b"[":
        return None
    start, end = content.value + 1, content.end - 1
    if result[end : end + 1] != b"]":
        return None
    text = SURROGATES.sub("\ufffd", text)
    if position is SurfacingPosition.SECTION:
        at = _end_of_last_text(result, content)
        if at is not None:
            return result[:at] + _quoted(SECTION_BREAK + text)[1:-1] + result[at:]
    block = b'{"type":"text","text":' + _quoted(text) + b"}"
    filled = result[start:end].strip(_WHITE) != b""
    if position is SurfacingPosition.PREPEND:
        return result[:start] + block + (b"," if filled else b"") + result[start:]
    at = start + len(result[start:end].rstrip(_WHITE))
    return result[:at] + (b"," if filled else b"") + block + result[at:]


def _end_of_last_text(result: bytes, content: MemberSpan) -> int | None:
    """Where the last block of text ends, within its quotation marks; ``None``: nothing may follow it."""
    position, found = content.value + 1, None
    for element in elements(result[content.value : content.end]):
        start = result.find(element, position, content.end)
        position = start + len(element)
        spans = member_spans(element) or ()
        kind, text = _last(spans, "type"), _last(spans, "text")
        if (
            kind is not None
            and text is not None
            and string(element[kind.value : kind.end]) == "text"
            and element[text.value : text.value + 1] == b'"'
            and element[text.value + 1 : text.end].endswith(b'"')
        ):
            found = start + text.value, start + text.end
    if found is None or not _may_go_on(string(result[found[0] : found[1]])):
        return None
    return found[1] - 1


def _may_go_on(text: str) -> bool:
    """Nothing in it has to stay last: no announcement of a cut, no JSON, no open fence."""
    if PROGRESSIVE_FOOTER_TOKEN in text:
        return False
    stripped = text.strip()
    if stripped[stripped.rfind("\n") + 1 :].startswith(_ANNOUNCES):
        return False
    if stripped and _JSON_ENDS.get(stripped[0]) == stripped[-1]:
        return False
    return "```" not in text or len(_FENCES.findall(text)) % 2 == 0


def _last(spans: tuple[MemberSpan, ...] | list[MemberSpan], name: str) -> MemberSpan | None:
    """The member of this name; readers take the last of several."""
    return next((span for span in reversed(spans) if span.name == name), None)


def _quoted(text: str) -> bytes:
    return msgspec.json.encode(text)
