"""What the definitions and argument checks of our own tools share.

A wrong argument becomes a `Mistake`, whose text says what would be right: the reader is a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

import msgspec


class Mistake(ValueError):
    """An argument is wrong; the text says what would be right."""


def definition(
    name: str,
    title: str,
    description: str,
    properties: Mapping[str, object],
    required: tuple[str, ...],
    *,
    reads: bool,
) -> bytes:
    """One entry of a tool list. No ``outputSchema``: the answer is the text itself."""
    tool = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": False,
            "idempotentHint": reads,
            "openWorldHint": False,
        },
    }
    return msgspec.json.encode(tool)


def object_of(arguments: bytes, known: tuple[str, ...]) -> dict[str, object]:
    """The arguments without foreign members; hosts' own ones begin with ``_``. Raises `Mistake`."""
    try:
        decoded = _decoded(arguments or b"{}")
    except (ValueError, RecursionError):
        raise Mistake("The arguments are no valid JSON; an object is expected.") from None
    if decoded is None:
        decoded = {}
    if not isinstance(decoded, dict):
        raise Mistake(f"The arguments must be an object with: {', '.join(known)}.")
    given = cast("dict[str, object]", decoded)
    for name in given:
        if name not in known and not name.startswith("_"):
            raise Mistake(f"There is no argument {shown(name)}; there are: {', '.join(known)}.")
    return {name: value for name, value in given.items() if value is not None}


def _decoded(arguments: bytes) -> object:
    """Any JSON, lone surrogates included. Raises `ValueError` or `RecursionError`."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return json.loads(arguments)


def integer(given: Mapping[str, object], name: str) -> int | None:
    """A whole number, also one given as text; ``None`` when it is missing. Raises `Mistake`."""
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Mistake(f"{name} is {shown(value)}, but must be a whole number of characters.")
    return value


def string(given: Mapping[str, object], name: str, longest: int, default: str | None = None) -> str:
    """A text of at most ``longest`` characters. Without ``default`` it must be there. Raises `Mistake`."""
    value = given.get(name, default)
    if value is None:
        raise Mistake(f"{name} is missing; it must be a text.")
    if not isinstance(value, str):
        raise Mistake(f"{name} is {shown(value)}, but must be a text.")
    if default is None and not value.strip():
        raise Mistake(f"{name} is empty; it must say something.")
    if len(value) > longest:
        raise Mistake(f"{name} has {len(value):,} characters; at most {longest:,} are kept.")
    return value


def shown(value: object) -> str:
    """A wrong value as it is quoted in an error, one short line."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:79] + "\u2026"
