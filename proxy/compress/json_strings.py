"""Cut a JSON string between its characters, not inside of an escape."""

from __future__ import annotations

import json
import re

_TORN = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_HALF = re.compile(r"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_BREAK = re.compile(r"\s\S{0,40}\Z")


def prefix(content: str, length: int) -> str:
    """At most ``length`` characters of a string's content as it stands between its quotes."""
    if length >= len(content):
        return content
    part = content[: max(0, length)]
    if "\\" in part[-12:]:
        part = _HALF.sub(r"\1", _TORN.sub(r"\1", part))
    if part and "\ud800" <= part[-1] <= "\udbff":
        part = part[:-1]
    return part


def at_word(part: str) -> str:
    """``part`` without a torn last word, when that is short."""
    found = _BREAK.search(part)
    if found and found.start() >= len(part) // 2:
        cut = part[: found.start()]
        return cut if not cut.endswith("\\") else part
    return part


def length(content: str) -> int:
    """Characters of the string that ``content`` stands for."""
    if "\\" not in content:
        return len(content)
    try:
        value: object = json.loads(f'"{content}"', strict=False)
    except ValueError:
        return len(content)
    return len(value) if isinstance(value, str) else len(content)
