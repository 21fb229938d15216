"""Values and dotted keys as TOML text. Knows nothing of the schema."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import Enum
from typing import cast

KeyPath = tuple[str, ...]
"""A dotted key, taken apart."""

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def toml_string(text: str) -> str:
    """A basic string; control characters are escaped."""
    out = [
        _ESCAPES.get(char) or (char if char >= " " and char != "\x7f" else f"\\u{ord(char):04x}")
        for char in text
    ]
    return f'"{"".join(out)}"'


def toml_value(value: object) -> str:
    """Any value of the settings on one line; ``None`` (not set) is the empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return toml_string(str(value.value))
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        items = cast("list[object]", value)
        return f"[{', '.join(toml_value(item) for item in items)}]"
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        if not entries:
            return "{}"
        inside = ", ".join(f"{dotted((name,))} = {toml_value(v)}" for name, v in entries.items())
        return f"{{ {inside} }}"
    raise TypeError(f"{type(value).__name__} is no value of a setting")


def dotted(path: KeyPath) -> str:
    """The key as a person writes it, with quotes where TOML wants them."""
    return ".".join(name if _BARE.match(name) else toml_string(name) for name in path)


def split_key(text: str) -> KeyPath | None:
    """Take a dotted key apart as TOML does; ``None`` when it is none."""
    if "\n" in text or "=" in text.replace(" ", "")[-1:]:
        return None
    try:
        table: object = tomllib.loads(f"{text} = 0")
    except (ValueError, RecursionError):
        return None
    path: list[str] = []
    while isinstance(table, dict):
        entries = cast("dict[str, object]", table)
        if len(entries) != 1:
            return None
        [(name, table)] = entries.items()
        path.append(name)
    return tuple(path) if path and table == 0 else None
