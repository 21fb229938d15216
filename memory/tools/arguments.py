"""Arguments of a tool call, checked strictly. A mistake is a sentence that says what would be right.

The reader of such a sentence is a model that then repeats the call correctly. Nothing is guessed: an
unknown name is refused, a value out of range, too. Names that begin with ``_`` are hosts' own.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from typing import TypeVar, cast

import msgspec

from memory.errors import FaultCode, MemoryFault

MOST_ITEMS = 200
"""Of a list in one call."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
E = TypeVar("E", bound=Enum)


def mistake(text: str) -> MemoryFault:
    """The fault for an argument that is wrong."""
    return MemoryFault(FaultCode.INVALID, text, "Nothing was changed; correct it and call again.")


class Arguments:
    """The members of one call. Every method raises `MemoryFault` (INVALID)."""

    def __init__(self, text: str, known: tuple[str, ...]) -> None:
        """``text``: JSON of an object. ``known``: the names that the tool takes."""
        try:
            decoded = _decoded(text or "{}")
        except (ValueError, RecursionError):
            raise mistake("The arguments are no valid JSON; an object is expected.") from None
        if decoded is None:
            decoded = {}
        if not isinstance(decoded, dict):
            raise mistake("The arguments must be an object.")
        given = cast("dict[str, object]", decoded)
        for name in given:
            if name not in known and not name.startswith("_"):
                raise mistake(_unknown(name, known))
        self._given: Mapping[str, object] = {
            name: value for name, value in given.items() if value is not None
        }

    def has(self, name: str) -> bool:
        """Whether it was given, and not as ``null``."""
        return name in self._given

    def text(self, name: str, default: str | None = None) -> str:
        """A text; without a default it must be there and say something."""
        value = self._given.get(name, default)
        if value is None:
            raise mistake(f"{name} is missing; it must be a text.")
        if not isinstance(value, str):
            raise mistake(f"{name} is {_shown(value)}, but must be a text.")
        if not value.strip() and (default is None or name in self._given):
            raise mistake(f"{name} is empty; it must say something{_or_leave_out(default)}.")
        return _whole(name, value)

    def optional_text(self, name: str) -> str | None:
        """A text, or ``None`` when it was not given."""
        return self.text(name) if self.has(name) else None

    def texts(self, name: str, *, required: bool = False) -> tuple[str, ...]:
        """A list of texts without repeats of nothing: every one must say something."""
        if not self.has(name):
            if required:
                raise mistake(f'{name} is missing; it must be an array of texts: ["…", "…"].')
            return ()
        items = self._list(name)
        if required and not items:
            raise mistake(f"{name} is empty; it needs one text at least.")
        found: list[str] = []
        for number, item in enumerate(items, 1):
            if not isinstance(item, str) or not item.strip():
                raise mistake(
                    f"{name}: item {number} is {_shown(item)}, but every item must be a text "
                    "that says something."
                )
            found.append(_whole(name, item))
        return tuple(found)

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self._given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise mistake(f"{name} is {_shown(value)}, but must be a number from 0 to 1.")
        # Compared before it is converted: an integer may be too large for a float.
        if not 0 <= value <= 1 or not math.isfinite(value):
            raise mistake(f"{name} is {_shown(value)}, but must be from 0 to 1.")
        return float(value)

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds, both inclusive."""
        value = self._given.get(name, default)
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            value = int(value)  # some hosts hand numbers over as text
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise mistake(
                f"{name} is {_shown(value)}, but must be a whole number from {least} to {most:,}."
            )
        if not least <= value <= most:
            raise mistake(f"{name} is {_shown(value)}, but must be from {least} to {most:,}.")
        return value

    def boolean(self, name: str) -> bool:
        """True or false; it must be there."""
        value = self._given.get(name)
        if not isinstance(value, bool):
            what = "is missing; it" if value is None else f"is {_shown(value)}, but"
            raise mistake(f"{name} {what} must be true or false.")
        return value

    def choices(self, name: str, kind: type[E]) -> tuple[E, ...]:
        """Members of an enum by their values, each once; empty when none were given."""
        names = ", ".join(str(one.value) for one in kind)
        found: list[E] = []
        for item in self._list(name) if self.has(name) else ():
            try:
                one = kind(item)
            except ValueError:
                raise mistake(f"{name}: {_shown(item)} is none of: {names}.") from None
            if one not in found:
                found.append(one)
        return tuple(found)

    def _list(self, name: str) -> list[object]:
        value = self._given[name]
        if isinstance(value, str):
            # Some hosts hand arrays over as text, some models a single item.
            value = _array_in(value)
        if not isinstance(value, list):
            raise mistake(f'{name} is {_shown(value)}, but must be an array of texts: ["…", "…"].')
        items = cast("list[object]", value)
        if len(items) > MOST_ITEMS:
            raise mistake(f"{name} has {len(items):,} items; at most {MOST_ITEMS} are possible.")
        return items


def nearest(name: str, known: tuple[str, ...]) -> str:
    """The known name that looks most like ``name``; empty when none does."""
    found = difflib.get_close_matches(name[:100], known, 1, 0.5)
    return found[0] if found else ""


def _unknown(name: str, known: tuple[str, ...]) -> str:
    if not known:
        return f"There is no argument {_shown(name)}; this tool takes none."
    close = nearest(name, known)
    meant = f" Did you mean {close}?" if close else ""
    return f"There is no argument {_shown(name)}; there are: {', '.join(known)}.{meant}"


def _decoded(text: str) -> object:
    """Any JSON, and NaN and lone surrogates, which are refused later by name."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError):
        return json.loads(text)


def _array_in(text: str) -> list[object]:
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text, type=list[object])
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return [text]
    return [text]


def _whole(name: str, value: str) -> str:
    if _SURROGATE.search(value):
        raise mistake(f"{name} holds half of a surrogate pair, which is no character.")
    return value


def _or_leave_out(default: str | None) -> str:
    return "" if default is None else ", or be left out"


def _shown(value: object) -> str:
    """A wrong value as it is quoted, one short line."""
    try:
        text = json.dumps(value, default=str)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a deep list
        text = type(value).__name__
    return text if len(text) <= 80 else text[:79] + "…"
