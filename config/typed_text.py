"""What a person types as the value of a key."""

from __future__ import annotations

import tomllib

from config.keys import Key, Kind

_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def parse_typed(key: Key, text: str) -> object:
    """What a person means by ``text`` as a value of ``key``.

    TOML where it parses as the key's type, else the bare text, which is right for a key that takes
    text and is reported by the loader for any other. For true and false the words yes, no, on, off,
    1 and 0 do as well.
    """
    if key.kind is Kind.BOOLEAN:
        return _WORDS.get(text.strip().lower(), text)
    literal = _literal(text)
    if key.kind in (Kind.TEXT, Kind.CHOICE):
        return literal if isinstance(literal, str) else text
    return text if literal is None else literal


def _literal(text: str) -> object:
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return None
    # A line break in the text could smuggle in further keys.
    return table["value"] if table.keys() == {"value"} else None
