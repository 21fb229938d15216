"""How large one call was: arguments, text and structured content of the answer, and the rest.

Pure. ``result`` is the raw JSON of an answer's ``result`` or ``error`` member and may be anything that
an upstream sends: odd JSON (NaN, lone surrogates, invalid UTF-8, very deep nesting) is read by a
tolerant scanner, and what is no JSON at all counts as text. Nothing here raises for any input.

Two steps, so that a batch of calls needs one count: `read_texts` finds what is to be counted, and
`Texts.measured` puts the counts in place. `measure` does both for one call, `measure_all` for many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from proxy.loose_json import compact, elements, members, readable, string
from proxy.model import Sizes

_T = TypeVar("_T")

Count = Callable[[Sequence[str]], Sequence[int]]
"""Tokens of each text, in order."""

Call = tuple[bytes, bytes]
"""Arguments and result of one call; empty ones measure 0."""

_NOTHING = Sizes()


@dataclass(frozen=True, slots=True)
class Measured:
    """Sizes of one call, each part counted once."""

    arguments: Sizes
    """The arguments as compact JSON."""
    text: Sizes
    """All texts of the answer; of an error, its message."""
    structured: Sizes
    """``structuredContent`` as compact JSON."""
    other_bytes: int
    """Images, audio and other binary content in base64, as transmitted. Never tokens."""


class Texts(msgspec.Struct, frozen=True, gc=False):
    """What of one call is to be counted. A struct: one is made for every call."""

    arguments: str
    structured: str
    texts: tuple[str, ...]
    arguments_bytes: int
    structured_bytes: int
    other_bytes: int

    def all(self) -> tuple[str, ...]:
        """Every text, in the order in which `measured` expects the counts."""
        return (self.arguments, self.structured, *self.texts)

    def measured(self, tokens: Sequence[int]) -> Measured:
        """Combine with the tokens of each of `all`."""
        texts = self.texts
        return Measured(
            Sizes(self.arguments_bytes, len(self.arguments), tokens[0]),
            Sizes(sum(map(utf8_length, texts)), sum(map(len, texts)), sum(tokens[2:]))
            if texts
            else _NOTHING,
            Sizes(self.structured_bytes, len(self.structured), tokens[1])
            if self.structured
            else _NOTHING,
            self.other_bytes,
        )


def measure(arguments: bytes, result: bytes, count: Count) -> Measured:
    """Measure one call. Empty ``arguments`` and ``result`` measure 0."""
    texts = read_texts(arguments, result)
    return texts.measured(count(texts.all()))


def measure_all(calls: Sequence[Call], count: Count) -> list[Measured]:
    """Measure calls with one count for the texts of all."""
    parts = [read_texts(arguments, result) for arguments, result in calls]
    tokens = count([text for part in parts for text in part.all()])
    measured: list[Measured] = []
    start = 0
    for part in parts:
        end = start + len(part.texts) + 2
        measured.append(part.measured(tokens[start:end]))
        start = end
    return measured


def read_texts(arguments: bytes, result: bytes) -> Texts:
    """Find all that is to be counted in one call."""
    sent, sent_bytes = _as_json(arguments)
    found = _Found()
    structured, structured_bytes = found.read_answer(result)
    return Texts(
        sent, structured, tuple(found.texts), sent_bytes, structured_bytes, found.other_bytes
    )


class _Answer(msgspec.Struct):
    """The members of ``result`` and ``error`` that carry content, still as raw JSON."""

    content: msgspec.Raw = msgspec.Raw()
    structured: msgspec.Raw = msgspec.field(default=msgspec.Raw(), name="structuredContent")
    contents: msgspec.Raw = msgspec.Raw()
    messages: msgspec.Raw = msgspec.Raw()
    code: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()


class _Block(msgspec.Struct):
    """A content block, an embedded resource or a prompt's message: the members that matter."""

    type: str = ""
    text: str = ""
    data: str = ""
    blob: str = ""
    resource: msgspec.Raw = msgspec.Raw()
    content: msgspec.Raw = msgspec.Raw()


_ANSWER = msgspec.json.Decoder(_Answer)
_BLOCK = msgspec.json.Decoder(_Block)
_BLOCKS = msgspec.json.Decoder(list[_Block])

_DEEPEST_CONTENT = 4
"""Content within content: a message's block is at 1. Deeper is hostile and not looked into."""


class _Found:
    """Collects the texts and the binary bytes of one answer."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.other_bytes = 0

    def read_answer(self, result: bytes) -> tuple[str, int]:
        """Collect from ``result``; returns the structured content and its bytes."""
        if not result or result.isspace():
            return "", 0
        answer = _decode(_ANSWER, result) or _loose_answer(result)
        if answer is None:
            self.texts.append(_lossy(result))
            return "", 0
        for blocks in (answer.content, answer.contents, answer.messages):
            self._blocks(bytes(blocks), 0)
        if bytes(answer.code) and not bytes(answer.content):
            self._text(string(bytes(answer.message)))
        return _as_json(bytes(answer.structured))

    def _blocks(self, raw: bytes, depth: int) -> None:
        """A block, a list of them, or (old servers) a string."""
        if not raw:
            return
        match raw[:1]:
            case b"[":
                blocks = _decode(_BLOCKS, raw)
                for block in _loose_blocks(raw) if blocks is None else blocks:
                    self._block(block, depth)
            case b"{":
                self._block(_decode(_BLOCK, raw) or _loose_block(raw), depth)
            case _:
                self._text(string(raw))

    def _block(self, block: _Block, depth: int) -> None:
        if block.type in ("image", "audio"):
            self.other_bytes += utf8_length(block.data)
        elif block.type in ("text", ""):
            self._text(block.text)
        self.other_bytes += utf8_length(block.blob)
        if depth < _DEEPEST_CONTENT:
            for nested in (block.resource, block.content):
                self._blocks(bytes(nested), depth + 1)

    def _text(self, text: str) -> None:
        if text:
            self.texts.append(text)


def _decode(decoder: msgspec.json.Decoder[_T], raw: bytes) -> _T | None:
    """``raw`` read strictly; ``None`` when the strict reader does not take it."""
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _loose_answer(raw: bytes) -> _Answer | None:
    parts = members(raw)
    if parts is None:
        return None
    return _Answer(
        content=msgspec.Raw(parts.get("content", b"")),
        structured=msgspec.Raw(parts.get("structuredContent", b"")),
        contents=msgspec.Raw(parts.get("contents", b"")),
        messages=msgspec.Raw(parts.get("messages", b"")),
        code=msgspec.Raw(parts.get("code", b"")),
        message=msgspec.Raw(parts.get("message", b"")),
    )


def _loose_blocks(raw: bytes) -> Iterator[_Block]:
    for element in elements(raw):
        yield _decode(_BLOCK, element) or _loose_block(element)


def _loose_block(raw: bytes) -> _Block:
    """A block that the strict reader refuses: odd characters, or members of another type."""
    parts = members(raw)
    if parts is None:
        return _Block()
    return _Block(
        type=string(parts.get("type", b"")),
        text=string(parts.get("text", b"")),
        data=string(parts.get("data", b"")),
        blob=string(parts.get("blob", b"")),
        resource=msgspec.Raw(parts.get("resource", b"")),
        content=msgspec.Raw(parts.get("content", b"")),
    )


def _as_json(raw: bytes) -> tuple[str, int]:
    """Compact JSON as a model reads it (escapes of printable characters resolved), and its bytes.

    The bytes are those of the compact form as transmitted, escapes included.
    """
    if not raw or raw == b"null":
        return "", 0
    small = compact(raw)
    return readable(_lossy(small)), len(small)


def _lossy(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def utf8_length(text: str) -> int:
    """Bytes of a text as UTF-8, lone surrogates passed."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
