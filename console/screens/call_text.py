"""An answer as the model reads it: the text blocks as text, not as strings inside JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from console import format as fmt

_SPREAD_CHARACTERS = 512 * 1024
"""A longer JSON is shown as it came: spreading it would hold the screen up."""


@dataclass(frozen=True, slots=True)
class Part:
    """One titled piece of a call's detail."""

    title: str
    text: str | None
    """``None``: the station has let it go."""


def pretty(text: str) -> str:
    """JSON on several lines, so that it can be read; anything else as it is."""
    if "\n" in text or text[:1] not in ("{", "[") or len(text) > _SPREAD_CHARACTERS:
        return text
    value, known = _parse(text)
    return _spread(value) if known else text


def result_parts(text: str | None) -> list[Part]:
    """The parts of a ``tools/call`` result: each content block, then the structured content.

    What is no such result, or was cut in the middle, is one part.
    """
    if text is None:
        return [Part("result", None)]
    value, known = _parse(text) if text[:1] == "{" else (None, False)
    if not known:
        return [Part("result", _unescaped(text))]
    result = _mapping(value)
    content = result.get("content")
    if not isinstance(content, list):
        return [Part("result", _spread(value))]
    failed = ", an error" if result.get("isError") is True else ""
    blocks = [_mapping(block) for block in cast("list[object]", content)]
    parts = [_block(block, failed) for block in blocks]
    structured = result.get("structuredContent")
    if structured is not None:
        parts.append(_structured(structured, blocks))
    meta = result.get("_meta")
    if meta:
        parts.append(Part("_meta", _spread(meta)))
    return parts or [Part(f"result{failed}", "")]


def _block(block: Mapping[str, object], failed: str) -> Part:
    kind = str(block.get("type", "block"))
    text = block.get("text")
    if kind == "text" and isinstance(text, str):
        return Part(f"result{failed}", pretty(text))
    data = block.get("data")
    if isinstance(data, str):
        size = fmt.size(len(data))
        return Part(f"result: {kind}", f"{block.get('mimeType', '')}  {size} as base64".strip())
    return Part(f"result: {kind}", _spread(dict(block)))


def _structured(value: object, blocks: list[Mapping[str, object]]) -> Part:
    for block in blocks:
        text = block.get("text")
        if isinstance(text, str) and text[:1] in ("{", "["):
            same, known = _parse(text)
            if known and same == value:
                return Part("structured content", "the same value as the text")
    return Part("structured content", _spread(value))


def _unescaped(text: str) -> str:
    """A result that was cut is no JSON any more; its line breaks can still be shown as such."""
    if not text.lstrip().startswith('{"content"'):
        return text
    return text.replace("\\n", "\n").replace('\\"', '"')


def _spread(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _parse(text: str) -> tuple[object, bool]:
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        return None, False


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
