"""A tool's result as its parts: texts that can become smaller, and everything else, which is passed on.

Pure. Reading and writing keep every byte that is not changed on purpose: images, links, annotations,
unknown members and their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from proxy import wire

STRUCTURED = "/structuredContent"
CLEANED = "clean:"
"""Before a pointer: not the text itself but what CLEAN makes of it."""
META = "mms"
"""The member of a changed result's ``_meta`` that says what was done."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A text inside a result."""

    index: int
    """Its place among the content blocks."""
    text: str
    pointer: str
    """JSON Pointer into the result."""
    is_bare: bool = False
    """Its block has the members ``type`` and ``text``, in this order, and no others."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A result, read as far as needed."""

    members: wire.Members
    items: tuple[wire.Raw, ...]
    """The content blocks as they came."""
    blocks: tuple[TextBlock, ...]
    """Text blocks and embedded text resources, in order."""
    structured: str | None
    """``structuredContent`` as its own JSON text."""
    is_error: bool


def key_of(text: str) -> str:
    """The handle of a text: its content's digest, so that the same text has the same handle."""
    return key_of_bytes(text.encode("utf-8", "surrogatepass"))


def key_of_bytes(data: bytes) -> str:
    """16 hexadecimal digits of the SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def parse_answer(body: bytes) -> ParsedAnswer:
    """Read a result. Raises `wire.MalformedMessage`."""
    members = wire.members_of(body)
    items, blocks = _read_content(bytes(members.get("content", b"[]")).strip())
    structured = members.get("structuredContent")
    text = None if structured is None else bytes(structured).decode("utf-8", "replace")
    if text is not None and text.strip() == "null":
        text = None
    is_error = bytes(members.get("isError", b"false")).strip() == b"true"
    return ParsedAnswer(members, items, blocks, text, is_error)


def rebuild(
    answer: ParsedAnswer,
    texts: Mapping[int, str],
    *,
    structured: str | None,
    added: Sequence[str] = (),
    about: Mapping[str, object],
) -> bytes:
    """The result with other texts.

    ``texts``: new texts by the index of their block; an empty one takes its block out. ``structured``:
    the new ``structuredContent``, ``None`` for none. ``added``: texts of further blocks at the end.
    ``about``: what ``_meta`` says of the change.
    """
    bare = {block.index for block in answer.blocks if block.is_bare}
    items: list[wire.Raw] = []
    for index, item in enumerate(answer.items):
        if index not in texts:
            items.append(item)
        elif texts[index]:
            made = _bare(texts[index]) if index in bare else _with_text(item, texts[index])
            items.append(made)
    items += [_bare(text) for text in added]
    members = dict(answer.members)
    members["content"] = _array(items)
    if structured is not None:
        members["structuredContent"] = wire.Raw(structured.encode("utf-8", "replace"))
    else:
        members.pop("structuredContent", None)
    if about:
        members["_meta"] = _meta(members.get("_meta"), about)
    return wire.encode(members)


def held_text(body: bytes, pointer: str) -> str:
    """The text that a pointer of a held part leads to; the whole result's JSON for an empty one.

    Raises `wire.MalformedMessage` when it leads nowhere.
    """
    if not pointer:
        return body.decode("utf-8", "replace")
    value = wire.Raw(body)
    for name in pointer.removeprefix(CLEANED).split("/")[1:]:
        data = bytes(value).lstrip()
        try:
            value = (
                wire.items_of(data)[int(name)] if data[:1] == b"[" else wire.members_of(data)[name]
            )
        except (LookupError, ValueError) as error:
            raise wire.MalformedMessage(f"nothing at {pointer}") from error
    text = wire.text_of(value)
    return bytes(value).decode("utf-8", "replace") if text is None else text


def all_text(body: bytes) -> str:
    """Every text of a result, else its structured content. Raises `wire.MalformedMessage`."""
    answer = parse_answer(body)
    return "\n\n".join(block.text for block in answer.blocks) or answer.structured or ""


class _Text(msgspec.Struct):
    """As much of a content block as is read of most."""

    type: str
    text: str


class _BareText(msgspec.Struct, forbid_unknown_fields=True):
    """A content block of nothing but a text."""

    type: str
    text: str


_TEXT = msgspec.json.Decoder(_Text)
_BARE_TEXTS = msgspec.json.Decoder(list[_BareText])
_BARE_BEGINNINGS = (b'[{"type":"text",', b'[{"type": "text",')


def _read_content(content: bytes) -> tuple[tuple[wire.Raw, ...], tuple[TextBlock, ...]]:
    """The content blocks, and the texts among them. Most results are one text: that is read in one pass."""
    if content.startswith(_BARE_BEGINNINGS):
        try:
            (only,) = _BARE_TEXTS.decode(content)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            pass  # several, something else, or odd JSON
        else:
            if only.type == "text":  # a member may be there twice
                block = TextBlock(0, only.text, "/content/0/text", is_bare=True)
                return (wire.Raw(content[1:-1].strip()),), (block,)
    items = tuple(wire.items_of(content)) if content[:1] == b"[" else ()
    found = (_text_block(index, item) for index, item in enumerate(items))
    return items, tuple(block for block in found if block is not None)


def _text_block(index: int, item: wire.Raw) -> TextBlock | None:
    try:
        plain = _TEXT.decode(item)
    except (msgspec.MsgspecError, RecursionError):
        pass  # something else, or odd JSON
    else:
        if plain.type == "text":
            return TextBlock(index, plain.text, f"/content/{index}/text")
    try:
        members = wire.members_of(item)
    except wire.MalformedMessage:
        return None
    kind = wire.string(members, "type")
    if kind == "text":
        text = wire.string(members, "text")
        return None if text is None else TextBlock(index, text, f"/content/{index}/text")
    if kind == "resource" and "resource" in members:
        try:
            text = wire.string(wire.members_of(members["resource"]), "text")
        except wire.MalformedMessage:
            return None
        pointer = f"/content/{index}/resource/text"
        return None if text is None else TextBlock(index, text, pointer)
    return None


def _bare(text: str) -> wire.Raw:
    return wire.raw({"type": "text", "text": text})


def _with_text(item: wire.Raw, text: str) -> wire.Raw:
    members = wire.members_of(item)
    if "resource" in members:
        resource = wire.members_of(members["resource"])
        resource["text"] = wire.raw(text)
        members["resource"] = wire.Raw(wire.encode(resource))
    else:
        members["text"] = wire.raw(text)
    return wire.Raw(wire.encode(members))


def _array(items: Sequence[wire.Raw]) -> wire.Raw:
    return wire.Raw(b"[" + b",".join(bytes(item) for item in items) + b"]")


def _meta(before: wire.Raw | None, about: Mapping[str, object]) -> wire.Raw:
    meta: wire.Members = {}
    if before is not None and bytes(before).lstrip()[:1] == b"{":
        meta = wire.members_of(before)
    name = META if META not in meta else f"{META}/answer"
    meta[name] = wire.raw(dict(about))
    return wire.Raw(wire.encode(meta))
